"""Reads a split of the data source within a worker: Parquet row groups, or files of XML and archives.

A split is what one task reads. Its documents come as batches of bounded size, whatever the size of a row
group: eight documents of 49 MB in one row group are read one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.errors import PathcastError
from pathcast.spark.worker.shards import Batches
from pathcast.spark.worker.unpack import UnpackJob, file_system, unpack

__all__ = ["Piece", "ReadJob", "Split", "plain", "read_split"]

_ROWS = 10_000  # of a batch at most


@dataclass(frozen=True)
class Piece:
    """A file, or some row groups of a Parquet file."""

    path: str
    bytes: int
    row_groups: tuple[int, ...] | None = None
    """None for a file that is not Parquet."""


@dataclass(frozen=True)
class Split:
    """What one task reads."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class ReadJob:
    """How splits are read."""

    id: str
    document: str
    unpack: UnpackJob
    id_type: Any = None
    """Of ids in Parquet files, if Spark wants them as one: files may have several for the same."""
    keep: tuple[tuple[str, Any], ...] = ()
    """Further columns of Parquet files, and their types."""


def read_split(split: Split, job: ReadJob) -> Batches:
    """The documents, as columns `id` and `document`, and those to keep."""
    paths = [piece.path for piece in split.pieces if piece.row_groups is None]
    yield from unpack(paths, job.unpack)
    for piece in split.pieces:
        if piece.row_groups is not None:
            yield from _row_groups(piece, job)


def _row_groups(piece: Piece, job: ReadJob) -> Iterator[Any]:
    assert piece.row_groups is not None
    kept = [name for name, _ in job.keep]
    types = [job.id_type, None, *(kind for _, kind in job.keep)]
    names = [job.id, job.document, *kept]
    system, inside = file_system(piece.path)
    try:
        # As Arrow opens it: through a file of Python's, every page is copied once more, under its lock.
        # Not buffered ahead: that would hold a whole row group, however large its documents are.
        # Of INT96 microseconds: in nanoseconds the year 9999 would be another one.
        opened = partial(pq.ParquetFile, pre_buffer=False, coerce_int96_timestamp_unit="us")
        with system.open_input_file(inside) as source, opened(source) as file:
            rows = partial(_rows, file.metadata, batch_bytes=job.unpack.batch_bytes)
            for number, groups in groupby(piece.row_groups, rows):
                for batch in file.iter_batches(
                    number, row_groups=list(groups), columns=sorted(set(names)), use_threads=False
                ):
                    columns = [_as(batch[name], kind) for name, kind in zip(names, types, strict=True)]
                    yield pa.RecordBatch.from_arrays(columns, ["id", "document", *kept])
    except (pa.ArrowException, KeyError, OSError) as error:
        raise PathcastError(f"{piece.path} cannot be read as Parquet: {error}") from error


def plain(kind: Any) -> Any:
    """A type without how Arrow holds it: of a dictionary, that of its values; of a view, the usual one."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return _VIEWS.get(kind, kind)


_VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def _as(column: Any, kind: Any) -> Any:
    kind = kind or plain(column.type)
    if column.type == kind:
        return column
    # Spark counts microseconds, and cuts off what is finer.
    return column.cast(kind, safe=not pa.types.is_timestamp(column.type))


def _rows(metadata: Any, row_group: int, batch_bytes: int) -> int:
    """How many rows make a batch of about this many bytes: a power of two, the same for similar row groups.

    Neighbours with the same number share batches; large documents never get the batches of small ones.
    """
    group = metadata.row_group(row_group)
    fitting: int = batch_bytes * group.num_rows // max(1, group.total_byte_size)
    return 1 << (max(1, min(_ROWS, fitting)).bit_length() - 1)
