"""Puts together what several shards say about a document where its list is one row, within a worker.

No list leaves before all shards have answered, so documents are asked some at a time: as many as give about
as many bytes of answers as of documents are held. Who gives more is asked again, half as many at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from pathcast.spark.worker import answers
from pathcast.spark.worker.kept import ID
from pathcast.spark.worker.shards import Batches
from pathcast.spark.worker.vectors import from_numpy, to_numpy

__all__ = ["Merger"]

Ask: TypeAlias = Callable[[Any, Any], Batches]
"""What all shards say about documents with these ids: rows with the list `subscriptions`."""

_AT = "pathcast at"  # a document's place, beside its id: two documents may have one id
_MOST = 1 << 30


@dataclass
class Merger:
    """Rows of lists that are whole."""

    held: int
    """Bytes of answers that are held at once, unless one document has more."""
    at_once: int = _MOST
    """Documents that are asked at once."""

    def rows(self, ids: Any, documents: Any, ask: Ask) -> Iterator[Any]:
        """A row for each document, or for each document and subscriber; lists are in the order of shards."""
        at = 0
        while at < len(ids):
            some = ids.slice(at, self.at_once)
            parts = self._gathered(some, documents.slice(at, self.at_once), ask)
            if parts is None:
                self.at_once = len(some) // 2
                continue
            at += len(some)
            if sum(part.nbytes for part in parts) < self.held // 4:
                self.at_once = min(_MOST, 2 * self.at_once)
            if parts:
                yield from _merged(some, parts)

    def _gathered(self, ids: Any, documents: Any, ask: Ask) -> list[Any] | None:
        """What the shards say; None if that is too much for so many documents."""
        places = from_numpy(np.arange(len(ids)))
        placed = pa.StructArray.from_arrays([ids, places], [ID, _AT])
        parts: list[Any] = []
        size = 0
        for part in ask(placed, documents):
            size += part.nbytes
            if size > self.held and len(ids) > 1:
                return None
            parts.append(part)
        return parts


def _merged(ids: Any, parts: list[Any]) -> Iterator[Any]:
    columns = {
        name: pa.concat_arrays([part.column(name) for part in parts]) for name in parts[0].schema.names
    }
    at = to_numpy(columns["doc_id"].flatten()[1])
    names = columns.get("subscriber")
    who = np.zeros(len(at), np.int32) if names is None else to_numpy(names.dictionary_encode().indices)
    order = np.lexsort((who, at))
    at, who = at[order], who[order]
    starts = np.flatnonzero(np.diff(at, prepend=-1) | np.diff(who, prepend=-1))
    lists = columns["subscriptions"].take(from_numpy(order))
    offsets = to_numpy(lists.offsets)
    bounds = offsets[np.append(starts, len(at))]
    first = 0
    while first < len(starts):
        last = max(first + 1, int(np.searchsorted(bounds, bounds[first] + answers.SENT, side="right")) - 1)
        some = starts[first:last]
        sent = {"doc_id": ids.take(from_numpy(at[some]))}
        if names is not None:
            sent["subscriber"] = names.take(from_numpy(order[some]))
        begin, end = int(bounds[first]), int(bounds[last])
        members = lists.values.slice(begin, end - begin)
        sent["subscriptions"] = answers.listed(bounds[first : last + 1] - begin, members)
        yield pa.RecordBatch.from_pydict(sent)
        first = last
