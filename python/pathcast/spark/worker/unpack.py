"""Opens files within workers: archives become documents, huge XML files become records.

Zip and tar files are archives; each may be compressed with gzip, bzip2 or xz, and so may a single document.
What a file is, its first bytes tell, not its name. Files are read in chunks by the worker itself, so that
neither they nor their unpacked contents must fit into a cell of a table, which holds 2 GiB at most. What is
damaged ends as a dead letter that names it.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, TypeAlias, cast
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from pathcast.errors import PathcastError
from pathcast.spark.places import local_path
from pathcast.spark.progress import reporter
from pathcast.spark.worker.shards import Batches
from pathcast.spark.worker.split import problem, split
from pathcast.spark.worker.vectors import blobs
from pathcast.tar import entries

__all__ = ["UnpackJob", "file_system", "open_file", "unpack", "unpack_files"]

_CHUNK = 1 << 20
_ROWS = 10_000  # of a batch at most
_BROKEN = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    NotImplementedError,  # an unknown compression
    RuntimeError,  # an encrypted entry of a zip file
    UnicodeDecodeError,  # a damaged name in a zip file
)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_TAR = (257, b"ustar")
_Bytes: TypeAlias = bytes | bytearray


@dataclass(frozen=True)
class UnpackJob:
    """What a task is to do with files."""

    record: str | None
    max_bytes: int
    batch_bytes: int


def unpack_files(batches: Batches, job: UnpackJob) -> Batches:
    """The documents of all files whose paths are column 0 of the batches."""
    return unpack((path for batch in batches for path in batch.column(0).to_pylist()), job)


def unpack(paths: Iterable[str], job: UnpackJob) -> Batches:
    """The documents of all files, as columns `id` and `document`, in batches of bounded size."""
    ids: list[str] = []
    documents: list[_Bytes] = []
    size = 0
    for path in paths:
        for name, document in documents_of(path, job):
            if ids and len(document) >= job.batch_bytes:  # a large one is a batch of its own
                yield _batch(ids, documents)
                ids, documents, size = [], [], 0
            ids.append(name)
            documents.append(document)
            size += len(document)
            if size >= job.batch_bytes or len(ids) >= _ROWS:
                yield _batch(ids, documents)
                ids, documents, size = [], [], 0
    if ids:
        yield _batch(ids, documents)


def _batch(ids: list[str], documents: list[_Bytes]) -> Any:
    if told := reporter():
        told.read(len(ids))
    if len(documents) == 1:  # as it was read, without a copy: it may be large
        ends = pa.py_buffer(np.array([0, len(documents[0])], np.int32))
        column = pa.Array.from_buffers(pa.binary(), 1, [None, ends, pa.py_buffer(documents[0])])
    else:
        column = blobs(documents, pa.binary())
    # A tar file may hold names that are no text.
    names = [name.encode("utf-8", "backslashreplace").decode() for name in ids]
    return pa.RecordBatch.from_arrays([blobs(names, pa.string()), column], ["id", "document"])


def documents_of(path: str, job: UnpackJob) -> Iterator[tuple[str, _Bytes]]:
    """Each document of a file with its id: `path`, `path!entry` in an archive, and `#number` for a record."""
    try:
        file = cast("IO[bytes]", _Source(path, open_file(path)))
    except FileNotFoundError as error:
        yield path, problem(f"cannot be opened: {error}")
        return
    with file:
        if file.read(4) in _ZIP:
            file.seek(0)
            yield from _zip_entries(path, file, job)
            return
        file.seek(0)
        contents = _decompressed(file)
        front = contents.peek(_TAR[0] + len(_TAR[1]))
        if front[_TAR[0] :].startswith(_TAR[1]):
            yield from _tar_entries(path, contents, job)
        else:
            yield from _contents(path, contents, job)


def _zip_entries(path: str, file: IO[bytes], job: UnpackJob) -> Iterator[tuple[str, _Bytes]]:
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                if entry.is_dir():
                    continue
                name = f"{path}!{entry.filename}"
                try:
                    contents = archive.open(entry)
                except _BROKEN as error:
                    yield name, problem(f"an entry that cannot be unpacked: {error}")
                    continue
                with contents:
                    yield from _contents(name, _decompressed(contents), job)
    except _BROKEN as error:
        yield path, problem(f"a damaged zip file: {error}")


def _tar_entries(path: str, contents: _Contents, job: UnpackJob) -> Iterator[tuple[str, _Bytes]]:
    """Entries as they come: a compressed tar file is read once, from front to back."""
    try:
        with tarfile.open(fileobj=cast("IO[bytes]", contents), mode="r|") as archive:
            for entry in entries(archive):
                name = f"{path}!{entry.name}"
                if entry.islnk():
                    yield name, problem(f"a hard link to {entry.linkname}, which has its bytes")
                elif entry.isfile() and (file := archive.extractfile(entry)) is not None:
                    yield from _contents(name, _decompressed(file), job)
    except _BROKEN as error:
        yield path, problem(f"a damaged tar file: {error}")
        return
    if contents.failure:
        yield path, problem(f"a damaged tar file: {contents.failure}")


def _contents(name: str, contents: _Contents, job: UnpackJob) -> Iterator[tuple[str, _Bytes]]:
    """The document, or the records, of one file."""
    if job.record is None:
        yield name, _document(contents, job.max_bytes)
        return
    number = 0
    for number, record in enumerate(split(contents, job.record, max_bytes=job.max_bytes), 1):
        yield f"{name}#{number}", record
    if contents.failure:
        yield f"{name}#{number + 1}", problem(contents.failure)


def _document(contents: _Contents, max_bytes: int) -> _Bytes:
    whole = bytearray()  # grows in its place: pieces to be joined would take twice the memory
    for chunk in contents:
        if len(whole) + len(chunk) > max_bytes:
            return problem(f"longer than {max_bytes:,} bytes")
        whole += chunk
    return problem(contents.failure) if contents.failure else whole


class _Source:
    """A file whose own failures are not taken for damage: the task fails, and Spark tries it again."""

    def __init__(self, path: str, file: IO[bytes]) -> None:
        self._path, self._file = path, file

    def __enter__(self) -> _Source:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        """What the file gives."""
        try:
            return self._file.read(size)
        except OSError as error:
            raise PathcastError(f"{self._path} cannot be read: {error}") from error


class _Contents(Iterator[bytes]):
    """A file's bytes in chunks; where they cannot be unpacked further they end, and `failure` says why."""

    def __init__(self, file: IO[bytes]) -> None:
        self.failure: str | None = None
        self._file = file
        self._ahead = b""

    def peek(self, size: int) -> bytes:
        """The next bytes, which stay."""
        while len(self._ahead) < size and (more := self._read(size)):
            self._ahead += more
        return self._ahead[:size]

    def read(self, size: int) -> bytes:
        """So many bytes, fewer only at the end: what `tarfile` wants of a stream."""
        taken = self.peek(size)
        self._ahead = self._ahead[len(taken) :]
        return taken

    def __next__(self) -> bytes:
        chunk = self._ahead or self._read(_CHUNK)
        self._ahead = b""
        if not chunk:
            raise StopIteration
        return chunk

    def _read(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except _BROKEN as error:
            self.failure = f"damaged, or cannot be unpacked: {error}"
            return b""


def _decompressed(file: IO[bytes]) -> _Contents:
    """What a file holds, by its first bytes."""
    raw = _Contents(file)
    front = raw.peek(6)
    source = cast("IO[bytes]", raw)
    if front.startswith(b"\x1f\x8b"):
        return _Contents(cast("IO[bytes]", gzip.GzipFile(fileobj=source)))
    if front.startswith(b"BZh"):
        return _Contents(cast("IO[bytes]", bz2.BZ2File(source)))
    if front == b"\xfd7zXZ\x00":
        return _Contents(cast("IO[bytes]", lzma.LZMAFile(source)))
    return raw


def file_system(path: str) -> tuple[Any, str]:
    """The file system that holds a path, and the path within it."""
    from pyarrow import fs

    local = local_path(path)
    if local is not None:
        text = str(local)
        return fs.LocalFileSystem(), text if os.path.exists(text) else unquote(text)
    try:
        system, inside = fs.FileSystem.from_uri(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]  # libhdfs names every place where it looked for Java
        raise OSError(
            f"this worker cannot open {path} ({reason}): copy it to a file system that workers see as a "
            "folder, or unpack it into a folder of XML files or a table"
        ) from None
    return system, inside


def open_file(path: str) -> IO[bytes]:
    """A file by the name that Spark gave it."""
    system, inside = file_system(path)
    if local_path(path) is not None:
        return open(inside, "rb")
    return cast("IO[bytes]", system.open_input_file(inside))
