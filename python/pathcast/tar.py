"""Tar files from front to back, of which nothing is lost in silence.

`tarfile` takes a header that it cannot read for the end of the archive, and leaves out every file behind it.
Here that is an error, and so is an archive that ends without the zeros that close it, or with another one
behind them.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import IO, cast

__all__ = ["entries"]

_CHUNK = 1 << 20


def entries(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The entries of a tar file that was opened as a stream; `tarfile.TarError` where it is damaged.

    >>> from io import BytesIO
    >>> with tarfile.open(fileobj=BytesIO(bytes(512 * 20)), mode="r|") as archive:
    ...     list(entries(archive))
    []
    """
    archive.tarinfo = _Entry
    yield from archive
    rest = cast("IO[bytes]", archive.fileobj)
    while chunk := rest.read(_CHUNK):
        if chunk.strip(b"\0"):
            raise tarfile.ReadError("there is something behind its end")


class _Entry(tarfile.TarInfo):
    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> _Entry:
        try:
            return super().fromtarfile(tarfile_)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"no sound header follows ({error}): files may be missing") from None
