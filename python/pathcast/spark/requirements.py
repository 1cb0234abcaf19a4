"""What a subscription cannot do without, as weaker expressions: a document that misses them cannot match.

``/item[category = 'x'][priority >= 3]`` needs ``/item[category = 'x']``. A node that survives all predicates
of a step satisfies each of them, so a path with all predicates but one taken out, and cut behind it, is
implied by the whole. The predicate that is kept compares a path with a constant: that does not depend on
positions. A path without such a test needs its own first steps.

A text is taken apart with regular expressions. Of what they do not know, nothing is required.
Subscriptions are many and their forms are few: what is found in one holds for all that differ in quoted texts
only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Requirement", "first_required", "prefixed", "requirements"]

_NAME = r"[^\W\d][\w.-]*"
_QNAME = rf"(?:{_NAME}:)?{_NAME}"
_STEP = re.compile(rf"\s*(//?)\s*(@?(?:{_QNAME}|\*))\s*(?![\w.:(-])")
_PREDICATE = re.compile(r"""\[((?:[^\[\]"']|"[^"]*"|'[^']*')*)\]\s*""")
_NESTED = re.compile(r"""\[(?:[^\[\]"']|"[^"]*"|'[^']*'|\[(?:[^\[\]"']|"[^"]*"|'[^']*')*\])*\]\s*""")
_PATH = rf"(?:\.|@{_QNAME}|{_QNAME}(?:/{_QNAME})*(?:/@{_QNAME})?)"
_TEST = re.compile(rf"""\s*({_PATH})\s*=\s*('[^']*'|"[^"]*"|-?[0-9]+(?:\.[0-9]+)?)\s*""")
_STEPS = 3  # that a path without tests is cut to


class Requirement(NamedTuple):
    """A test that every matching document passes."""

    field: str
    """What is tested, whatever the value: an expression too, and weaker still."""
    text: str
    """The test."""


def prefixed(requirement: Requirement, length: int) -> str:
    """A weaker test, of the first characters of the value; of the field alone if there are none to test.

    >>> prefixed(Requirement("/item[a/@id]", "/item[a/@id = 'xyz']"), 2)
    "/item[a/@id[starts-with(., 'xy')]]"
    >>> prefixed(Requirement("/item/a[.]", '/item/a[. = "x"]'), 2)
    '/item/a[starts-with(., "x")]'
    >>> prefixed(Requirement("/item[a]", "/item[a = 12]"), 2), prefixed(Requirement("//a", "//a"), 2)
    ('/item[a]', '//a')
    """
    field, text = requirement
    value = text[len(field) - 1 :].removeprefix(" = ")[:-1]
    if not length or value[:1] not in ("'", '"') or len(value) < 3:
        return field
    test = f"[starts-with(., {value[: 1 + min(length, len(value) - 2)]}{value[0]})]"
    return f"{field[:-3]}{test}" if field.endswith("[.]") else f"{field[:-1]}{test}]"


def requirements(xpath: str) -> list[Requirement]:
    """The tests of values that an expression needs, or the steps if it has none; empty if nothing is known.

    >>> requirements("/item[a/@id = 'x'][2][b >= 3]/c[. = 7]")[0]
    Requirement(field='/item[a/@id]', text="/item[a/@id = 'x']")
    >>> requirements("/item[a/@id = 'x'][2][b >= 3]/c[. = 7]")[1]
    Requirement(field='/item/c[.]', text='/item/c[. = 7]')
    >>> requirements("//a/*/b[not(c = 1)]//d/e")
    [Requirement(field='//a/*/b', text='//a/*/b')]
    >>> requirements("//a[b = 1 or c = 2]")
    [Requirement(field='//a', text='//a')]
    >>> requirements("/a[b = 1] or /c"), requirements("count(//a) = 3"), requirements("//a[b[c[d]]]")
    ([], [], [])
    """
    tests, quoted = _formed(xpath)
    return [_with_text(test, quoted) for test in tests]


def first_required(xpath: str, order: Mapping[str, int]) -> Requirement | None:
    """That of the requirements whose field comes first in an order; None if none of them is in it.

    >>> first_required("/a[b = 'x'][c = 'y']", {"/a[c]": 0, "/a[b]": 1})
    Requirement(field='/a[c]', text="/a[c = 'y']")
    """
    best, least = None, len(order)
    tests, quoted = _formed(xpath)
    for test in tests:
        place = order.get(test.field, least)
        if place < least:
            best, least = test, place
    return None if best is None else _with_text(best, quoted)


class _Test(NamedTuple):
    """A requirement of all expressions of a form."""

    field: str
    text: str | None
    at: int
    """Which quoted text it compares with, if there is no text."""


def _formed(xpath: str) -> tuple[tuple[_Test, ...], list[str]]:
    """What expressions of this form require; what stands outside and inside of quotes, by turns."""
    pieces = xpath.split("'")
    if '"' in xpath or not len(pieces) % 2:  # which quote closes which is left to the expressions
        return tuple(_Test(each.field, each.text, 0) for each in _read(xpath)), pieces
    return _tests_of_form("'".join(pieces[::2])), pieces


@lru_cache(maxsize=1 << 14)
def _tests_of_form(form: str) -> tuple[_Test, ...]:
    outside = form.split("'")
    # In the place of every quoted text stands its number.
    texts = [f"{piece}'{2 * at + 1}'" for at, piece in enumerate(outside[:-1])]
    tests = []
    for field, text in _read("".join([*texts, outside[-1]])):
        value = text[len(field) + 2 : -1]
        tests.append(_Test(field, None, int(value[1:-1])) if value[:1] == "'" else _Test(field, text, 0))
    return tuple(tests)


def _with_text(test: _Test, pieces: list[str]) -> Requirement:
    field, text, at = test
    return Requirement(field, f"{field[:-1]} = '{pieces[at]}']" if text is None else text)


def _read(xpath: str) -> list[Requirement]:
    steps: list[str] = []
    tests: list[Requirement] = []
    at = 0
    while at < len(xpath):
        step = _STEP.match(xpath, at)
        if step is None:
            return []
        steps.append(step[1] + step[2])
        at = step.end()
        while xpath[at : at + 1] == "[":
            plain = _PREDICATE.match(xpath, at)
            found = plain or _NESTED.match(xpath, at)
            if found is None:
                return []
            if plain:
                tests += _tests("".join(steps), plain[1])
            at = found.end()
    if not steps:
        return []
    first = "".join(steps[:_STEPS])
    return tests or [Requirement(first, first)]


def _tests(head: str, predicate: str) -> tuple[Requirement, ...]:
    """The comparisons that a predicate joins with `and`; none if it does anything else."""
    at = 0
    found = []
    while True:
        test = _TEST.match(predicate, at)
        if test is None:
            return ()
        found.append(Requirement(f"{head}[{test[1]}]", f"{head}[{test[1]} = {test[2]}]"))
        at = test.end()
        if at == len(predicate):
            break
        if not predicate.startswith("and", at) or predicate[at + 3 : at + 4].isalnum():
            return ()
        at += 3
    return tuple(found)
