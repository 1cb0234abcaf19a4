"""The shards that a worker has open.

An index is opened once in each Python worker and stays open across tasks, batches and jobs. A worker keeps
few of them: with shards, one, so that no worker ever holds all subscriptions. What is open is known by its
contents, never by a name, and only contents that the manifest promised are opened.

A version that differs from another by a delta uses the same index: the changes of the one are taken back and
those of the other made, which costs what the deltas hold and not what the index holds.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pathcast.errors import IndexFormatError
from pathcast.index import Index
from pathcast.spark.artifact import Settings, Shard, sha256
from pathcast.spark.places import local_path
from pathcast.spark.store import fetched
from pathcast.subscriptions import variables_from

__all__ = [
    "Batches",
    "OpenShard",
    "ShardFiles",
    "find_file",
    "hidden",
    "numbered",
    "numbered_texts",
    "open_shard",
    "read_rows",
    "single",
    "stored_rows",
    "verify",
]

Batches: TypeAlias = Iterator[Any]

_ROWS = 10_000  # with variables, that are Python objects at once


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

    @cached_property
    def recipients(self) -> tuple[Any, Any]:
        """Who gets what each row matches: a number for each row, and the names that numbers stand for.

        A subscription without a subscriber is its own.
        """
        names = pc.cast(self.ids, pa.string())
        if self.subscribers is not None:
            names = pc.coalesce(pc.cast(self.subscribers, pa.string()), names)
        encoded = names.dictionary_encode()
        return encoded.indices.to_numpy().astype("int64"), encoded.dictionary


class _Base:
    """An index as it was compiled, its rows, and the delta that is applied to it."""

    def __init__(self, files: ShardFiles) -> None:
        shard = files.shard
        index_path, self._rows_path = (find_file(files.folder, name) for name in (shard.index, shard.rows))
        verify(self._rows_path, shard.rows_sha256)
        verify(index_path, shard.index_sha256)
        try:
            self._rows = read_rows(self._rows_path)
            if files.engine == "auto":
                self._index = Index.load(index_path)
            else:
                self._index = files.settings.index(files.engine)
                self._index.add_many(numbered(self._rows))
        except (pa.ArrowException, IndexFormatError) as error:
            broken = index_path if isinstance(error, IndexFormatError) else self._rows_path
            raise _damaged(broken, error) from None
        if len(self._index) != self._rows.num_rows:
            raise _damaged(index_path, f"{len(self._index):,} subscriptions for {self._rows.num_rows:,} rows")
        self._hidden: Any = pa.array([], pa.int64())
        self._added = 0
        self._applied: str | None = None
        self._open = self._opened(self._rows)

    def version(self, files: ShardFiles) -> OpenShard:
        """The index with the delta of a version, and with no other."""
        if files.shard.delta_sha256 != self._applied:
            self._take_back()
            if files.shard.delta is not None:
                path = find_file(files.folder, files.shard.delta)
                verify(path, str(files.shard.delta_sha256))
                self._apply(read_rows(path))
            self._applied = files.shard.delta_sha256
        if len(self._index) != files.shard.subscriptions:
            have, want = len(self._index), files.shard.subscriptions
            raise _damaged(self._rows_path, f"{have:,} subscriptions instead of {want:,}")
        return self._open

    def _apply(self, delta: Any) -> None:
        self._hidden = hidden(self._rows, delta)
        for row in self._hidden.to_pylist():
            self._index.remove(row)
        added = delta.filter(pc.invert(delta["removed"])).select(self._rows.column_names)
        numbers = range(self._rows.num_rows, self._rows.num_rows + added.num_rows)
        self._index.add_many(numbered(added, pa.array(numbers, pa.int64())))
        self._added = added.num_rows
        self._open = self._opened(pa.concat_tables([self._rows, added]))

    def _take_back(self) -> None:
        for row in range(self._added):
            self._index.remove(self._rows.num_rows + row)
        self._index.add_many(numbered(self._rows.take(self._hidden), self._hidden))
        self._hidden, self._added = pa.array([], pa.int64()), 0
        self._open = self._opened(self._rows)

    def _opened(self, rows: Any) -> OpenShard:
        subscribers = single(rows["subscriber"]) if "subscriber" in rows.column_names else None
        return OpenShard(self._index, single(rows["id"]), subscribers)


_bases: OrderedDict[tuple[str, str, str], _Base] = OrderedDict()


def open_shard(files: ShardFiles) -> OpenShard:
    """The shard, from this worker's cache if it is there."""
    key = files.shard.index_sha256, files.shard.rows_sha256, files.engine
    if key not in _bases:
        while len(_bases) >= files.keep:
            _bases.popitem(last=False)  # before the new one is loaded: the peak counts
        _bases[key] = _Base(files)
    _bases.move_to_end(key)
    try:
        return _bases[key].version(files)
    except BaseException:
        del _bases[key]  # it may be half changed
        raise


def hidden(rows: Any, delta: Any) -> Any:
    """The numbers of the rows that a delta replaces or removes."""
    ids = single(delta["id"])
    return pc.cast(pc.indices_nonzero(pc.is_in(single(rows["id"]), value_set=ids)), pa.int64())


def stored_rows(folder: str, shard: Shard) -> Any:
    """The subscriptions of a shard, with its delta, sorted by id."""
    rows = read_rows(find_file(folder, shard.rows))
    if shard.delta is None:
        return rows
    delta = read_rows(find_file(folder, shard.delta))
    kept = rows.filter(pc.invert(pc.is_in(rows["id"], value_set=single(delta["id"]))))
    added = delta.filter(pc.invert(delta["removed"])).select(rows.column_names)
    return pa.concat_tables([kept, added]).sort_by("id")


def verify(path: str, wanted: str) -> None:
    """Raises unless a file has the contents that the manifest promised."""
    if sha256(path) != wanted:
        raise _damaged(path, "its contents are not what the manifest says")


def _damaged(path: str, why: object) -> IndexFormatError:
    return IndexFormatError(
        f"the compiled subscriptions in {path} cannot be used ({why}): compile them again with "
        "compile_subscriptions(); if a newer Pathcast made them, this worker needs that version"
    )


def find_file(folder: str, name: str) -> str:
    """Where this process has a file of an artifact: fetched, in the folder if it sees it, or shipped."""
    if local_path(folder) is None:
        return str(fetched(folder, name))
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


def numbered(rows: Any, numbers: Any = None) -> Any:
    """What an index is made from: row numbers for ids. A table, or rows one by one if there are variables."""
    if numbers is None:
        numbers = pa.array(range(rows.num_rows), pa.int64())
    columns = {"id": numbers, "xpath": rows["xpath"]}
    for name in ("ordered", "namespaces"):
        if rows[name].null_count < rows.num_rows:
            columns[name] = rows[name]
    if rows["variables"].null_count == rows.num_rows:
        return pa.table(columns)
    return _with_variables(rows, numbers)


def numbered_texts(texts: Any) -> Any:
    """Expressions without anything else, numbered."""
    return pa.table({"id": pa.array(range(len(texts)), pa.int64()), "xpath": texts})


def _with_variables(rows: Any, numbers: Any) -> Iterator[Any]:
    names = ("xpath", "ordered", "namespaces", "variables")
    at = 0
    for batch in rows.select(names).to_batches(_ROWS):
        for row in batch.to_pylist():
            bound = variables_from(row["variables"])
            yield numbers[at].as_py(), row["xpath"], row["ordered"], dict(row["namespaces"] or ()), bound
            at += 1
