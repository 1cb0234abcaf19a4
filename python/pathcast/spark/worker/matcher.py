"""A process that holds indexes for all Python workers of an executor: each is loaded once and used by all.

A worker that needs a large index starts it and connects; others only connect. Each connection has a thread,
which matches with the interpreter released, so workers do not wait for each other. Documents and answers go
through memory that both sides have mapped.

It keeps the indexes that were used last, up to `PATHCAST_INDEX_BYTES` (1 GiB), and at least one. It ends when
its executor's Python daemon does, or when nobody has been connected for a minute.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import sys
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from pathcast.errors import IndexFormatError
from pathcast.spark.worker.base import Base, Located, answers, verify
from pathcast.spark.worker.messages import closing, in_memory, mapped_stream, peer, receive, send

__all__ = ["Indexes", "main", "serve"]

INDEX_BYTES = 1 << 30
IDLE = 60.0
"""Seconds without a connection after which the process ends."""
_WATCHED = 5.0  # seconds between looks at the parent where the system has no better way
_GROWTH = 4.0  # bytes of an index in memory for each in its file, before more is known
_IMAGE_GROWTH = 2.5  # of an image: it has nearly what there is in memory
_TAKEN = 2.5  # bytes that the allocator takes for each that an index says it needs; 2.2 with 1,000,000 alerts


class _Turns:
    """Lets those that want the same version of a base use it together, and others after them, in order."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()
        self._using = 0
        self._version: object = None

    @contextmanager
    def using(self, version: object, become: Callable[[], None]) -> Iterator[None]:
        """`become` is called if the version is not the one of before, while nobody uses the base."""
        me = object()
        with self._changed:
            self._waiting.append(me)
            self._changed.wait_for(
                lambda: self._waiting[0] is me and (not self._using or version == self._version)
            )
            try:
                if version != self._version:
                    self._version = None
                    become()
                    self._version = version
                self._using += 1
            finally:
                self._waiting.popleft()
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._using -= 1
                self._changed.notify_all()


class _Slot:
    """A base that is loaded, or being loaded."""

    def __init__(self, bytes: int) -> None:
        self.bytes = bytes
        self.base: Base | None = None
        self.rows = -1
        """The file that was verified, whatever has its name now."""
        self.loading = threading.Lock()
        self.turns = _Turns()
        self.users = 0


class Indexes:
    """The indexes that are open, up to a number of bytes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._slots: OrderedDict[tuple[str, str], _Slot] = OrderedDict()
        self._lock = threading.Lock()
        self.loaded = 0
        """How often an index was read from its file."""

    @contextmanager
    def using(self, files: Located) -> Iterator[tuple[Base, int]]:
        """The base with the delta of a version, and its open file of rows; others may use it at once."""
        key = files.index_sha256, files.rows_sha256
        with self._lock:
            if key not in self._slots:
                growth = _IMAGE_GROWTH if files.image else _GROWTH
                self._slots[key] = _Slot(int(growth * os.path.getsize(files.index)))
                self._make_room(key)
            slot = self._slots[key]
            self._slots.move_to_end(key)
            slot.users += 1
        try:
            with self._sound(key, slot):
                base = self._loaded(slot, files)

            def become() -> None:
                with self._sound(key, slot):
                    base.become(files)

            with slot.turns.using(files.delta_sha256 or "", become):
                yield base, slot.rows
        finally:
            with self._lock:
                slot.users -= 1

    @contextmanager
    def _sound(self, key: tuple[str, str], slot: _Slot) -> Iterator[None]:
        """Forgets a base that is not there, or may be half changed."""
        try:
            yield
        except BaseException:
            with self._lock:
                if self._slots.get(key) is slot:
                    del self._slots[key]
            raise

    def _make_room(self, key: tuple[str, str]) -> None:
        """Before the new one is loaded: the peak counts."""
        for other, slot in list(self._slots.items()):
            if sum(each.bytes for each in self._slots.values()) <= self._size:
                return
            if other != key and not slot.users:
                del self._slots[other]

    def _loaded(self, slot: _Slot, files: Located) -> Base:
        with slot.loading:
            if slot.base is None:
                slot.rows = os.open(files.rows, os.O_RDONLY | os.O_CLOEXEC)
                weakref.finalize(slot, os.close, slot.rows)
                slot.base = Base(replace(files, rows=f"/proc/self/fd/{slot.rows}"))
                slot.bytes = int(_TAKEN * slot.base.index.stats()["memory_bytes"])
                self.loaded += 1
                _give_back()
            return slot.base


def _give_back() -> None:
    """Returns to the system what loading took for a moment: as much again as the file has."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def answer(connection: socket.socket, indexes: Indexes) -> None:
    """One question: opening an index, or matching documents with it."""
    question, files = receive(connection)
    with closing(files):
        try:
            located = Located(**question["files"])
            if question["ask"] == "open":
                _open(connection, located, indexes)
            else:
                _match(connection, located, indexes, mapped_stream(files[0]), question["ask"])
        except IndexFormatError as error:
            send(connection, {"error": "format", "message": str(error)})
        except (EOFError, ConnectionError):
            raise
        except Exception as error:
            send(connection, {"error": "other", "message": f"{type(error).__name__}: {error}"})


