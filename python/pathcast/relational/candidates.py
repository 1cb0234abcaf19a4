"""Decides candidates with the subscriptions themselves.

The index of their expressions is kept from call to call, up to a bound, so that no expression is parsed
again each time it is a candidate.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pathcast.index import Index
from pathcast.limits import Limits
from pathcast.types import Document, Id

if TYPE_CHECKING:
    from pathcast.relational.settings import Settings

HELD = 50_000  # expressions


class Verifier:
    """Decides which candidates match."""

    def __init__(self, limits: Limits, settings: Settings) -> None:
        self._limits = limits
        self._settings = settings
        self._begin()

    def _begin(self) -> None:
        self._known: dict[str, str] = {}
        self._index = Index(
            limits=self._limits,
            namespaces=self._settings.namespaces,
            ignore_namespaces=self._settings.ignore_namespaces,
        )

    def decide(
        self,
        candidates: Iterable[tuple[int, str]],
        definitions: Mapping[str, str],
        documents: Sequence[Document],
    ) -> Iterator[tuple[int, str]]:
        """The candidates that match; `definitions` has the expression of each subscription."""
        wanted: dict[int, set[Id]] = {}
        for document, name in candidates:
            wanted.setdefault(document, set()).add(name)
        self._learn(definitions)
        for document, names in wanted.items():
            for id in self._index.match(documents[document]):
                if id in names:
                    yield document, str(id)

    def _learn(self, definitions: Mapping[str, str]) -> None:
        fresh = {name: text for name, text in definitions.items() if self._known.get(name) != text}
        if len(self._known) + len(fresh) > HELD:
            self._begin()
            fresh = dict(definitions)
        rows = [(name, *json.loads(text)) for name, text in fresh.items()]
        self._index.add_many(rows)
        self._known.update(fresh)
