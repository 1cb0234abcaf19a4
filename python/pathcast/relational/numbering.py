"""Subscriptions as numbers: where documents have thousands of matches, texts are slow to look up and sort.

One key for each pair, the document in its upper half, is sorted by one call. Numbers are in the order of
the ids, so a sorted key is an answer in order.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from pathcast.relational.answers import in_order
from pathcast.types import Id


class Numbering:
    """The subscriptions of one version, numbered in the order of their ids.

    >>> numbering = Numbering(pa.array(['"b"', "10", "9", '"b"']))
    >>> numbering.rows.tolist(), numbering.names.to_pylist()
    ([2, 1, 0, 2], ['9', '10', '"b"'])
    >>> numbering.by_document(pa.array([1, 0, 1, 1]), pa.array([2, 0, 1, 2]))
    [(0, [9]), (1, [10, 'b'])]
    """

    def __init__(self, names: Any) -> None:
        """Of the names in a column, which may come several times."""
        texts = names.to_pylist()
        ids: list[Id] = json.loads(f"[{','.join(texts)}]")
        order = np.array(in_order(ids), np.int64)
        ordered = [ids[at] for at in order]
        is_new = np.array([at == 0 or id != ordered[at - 1] for at, id in enumerate(ordered)], bool)
        self.rows = np.empty(len(ids), np.int32)
        """The number of each name of the column."""
        self.rows[order] = np.cumsum(is_new) - 1
        self.names = names.take(pa.array(order[is_new]))
        """The names by number."""
        self._ids = np.empty(len(self.names), object)
        self._ids[:] = [id for id, new in zip(ordered, is_new, strict=True) if new]

    def by_document(self, documents: Any, numbers: Any) -> list[tuple[int, list[Id]]]:
        """The documents of some pairs, each with its subscriptions in order and once."""
        keys = np.left_shift(documents.to_numpy(zero_copy_only=False), 32)
        keys |= numbers.to_numpy(zero_copy_only=False)
        keys.sort()
        keys = keys[np.diff(keys, prepend=-1) != 0]
        places = keys >> 32
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        ids = self._ids[keys & 0xFFFFFFFF].tolist()
        bounds = pairwise([*starts.tolist(), len(ids)])
        return [
            (place, ids[start:end])
            for place, (start, end) in zip(places[starts].tolist(), bounds, strict=True)
        ]
