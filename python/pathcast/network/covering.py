"""Which expression covers which, and which a publisher's documents can satisfy at all.

Exact for linear paths, sound for the rest: what is called covered is covered, and what can match overlaps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pathcast import _core
from pathcast.limits import Limits
from pathcast.types import Namespaces


def covers(
    general: str,
    specific: str,
    *,
    namespaces: Namespaces | None = None,
    ordered: bool = False,
) -> bool:
    """Whether every document that satisfies the second expression satisfies the first.

    For linear paths (names, ``*``, ``/``, ``//``, an attribute at the end) the answer is exact. With
    branches and values a "no" may also mean that the proof was not found.

    >>> covers("/a//b", "/a/c/b"), covers("/a/c/b", "/a//b")
    (True, False)
    >>> covers("//item[@price > 5]", "/news/item[@price > 10][title]")
    True
    """
    cover = _core.Cover(Limits())
    cover.register(0, general, ordered, namespaces)
    cover.register(1, specific, ordered, namespaces)
    return cover.covers(0, 1)


def relation(
    first: str, second: str, *, namespaces: Namespaces | None = None, ordered: bool = False
) -> Literal["equal", "covers", "covered", "neither"]:
    """How the first expression stands to the second.

    >>> relation("//a", "/*//a"), relation("//*/a", "/*//a")
    ('covers', 'equal')
    """
    cover = _core.Cover(Limits())
    cover.register(0, first, ordered, namespaces)
    cover.register(1, second, ordered, namespaces)
    match cover.covers(0, 1), cover.covers(1, 0):
        case True, True:
            return "equal"
        case True, False:
            return "covers"
        case False, True:
            return "covered"
        case _:
            return "neither"


def overlaps(
    advertisement: str | Iterable[str],
    subscription: str,
    *,
    namespaces: Namespaces | None = None,
    ordered: bool = False,
) -> bool:
    """Whether a document with the advertised paths can satisfy a subscription.

    Exact for linear paths. Branches, values and negations err towards yes. A single text is taken as one
    advertisement among several of its publisher, so one possible path of a tree pattern is enough; given as a
    list, the texts are all that the publisher advertises, and every path must be possible.

    >>> overlaps("/a/*/b/a", "a/b/a"), overlaps("/a/b/a/b", "a/*/b")
    (True, False)
    >>> overlaps("/a(/b/c)+/d", "/a/b/c/b//d"), overlaps("/a(/b/c)+/d", "/a/b/d")
    (True, False)
    >>> overlaps(["/a/b", "/a/c"], "/a[b]/c"), overlaps(["/a/b"], "/a[b]/c")
    (True, False)
    """
    single = isinstance(advertisement, str)
    texts = [advertisement] if isinstance(advertisement, str) else list(advertisement)
    cover = _core.Cover(Limits())
    cover.advertise(0, texts, namespaces)
    cover.register(0, subscription, ordered, namespaces)
    return bool(cover.overlapping([0], [0], single))
