"""Plans the splits of the data source: which files there are, of what kind, and how tasks share them.

Small files are packed together and large Parquet files are cut at row groups. Splits become smaller towards
the end: few and large tasks come first, and no core waits long for the last one. An archive or a file that is
cut into records is one split: it can only be read from its start.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkTypeError
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, StringType

from pathcast.errors import PathcastError
from pathcast.spark.places import local_path
from pathcast.spark.worker.splits import Piece, Split, plain
from pathcast.spark.worker.unpack import file_system, open_file

__all__ = ["Found", "find_files", "is_parquet", "plan_splits", "types_of"]

_SMALLEST, _LARGEST = 16 << 20, 128 << 20  # bytes of a split, if there is a choice
_SHARE = 4  # a split is this part of what is left, if its size lies between
_OPENING = 16 << 10  # bytes that opening a file costs as much as


@dataclass(frozen=True, order=True)
class Found:
    """A file."""

    changed: int
    """Nanoseconds since 1970."""
    path: str
    bytes: int


def find_files(paths: Iterable[str], glob: str | None = None) -> list[Found]:
    """The files at these places and below; hidden ones, and those that begin with `_`, are left out."""
    from pyarrow import fs

    found: list[Found] = []
    for path in paths:
        system, inside = file_system(path)
        top = system.get_file_info(inside)
        if top.type == fs.FileType.NotFound:
            hint = (
                ': patterns are for names, as in option("glob", "*.xml")' if set(path) & set("*?[{") else ""
            )
            raise PathcastError(f"{path} does not exist{hint}")
        local = local_path(path) is not None
        base, mark, options = path.rstrip("/").partition("?")  # of a store, such as endpoint_override
        entries = [top]
        if top.type == fs.FileType.Directory:
            entries = system.get_file_info(fs.FileSelector(inside, recursive=True))
        for entry in entries:
            place = _path(entry)
            below = place[len(inside.rstrip("/")) :]
            hidden = any(part.startswith((".", "_")) for part in below.split("/") if part)
            if entry.type == fs.FileType.File and not hidden:
                name = place.rpartition("/")[2]
                if glob is None or fnmatch.fnmatchcase(name, glob):
                    name = f"file:{place}" if local else base + quote(below) + mark + options
                    found.append(Found(_changed(entry, local), name, entry.size or 0))
    return sorted(set(found))


def _path(entry: Any) -> str:
    try:
        return str(entry.path)
    except UnicodeDecodeError as error:
        raise PathcastError(f"rename {error.object!r}: its name is not UTF-8") from None


def _changed(entry: Any, local: bool) -> int:
    """When a file came to its place: moving one there leaves the time of its contents as it was."""
    if local:
        with suppress(OSError):
            return os.stat(entry.path).st_ctime_ns
    return entry.mtime_ns or 0


def is_parquet(path: str) -> bool:
    """By its name."""
    return path.lower().endswith((".parquet", ".pq"))


def types_of(files: Sequence[Found], id: str, document: str, keep: Sequence[str]) -> list[DataType]:
    """The types of document ids and kept columns in Parquet files; in all others ids are text."""
    tables = [file for file in files if is_parquet(file.path)]
    if not tables:
        if keep and files:
            raise ValueError(f"{files[0].path} is no table: it has no column to keep, such as {keep[0]!r}")
        return [StringType()] * (1 + len(keep))
    if len(tables) < len(files):
        other = next(file.path for file in files if not is_parquet(file.path))
        raise PathcastError(f"Parquet files are read by themselves, and {other} is none: choose with glob")
    with _opened(tables[0].path) as table:
        schema = _with_instants(table)
    for name in (id, document, *keep):
        if name not in schema.names:
            raise PathcastError(
                f"{tables[0].path} has no column {name!r}; there are: {', '.join(schema.names)}"
            )
    kind = plain(schema.field(document).type)
    if not any(check(kind) for check in _DOCUMENTS):
        raise PathcastError(f"the column {document!r} of {tables[0].path} must be text or binary, not {kind}")
    return [_in_spark(schema.field(name)) for name in (id, *keep)]


def _with_instants(table: Any) -> Any:
    """The columns of a Parquet file. What is stored as INT96 is an instant, as Spark writes and reads it."""
    stored = [table.schema.column(at).physical_type for at in range(len(table.schema))]
    if "INT96" not in stored:
        return table.schema_arrow
    leaves = iter(stored)
    return pa.schema([_instant(field, leaves) for field in table.schema_arrow])


def _instant(field: Any, leaves: Iterator[str]) -> Any:
    """The field, whose innermost fields are the next of the leaves."""
    kind = field.type
    inner = [_instant(kind.field(at), leaves) for at in range(kind.num_fields)]
    if pa.types.is_struct(kind):
        kind = pa.struct(inner)
    elif pa.types.is_map(kind):
        kind = pa.map_(*inner[0].type)
    elif pa.types.is_list(kind):
        kind = pa.list_(*inner)
    elif not inner and next(leaves) == "INT96":
        kind = pa.timestamp("us", "UTC")
    return field.with_type(kind)


def _in_spark(field: Any) -> DataType:
    try:
        return from_arrow_type(plain(field.type))
    except PySparkTypeError as error:
        raise PathcastError(f"Spark has no type for the column {field.name!r}, {field.type}") from error


_DOCUMENTS = (pa.types.is_string, pa.types.is_binary, pa.types.is_large_string, pa.types.is_large_binary)


def plan_splits(files: Sequence[Found], size: int | None = None) -> list[Split]:
    """Splits of about `size` bytes; if not given, large ones first."""
    pieces = [piece for file in files for piece in _pieces(file)]
    left = sum(piece.bytes for piece in pieces)
    splits: list[Split] = []
    open_pieces: list[Piece] = []
    filled = 0
    for piece in pieces:
        limit = size or min(_LARGEST, max(_SMALLEST, left // _SHARE))
        if open_pieces and filled + piece.bytes > limit:
            splits.append(Split(_joined(open_pieces)))
            left -= sum(each.bytes for each in open_pieces)
            open_pieces, filled = [], 0
        open_pieces.append(piece)
        filled += piece.bytes + _OPENING
    if open_pieces:
        splits.append(Split(_joined(open_pieces)))
    return splits


def _joined(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Row groups of one file as one piece: it is opened once, and its batches may go across row groups."""
    joined: list[Piece] = []
    for path, several in groupby(pieces, lambda piece: piece.path):
        parts = list(several)
        groups = tuple(number for part in parts for number in part.row_groups or ())
        joined.append(Piece(path, sum(part.bytes for part in parts), groups or None))
    return tuple(joined)


def _pieces(file: Found) -> list[Piece]:
    if not is_parquet(file.path):
        return [Piece(file.path, file.bytes)]
    with _opened(file.path) as table:
        metadata = table.metadata
        sizes = [metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups)]
    return [Piece(file.path, size, (at,)) for at, size in enumerate(sizes)]


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    """A Parquet file; the error for one that is gone or damaged says which."""
    try:
        with open_file(path) as source, pq.ParquetFile(source, coerce_int96_timestamp_unit="us") as table:
            yield table
    except (pa.ArrowException, OSError) as error:
        raise PathcastError(f"{path} cannot be read as Parquet: {error}") from error
