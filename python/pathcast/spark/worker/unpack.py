"""Opens files within workers: zip and gzip files become documents, huge XML files become records.

Files are read in chunks by the worker itself, so that neither they nor their unpacked contents must fit into
a cell of a table, which holds 2 GiB at most. What is damaged ends as a dead letter that names it.
"""

from __future__ import annotations

import gzip
import os
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, cast
from urllib.parse import unquote

import pyarrow as pa

from pathcast.spark.worker.shards import Batches
from pathcast.spark.worker.split import problem, split

__all__ = ["UnpackJob", "unpack_files"]

_CHUNK = 1 << 20
_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)
# RuntimeError: an encrypted entry of a zip file; NotImplementedError: an unknown compression.


@dataclass(frozen=True)
class UnpackJob:
    """What a task is to do with files, whose paths are column 0 of its batches."""

    record: str | None
    max_bytes: int
    batch_bytes: int


def unpack_files(batches: Batches, job: UnpackJob) -> Batches:
    """The documents of all files, as columns `id` and `document`, in batches of bounded size."""
    ids: list[str] = []
    documents: list[bytes] = []
    size = 0
    for batch in batches:
        for path in batch.column(0).to_pylist():
            for name, document in documents_of(path, job):
                ids.append(name)
                documents.append(document)
                size += len(document)
                if size >= job.batch_bytes:
                    yield _batch(ids, documents)
                    ids, documents, size = [], [], 0
    if ids:
        yield _batch(ids, documents)


def _batch(ids: list[str], documents: list[bytes]) -> Any:
    return pa.RecordBatch.from_arrays(
        [pa.array(ids, pa.string()), pa.array(documents, pa.binary())], ["id", "document"]
    )


def documents_of(path: str, job: UnpackJob) -> Iterator[tuple[str, bytes]]:
    """Each document of a file with its id: `path`, `path!entry` in a zip file, and `#number` for a record."""
    with _opened(path) as file:
        front = file.read(4)
        file.seek(0)
        if front not in (b"PK\x03\x04", b"PK\x05\x06"):
            yield from _contents(path, file, job)
            return
        try:
            with zipfile.ZipFile(file) as archive:
                for entry in archive.infolist():
                    if not entry.is_dir():
                        yield from _entry(f"{path}!{entry.filename}", archive, entry, job)
        except zipfile.BadZipFile as error:
            yield path, problem(f"a damaged zip file: {error}")


def _entry(
    name: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, job: UnpackJob
) -> Iterator[tuple[str, bytes]]:
    try:
        contents = archive.open(entry)
    except _BROKEN as error:
        yield name, problem(f"an entry that cannot be unpacked: {error}")
        return
    with contents:
        yield from _contents(name, contents, job)


def _contents(name: str, file: IO[bytes], job: UnpackJob) -> Iterator[tuple[str, bytes]]:
    """The document, or the records, of one file that may be compressed with gzip."""
    chunks = _Chunks(file)
    if job.record is None:
        yield name, _document(chunks, job.max_bytes)
        return
    number = 0
    for number, record in enumerate(split(chunks, job.record, max_bytes=job.max_bytes), 1):
        yield f"{name}#{number}", record
    if chunks.failure:
        yield f"{name}#{number + 1}", chunks.failure


def _document(chunks: _Chunks, max_bytes: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > max_bytes:
            return problem(f"longer than {max_bytes:,} bytes")
        pieces.append(chunk)
    return chunks.failure or b"".join(pieces)


class _Chunks(Iterator[bytes]):
    """A file's bytes, unpacked; if that breaks off, `failure` says why."""

    def __init__(self, file: IO[bytes]) -> None:
        self.failure: bytes | None = None
        front = file.read(2)
        file.seek(0)
        self._file = gzip.GzipFile(fileobj=file) if front == b"\x1f\x8b" else file

    def __next__(self) -> bytes:
        try:
            chunk = self._file.read(_CHUNK)
        except _BROKEN as error:
            self.failure = problem(f"damaged, or cannot be unpacked: {error}")
            chunk = b""
        if not chunk:
            raise StopIteration
        return chunk


def _opened(path: str) -> IO[bytes]:
    """A file by the name that Spark gave it."""
    if path.startswith("file:") or "://" not in path:
        local = "/" + path[len("file:") :].lstrip("/") if path.startswith("file:") else path
        return open(local if os.path.exists(local) else unquote(local), "rb")
    from pyarrow import fs

    try:
        system, inside = fs.FileSystem.from_uri(path)
    except (pa.ArrowException, ValueError) as error:
        raise OSError(
            f"this worker cannot open {path} ({error}): copy it to a file system that workers see as a "
            "folder, or unpack it into a folder of XML files or a table"
        ) from None
    return cast("IO[bytes]", system.open_input_file(inside))
