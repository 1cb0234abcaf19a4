"""The SQL functions within a worker: a column of documents in, a column of answers out.

A bad document is null: a query has nowhere else to put it. An expression that cannot be parsed is an error:
it is part of the query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pathcast.errors import DocumentError
from pathcast.index import Index
from pathcast.spark.worker.nodes import NODE, bounded
from pathcast.spark.worker.shards import ShardFiles, open_shard

__all__ = ["FunctionJob", "match_column", "matches_columns", "select_columns"]

_AT_ONCE = 4 << 20  # matches of a part of a batch, at most, for an index of which everything matches


@dataclass(frozen=True)
class FunctionJob:
    """The shards of the compiled subscriptions; none for functions that need no subscriptions."""

    shards: tuple[ShardFiles, ...] = ()


def match_column(batches: Iterator[Any], job: FunctionJob) -> Iterator[Any]:
    """For each document the ids of the subscriptions that it satisfies, as text."""
    for documents in batches:
        parts = [_matched(_typed(documents), files) for files in job.shards]
        yield parts[0] if len(parts) == 1 else _joined(parts)


def _matched(documents: Any, files: ShardFiles) -> Any:
    shard = open_shard(files)
    step = max(1, _AT_ONCE // max(1, len(shard.index)))
    pieces = []
    for at in range(0, max(1, len(documents)), step):
        results = shard.index.match_many(documents.slice(at, step))
        lists = results.to_arrow()
        ids = pc.cast(shard.ids.take(lists.values), pa.string())
        mask = pc.is_null(lists) if lists.null_count else None
        if undecided := {place for place, _ in results.undecided}:
            # A list that may lack some is none.
            unsure = pa.array([place in undecided for place in range(len(lists))])
            mask = pc.or_(pc.is_null(lists), unsure)
        pieces.append(pa.ListArray.from_arrays(pc.cast(lists.offsets, pa.int32()), ids, mask=mask))
    return pa.concat_arrays(pieces)


def _joined(parts: list[Any]) -> Any:
    """The lists of several shards as one each."""
    rows = zip(*(part.to_pylist() for part in parts), strict=True)
    joined = [None if None in row else [id for some in row for id in some] for row in rows]
    return pa.array(joined, pa.list_(pa.string()))


def matches_columns(batches: Iterator[tuple[Any, Any]], job: FunctionJob) -> Iterator[Any]:
    """For each pair of an expression and a document, whether they fit."""
    for xpaths, documents in batches:
        found: list[bool | None] = [None] * len(documents)
        for xpath, places in _by_expression(xpaths):
            results = _single(xpath).match_many(_typed(documents).take(places))
            undecided = {at for at, _ in results.undecided}
            lengths = pc.list_value_length(results.to_arrow()).to_pylist()
            for at, (place, length) in enumerate(zip(places.to_pylist(), lengths, strict=True)):
                found[place] = None if length is None or at in undecided else length > 0
        yield pa.array(found, pa.bool_())


def select_columns(batches: Iterator[tuple[Any, Any]], job: FunctionJob) -> Iterator[Any]:
    """For each pair of an expression and a document, the nodes that it selects: their paths and texts."""
    for xpaths, documents in batches:
        found: list[list[dict[str, str]] | None] = [None] * len(documents)
        for xpath, places in _by_expression(xpaths):
            index = _single(xpath)
            for place in places.to_pylist():
                found[place] = _selected(index, documents[place].as_py())
        yield pa.array(found, pa.list_(NODE))


def _selected(index: Index, document: Any) -> list[dict[str, str]] | None:
    if document is None:
        return None
    try:
        chosen, undecided = index._core.select(document)
    except DocumentError:
        return None
    nodes = chosen.get(0, [])
    some, _ = bounded(nodes)
    # Some of them would look like all of them.
    return None if undecided or some is None or len(some) < len(nodes) else some


def _typed(documents: Any) -> Any:
    """A literal null has a type of its own."""
    return documents.cast(pa.binary()) if pa.types.is_null(documents.type) else documents


def _by_expression(xpaths: Any) -> Iterator[tuple[str, Any]]:
    """Each expression of a column with the places where it stands; null stands nowhere."""
    encoded = pc.dictionary_encode(xpaths.cast(pa.string()))
    for code, xpath in enumerate(encoded.dictionary.to_pylist()):
        yield xpath, pc.indices_nonzero(pc.equal(encoded.indices, code))


@lru_cache(maxsize=256)
def _single(xpath: str) -> Index:
    index = Index()
    index.add(0, xpath)
    return index
