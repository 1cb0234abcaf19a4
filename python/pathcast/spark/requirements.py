"""What a subscription cannot do without, as weaker expressions: a document that misses them cannot match.

``/item[category = 'x'][priority >= 3]`` needs ``/item[category = 'x']``. A node that survives all predicates
of a step satisfies each of them, so a path with all predicates but one taken out, and cut behind it, is
implied by the whole. The predicate that is kept compares a path with a constant: that does not depend on
positions. A path without such a test needs its own first steps.

A text is taken apart with regular expressions. Of what they do not know, nothing is required.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Requirement", "prefixed", "requirements"]

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


@lru_cache(maxsize=1 << 16)  # subscriptions have their predicates from few
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
