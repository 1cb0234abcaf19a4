"""What goes to whom: a row for each document and subscriber, with what of the subscriber matched.

Documents come with the groups of subscriptions that they matched. Who gets what a member matches, and the
order of all members by that, is worked out once for the groups of a slice. A document is then a set of places
in that order, to be sorted; the ids of subscriptions are looked up where they leave.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathcast.spark.worker import answers
from pathcast.spark.worker.shards import OpenShard
from pathcast.types import Groups

__all__ = ["count", "delivered"]


def count(groups: Groups) -> int:
    """How many matches the documents have."""
    sizes = pc.list_value_length(groups.members).to_numpy()
    return int(sizes[groups.documents.values.to_numpy()].sum())


def delivered(ids: Any, groups: Groups, shard: OpenShard) -> Iterator[Any]:
    """The rows of some documents; those of a document are in the order of subscribers."""
    rows = groups.members.values.to_numpy()
    if not len(rows):
        return
    codes, names = shard.recipients
    order = np.lexsort((rows, codes[rows]))
    rows, codes = rows[order], codes[rows[order]]
    bits = len(rows).bit_length()
    keys = _keys(groups, order, bits)
    keys.sort()
    of, places = keys >> bits, keys & ((1 << bits) - 1)
    who = codes[places]
    starts = np.flatnonzero(np.diff(of, prepend=-1) | np.diff(who, prepend=-1))
    cut = np.append(starts, len(keys))
    at = 0
    while at < len(starts):
        end = max(at + 1, int(np.searchsorted(cut, cut[at] + answers.SENT, side="right")) - 1)
        first, last = int(cut[at]), int(cut[end])
        subscriptions = shard.ids.take(pa.array(rows[places[first:last]]))
        yield pa.RecordBatch.from_pydict(
            {
                "doc_id": ids.take(pa.array(of[starts[at:end]])),
                "subscriber": names.take(pa.array(who[starts[at:end]])),
                "subscriptions": answers.listed(cut[at : end + 1] - first, subscriptions),
            }
        )
        at = end


def _keys(groups: Groups, order: Any, bits: int) -> Any:
    """For each match the document and, in the lower bits, the place of the subscription in the order."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    places = pa.ListArray.from_arrays(groups.members.offsets, pa.array(place))
    found = places.take(groups.documents.values)
    sizes = pc.list_value_length(found).to_numpy()
    of = pc.list_parent_indices(groups.documents).to_numpy().astype(np.int64)
    return np.repeat(of, sizes) << bits | pc.list_flatten(found).to_numpy()
