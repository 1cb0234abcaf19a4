"""Subscriptions to values that hurt: all tests pass, everything nests, half of everything holds.

Answers are known by construction. Nothing of a document may stay behind, and nothing may multiply with depth:
the bounds on time are there to catch that.
"""

from __future__ import annotations

import pytest

import pathcast
from tests.suite.hostile import index_of, nested, within

COUNT = 10_000
ITEM = (
    '<item lang="en"><priority>7</priority><region>north</region><headline>rain and snow</headline>'
    "<category>weather</category></item>"
)
PASSING = (
    "//item[@lang != 'x{n}']",
    "/item[priority >= {low}][priority < {high}]",
    "//item[not(region = 'r{n}')][category]",
    "/*[contains(headline, 'rain') or category = 'c{n}']",
    "//item[@lang = 'en'][category = 'weather'][headline != 'h{n}']",
    "//priority[. > {low}]",
    "/item[not(.//none{n})]/headline[starts-with(., 'rain')]",
    "//*[category != 'c{n}'][not(@lang != 'en')]",
)


def passing(number: int) -> str:
    """An expression that every item satisfies, different for every number."""
    form = PASSING[number % len(PASSING)]
    return form.format(n=number, low=-number, high=8 + number)


def test_all_tests_pass_in_every_document() -> None:
    index = pathcast.Index()
    index.add_many((number, passing(number)) for number in range(COUNT))
    everything = list(range(COUNT))
    with within(30):
        # More documents than are counted before keys are chosen anew, so both choices are seen.
        found = index.match_many([ITEM] * 150)
    assert all(matches == everything for matches in (found[0], found[75], found[149]))
    memory = index.stats()["memory_bytes"]
    assert memory < COUNT * 1_024
    with within(30):
        index.match_many([ITEM] * 20)
    assert index.stats()["memory_bytes"] <= memory
    for number in range(0, COUNT, 2):
        index.remove(number)
    assert index.match(ITEM) == everything[1::2]


def test_predicates_that_all_look_anywhere_below() -> None:
    levels = 60
    bare = [f"//*{'[.//*' * depth}{']' * depth}" for depth in range(1, levels)]
    valued = [f"//*{'[.//*' * depth}[. = 'x']{']' * depth}" for depth in range(1, levels)]
    index = index_of(*bare, *valued)
    with within(30):
        assert index.match(nested(1_000)) == list(range(levels - 1))
        assert index.match(nested(1_000).replace(b"<a></a>", b"<a>x</a>")) == list(range(2 * levels - 2))
        # The innermost is too shallow for what asks for more below it.
        assert index.match(nested(20)) == list(range(19))


def test_every_level_asks_for_every_other() -> None:
    names = "abcdefgh"
    index = pathcast.Index()
    index.add_many(
        (first + second, f"//{first}[.//{second}[@n > 0]][.//*[. != 'none']//{second}]")
        for first in names
        for second in names
    )
    inside = "".join(f'<{name} n="1">' for name in names) * 100
    outside = "".join(f"</{name}>" for name in reversed(names)) * 100
    with within(30):
        assert len(index.match(f"{inside}text{outside}")) == len(names) ** 2


@pytest.mark.parametrize("kind", ["values", "elements", "attributes"])
def test_a_document_that_satisfies_half_of_everything(kind: str) -> None:
    count = 20_000
    form, piece = {
        "values": ("/r[v = 'v{n}'][k]", "<v>v{n}</v>"),
        "elements": ("/r[.//e{n}[f]]/k", "<e{n}><f/></e{n}>"),
        "attributes": ("//r[e/@a = {n}][not(e/@a = -{n})]/k", '<e a="{n}"/>'),
    }[kind]
    index = pathcast.Index()
    index.add_many((number, form.format(n=number + 1)) for number in range(count))
    document = f"<r>{''.join(piece.format(n=number + 1) for number in range(0, count, 2))}<k/></r>"
    with within(30):
        for _ in range(3):
            assert index.match(document) == list(range(0, count, 2))
        assert index.match("<r><k/></r>") == []
