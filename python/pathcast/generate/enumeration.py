"""Every linear expression that a walk can draw, each once: to know how many there are.

An expression is a chain of names with gaps (so many wildcards, with or without a ``//`` among them), and
perhaps wildcards at the end. Below a prefix only this counts: which elements it may have reached, each on the
highest level possible. One prefix has one such set, so a depth-first walk over sets lists every
expression once and draws none that the schema excludes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from pathcast.generate.paths import Step
from pathcast.generate.walk import Odds
from pathcast.schema import DOCUMENT, Schema

Reached: TypeAlias = dict[str, int]
"""Elements with the highest level on which the prefix can have reached them."""


def linear_paths(schema: Schema, odds: Odds) -> Iterator[tuple[list[Step], bool]]:
    """All expressions without branches and tests that the odds allow, and whether each is relative."""
    pending: list[tuple[list[Step], bool, Reached]] = [([], False, {DOCUMENT: 0})]
    while pending:
        steps, is_relative, reached = pending.pop()
        exact = reached
        wildcards = 0
        while True:
            below = _below(schema, exact, odds.max_depth)
            if not below:
                break
            for descend, relative in _ways(odds, not steps):
                if odds.wildcard < 1:
                    found = _closure(schema, below, odds.max_depth) if descend else below
                    for name, level in found.items():
                        longer = [*steps, *_gap(odds, wildcards, descend, name, relative)]
                        yield longer, is_relative or relative
                        pending.append((longer, is_relative or relative, {name: level}))
            if not odds.wildcard:
                break
            wildcards += 1
            descend, relative = _ways(odds, not steps)[0]
            trailing = _gap(odds, wildcards - 1, descend, "*", relative)
            yield [*steps, *trailing], is_relative or relative
            exact = below


def _ways(odds: Odds, is_first: bool) -> list[tuple[bool, bool]]:
    """How a gap may be crossed: exactly, or with ``//``; the first gap also by a relative start."""
    ways = []
    absolute = not is_first or odds.relative < 1
    if absolute and odds.descendant < 1:
        ways.append((False, False))
    if absolute and odds.descendant > 0:
        ways.append((True, False))
    elif is_first and odds.relative > 0:
        ways.append((True, True))
    return ways


def _gap(odds: Odds, wildcards: int, descend: bool, name: str, relative: bool) -> list[Step]:
    """The steps of a gap and the name after it; the ``//`` comes first, where a relative start has it."""
    every = odds.descendant == 1
    names = ["*"] * wildcards + [name]
    return [Step(every or (descend and place == 0), one) for place, one in enumerate(names)]


def _below(schema: Schema, reached: Reached, max_depth: int) -> Reached:
    found: Reached = {}
    for name, level in reached.items():
        if level < max_depth:
            for child in schema.children(name):
                if found.get(child, max_depth + 1) > level + 1:
                    found[child] = level + 1
    return found


def _closure(schema: Schema, reached: Reached, max_depth: int) -> Reached:
    found = dict(reached)
    now = reached
    while now:
        now = {
            name: level
            for name, level in _below(schema, now, max_depth).items()
            if found.get(name, max_depth + 1) > level
        }
        found.update(now)
    return found
