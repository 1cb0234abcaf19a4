"""A run as one statement: what a `Session` would make table by table becomes the parts of a `with`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pathcast.relational.sql import names


class Statement:
    """A `Session` that writes a statement down; a table that grows is all its parts together.

    >>> statement = Statement(["XMLNode"])
    >>> statement.make("Fact", "select n.node, 0 as slot from {XMLNode} n")
    >>> statement.grow("Fact", "select n.node, 1 as slot from {XMLNode} n")
    >>> print(statement.asking("select count(*) from {Fact}"))
    with XMLNode_0 as materialized (from run_xmlnode),
    Fact_1 as materialized (select n.node, 0 as slot from XMLNode_0 n),
    Fact_2 as materialized (select n.node, 1 as slot from XMLNode_0 n)
    select count(*) from (from Fact_1 union all from Fact_2)

    Tables `by_level` are one table for each level.

    >>> statement = Statement([], by_level=["Trie"])
    >>> statement.make("Open", "from {Trie}", level=2)
    >>> print(statement.asking("from {Open}"))
    with Open_0 as materialized (from run_trie_2)
    from Open_0
    """

    def __init__(self, outside: Iterable[str], by_level: Iterable[str] = ()) -> None:
        self._parts: list[str] = []
        self._by_level = tuple(by_level)
        self._tables: dict[str, list[str]] = {}
        for name in outside:
            # Rows from outside are read once, however many parts ask for them.
            self._tables[name] = [self._part(name, f"from {names.run_table(name)}")]

    def load(self, name: str, rows: Any) -> None:
        """Rows from outside are there before the statement runs."""

    def make(self, name: str, query: str, level: int = 0) -> None:
        """Begins a table."""
        self._tables[name] = [self._part(name, self._filled(query, level))]

    def grow(self, name: str, query: str, level: int = 0) -> None:
        """Adds a part to a table."""
        self._tables[name] = [*self._tables[name], self._part(name, self._filled(query, level))]

    def has_rows(self, name: str) -> bool:
        """Not known before it runs."""
        return True

    def asking(self, query: str) -> str:
        """The whole statement, with a query about its tables at the end."""
        parts = ",\n".join(self._parts)
        return f"with {parts}\n{self._filled(query)}"

    def _part(self, name: str, query: str) -> str:
        part = f"{name}_{len(self._parts)}"
        self._parts.append(f"{part} as materialized ({query})")
        return part

    def _filled(self, query: str, level: int = 0) -> str:
        tables = {name: _together(parts) for name, parts in self._tables.items()}
        levels = {name: names.run_table(f"{name}_{level}") for name in self._by_level}
        return names.filled(query, level, tables | levels)


def _together(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({' union all '.join(f'from {part}' for part in parts)})"
