"""A workload that is drawn quickly at any size: 2 KB documents put together from fragments, linear queries.

Every document is another one, and no two queries are the same. Paths are random on both sides, so the number
of matches is a property of the lengths of the queries: with four to eight steps a document of 2 KB satisfies
some dozens of 100,000.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

NAMES = tuple(
    f"{kind}.{part}" for kind in ("head", "body", "media", "date") for part in ("a", "b", "c", "d", "e")
)
FRAGMENTS = 5_000


def documents(number: int, size: int = 2_000, seed: int = 1) -> Iterator[bytes]:
    """Documents of about this many bytes.

    >>> [len(document) > 1_500 for document in documents(2)]
    [True, True]
    """
    random = Random(seed)

    def element(depth: int) -> str:
        name = random.choice(NAMES)
        inside = "".join(element(depth + 1) for _ in range(random.randint(0, 3) if depth < 8 else 0))
        return f'<{name} id="{random.randint(1, 20)}">{inside or random.choice(_WORDS)}</{name}>'

    fragments = [text for text in (element(1) for _ in range(FRAGMENTS)) if len(text) < size]
    for place in range(number):
        parts = [f'<news id="{place}">']
        length = 0
        while length < size - 200:
            parts.append(random.choice(fragments))
            length += len(parts[-1])
        parts.append("</news>")
        yield "".join(parts).encode()


_WORDS = ("a storm is coming", "late goal", "the vote was close", "copper fell", "the museum opens again")


def queries(number: int, seed: int = 2) -> list[str]:
    """That many distinct linear queries; the first of many are the same as few.

    >>> queries(3) == queries(5)[:3]
    True
    """
    random = Random(seed)
    axes = ("/", "/", "/", "/", "/", "//")
    tests = (*NAMES, "*")
    found: dict[str, None] = {}
    while len(found) < number:
        steps = random.randint(4, 8)
        found["/news" + "".join(random.choice(axes) + random.choice(tests) for _ in range(steps))] = None
    return list(found)
