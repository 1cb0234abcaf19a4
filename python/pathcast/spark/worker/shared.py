"""An index that all workers of an executor share: it is in a process of its own, `matcher`.

The first worker starts that process; each has one connection to it. Whatever goes wrong with it, the worker
goes on with an index of its own, and says so in its log: `fallbacks` counts how often.
"""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from pathcast.errors import DocumentError, IndexFormatError
from pathcast.index import Index
from pathcast.spark.worker.base import Located, answers
from pathcast.spark.worker.messages import closing, in_memory, mapped_file, mapped_stream, receive, send
from pathcast.types import Groups

__all__ = ["SharedIndex", "SharedMatches", "connect", "fallbacks"]

_log = logging.getLogger("pathcast.spark")
_START = """
import sys, types
package = types.ModuleType("pathcast.spark")
package.__path__ = [sys.argv[1]]
sys.modules["pathcast.spark"] = package
from pathcast.spark.worker.matcher import main
main(sys.argv[2:])
"""
"""Without what the package exports: the driver's half needs PySpark, which takes a second and 26 MB."""

_ALLOCATOR = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": str(1 << 20)}
"""Several threads use few arenas, which stay small, and answers of megabytes go back to the system at once:
40 MB of 220 with 1,000,000 alerts and four workers."""

_connection: tuple[int, socket.socket] | None = None
_started: subprocess.Popen[bytes] | None = None  # it outlives this worker
_given_up = False
_fallbacks = 0


def fallbacks() -> int:
    """How often this worker had to do without the process that holds its indexes."""
    return _fallbacks


_Answers: TypeAlias = tuple[list[Any], dict[int, Any], list[tuple[int, int]]]
"""The arrays of an answer, what is wrong with bad documents, and what was not decided."""
_FAILURES = (OSError, EOFError, ValueError, KeyError, TypeError)


class SharedIndex:
    """Matches as an `Index` does."""

    def __init__(self, files: Located, own: Callable[[], Index]) -> None:
        """`own` opens an index in this worker."""
        self._files, self._own = files, own

    def __len__(self) -> int:
        return self._files.subscriptions

    def match_many(self, documents: Any) -> SharedMatches:
        """Nothing happens until the answer is asked for in one form or the other."""
        return SharedMatches(self, documents)

    def ask(self, documents: Any, form: str) -> _Answers:
        """What the shared index says, or if that fails, one of this worker's own."""
        if not _given_up:
            try:
                return self._asked(documents, form)
            except _FAILURES as error:
                _fall_back(error)
        return answers(self._own(), documents, form)

    def _asked(self, documents: Any, form: str) -> _Answers:
        question = in_memory(documents)
        with closing([question]):
            reply, files = _ask({"ask": form, "files": asdict(self._files)}, [question])
        with closing(files):
            arrays = [mapped_stream(file) for file in files]
        return arrays, dict(reply["bad"]), [(place, row) for place, row in reply["undecided"]]


class SharedMatches:
    """What many documents matched: as the index itself gives it, in one of two forms."""

    def __init__(self, index: SharedIndex, documents: Any) -> None:
        self._index, self._documents = index, documents
        self._bad: dict[int, Any] = {}
        self.undecided: list[tuple[int, int]] = []
        """Once the answer was asked for."""

    def to_arrow(self, *, ordered: bool = True) -> Any:
        """A list of row numbers for each document, null for a bad one."""
        form = "lists" if ordered else "loose"
        (lists,), self._bad, self.undecided = self._index.ask(self._documents, form)
        return lists

    def to_groups(self) -> Groups:
        """The groups of rows that each document matched, and the rows of each group."""
        (documents, members), self._bad, self.undecided = self._index.ask(self._documents, "groups")
        return Groups(documents, members)

    def __getitem__(self, place: int) -> DocumentError:
        """What is wrong with a bad document."""
        return DocumentError(*self._bad[place])


def connect(files: Located, own: Callable[[], Index]) -> tuple[SharedIndex, Any, Any | None] | None:
    """The index, its rows and its delta, opened by the process that holds it; None if there is none."""
    if _given_up or not hasattr(os, "memfd_create"):
        return None
    try:
        _, opened = _ask({"ask": "open", "files": asdict(files)}, [])
        with closing(opened):
            rows, *delta = [mapped_file(file) for file in opened]
    except IndexFormatError:
        raise
    except _FAILURES as error:
        _fall_back(error)
        return None
    return SharedIndex(files, own), rows, delta[0] if delta else None


def _fall_back(error: BaseException) -> None:
    global _fallbacks, _given_up, _connection
    _fallbacks += 1
    if _connection is not None:
        _connection[1].close()
        _connection = None
    _given_up = _fallbacks > 3  # a host on which it does not work, and not an accident
    _log.warning("this worker opens its own index, because the shared one failed (%s)", error)


def _ask(question: dict[str, Any], files: list[int]) -> tuple[dict[str, Any], list[int]]:
    connection = _connected()
    send(connection, question, files)
    reply, opened = receive(connection)
    if "error" in reply:
        with closing(opened):
            kind = IndexFormatError if reply["error"] == "format" else OSError
            raise kind(reply["message"])
    return reply, opened


def _connected() -> socket.socket:
    """This process's connection; a process that was forked makes its own."""
    global _connection
    if _connection is None or _connection[0] != os.getpid():
        _connection = os.getpid(), _connect_or_start(os.getppid())
    return _connection[1]


def _connect_or_start(parent: int) -> socket.socket:
    """A connection to the process of this parent's workers, which is started if it is not there."""
    folder = _folder(parent)
    with _locked(folder / "lock"):
        with suppress(FileNotFoundError, ConnectionError):
            return _opened(folder / "socket")
        words = [sys.executable, "-c", _START, str(Path(__file__).parents[1]), str(folder), str(parent)]
        # The folders from which this worker imports.
        settings = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **_ALLOCATOR}
        global _started
        _started = process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=os.environ | settings,
        )
        assert process.stdout is not None
        with process.stdout as said:
            if said.readline() != b"ready\n":
                raise OSError(f"the process for shared indexes ended with status {process.wait()}")
        return _opened(folder / "socket")


def _opened(place: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(place))
    except BaseException:
        connection.close()
        raise
    return connection


def _folder(parent: int) -> Path:
    """A folder for the workers of one parent, which nobody else may enter."""
    started = (
        Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[19]
    )  # tells equal numbers apart
    folder = Path(tempfile.gettempdir()) / f"pathcast-{os.getuid()}-{parent}-{started}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o77 or not folder.is_dir() or folder.is_symlink():
        raise OSError(f"{folder} belongs to somebody else")
    return folder


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
