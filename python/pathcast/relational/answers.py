"""Answers as ids in order. A document may have thousands of matches, so columns are sorted, not rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from itertools import repeat
from typing import Any

from pathcast.types import Id

HELD = 1_000_000
"""Ids that are remembered from batch to batch."""


class Answers:
    """Turns columns of documents and subscriptions into lists of ids, and remembers the ids."""

    def __init__(self) -> None:
        self._ids: dict[str, Id] = {}

    def by_document(self, documents: Any, subscriptions: Any) -> Iterator[tuple[int, list[Id]]]:
        """The places of the documents that have matches, each with its subscriptions in order.

        >>> import pyarrow as pa
        >>> found = Answers().by_document(pa.array([1, 0, 1, 1, 1]), pa.array(['"b"', '5', '10', '9', '10']))
        >>> list(found)
        [(0, [5]), (1, [9, 10, 'b'])]
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if not len(documents):
            return
        encoded = subscriptions.dictionary_encode()
        ids = self._decoded(encoded.dictionary.to_pylist())
        order = in_order(ids)
        ranks: list[int] = [0] * len(order)
        for rank, place in enumerate(order):
            ranks[place] = rank
        rank = pc.take(pa.array(ranks, pa.int64()), encoded.indices)
        keys = pc.bit_wise_or(pc.shift_left(documents, 32), rank)
        keys = keys.take(pc.array_sort_indices(keys))
        again = pc.equal(keys.slice(1), keys.slice(0, len(keys) - 1))
        if pc.any(again).as_py():  # a pair was found in several ways
            keys = pa.concat_arrays([keys.slice(0, 1), keys.slice(1).filter(pc.invert(again))])
        names = [ids[place] for place in order]
        counted = pc.value_counts(pc.shift_right(keys, 32))
        found = pc.bit_wise_and(keys, 0xFFFF_FFFF).to_pylist()
        start = 0
        for document, count in zip(*(field.to_pylist() for field in counted.flatten()), strict=True):
            yield document, list(map(names.__getitem__, found[start : start + count]))
            start += count

    def _decoded(self, texts: list[str]) -> list[Id]:
        if len(self._ids) > HELD:
            self._ids.clear()
        known = self._ids
        return [known[text] if text in known else known.setdefault(text, json.loads(text)) for text in texts]


def in_order(ids: list[Id]) -> list[int]:
    """The places of ids in their order: numbers before texts.

    >>> in_order(["b", 3, "a", 1])
    [3, 1, 2, 0]
    """
    try:
        return sorted(range(len(ids)), key=ids.__getitem__)
    except TypeError:
        return sorted(range(len(ids)), key=lambda place: (isinstance(ids[place], str), ids[place]))


def pairs(found: dict[Id, list[Id]]) -> list[tuple[Id, Id]]:
    """All pairs of document and subscription, the documents in order."""
    documents = list(found)
    answer: list[tuple[Id, Id]] = []
    for place in in_order(documents):
        document = documents[place]
        answer.extend(zip(repeat(document), found[document], strict=False))
    return answer


def merged(lists: Collection[list[Id]]) -> list[Id]:
    """Several lists as one in order, each id once."""
    ids = list({id for each in lists for id in each})
    return [ids[place] for place in in_order(ids)]
