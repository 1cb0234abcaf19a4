"""What workers and the process that holds their indexes say to each other, on a Unix socket.

A message is a JSON object with its length in front, and files beside it: tables in memory, which both have
mapped, or files of the artifact. Nothing in it is code, and nobody else has the socket's folder.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

__all__ = ["closing", "in_memory", "mapped_file", "mapped_stream", "peer", "receive", "send"]

_LONGEST = 64 << 20  # bytes of JSON: the reasons for a batch of bad documents
_FILES = 2  # beside a message
_LENGTH = struct.Struct(">I")


def send(connection: socket.socket, values: dict[str, Any], files: Sequence[int] = ()) -> None:
    """Sends a message; files stay open here."""
    text = json.dumps(values).encode()
    if len(text) > _LONGEST:
        raise OSError(f"a message of {len(text):,} bytes is too long")
    if files:
        socket.send_fds(connection, [_LENGTH.pack(len(text))], list(files))
        connection.sendall(text)
    else:
        connection.sendall(_LENGTH.pack(len(text)) + text)


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """A message and its files, which the caller closes; `EOFError` when the other side is gone."""
    head, files, _, _ = socket.recv_fds(connection, _LENGTH.size, _FILES)
    try:
        if not head:
            raise EOFError("the other side has closed the connection")
        head += _exactly(connection, _LENGTH.size - len(head))
        (length,) = _LENGTH.unpack(head)
        if length > _LONGEST:
            raise OSError(f"a message of {length:,} bytes is too long")
        values = json.loads(_exactly(connection, length))
        if not isinstance(values, dict):
            raise OSError("a message must be an object")
    except BaseException:
        for file in files:
            os.close(file)
        raise
    return values, list(files)


def _exactly(connection: socket.socket, length: int) -> bytes:
    parts = []
    while length:
        part = connection.recv(min(length, 1 << 20))
        if not part:
            raise EOFError("the other side has closed the connection")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def in_memory(array: Any) -> int:
    """A file in memory with an array, which `mapped_stream` reads without copying it."""
    file = os.memfd_create("pathcast", os.MFD_CLOEXEC)
    try:
        batch = pa.RecordBatch.from_arrays([array], ["array"])
        with open(file, "wb", closefd=False) as sink, pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
    except BaseException:
        os.close(file)
        raise
    return file


def mapped_stream(file: int) -> Any:
    """The array in a file in memory."""
    with pa.memory_map(f"/proc/self/fd/{file}") as source:
        return pa.ipc.open_stream(source).read_next_batch().column(0)


def mapped_file(file: int) -> Any:
    """The table in an Arrow file that is open."""
    with pa.memory_map(f"/proc/self/fd/{file}") as source:
        return pa.ipc.open_file(source).read_all()


@contextmanager
def closing(files: Sequence[int]) -> Iterator[None]:
    """Closes files, which may stay mapped."""
    try:
        yield
    finally:
        for file in files:
            os.close(file)


def peer(connection: socket.socket) -> int:
    """The user at the other end, as the system knows it."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1])
