"""`twigs`: tree patterns with a value test each, over NITF, and documents of 4 KB drawn from its DTD."""

from __future__ import annotations

from collections.abc import Iterator

from bench.corpus import news_schema
from bench.workloads.nitf import documents
from pathcast.generate import subscriptions

__all__ = ["documents", "queries"]


def queries(number: int, seed: int = 11) -> list[str]:
    """That many expressions; the first of many are the same as few.

    >>> all("[" in query for query in queries(50))
    True
    """
    return list(_first(number, seed))


def _first(number: int, seed: int) -> Iterator[str]:
    drawn = subscriptions(
        news_schema(),
        8 * number + 1_000,
        max_depth=8,
        wildcard=0.1,
        descendant=0.1,
        branch=0.3,
        nested=2,
        predicates=1,
        seed=seed,
    )
    left = number
    for xpath in drawn:
        if left == 0:
            return
        if xpath.count("[") > 1:  # a branch beside the value
            left -= 1
            yield xpath
