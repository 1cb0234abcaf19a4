"""Expressions that differ only in the values they ask for, as one that lists the values.

``//a[@x = 1]`` and ``//a[@x = 2]`` are together ``//a[@x = 1 or @x = 2]``. That is perfect, whatever is
advertised: some element satisfies one of two tests if some element satisfies the first, or some the second.
Of two thresholds in one direction the wider covers the other, so those that are listed face each other.

A text is taken apart with a regular expression. What it does not know is not merged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from pathcast import _core
from pathcast.errors import XPathError
from pathcast.limits import Limits

MOST = 16
"""Tests that one merger lists."""

_NAME = r"[^\W\d][\w.-]*"
_QNAME = rf"(?:{_NAME}:)?{_NAME}"
_OPERAND = rf"(?:\.|@{_QNAME}|{_QNAME}(?:/{_QNAME})*(?:/@{_QNAME})?)"
_VALUE = rf"""(?:-?[0-9]+(?:\.[0-9]+)?|'[^']*'|"[^"]*"|\${_QNAME})"""
_TEST = rf"\s*({_OPERAND})\s*(=|!=|<=|>=|<|>)\s*({_VALUE})\s*"
_OUTSIDE = r"[^\[\]'\"]+"
_WHOLE = re.compile(rf"({_OUTSIDE})\[({_TEST}(?:\bor\b{_TEST})*)\]({_OUTSIDE})?")
_ONE = re.compile(_TEST)
_LIMITS = Limits()


class Valued(NamedTuple):
    """A linear path with one predicate, which is one or more tests of values."""

    head: str
    """The path up to the predicate."""
    tests: tuple[str, ...]
    tail: str

    def text(self) -> str:
        """As an expression."""
        return f"{self.head}[{' or '.join(self.tests)}]{self.tail}"


@lru_cache(maxsize=1 << 12)
def valued(xpath: str) -> Valued | None:
    """An expression taken apart; None for one of another form.

    >>> valued("//a[@x='p' or b>3]/c")
    Valued(head='//a', tests=("@x = 'p'", 'b > 3'), tail='/c')
    >>> valued("//a[@x]"), valued("//a[1]"), valued("//a[b = 1][c = 2]"), valued("//a[@x = 1 and @y = 2]")
    (None, None, None, None)
    """
    found = _WHOLE.fullmatch(xpath)
    if found is None:
        return None
    head, tail = found[1].strip(), (found[found.re.groups] or "").strip()
    if (tail and not tail.startswith("/")) or not _is_linear(head) or not _is_linear(head + tail):
        return None
    tests = [" ".join(each.groups()) for each in _ONE.finditer(found[2])]
    return Valued(head, tuple(dict.fromkeys(tests)), tail)


def _is_linear(path: str) -> bool:
    try:
        return _core.path_steps(path, _LIMITS) is not None
    except XPathError:
        return False


def united(many: Iterable[Valued]) -> Valued | None:
    """Expressions that differ in their tests alone, as one with all tests; None for others.

    >>> united([valued("//a[@x = 1]"), valued("//a[@x = 2 or @x = 1]")]).text()
    '//a[@x = 1 or @x = 2]'
    """
    first, *others = many
    if any((each.head, each.tail) != (first.head, first.tail) for each in others):
        return None
    tests = dict.fromkeys(test for each in (first, *others) for test in each.tests)
    return first._replace(tests=tuple(tests))