def _open(connection: socket.socket, located: Located, indexes: Indexes) -> None:
    """The worker gets the files that were verified, not their names."""
    files: list[int] = []
    with closing(files):
        with indexes.using(located) as (_, rows):
            files.append(os.dup(rows))
        if located.delta is not None:
            files.append(os.open(located.delta, os.O_RDONLY | os.O_CLOEXEC))
            verify(f"/proc/self/fd/{files[1]}", str(located.delta_sha256))
        send(connection, {"loaded": indexes.loaded}, files)


def _match(connection: socket.socket, located: Located, indexes: Indexes, documents: Any, ask: str) -> None:
    with indexes.using(located) as (base, _):
        arrays, bad, undecided = answers(base.index, documents, ask)
    files: list[int] = []
    with closing(files):
        for array in arrays:
            files.append(in_memory(array))
        send(connection, {"bad": list(bad.items()), "undecided": undecided}, files)


def serve(listening: socket.socket, indexes: Indexes, parent: int, leave: Callable[[], bool]) -> bool:
    """Answers until the parent is gone, or nobody is connected and `leave` says that it is well to go.

    Whether the parent is gone is told here: one that nobody has waited for yet still seems to be alive.
    """
    connected: set[threading.Thread] = set()
    watched = _watch(parent)
    waiting = [listening.fileno(), *([watched] if watched is not None else [])]
    idle = 0.0
    while True:
        step = IDLE if watched is not None else _WATCHED
        ready, _, _ = select.select(waiting, [], [], min(step, IDLE))
        if watched in ready or (watched is None and not _alive(parent)):
            return True
        connected = {thread for thread in connected if thread.is_alive()}
        if listening.fileno() in ready:
            idle = 0.0
            connection, _ = listening.accept()
            if peer(connection) != os.getuid():
                connection.close()
                continue
            thread = threading.Thread(target=_converse, args=(connection, indexes), daemon=True)
            connected.add(thread)
            thread.start()
        elif connected:
            idle = 0.0
        else:
            idle += step
            if idle >= IDLE and leave():
                return False


def _converse(connection: socket.socket, indexes: Indexes) -> None:
    with connection, suppress(EOFError, OSError):
        while True:
            answer(connection, indexes)


def _watch(process: int) -> int | None:
    """A file that can be read when the process has ended."""
    try:
        return os.pidfd_open(process)
    except (AttributeError, OSError):
        return None


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def main(arguments: list[str]) -> None:
    """`FOLDER PARENT`: listens in the folder, says so on standard output, and serves."""
    import fcntl

    # Spark's daemon tells all of its process group when it ends; the folder would stay.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    folder, parent = arguments[0], int(arguments[1])
    place = os.path.join(folder, "socket")
    listening = socket.socket(socket.AF_UNIX)
    with suppress(FileNotFoundError):
        os.unlink(place)  # of one that was killed: whoever starts us holds the lock
    listening.bind(place)
    listening.listen()
    sys.stdout.write("ready\n")
    sys.stdout.flush()

    def leave() -> bool:
        # A worker that is about to connect, or to start another, holds the lock.
        lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        if select.select([listening], [], [], 0)[0]:
            os.close(lock)
            return False
        os.unlink(place)
        return True

    indexes = Indexes(int(os.environ.get("PATHCAST_INDEX_BYTES", INDEX_BYTES)))
    if serve(listening, indexes, parent, leave):
        with suppress(OSError):
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
            os.rmdir(folder)
    os._exit(0)  # threads in the middle of an answer are not waited for
