"""The shards that a worker has open.

An index is opened once in each Python worker and stays open across tasks, batches and jobs. A worker keeps
few of them: with shards, one, so that no worker ever holds all subscriptions.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from pathcast.errors import IndexFormatError
from pathcast.index import Index
from pathcast.spark.artifact import Settings, Shard, checksum

__all__ = ["Batches", "OpenShard", "ShardFiles", "find_file", "numbered", "open_shard", "read_rows", "single"]

Batches: TypeAlias = Iterator[Any]


@dataclass(frozen=True)
class ShardFiles:
    """Where a worker finds a shard."""

    folder: str
    shard: Shard
    settings: Settings
    engine: str = "auto"
    keep: int = 1
    """How many shards a worker may hold open, this one included."""


@dataclass(frozen=True)
class OpenShard:
    """An index that answers with row numbers, and the rows."""

    index: Index
    ids: Any
    subscribers: Any | None


_opened: OrderedDict[tuple[str, str], OpenShard] = OrderedDict()


def open_shard(files: ShardFiles) -> OpenShard:
    """The shard, from this worker's cache if it is there."""
    key = files.shard.index, files.engine
    found = _opened.get(key)
    if found is None:
        while len(_opened) >= files.keep:
            _opened.popitem(last=False)  # before the new one is loaded: the peak counts
        found = _opened[key] = _open(files)
    _opened.move_to_end(key)
    return found


def _open(files: ShardFiles) -> OpenShard:
    shard = files.shard
    index_path, rows_path = (find_file(files.folder, name) for name in (shard.index, shard.rows))
    if checksum(rows_path) != shard.rows_crc32:
        raise _damaged(rows_path, "its checksum does not fit")
    try:
        rows = read_rows(rows_path)
        if files.engine == "auto":
            index = Index.load(index_path)
        else:
            index = files.settings.index(files.engine)
            index.add_many(numbered(rows))
    except (pa.ArrowException, IndexFormatError) as error:
        raise _damaged(index_path if isinstance(error, IndexFormatError) else rows_path, error) from None
    if not len(index) == rows.num_rows == shard.subscriptions:
        raise _damaged(index_path, f"{len(index):,} subscriptions instead of {shard.subscriptions:,}")
    subscribers = single(rows["subscriber"]) if "subscriber" in rows.column_names else None
    return OpenShard(index, single(rows["id"]), subscribers)


def _damaged(path: str, why: object) -> IndexFormatError:
    return IndexFormatError(
        f"the compiled subscriptions in {path} cannot be used ({why}): compile them again with "
        "compile_subscriptions(); if a newer Pathcast made them, this worker needs that version"
    )


def find_file(folder: str, name: str) -> str:
    """Where this process has a file of an artifact: in the folder, if it sees it, or among shipped files."""
    place = os.path.join(folder, name)
    if os.path.exists(place):
        return place
    from pyspark import SparkFiles

    try:
        shipped = SparkFiles.get(name)
    except (AssertionError, TypeError):  # no worker, or one that was shipped nothing
        shipped = ""
    if shipped and os.path.exists(shipped):
        return shipped
    raise IndexFormatError(
        f"{name} is not in {folder} as this worker sees it, and was not shipped to it: compile to a folder "
        "that all workers see, or call match(..., ship=True)"
    )


def read_rows(path: str) -> Any:
    """The table in an Arrow file, mapped into memory."""
    with pa.memory_map(path) as source:
        return pa.ipc.open_file(source).read_all()


def single(column: Any) -> Any:
    """A column as one array."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def numbered(rows: Any) -> Any:
    """The table that an index is made from: row numbers for ids."""
    columns = {"id": pa.array(range(rows.num_rows), pa.int64()), "xpath": rows["xpath"]}
    for name in ("ordered", "namespaces"):
        if rows[name].null_count < rows.num_rows:
            columns[name] = rows[name]
    return pa.table(columns)
