"""A benchmark that is fast and wrong is worth nothing: answers are held against the reference."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from pathcast.index import Index
from pathcast.reference import Expression, parse


class WrongAnswerError(AssertionError):
    """An engine and the reference disagree."""


def check(index: Index, queries: Sequence[str], documents: Sequence[bytes], pairs: int = 4_000) -> int:
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
            if Expression(queries[number]).matches(tree) != (number in matched):
                raise WrongAnswerError(f"{queries[number]} is {number in matched} on {document[:200]!r}")
            checked += 1
    return checked
