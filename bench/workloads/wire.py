"""`wire`: linear paths over twenty names, and messages of 2 KB whose every element is drawn anew.

Paths are random on both sides, so the number of matches follows from the lengths of the queries. No two
queries are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

NAMES = tuple(
    f"{kind}.{part}" for kind in ("head", "body", "media", "date") for part in ("a", "b", "c", "d", "e")
)
_PIECES = 130  # tags and texts, after which a message grows no further: about 2 KB
_AXES = ("/", "/", "/", "/", "/", "//")
_TESTS = (*NAMES, "*")
_WORDS = ("a storm is coming", "late goal", "the vote was close", "copper fell", "the museum opens again")


def documents(seed: int) -> Iterator[bytes]:
    """Messages of about 2 KB, without end.

    >>> stream = documents(1)
    >>> [1_500 < len(next(stream)) < 2_700 for _ in range(3)]
    [True, True, True]
    """
    random = Random(seed)
    draw = random.random

    def element(depth: int, out: list[str]) -> None:
        name = NAMES[int(draw() * 20)]
        out.append(f'<{name} id="{1 + int(draw() * 20)}">')
        children = int(draw() * 4) if depth < 8 and len(out) < _PIECES else 0
        for _ in range(children):
            element(depth + 1, out)
        if not children:
            out.append(_WORDS[int(draw() * 5)])
        out.append(f"</{name}>")

    place = 0
    while True:
        parts = [f'<news id="{place}">']
        while len(parts) < _PIECES:
            element(1, parts)
        parts.append("</news>")
        yield "".join(parts).encode()
        place += 1


def queries(number: int, seed: int = 2) -> list[str]:
    """That many distinct linear queries; the first of many are the same as few.

    >>> queries(3) == queries(5)[:3]
    True
    """
    random = Random(seed)
    found: dict[str, None] = {}
    while len(found) < number:
        steps = random.randint(4, 8)
        found["/news" + "".join(random.choice(_AXES) + random.choice(_TESTS) for _ in range(steps))] = None
    return list(found)
