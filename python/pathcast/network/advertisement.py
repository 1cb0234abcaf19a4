"""What a publisher will publish, as the paths that its documents have from the root to the leaves.

An advertisement is written with steps and groups that repeat, as in "Routing of XML and XPath Queries in Data
Dissemination Networks": ``/a(/b/c)+/d``. A schema without recursion gives plain paths. An element that can
contain itself along one way only gives a group, and groups follow one another or stand in one another as the
schema has it. Where elements contain each other in several ways there is no such notation for exactly
their paths; there the rest is ``(/*)+``, which covers them. So does a cut where the paths would become too
many. Nothing is lost either way: **every path of every valid document is advertised.**

For routing the schema's graph is the better advertisement: it is exact and small. `graph_advertisement`
writes it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from pathcast.errors import SchemaError
from pathcast.schema import Schema
from pathcast.schema.declarations import tag

REST = "(/*)+"
"""One or more elements of any name."""


def advertisements(schema: Schema, *, limit: int = 1_000, max_depth: int | None = None) -> list[str]:
    """The advertisements of a schema: at most twice `limit` of them.

    `max_depth` bounds the steps before the rest is ``(/*)+``. Together they cover every path of a valid
    document.

    >>> schema = Schema.from_text('''
    ...     <!ELEMENT a (b, e?)>  <!ELEMENT b (c)>  <!ELEMENT c (b | d)>
    ...     <!ELEMENT d EMPTY>  <!ELEMENT e (#PCDATA)>
    ... ''')
    >>> advertisements(schema)
    ['/a/e', '/a(/b/c)+/d']
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    if max_depth is not None and max_depth < 1:
        raise ValueError(f"max_depth must be at least 1, not {max_depth}")
    return _Paths(schema, limit, max_depth).found()


def graph_advertisement(schema: Schema) -> str:
    """The schema's graph as one advertisement: for each element what may stand in it, ``!`` for possible
    leaves.

    >>> schema = Schema.from_text("<!ELEMENT a (b*)> <!ELEMENT b (a | c)> <!ELEMENT c EMPTY>", root="a")
    >>> graph_advertisement(schema)
    '{#=a;a!=b;b=a,c;c!=}'
    """
    if any(schema.elements[name].is_open for name in schema.reachable):
        raise SchemaError("a schema with wildcards for undeclared elements has no graph of all its elements")
    leaves: dict[str, str] = {}
    children: dict[str, dict[str, None]] = {}
    for name in schema.reachable:
        key = tag(name)
        leaves[key] = "!" if schema.height(name) == 1 else leaves.get(key, "")
        children.setdefault(key, {}).update(dict.fromkeys(map(tag, schema.children(name))))
    parts = [f"{key}{leaves[key]}={','.join(below)}" for key, below in children.items()]
    return "{" + ";".join([f"#={tag(schema.root)}", *parts]) + "}"


class _Paths:
    """Paths through the graph of components: plain elements, loops, and tangles that end in the rest."""

    def __init__(self, schema: Schema, limit: int, max_depth: int | None) -> None:
        self.schema = schema
        self.limit = limit
        self.max_depth = max_depth
        self.component: Mapping[str, tuple[str, ...]] = {
            name: component for component in schema.components for name in component
        }

    def found(self) -> list[str]:
        """Breadth first, so that a cut meets the deepest paths; they end in the rest."""
        done: list[str] = []
        pending = deque([("", self.schema.root, 1)])
        while pending:
            prefix, name, depth = pending.popleft()
            ways = self._ways(prefix, name)
            more = sum(leaves + len(below) for _, leaves, below in ways)
            full = len(done) + len(pending) + more > self.limit
            if full or (self.max_depth is not None and depth >= self.max_depth):
                done.extend(self._closed(prefix, name))
                continue
            for text, leaves, below in ways:
                if leaves:
                    done.append(text)
                pending.extend((text, child, depth + 1) for child in below)
        return sorted(set(done), key=lambda text: (text.count("/"), text))

    def _closed(self, prefix: str, name: str) -> list[str]:
        """An element and whatever is below it."""
        texts = [f"{prefix}/{tag(name)}"] if self.schema.height(name) == 1 or self._is_open(name) else []
        further = self.schema.children(name) or self._is_open(name)
        return [*texts, f"{prefix}/{tag(name)}{REST}"] if further else texts

    def _is_open(self, name: str) -> bool:
        """Whether paths may go on with elements that nothing declares."""
        return self.schema.elements[name].is_open

    def _ways(self, prefix: str, name: str) -> list[tuple[str, bool, Sequence[str]]]:
        """How a path goes on from an element: its text, whether it may end there, what may come next."""
        members = self.component.get(name)
        if members is None and self._is_open(name):
            return [(text, True, ()) for text in self._closed(prefix, name)]
        if members is None:
            return [(f"{prefix}/{tag(name)}", self.schema.height(name) == 1, self.schema.children(name))]
        loop = self._loop(name, frozenset(members))
        if loop is None:
            return [(text, True, ()) for text in self._closed(prefix, name)]
        ways: list[tuple[str, bool, Sequence[str]]] = []
        written = ""
        whole = "".join(text for _, text in loop)
        for place, (member, text) in enumerate(loop):
            written += text
            outside = [child for child in self.schema.children(member) if child not in members]
            leaf = self.schema.height(member) == 1
            if not outside and not leaf:
                continue
            if place == len(loop) - 1:
                ways.append((f"{prefix}({whole})+", leaf, outside))
            else:
                ways.append((f"{prefix}{written}", leaf, outside))
                ways.append((f"{prefix}({whole})+{written}", leaf, outside))
        return ways

    def _loop(self, name: str, members: frozenset[str]) -> list[tuple[str, str]] | None:
        """The one way around from an element back to itself, elements with what is written for them.

        A member that is its own child stands in a group of its own. None when there are several ways.
        """
        around: list[tuple[str, str]] = []
        at = name
        while True:
            inside = [child for child in self.schema.children(at) if child in members]
            others = [child for child in inside if child != at]
            if len(others) > 1 or self._is_open(at):
                return None
            step = f"/{tag(at)}"
            around.append((at, f"({step})+" if at in inside and others else step))
            if not others or others[0] == name:
                return around
            at = others[0]
