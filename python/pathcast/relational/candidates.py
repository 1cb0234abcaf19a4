"""Decides candidates with the subscriptions themselves.

The index of their expressions is kept from call to call, up to a bound, so that no expression is parsed
again each time it is a candidate.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pathcast.errors import DocumentError, DocumentLimitError, EvaluationError, LimitError
from pathcast.index import Index
from pathcast.limits import Limits
from pathcast.types import Document, Id

if TYPE_CHECKING:
    from pathcast.relational.settings import Settings

HELD = 50_000  # expressions


class UndecidedError(LimitError):
    """Candidates that cost more than `Limits.evaluation_steps`: the documents' places, with what to say."""

    def __init__(self, errors: list[tuple[int, DocumentError]]) -> None:
        super().__init__("; ".join(error.reason for _, error in errors))
        self.errors = errors


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
        """The candidates that match; `definitions` has the expression of each subscription.

        Raises `UndecidedError` in the end if some were not decided, because they cost too much.
        """
        wanted: dict[int, set[Id]] = {}
        errors: list[tuple[int, DocumentError]] = []
        for document, name in candidates:
            wanted.setdefault(document, set()).add(name)
        self._learn(definitions)
        for document, names in wanted.items():
            try:
                found: Sequence[Id] = self._index.match(documents[document])
            except EvaluationError as error:
                found = error.matches
                failures = [json.loads(str(id)) for id in error.failures if id in names]
                if failures:
                    told = EvaluationError([], failures)
                    errors.append((document, DocumentLimitError(str(told), 0, 0)))
            except DocumentError as error:  # more work than the limit allows, for all candidates together
                found = ()
                errors.append((document, error))
            for id in found:
                if id in names:
                    yield document, str(id)
        if errors:
            raise UndecidedError(errors)

    def _learn(self, definitions: Mapping[str, str]) -> None:
        fresh = {name: text for name, text in definitions.items() if self._known.get(name) != text}
        if len(self._known) + len(fresh) > HELD:
            self._begin()
            fresh = dict(definitions)
        rows = [(name, *json.loads(text)) for name, text in fresh.items()]
        self._index.add_many(rows)
        self._known.update(fresh)
