"""What happens to documents before they are matched.

Some are left out by their ids: what Spark would filter afterwards anyway. Long ones are not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pathcast.spark.worker.shards import Batches
from pathcast.spark.worker.split import problem

__all__ = ["IdFilter", "bounded", "with_ids"]

Comparison: TypeAlias = Literal[
    "equal", "less", "less_equal", "greater", "greater_equal", "is_in", "starts_with"
]


@dataclass(frozen=True)
class IdFilter:
    """A comparison of ids with a whole number or a text, or with several of them (`is_in`)."""

    comparison: Comparison
    value: int | str | tuple[int | str, ...]

    def holds(self, ids: Any) -> Any:
        """For which of the ids, as booleans; null ids hold for none."""
        if isinstance(self.value, tuple):
            return pc.is_in(ids, value_set=pa.array(self.value, ids.type))
        if self.comparison == "starts_with":
            return pc.starts_with(ids, self.value)
        return getattr(pc, self.comparison)(ids, pa.scalar(self.value, ids.type))


def with_ids(batches: Batches, filters: tuple[IdFilter, ...]) -> Batches:
    """The documents, with their ids in column 0, for which all filters hold.

    >>> batch = pa.RecordBatch.from_pydict({"id": [1, 2, None], "document": ["<a/>", "<b/>", "<c/>"]})
    >>> [some.to_pydict() for some in with_ids(iter([batch]), (IdFilter("greater", 1),))]
    [{'id': [2], 'document': ['<b/>']}]
    """
    for batch in batches:
        if filters:
            kept = reduce(pc.and_, (each.holds(batch.column(0)) for each in filters))
            batch = batch.filter(kept)
        if batch.num_rows:
            yield batch


def bounded(batches: Batches, size: int) -> Batches:
    """The documents, in column 1, with a problem in the place of those that are longer.

    >>> batch = pa.RecordBatch.from_pydict({"id": [1, 2], "document": ["<a/>", "<long/>"]})
    >>> [some["document"].to_pylist() for some in bounded(iter([batch]), 4)]
    [['<a/>', 'not a document: longer than 4 bytes']]
    """
    for batch in batches:
        documents = batch.column(1)
        long = pc.greater(pc.binary_length(documents), size)
        if pc.any(long).as_py():
            note = pa.scalar(problem(f"longer than {size:,} bytes"), pa.binary()).cast(documents.type)
            documents = pc.if_else(pc.fill_null(long, False), note, documents)
            batch = batch.set_column(1, batch.schema.names[1], documents)
        yield batch
