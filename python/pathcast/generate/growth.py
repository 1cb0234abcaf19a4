"""How content grows: from a content model to the children of one element, within the levels that are left.

A model is compiled to a function that appends children to a list, one compilation for each element and
number of levels left. What cannot be completed within the levels is not offered: an optional part is left
out, a choice has only the alternatives that fit, so recursion ends by the shortest completion by itself.

When a document has its size, the smallest completion takes over: the fewest elements that fit the levels.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias
from xml.sax.saxutils import escape

from pathcast.errors import SchemaError
from pathcast.schema import Schema
from pathcast.schema.model import Any, Choice, Empty, Mixed, Model, Name, Optional, Particle, Sequence, Star

MAX_CHILDREN = 10_000  # of one element, beyond what its model demands: ((a+)+)+ multiplies
MAX_SMALLEST = 1_000_000  # elements of the smallest completion

Child: TypeAlias = "tuple[str, int] | str | None"
"""An element with the levels it may have; None is any text, a str is this one."""
Grow: TypeAlias = Callable[[list[Child]], None]


class Growth:
    """Compiles content models for one set of odds; draws from one random source."""

    def __init__(self, schema: Schema, random: Random, optional: float, max_repeats: int) -> None:
        self._schema = schema
        self._draw = random.random
        self._optional = optional
        self._repeats = max_repeats
        self._able = schema.reachable
        self._compiled: dict[tuple[str, int], Grow] = {}
        self._smallest: list[dict[str, int]] = [{}]  # by levels; the last holds for all more
        self._settled = False

    def of(self, element: str, levels: int) -> Grow:
        """The function that appends an element's children; `levels` counts the element itself."""
        known = self._compiled.get((element, levels))
        if known is None:
            declared = self._schema.elements[element]
            texts = declared.examples
            known = self._typed(texts) if texts else self._compile(declared.model, levels - 1)
            if known is None:
                raise SchemaError(f"{element} cannot be completed within {levels} levels")
            self._compiled[element, levels] = known
        return known

    def _fits(self, name: str, levels: int) -> bool:
        if name not in self._schema.elements:
            return False
        if not self._schema.elements[name].is_writable:
            return False
        height = self._schema.height(name)
        return height is not None and height <= levels

    def _compile(self, model: Model, levels: int) -> Grow | None:
        """None when the model has no word that fits the levels."""
        if isinstance(model, Empty):
            return _nothing
        if isinstance(model, (Mixed, Any)):
            names = model.names if isinstance(model, Mixed) else self._able
            return self._mixed([(name, levels) for name in names if self._fits(name, levels)])
        if isinstance(model, Name):
            if not self._fits(model.name, levels):
                return None
            child = (model.name, levels)
            return lambda children: children.append(child)
        if isinstance(model, Sequence):
            return self._sequence([self._compile(part, levels) for part in model.parts])
        if isinstance(model, Choice):
            return self._choice([self._compile(part, levels) for part in model.parts])
        inner = self._compile(model.part, levels)
        if isinstance(model, Optional):
            return self._maybe(inner) if inner else _nothing
        if isinstance(model, Star):
            return self._maybe(self._repeated(inner)) if inner else _nothing
        return self._repeated(inner) if inner else None

    def _typed(self, texts: tuple[str, ...]) -> Grow:
        """One of the texts that fit a type."""
        draw, written = self._draw, [escape(text) for text in texts]

        def grow(children: list[Child]) -> None:
            children.append(written[int(draw() * len(written))])

        return grow

    def _mixed(self, below: list[tuple[str, int]]) -> Grow:
        draw, optional, repeats, count = self._draw, self._optional, self._repeats, len(below)

        def grow(children: list[Child]) -> None:
            children.append(None)
            if draw() < optional:
                for _ in range(1 + int(draw() * repeats)):
                    children.append(below[int(draw() * count)])
                    if draw() < 0.5:
                        children.append(None)

        return grow if below and repeats else lambda children: children.append(None)

    def _sequence(self, parts: list[Grow | None]) -> Grow | None:
        inner = [part for part in parts if part and part is not _nothing]
        if None in parts:
            return None

        def grow(children: list[Child]) -> None:
            for part in inner:
                part(children)

        return grow

    def _choice(self, parts: list[Grow | None]) -> Grow | None:
        inner = [part for part in parts if part]
        draw, count = self._draw, len(inner)

        def grow(children: list[Child]) -> None:
            inner[int(draw() * count)](children)

        return grow if count > 1 else inner[0] if inner else None

    def _maybe(self, part: Grow) -> Grow:
        draw, optional = self._draw, self._optional

        def grow(children: list[Child]) -> None:
            if draw() < optional:
                part(children)

        return grow

    def _repeated(self, part: Grow) -> Grow:
        draw, repeats = self._draw, self._repeats

        def grow(children: list[Child]) -> None:
            part(children)
            for _ in range(int(draw() * repeats)):
                if len(children) > MAX_CHILDREN:
                    break
                part(children)

        return grow if repeats > 1 else part

    def smallest(self, element: str, levels: int) -> list[Child]:
        """The children of an element in its smallest completion within the levels."""
        sizes = self._sizes(levels)
        if sizes.get(element, 0) > MAX_SMALLEST:
            raise SchemaError(f"the smallest valid {element} has more than {MAX_SMALLEST:,} elements")
        declared = self._schema.elements[element]
        if declared.examples:
            return [escape(declared.examples[0])]
        model = declared.model
        if isinstance(model, (Mixed, Any)):
            return [None]
        if isinstance(model, Empty):
            return []
        return [(name, levels - 1) for name in _smallest(model, self._sizes(levels - 1))[1]]

    def _sizes(self, levels: int) -> dict[str, int]:
        """For each element the fewest elements of a tree with at most this many levels."""
        table = self._smallest
        while len(table) <= levels and not self._settled:
            last = table[-1]
            now: dict[str, int] = {}
            for name in self._able:
                model = self._schema.elements[name].model
                if not self._schema.elements[name].is_writable:
                    continue
                if isinstance(model, (Mixed, Any, Empty)):
                    now[name] = 1
                elif (size := _size(model, last)) is not None:
                    now[name] = size + 1
            self._settled = now == last  # more levels make nothing smaller
            table.append(now)
        return table[min(levels, len(table) - 1)]


