"""A benchmark that is fast and wrong is worth nothing: answers are held against the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from pathcast.index import Index
from pathcast.reference import Expression, parse


class WrongAnswerError(AssertionError):
    """An engine or a peer disagrees with the others or with the reference."""


def check(
    index: Index,
    queries: Sequence[str],
    documents: Sequence[bytes],
    pairs: int = 4_000,
    *,
    namespaces: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
) -> int:
    """Compares a sample of the answers with the reference; the ids must be the queries' numbers.

    Half of the sample is taken from what the index says matches, so that both kinds of error would show.
    """
    random = Random(7)
    checked = 0
    for document in random.sample(list(documents), min(10, len(documents))):
        tree = parse(document)
        found = [int(number) for number in index.match(document)]
        share = pairs // 20
        sample = random.sample(found, min(share, len(found))) + random.choices(range(len(queries)), k=share)
        matched = set(found)
        for number in sample:
            bound: dict[str, Any] = {"variables": variables} if "$" in queries[number] else {}
            expression = Expression(queries[number], namespaces=namespaces, **bound)
            if expression.matches(tree) != (number in matched):
                raise WrongAnswerError(f"{queries[number]} is {number in matched} on {document[:200]!r}")
            checked += 1
    return checked
