"""Expressions into one that covers them: the three rules of the paper for linear paths, and one for values.

1. One name differs: it becomes ``*``.
2. Two things differ, names or operators: names become ``*``, operators ``//``.
3. A part in the middle differs: it becomes ``//``.
4. The values differ that are asked for: they are listed (`pathcast.network.values`).

Where several rules apply, the first makes the tightest merger: what a later one makes covers it.

A merger is *perfect* if it selects nothing that its members do not, under what publishers advertise;
otherwise its imperfect degree says how much more it lets through. What is too much never reaches a
subscriber: brokers at the edge match with the subscriptions themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pathcast import _core
from pathcast.limits import Limits
from pathcast.network.advertisement import graph_advertisement
from pathcast.network.message import Filter
from pathcast.network.values import MOST, united, valued
from pathcast.schema import Schema
from pathcast.types import Namespaces

Step = tuple[str, str]
Steps = tuple[Step, ...]

MOST_DIFFERENT = 2
"""Steps that rule 3 may drop from either side; at least as many must be common."""
RULES = (1, 2, 3, 4)
_LIMITS = Limits()


@lru_cache(maxsize=1 << 12)
def steps(xpath: str) -> Steps | None:
    """The steps of a linear path of names and wildcards; None for everything else.

    >>> steps("/a//body.head/*"), steps("a/b"), steps("/a[b]")
    ((('/', 'a'), ('//', 'body.head'), ('/', '*')), (('//', 'a'), ('/', 'b')), None)
    """
    found = _core.path_steps(xpath, _LIMITS)
    return None if found is None else tuple(("//" if below else "/", name) for below, name in found)


def text(path: Sequence[Step]) -> str:
    """Steps as a path."""
    return "".join(axis + name for axis, name in path)


def merged(first: Steps, second: Steps, rules: Sequence[int] = (1, 2, 3)) -> tuple[int, Steps] | None:
    """The rule that merges two paths, and what it makes of them.

    >>> rule, path = merged(steps("/a/*/c/d"), steps("/a/*/c/e"))
    >>> rule, text(path)
    (1, '/a/*/c/*')
    >>> rule, path = merged(steps("/a/b//c/d"), steps("/a//b/c/d"))
    >>> rule, text(path)
    (2, '/a//b//c/d')
    """
    if len(first) == len(second):
        names = [at for at, (one, other) in enumerate(zip(first, second, strict=True)) if one[1] != other[1]]
        axes = [at for at, (one, other) in enumerate(zip(first, second, strict=True)) if one[0] != other[0]]
        if 1 in rules and len(names) == 1 and not axes:
            return 1, _generalised(first, names, axes)
        if 2 in rules and axes and len(names) + len(axes) <= 2:
            return 2, _generalised(first, names, axes)
        if 2 in rules and len(names) == 2 and not axes and len(first) >= 4:
            # At least as many names are equal.
            return 2, _generalised(first, names, axes)
    if 3 in rules:
        return _cut(first, second)
    return None


def _generalised(path: Steps, names: list[int], axes: list[int]) -> Steps:
    return tuple(
        ("//" if at in axes else axis, "*" if at in names else name) for at, (axis, name) in enumerate(path)
    )


def _cut(first: Steps, second: Steps) -> tuple[int, Steps] | None:
    """What both begin and end with, and ``//`` between; only if most of both is that."""
    shorter = min(len(first), len(second))
    start = 0
    while start < shorter and first[start] == second[start]:
        start += 1
    # The operator before the common end is dropped with the part, so it need not be the same.
    end = 0
    while end < shorter - start and first[-1 - end][1] == second[-1 - end][1]:
        end += 1
        if first[-end][0] != second[-end][0]:
            break
    longest = max(len(first), len(second)) - start - end
    if end == 0 or longest > MOST_DIFFERENT or start + end < max(2, longest):
        return None
    tail = first[len(first) - end :]
    return 3, (*first[:start], ("//", tail[0][1]), *tail[1:])


