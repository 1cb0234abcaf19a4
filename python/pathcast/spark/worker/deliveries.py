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
from pathcast.spark.worker.vectors import from_numpy, to_numpy
from pathcast.types import Groups

__all__ = ["count", "delivered"]


def count(groups: Groups) -> int:
    """How many matches the documents have."""
    sizes = to_numpy(pc.list_value_length(groups.members))
    return int(sizes[to_numpy(groups.documents.values)].sum())


def delivered(ids: Any, groups: Groups, shard: OpenShard) -> Iterator[Any]:
    """The rows of some documents; those of a document are in the order of subscribers."""
    rows = to_numpy(groups.members.values)
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
        subscriptions = shard.ids.take(from_numpy(rows[places[first:last]]))
        yield pa.RecordBatch.from_pydict(
            {
                "doc_id": ids.take(from_numpy(of[starts[at:end]])),
                "subscriber": names.take(from_numpy(who[starts[at:end]])),
                "subscriptions": answers.listed(cut[at : end + 1] - first, subscriptions),
            }
        )
        at = end


def _keys(groups: Groups, order: Any, bits: int) -> Any:
    """For each match the document and, in the lower bits, the place of the subscription in the order."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    places = pa.ListArray.from_arrays(groups.members.offsets, from_numpy(place))
    found = places.take(groups.documents.values)
    sizes = to_numpy(pc.list_value_length(found))
    of = to_numpy(pc.list_parent_indices(groups.documents)).astype(np.int64)
    return np.repeat(of, sizes) << bits | to_numpy(pc.list_flatten(found))
