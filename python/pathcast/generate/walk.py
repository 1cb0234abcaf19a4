"""Draws expressions by walking down the graph of a schema, so that some valid document satisfies each.

A walk goes from the document node along children. With the probability of ``//`` a step first passes over a
few levels (each time one more with probability one half), then the next element becomes a step: its name,
or ``*``. Every branch is a walk of its own from an element of the path. It is kept only if the content
model lets its first element stand next to the children that the path and the other branches go through.

The first walk and its branches are a part of a valid document: that is why the expression is consistent.

A walk ends at a leaf, and most elements of real schemas are leaves or near to one: of NITF's expressions
of at most 20 levels the average has 4. With even depth a walk goes only where it can still come down to the
level that it was drawn for, so the average is half of the most, as in the paper.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from pathcast.generate.paths import Step
from pathcast.generate.tests import Tests
from pathcast.generate.values import Distribution, Values, zipf
from pathcast.schema import DOCUMENT, Schema
from pathcast.schema.model import occur_together

_TRIES = 4  # for the first element of a branch


@dataclass(frozen=True, slots=True)
class Odds:
    """The parameters of the papers; see `pathcast.generate.subscriptions`."""

    max_depth: int
    wildcard: float
    descendant: float
    relative: float
    branch: float
    nested: int
    predicates: int
    skew: float
    even_depth: bool = False


class Walker:
    """Draws expressions for one schema."""

    def __init__(self, schema: Schema, odds: Odds, values: Values, random: Random) -> None:
        self._schema = schema
        self._odds = odds
        self._draw = random.random
        self._tests = Tests(schema, values, random)
        self._children: dict[tuple[str, int], Distribution | None] = {}
        self._reach = reach(schema, odds.max_depth) if odds.even_depth else None
        self._able = frozenset(schema.reachable)
        self._together: dict[tuple[str, tuple[str, ...]], bool] = {}
        self._starts = list(first_levels(schema, odds.max_depth).items())
        self._lasts = [(level + 1) / odds.max_depth for level in range(odds.max_depth)]
        self.last = 0

    def prefer(self, weights: list[float]) -> None:
        """Weighs the levels that expressions go down to at most; all weigh the same at first."""
        total = sum(weights)
        self._lasts = [share / total for share in accumulate(weights)]

    def path(self) -> tuple[list[Step], bool] | None:
        """An expression, and whether it is relative; None when its tests find no room."""
        odds, draw = self._odds, self._draw
        # Rounding may leave the last share below 1.
        self.last = last = 1 + min(bisect(self._lasts, draw()), odds.max_depth - 1)
        is_relative = draw() < odds.relative
        if is_relative:
            element, level = self._starts[int(draw() * len(self._starts))]
            first = Step(True, self._name(element), element, level)
            steps = [first, *self._walk(element, level, last, first)]
        else:
            steps = self._walk(DOCUMENT, 0, last, None)
        if odds.branch:
            self._branch(steps, 1)
        if odds.predicates and not self._tests.add(list(_all_steps(steps)), odds.predicates):
            return None
        return steps, is_relative

    def _name(self, element: str) -> str:
        return "*" if self._draw() < self._odds.wildcard else element

    def _walk(self, at: str, level: int, last: int, above: Step | None, first: str = "") -> list[Step]:
        """Steps from below an element down to the level `last`; `first` is the child to go through."""
        draw, descendant, wildcard = self._draw, self._odds.descendant, self._odds.wildcard
        steps: list[Step] = []
        while level < last:
            child = first or self._child(at, last - level)
            first = ""
            if child is None:
                break
            if above:
                above.child = child
            level += 1
            descend = draw() < descendant
            if descend:
                while level < last and draw() < 0.5:
                    below = self._child(child, last - level)
                    if below is None:
                        break
                    child = below
                    level += 1
            above = Step(descend, "*" if draw() < wildcard else child, child, level)
            steps.append(above)
            at = child
        return steps

    def _child(self, element: str, levels: int = 1) -> str | None:
        """A child drawn by its rank in the content model; None for a leaf.

        With even depth it is one that reaches down so many levels, or else as many as any child does.
        """
        reach = self._reach
        if reach is None:
            levels = 1  # one table for all
        if (element, levels) in self._children:
            found = self._children[element, levels]
        else:
            names = self._schema.children(element)
            if reach is not None and names:
                enough = min(levels, max(reach[name] for name in names))
                names = tuple(name for name in names if reach[name] >= enough)
            found = Distribution(names, zipf(len(names), self._odds.skew)) if names else None
            self._children[element, levels] = found
        return found.values[bisect(found.cumulative, self._draw())] if found else None

    def _branch(self, steps: list[Step], nesting: int) -> None:
        """Adds branches to steps, and to the steps of branches while they may be nested."""
        pending = [(steps, nesting)]
        while pending:
            path, depth = pending.pop()
            if depth > self._odds.nested:
                continue
            for step in path:
                if step.level < self._odds.max_depth and self._draw() < self._odds.branch:
                    branch = self._new_branch(step)
                    if branch:
                        step.branches.append(branch)
                        pending.append((branch, depth + 1))

    def _new_branch(self, step: Step) -> list[Step] | None:
        """A walk that starts at a child which can stand next to the one that the path goes through."""
        for _ in range(_TRIES):
            child = self._child(step.element)
            if child is None:
                return None
            if step.child and not self._can_meet(step.element, (step.child, child)):
                continue
            levels = 1 + int(self._draw() * (self._odds.max_depth - step.level))
            return self._walk(step.element, step.level, step.level + levels, None, child)
        return None

    def _can_meet(self, element: str, names: tuple[str, ...]) -> bool:
        known = self._together.get((element, names))
        if known is None:
            known = occur_together(self._schema.elements[element].model, names, self._able)
            self._together[element, names] = known
        return known


def first_levels(schema: Schema, max_depth: int) -> dict[str, int]:
    """The elements that occur down to a level, each with the first level it occurs on.

    >>> schema = Schema.from_text("<!ELEMENT a (b)> <!ELEMENT b (c?)> <!ELEMENT c EMPTY>")
    >>> first_levels(schema, 2)
    {'a': 1, 'b': 2}
    """
    found = {schema.root: 1}
    now = [schema.root]
    for level in range(2, max_depth + 1):
        now = [child for name in now for child in schema.children(name)]
        now = [name for name in dict.fromkeys(now) if name not in found]
        found.update(dict.fromkeys(now, level))
    return found


def reach(schema: Schema, most: int) -> dict[str, int]:
    """How many levels each element's subtree can have, itself included; recursion is cut at `most`.

    >>> reach(Schema.from_text("<!ELEMENT a (b, c)> <!ELEMENT b (b?)> <!ELEMENT c EMPTY>"), 5)
    {'a': 5, 'b': 5, 'c': 1}
    """
    found = dict.fromkeys(schema.reachable, 1)
    for _ in range(most - 1):
        found = {
            name: 1 + max((found[child] for child in schema.children(name) if child in found), default=0)
            for name in found
        }
    return found


def _all_steps(steps: list[Step]) -> list[Step]:
    """The steps of an expression and of its branches."""
    found = []
    pending = [steps]
    while pending:
        for step in pending.pop():
            found.append(step)
            pending.extend(step.branches)
    return found
