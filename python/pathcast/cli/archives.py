"""Documents inside archives: ``.zip``, ``.tar`` with or without compression, and single files as ``.gz``.

Nothing is written to disk, and a member is read as a stream, so `Limits.document_bytes` bounds what it
unpacks to. What is damaged becomes an `OSError` with a sentence, which is the answer for that one document.
"""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any

from pathcast.tar import entries

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_DAMAGED = (
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
    UnicodeDecodeError,  # a damaged name in a zip file
)


def is_archive(name: str) -> bool:
    """Whether a name is that of an archive, in any letter case.

    >>> is_archive("feeds/2026.ZIP"), is_archive("late.xml.gz")
    (True, False)
    """
    return name.lower().endswith(_ARCHIVES)


def is_gzip(name: str) -> bool:
    """Whether a name is that of one compressed file."""
    return name.lower().endswith(".gz") and not is_archive(name)


class Unpacked(io.RawIOBase):
    """A stream of unpacked bytes, opened when it is read and closed at its end."""

    def __init__(self, opened: Callable[[], IO[bytes] | gzip.GzipFile]) -> None:
        self._open = opened
        self._stream: IO[bytes] | gzip.GzipFile | None = None

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes; `OSError` when the archive is damaged."""
        if self.closed:
            return b""
        try:
            if self._stream is None:
                self._stream = self._open()
            data = self._stream.read(size)
            if not data:
                self.close()
            return data
        except (*_DAMAGED, RuntimeError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise OSError(f"it cannot be unpacked: {error}") from None

    def close(self) -> None:
        """Closes what was opened."""
        if self._stream is not None:
            self._stream.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """The next bytes into a buffer."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def unpack(path: str) -> Unpacked:
    """The bytes of one compressed file."""
    return Unpacked(lambda: gzip.open(path))


def unpacked_again(stream: Unpacked) -> Unpacked:
    """A compressed file inside an archive."""
    return Unpacked(lambda: gzip.GzipFile(fileobj=stream))


def members(path: str) -> Iterator[tuple[str, Unpacked]]:
    """The files of an archive by name, in its order; each can be read until the next is asked for."""
    try:
        yield from _zip(path) if path.lower().endswith(".zip") else _tar(path)
    except (*_DAMAGED, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise OSError(f"the archive cannot be read: {error}") from None


def _zip(path: str) -> Iterator[tuple[str, Unpacked]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield info.filename, Unpacked(partial(archive.open, info))


def _tar(path: str) -> Iterator[tuple[str, Unpacked]]:
    # A stream that is never turned back: links are passed.
    with tarfile.open(path, "r|*") as archive:
        for info in entries(archive):
            if info.isfile() and (stream := archive.extractfile(info)):
                yield info.name, Unpacked(partial(_same, stream))


def _same(stream: IO[bytes]) -> IO[bytes]:
    return stream