def merge(first: str, second: str, *, rules: Sequence[int] = RULES) -> str | None:
    """The merger of two expressions, or None when no rule applies.

    One that covers the other is the merger of both. Where more values would be listed than a merger may have,
    it is the path alone.

    >>> merge("/a/c/*/*", "/a//c/*/c"), merge("/a/b/c/d", "/a/x/y/d"), merge("/a", "/b/c")
    ('/a//c/*/*', '/a/*/*/d', None)
    >>> merge("//a[@x > 3]", "//a[@x > 5]"), merge("//a[@x = 1]", "//a[@x = 2]")
    ('//a[@x > 3]', '//a[@x = 1 or @x = 2]')
    """
    cover = _core.Cover(Limits())
    cover.register(0, first)
    cover.register(1, second)
    if cover.covers(0, 1):
        return first
    if cover.covers(1, 0):
        return second
    merger = merged_filter(Filter(first), Filter(second), rules)
    if merger is not None:
        return merger.xpath
    return _path_alone(first, second) if 4 in rules else None


def _path_alone(first: str, second: str) -> str | None:
    one, other = valued(first), valued(second)
    if one is None or other is None or united([one, other]) is None:
        return None
    return one.head + one.tail


def imperfect_degree(
    schema: Schema,
    merger: str,
    members: Sequence[str],
    *,
    depth: int = 12,
    namespaces: Namespaces | None = None,
) -> float | None:
    """The share of the schema's paths that a merger selects and none of its members does; 0 is perfect.

    Paths lead from the root to any element, down to `depth` levels. None when the merger selects none of
    them, or when they are too many kinds to tell.

    >>> schema = Schema.from_text('''
    ...     <!ELEMENT a (x, y)> <!ELEMENT x (c)> <!ELEMENT y (c)> <!ELEMENT c (d | e | f | g)*>
    ...     <!ELEMENT d EMPTY> <!ELEMENT e EMPTY> <!ELEMENT f EMPTY> <!ELEMENT g EMPTY>
    ... ''')
    >>> imperfect_degree(schema, "/a/*/c/*", ["/a/*/c/d", "/a/*/c/e"])
    0.5
    """
    cover = _core.Cover(Limits())
    names = {**schema.namespaces, **(namespaces or {})}
    cover.advertise(0, [graph_advertisement(schema)], schema.namespaces)
    for number, xpath in enumerate((merger, *members)):
        cover.register(number, xpath, False, names)
    return cover.degree(0, 0, list(range(1, len(members) + 1)), depth)


def merged_filter(first: Filter, second: Filter, rules: Sequence[int]) -> Filter | None:
    """The merger of two filters."""
    if first.ordered or second.ordered or first[2:] != second[2:]:
        return None
    one, other = steps(first.xpath), steps(second.xpath)
    if one and other:
        found = merged(one, other, rules)
        return first._replace(xpath=text(found[1])) if found else None
    return listed([first, second]) if 4 in rules else None


def starred(filters: Sequence[Filter], positions: Sequence[int]) -> Filter | None:
    """Paths that are alike but for some names, with ``*`` there; None if not all of these names differ, or
    the paths are not equally long.

    >>> starred([Filter("/a/b/c/d"), Filter("/a/x/c/y")], [1, 3]).xpath
    '/a/*/c/*'
    >>> starred([Filter("/a/b/c/d"), Filter("/a/x/c/d")], [1, 3]) is None
    True
    """
    paths = [path for each in filters if (path := steps(each.xpath)) is not None]
    if len(paths) < len(filters) or any(len(path) != len(paths[0]) for path in paths):
        return None
    if any(len({path[at][1] for path in paths}) == 1 for at in positions):
        return None
    return filters[0]._replace(xpath=text(_generalised(paths[0], list(positions), [])))


def listed(filters: Sequence[Filter]) -> Filter | None:
    """Filters that differ in values alone as one that lists them; None for others, and for too many."""
    parts = [each for filter in filters if (each := valued(filter.xpath)) is not None]
    if len(parts) < len(filters):
        return None
    found = united(parts)
    if found is None or len(found.tests) > MOST:
        return None
    return filters[0]._replace(xpath=found.text())


def unlisted(merger: Filter, members: Sequence[Filter]) -> float:
    """The share of the values that a merger lists and no member asks for.

    >>> unlisted(Filter("//a[@x = 1 or @x = 2]"), [Filter("//a[@x=2]")])
    0.5
    """
    asked = {test for each in members if (parts := valued(each.xpath)) for test in parts.tests}
    parts = valued(merger.xpath)
    tests = parts.tests if parts else ()
    return sum(test not in asked for test in tests) / max(1, len(tests))
