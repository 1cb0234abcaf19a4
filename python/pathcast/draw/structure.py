"""The trie and the substring-table of some expressions, read from the engine itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathcast import _core

if TYPE_CHECKING:
    from pathcast.types import Namespaces

LARGEST = 500  # rows of a picture that anybody could read


@dataclass(frozen=True, slots=True)
class TrieNode:
    """A node of the trie; numbers are from 1 on, breadth first, and 0 is none."""

    number: int
    parent: int
    name: str
    substring: int
    """The first row of the substring-table that has its substring."""
    max_suffix: int
    """The node of its longest proper suffix in the trie."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the substring-table; numbers are from 1 on, and 0 is none."""

    number: int
    expression: str
    substring: str
    parent: int
    levels: str
    """The relative level, as ``[2, 2]`` or ``[2, ∞]``."""
    rank: int
    children: int
    mode: str
    """How the children go together: ``all``, ``any``, ``ordered`` or ``none``."""
    next: int
    """The next row of the same substring."""


@dataclass(frozen=True, slots=True)
class XTrieStructure:
    """What an XTrie holds for some expressions."""

    expressions: tuple[str, ...]
    nodes: tuple[TrieNode, ...]
    rows: tuple[Row, ...]
    declined: tuple[str, ...]
    """Expressions that are decided on a tree; rows may be there for a path that they wait for."""

    def svg(self) -> str:
        """The picture.

        >>> picture = xtrie(["/a/b[c/e]/*/b/c/d", "//b"]).svg()
        >>> picture.startswith("<svg") and picture.endswith("</svg>\\n")
        True
        """
        from pathcast.draw.svg import draw

        return draw(self)

    def dot(self) -> str:
        """The same as text for graphviz.

        >>> print(xtrie(["//a/b"]).dot().splitlines()[0])
        digraph xtrie {
        """
        from pathcast.draw.dot import dot

        return dot(self)


def xtrie(
    expressions: Iterable[str],
    *,
    ordered: bool = False,
    lazy: bool = False,
    namespaces: Namespaces | None = None,
) -> XTrieStructure:
    """The trie and the substring-table for some expressions, in the order given.

    With `ordered` they are ordered subscriptions; `lazy` shows the lazy variant, which chains leaves alone.
    Raises `XPathError` for an expression that would be refused, and `ValueError` for more than a picture
    holds.

    >>> structure = xtrie(["/a/b[c/*/d]//b/c", "//c/b//c/d"], ordered=True)
    >>> [row.substring for row in structure.rows]
    ['ab', 'abc', 'd', 'bc', 'cb', 'cd']
    >>> [row.levels for row in structure.rows]
    ['[2, 2]', '[1, 1]', '[2, 2]', '[2, ∞]', '[2, ∞]', '[2, ∞]']
    """
    index = _core.xtrie_index(lazy=lazy, decomposition="simple", single_paths=False)
    kept: list[str] = []
    declined: list[str] = []
    owner: dict[int, str] = {}
    for number, expression in enumerate(expressions):
        before = _left_to_the_tree(index)
        index.add(number, expression, ordered, namespaces)
        _, rows = _core.xtrie_view(index)
        if len(rows) > LARGEST:
            raise ValueError(f"a picture of more than {LARGEST} rows helps nobody; draw fewer expressions")
        kept.append(expression)
        for row in rows:
            owner.setdefault(row[0], f"p{len(kept)}")
        if _left_to_the_tree(index) > before:
            declined.append(expression)
    nodes, rows = _core.xtrie_view(index)
    labels = _labels(nodes)
    return XTrieStructure(
        tuple(kept),
        tuple(TrieNode(number, *node) for number, node in enumerate(nodes, 1)),
        tuple(
            Row(
                number,
                owner[pattern],
                labels[node],
                parent,
                f"[{least}, {least if exactly else '∞'}]",
                rank,
                children,
                mode,
                following,
            )
            for number, (pattern, node, parent, least, exactly, rank, children, mode, following) in enumerate(
                rows, 1
            )
        ),
        tuple(declined),
    )


def _left_to_the_tree(index: _core.Index) -> int:
    stats = index.stats()
    return int(stats["twigs"]) - int(stats["native"])


def _labels(nodes: list[tuple[int, str, int, int]]) -> list[str]:
    """By node number: the names on the way to it, joined by dots if any has more than one character."""
    paths: list[tuple[str, ...]] = [()]
    for parent, name, _, _ in nodes:
        paths.append((*paths[parent], name) if name else ())
    dot = "." if any(len(name) > 1 for path in paths for name in path) else ""
    return [dot.join(path) for path in paths]