def _nothing(children: list[Child]) -> None:
    """Appends no child."""


def _size(model: Particle, sizes: dict[str, int]) -> int | None:
    """The fewest elements that the model needs; capped, so that it stays a small number."""
    if isinstance(model, Name):
        return sizes.get(model.name)
    if isinstance(model, Sequence):
        total = 0
        for part in model.parts:
            size = _size(part, sizes)
            if size is None:
                return None
            total += size
        return min(total, MAX_SMALLEST * 2)
    if isinstance(model, Choice):
        found = [size for part in model.parts if (size := _size(part, sizes)) is not None]
        return min(found, default=None)
    return 0 if isinstance(model, (Optional, Star)) else _size(model.part, sizes)


def _smallest(model: Particle, sizes: dict[str, int]) -> tuple[int, list[str]]:
    """The fewest elements, and the names that need them; the model is known to fit."""
    if isinstance(model, Name):
        return sizes[model.name], [model.name]
    if isinstance(model, Sequence):
        inner = [_smallest(part, sizes) for part in model.parts]
        return sum(size for size, _ in inner), [name for _, names in inner for name in names]
    if isinstance(model, Choice):
        fitting = [part for part in model.parts if _size(part, sizes) is not None]
        return min((_smallest(part, sizes) for part in fitting), key=lambda found: found[0])
    return (0, []) if isinstance(model, (Optional, Star)) else _smallest(model.part, sizes)
