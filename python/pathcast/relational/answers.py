"""Pairs in order: numbers before texts."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import repeat

from pathcast.types import Id


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
    with _uncollected():
        for place in in_order(documents):
            document = documents[place]
            answer.extend(zip(repeat(document), found[document], strict=False))
    return answer


@contextmanager
def _uncollected() -> Iterator[None]:
    """Looking for cycles among hundreds of thousands of new pairs took a third of the time to make them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def merged(lists: Collection[list[Id]]) -> list[Id]:
    """Several lists as one in order, each id once."""
    ids = list({id for each in lists for id in each})
    return [ids[place] for place in in_order(ids)]
