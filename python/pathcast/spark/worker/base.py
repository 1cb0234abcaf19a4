"""An index as it was compiled, its rows, and the delta of the version that is asked for.

A version that differs from another by a delta uses the same index: the changes of the one are taken back and
those of the other made, which costs what the deltas hold and not what the index holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathcast.errors import IndexFormatError
from pathcast.index import Index
from pathcast.spark.artifact import Settings, sha256
from pathcast.spark.worker.vectors import from_numpy
from pathcast.subscriptions import variables_from

__all__ = [
    "Base",
    "Located",
    "answers",
    "changed_rows",
    "damaged",
    "hidden",
    "numbered",
    "numbered_texts",
    "read_rows",
    "single",
    "verify",
]

_ROWS = 10_000  # with variables, that are Python objects at once


@dataclass(frozen=True)
class Located:
    """The files of a shard where this process has them, and what they must contain."""

    index: str
    index_sha256: str
    rows: str
    rows_sha256: str
    delta: str | None
    delta_sha256: str | None
    subscriptions: int
    """With the delta."""
    image: bool = False
    """Whether it is an image in the place of an index file."""


_CHANGING = "changing"  # no SHA-256


class Base:
    """An index, its rows, and the delta that is applied to it."""

    def __init__(self, files: Located, settings: Settings | None = None, engine: str = "auto") -> None:
        """`settings` are needed for another engine than the one that the index was compiled for."""
        verify(files.rows, files.rows_sha256)
        verify(files.index, files.index_sha256)
        self._path = files.rows
        try:
            self.rows = read_rows(files.rows)
            if settings is None or engine == "auto":
                self.index = Index.load_image(files.index) if files.image else Index.load(files.index)
            else:
                self.index = settings.index(engine)
                self.index.add_many(numbered(self.rows))
        except (pa.ArrowException, IndexFormatError) as error:
            broken = files.index if isinstance(error, IndexFormatError) else files.rows
            raise damaged(broken, error) from None
        if len(self.index) != self.rows.num_rows:
            have, want = len(self.index), self.rows.num_rows
            raise damaged(files.index, f"{have:,} subscriptions for {want:,} rows")
        if files.delta is None and files.subscriptions != self.rows.num_rows:
            raise damaged(files.rows, f"{self.rows.num_rows:,} rows instead of {files.subscriptions:,}")
        self._hidden: Any = pa.nulls(0, pa.int64())
        self._added = 0
        self.applied: str | None = None
        """The SHA-256 of the delta."""
        self.all_rows = self.rows
        """With those that the delta adds behind them."""

    def become(self, files: Located) -> None:
        """Applies the delta of a version, and no other. After an error the index may be half changed."""
        if files.delta_sha256 != self.applied:
            delta = None
            if files.delta is not None:
                verify(files.delta, str(files.delta_sha256))
                delta = read_rows(files.delta)
            self.applied = _CHANGING  # nobody who waits may take it for what it was
            self._take_back()
            if delta is not None:
                self._apply(delta)
            self.applied = files.delta_sha256
        if len(self.index) != files.subscriptions:
            have, want = len(self.index), files.subscriptions
            raise damaged(self._path, f"{have:,} subscriptions instead of {want:,}")

    def _apply(self, delta: Any) -> None:
        self._hidden = hidden(self.rows, delta)
        for row in self._hidden.to_pylist():
            self.index.remove(row)
        self.all_rows = changed_rows(self.rows, delta)
        added = self.all_rows.slice(self.rows.num_rows)
        numbers = np.arange(self.rows.num_rows, self.all_rows.num_rows)
        self.index.add_many(numbered(added, from_numpy(numbers)))
        self._added = added.num_rows

    def _take_back(self) -> None:
        for row in range(self._added):
            self.index.remove(self.rows.num_rows + row)
        self.index.add_many(numbered(self.rows.take(self._hidden), self._hidden))
        self._hidden, self._added = pa.nulls(0, pa.int64()), 0
        self.all_rows = self.rows


def answers(index: Index, documents: Any, form: str) -> tuple[list[Any], dict[int, Any], list[Any]]:
    """Lists of ids, in order or `loose`, or groups; what is wrong with documents; what was not decided."""
    results = index.match_many(documents)
    arrays = list(results.to_groups()) if form == "groups" else [results.to_arrow(ordered=form != "loose")]
    bad = pc.indices_nonzero(pc.is_null(arrays[0])).to_pylist()
    return arrays, {place: results[place].args for place in bad}, results.undecided


def changed_rows(rows: Any, delta: Any) -> Any:
    """The rows, and behind them those that a delta adds: what an index with the delta numbers."""
    return pa.concat_tables([rows, delta.filter(pc.invert(delta["removed"])).select(rows.column_names)])


def hidden(rows: Any, delta: Any) -> Any:
    """The numbers of the rows that a delta replaces or removes."""
    ids = single(delta["id"])
    return pc.cast(pc.indices_nonzero(pc.is_in(single(rows["id"]), value_set=ids)), pa.int64())


def verify(path: str, wanted: str) -> None:
    """Raises unless a file has the contents that the manifest promised."""
    if sha256(path) != wanted:
        raise damaged(path, "its contents are not what the manifest says")


def damaged(path: str, why: object) -> IndexFormatError:
    """The error for a file that cannot be used."""
    return IndexFormatError(
        f"the compiled subscriptions in {path} cannot be used ({why}): compile them again with "
        "compile_subscriptions(); if a newer Pathcast made them, this worker needs that version"
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
        numbers = from_numpy(np.arange(rows.num_rows))
    columns = {"id": numbers, "xpath": rows["xpath"]}
    for name in ("ordered", "namespaces"):
        if rows[name].null_count < rows.num_rows:
            columns[name] = rows[name]
    if rows["variables"].null_count == rows.num_rows:
        return pa.table(columns)
    return _with_variables(rows, numbers)


def numbered_texts(texts: Any) -> Any:
    """Expressions without anything else, numbered."""
    return pa.table({"id": from_numpy(np.arange(len(texts))), "xpath": texts})


def _with_variables(rows: Any, numbers: Any) -> Iterator[Any]:
    names = ("xpath", "ordered", "namespaces", "variables")
    at = 0
    for batch in rows.select(names).to_batches(_ROWS):
        for row in batch.to_pylist():
            bound = variables_from(row["variables"])
            namespaces = {prefix: uri for prefix, uri in row["namespaces"] or () if uri is not None}
            yield numbers[at].as_py(), row["xpath"], row["ordered"], namespaces, bound
            at += 1
