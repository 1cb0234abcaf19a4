"""``--engine relational``: an index's two methods that `pathcast match` needs, over tables in DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pathcast.errors import DocumentError
from pathcast.relational import Relational
from pathcast.types import Document, Id, Subscription


class InTables:
    """Subscriptions of one command in tables that live as long as it does."""

    def __init__(self, namespaces: Mapping[str, str] | None = None) -> None:
        self._database = Relational("duckdb", namespaces=namespaces)
        self._places: dict[Id, int] = {}

    def add_many(self, subscriptions: Iterable[Subscription]) -> None:
        """Adds all or, if any expression is refused, nothing."""

        def seen() -> Iterator[Subscription]:
            for row in subscriptions:
                self._places.setdefault(row[0], len(self._places))
                yield row

        self._database.subscribe(seen())

    def match_many(
        self, documents: Iterable[Document], threads: int = 1
    ) -> Iterator[Sequence[Id] | DocumentError]:
        """One answer for each document, ids in order of registration; DuckDB has threads of its own."""
        documents = list(documents)
        found: list[list[Id]] = [[] for _ in documents]
        for number, id in self._database.match(enumerate(documents)):
            found[int(number)].append(id)
        bad = {letter.document: letter.error for letter in self._database.dead_letters}
        for number, ids in enumerate(found):
            yield bad.get(number) or sorted(ids, key=self._places.__getitem__)
