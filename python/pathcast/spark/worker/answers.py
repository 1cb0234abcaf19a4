"""How answers leave a worker.

`lists`: a row for each document with the list of its matches, `found`, which Spark makes rows of: to hand
over a row for each match costs Spark more time. A match that is only an id is listed as such, not as a
struct of one, and a list that can hold no null says so: Spark looks at every member otherwise, which was a
third of Java's time. `rows`: a row for each match, where nobody else makes them. Long lists are cut,
except those that are the result. What goes to subscribers is the file `deliveries`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathcast.spark.worker.nodes import NODES
from pathcast.spark.worker.shards import OpenShard
from pathcast.spark.worker.vectors import from_numpy, to_numpy

__all__ = ["DEAD", "RESULTS", "SENT", "SHAPES", "Result", "Shape", "listed", "no_match", "shaped"]

Result: TypeAlias = Literal["matches", "dead", "tagged", "grouped", "delivered"]
RESULTS: tuple[Result, ...] = ("matches", "dead", "tagged", "grouped", "delivered")
Shape: TypeAlias = Literal["lists", "rows"]
SHAPES: tuple[Shape, ...] = ("lists", "rows")

SENT = 256 << 10  # matches of a batch that goes back to Spark
_LISTED = 16 << 10  # matches of a row; longer lists go in several. It divides the other

DEAD = (
    ("reason", pa.string()),
    ("line", pa.int64()),
    ("column", pa.int64()),
    ("kind", pa.string()),
    ("excerpt", pa.string()),
)


def shaped(
    ids: Any,
    lists: Any,
    shard: OpenShard,
    result: Result,
    shape: Shape,
    nodes: dict[str, Any] | None = None,
) -> Iterator[Any]:
    """The matches of some documents, perhaps with their nodes; a null in `lists` is a bad document."""
    if result == "grouped":
        yield from _grouped(ids, lists, shard)
    else:
        tagged = result == "tagged"
        if shape == "lists":
            parts = _lists(ids, lists, shard, nodes or {}, nullable=tagged)
        else:
            parts = _rows(ids, lists, shard, nodes or {})
        for sent, count in parts:
            if tagged:
                sent |= {name: pa.nulls(count, kind) for name, kind in DEAD}
            yield pa.RecordBatch.from_pydict(sent)


def _columns(rows: Any, at: int, shard: OpenShard, nodes: dict[str, Any]) -> dict[str, Any]:
    some = rows.slice(at, SENT)
    columns = {"subscription_id": shard.ids.take(some)}
    if shard.subscribers is not None:
        columns["subscriber"] = shard.subscribers.take(some)
    return columns | {name: column.slice(at, SENT) for name, column in nodes.items()}


def _lists(
    ids: Any, lists: Any, shard: OpenShard, nodes: dict[str, Any], nullable: bool
) -> Iterator[tuple[dict[str, Any], int]]:
    offsets, rows = to_numpy(lists.offsets), lists.values
    cuts = np.arange(0, len(rows), _LISTED)
    bounds = np.insert(offsets, np.searchsorted(offsets, cuts), cuts)  # both are sorted
    bounds = bounds[np.append(True, bounds[1:] > bounds[:-1])]  # of lists that are neither empty nor long
    of = np.searchsorted(offsets, bounds[:-1], side="right") - 1  # the document of each
    for at in range(0, len(rows), SENT):
        columns = _columns(rows, at, shard, nodes)
        first, last = np.searchsorted(bounds, (at, min(at + SENT, len(rows))))
        found = listed(bounds[first : last + 1] - at, _match(columns), nullable)
        yield {"doc_id": ids.take(from_numpy(of[first:last])), "found": found}, last - first


def _rows(
    ids: Any, lists: Any, shard: OpenShard, nodes: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], int]]:
    rows, of = lists.values, pc.list_parent_indices(lists)
    for at in range(0, len(rows), SENT):
        columns = {"doc_id": ids.take(of.slice(at, SENT)), **_columns(rows, at, shard, nodes)}
        yield columns, len(columns["doc_id"])


def _grouped(ids: Any, lists: Any, shard: OpenShard) -> Iterator[Any]:
    """A row for each good document, with all its matches, also if there are none."""
    good = pc.is_valid(lists)
    if lists.null_count:
        ids, lists = ids.filter(good), lists.filter(good)
    offsets = to_numpy(lists.offsets)
    at = 0
    while at < len(ids):
        end = max(at + 1, int(np.searchsorted(offsets, offsets[at] + SENT, side="right")) - 1)
        some = lists.slice(at, end - at)
        subscriptions = shard.ids.take(some.flatten())
        found = listed(offsets[at : end + 1] - offsets[at], subscriptions)
        yield pa.RecordBatch.from_pydict({"doc_id": ids.slice(at, end - at), "subscriptions": found})
        at = end


def no_match(rows: int, shard: OpenShard, shape: Shape, nodes: bool = False) -> dict[str, Any]:
    """Empty columns of matches, for rows that are dead letters."""
    columns = {"subscription_id": pa.nulls(rows, shard.ids.type)}
    if shard.subscribers is not None:
        columns["subscriber"] = pa.nulls(rows, shard.subscribers.type)
    if nodes:
        columns |= {name: pa.nulls(rows, kind) for name, kind in NODES}
    if shape == "rows":
        return columns
    return {"found": listed(np.arange(rows + 1), _match(columns), nullable=True)}


def listed(bounds: Any, members: Any, nullable: bool = False) -> Any:
    """Lists by where each begins and the last ends."""
    kind = pa.list_(pa.field("element", members.type, nullable))
    return pa.ListArray.from_arrays(from_numpy(bounds.astype(np.int32)), members, kind)


def _match(columns: dict[str, Any]) -> Any:
    """What a list of matches consists of: ids, or structs if there is more to a match."""
    first, *more = columns.values()
    return pa.StructArray.from_arrays([first, *more], list(columns)) if more else first
