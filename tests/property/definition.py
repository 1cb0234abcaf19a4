"""Ordered matching as the paper on XTrie defines it, by brute force.

"Efficient filtering of XML documents with XPath expressions", section 2.2: a tree pattern matches in order
when its nodes map to elements by name and level and, for every two children of a pattern node, the first
maps before the second in preorder and the image of their parent is the least common ancestor of their
images.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from random import Random
from typing import Any

from tests.property.generate import NAMES


@dataclass(frozen=True)
class Twig:
    """A pattern node: `/` or `//`, a name or `*`, and its children in order."""

    gap: str
    name: str
    children: tuple[Twig, ...]

    def written(self, *, branch: bool = False) -> str:
        """The expression: all children but the last are predicates, the last is the next step."""
        start = {"/": "", "//": ".//"}[self.gap] if branch else self.gap
        predicates = "".join(f"[{child.written(branch=True)}]" for child in self.children[:-1])
        return start + self.name + predicates + "".join(child.written() for child in self.children[-1:])


def draw_twig(random: Random, depth: int = 0) -> Twig:
    """A random pattern of at most four levels."""
    count = 0 if depth > 2 else random.choice((0, 0, 1, 1, 2, 2, 3))
    children = tuple(draw_twig(random, depth + 1) for _ in range(count))
    return Twig(random.choice(("/", "/", "//")), random.choice((*NAMES, "*")), children)


def maps(twig: Twig, tree: Any) -> bool:
    """Whether there is a mapping of the pattern into the tree."""
    elements = list(tree.iter("*"))
    order = {element: number for number, element in enumerate(elements)}
    candidates = elements[:1] if twig.gap == "/" else elements
    return any(True for _ in images(twig, candidates, order))


def images(twig: Twig, candidates: list[Any], order: dict[Any, int]) -> Iterator[Any]:
    """The elements among the candidates that the twig's root can be mapped to."""
    for element in candidates:
        if twig.name not in {"*", element.tag}:
            continue
        below = [list(images(child, list(_below(element, child.gap)), order)) for child in twig.children]
        if any(
            all(order[x] < order[y] and _common(x, y) is element for x, y in combinations(mapped, 2))
            for mapped in product(*below)
        ):
            yield element


def _below(element: Any, gap: str) -> Iterator[Any]:
    yield from element.iterchildren("*") if gap == "/" else element.iterdescendants("*")


def _common(x: Any, y: Any) -> Any:
    """The least common ancestor, where an element counts as its own."""
    above = [y, *y.iterancestors()]
    return next(element for element in (x, *x.iterancestors()) if element in above)
