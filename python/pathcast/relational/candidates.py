"""Decides candidates with the subscriptions themselves.

The index of their expressions is kept from call to call, up to a bound, so that no expression is parsed
again each time it is a candidate.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pathcast.errors import DocumentError, DocumentLimitError, EvaluationError
from pathcast.index import Index
from pathcast.limits import Limits
from pathcast.types import Document, Id

if TYPE_CHECKING:
    from pathcast.relational.backends.backend import Outline
    from pathcast.relational.settings import Settings

HELD = 50_000  # expressions
WIDEST = {"expression_bytes": 1 << 62, "steps": 1_024, "nesting": 256, "expansion": 1 << 62}
"""Limits for expressions: what is in the tables was accepted, perhaps by a process with wider ones."""


class Pairs(NamedTuple):
    """Documents, by their places, and names of subscriptions: two Arrow columns."""

    documents: Any
    names: Any

    def of(self, document: int) -> set[Id]:
        """The names of one document."""
        import pyarrow.compute as pc

        return set(self.names.filter(pc.equal(self.documents, document)).to_pylist())

    def among(self, others: Pairs) -> Pairs:
        """Those that others has too.

        >>> import pyarrow as pa
        >>> some = Pairs(pa.array([0, 0, 1]), pa.array(["a", "b", "a"]))
        >>> some.among(Pairs(pa.array([1, 0]), pa.array(["a", "b"]))).documents.to_pylist()
        [0, 1]
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        numbers = pa.concat_arrays([self.names, others.names]).dictionary_encode().indices.cast(pa.int64())
        documents = pa.concat_arrays([self.documents, others.documents])
        keys = pc.bit_wise_or(pc.shift_left(documents, 32), numbers)
        count = len(self.names)
        kept = pc.is_in(keys.slice(0, count), value_set=keys.slice(count))
        return Pairs(self.documents.filter(kept), self.names.filter(kept))


def _as_pairs(found: Mapping[int, Sequence[Id]], kind: Any = None) -> Pairs:
    import pyarrow as pa

    places = [at for at, ids in found.items() for _ in range(len(ids))]
    names = [id for ids in found.values() for id in ids]
    return Pairs(pa.array(places, pa.int64()), pa.array(names, kind or pa.string()))


class Verifier:
    """Decides which candidates match; several threads may share it."""

    def __init__(self, limits: Limits, settings: Settings) -> None:
        self._limits = replace(limits, **WIDEST)
        self._settings = settings
        self._guard = threading.Lock()
        self._version: object = None
        self._begin()

    def _begin(self) -> None:
        self._texts: dict[str, str] = {}
        self._current: set[str] = set()
        """Those whose expressions are known to be those of the version."""
        self._named: set[str] = set()
        """The names all of whose subscriptions are among these."""
        self._index = Index(
            limits=self._limits,
            namespaces=self._settings.namespaces,
            ignore_namespaces=self._settings.ignore_namespaces,
        )

    def decide(
        self,
        candidates: Pairs,
        definitions: Callable[[list[str]], Mapping[str, str]],
        documents: Sequence[Document],
        *,
        version: object = 0,
        certain: Pairs | None = None,
    ) -> tuple[Pairs, list[tuple[int, DocumentError]]]:
        """The candidates that match, and the documents with some that cost too much to decide.

        `definitions` is asked for expressions that are not known in this `version` of the subscriptions.
        Pairs that are `certain` already are not reported if they cost too much.
        """
        import pyarrow.compute as pc

        def asked(at: int) -> set[Id]:
            return candidates.of(at) - (certain.of(at) if certain else set())

        with self._guard:
            self._learn(pc.unique(candidates.names).to_pylist(), definitions, version)
            places = pc.unique(candidates.documents).to_pylist()
            found, errors = self._matches(places, documents, asked)
        return _as_pairs(found, candidates.names.type).among(candidates), errors

    def decide_outlined(
        self,
        outline: Outline,
        named: Mapping[int, set[str]],
        definitions: Callable[[list[str]], Mapping[str, str]],
        documents: Sequence[Document],
        *,
        version: object = 0,
    ) -> tuple[Pairs, list[tuple[int, DocumentError]]]:
        """The same for candidates that are told by the names that documents have.

        Only what the index finds is looked up, so thousands of candidates cost nothing.
        """

        def asked(at: int) -> set[Id]:
            return {each for name in named[at] for each in outline.subscriptions[name]}

        with self._guard:
            wanted = {name for names in named.values() for name in names}
            if self._version != version or not wanted <= self._named:
                self._learn(
                    list({each for name in wanted for each in outline.subscriptions[name]}),
                    definitions,
                    version,
                )
                self._named |= wanted
            found, errors = self._matches(named, documents, asked)
        kept = {
            at: [id for id in ids if not named[at].isdisjoint(outline.names.get(str(id), ()))]
            for at, ids in found.items()
        }
        return _as_pairs(kept), errors

    def _matches(
        self, places: Iterable[int], documents: Sequence[Document], asked: Callable[[int], set[Id]]
    ) -> tuple[dict[int, Sequence[Id]], list[tuple[int, DocumentError]]]:
        """What the index finds in some documents, and those where something asked for costs too much."""
        found: dict[int, Sequence[Id]] = {}
        errors: list[tuple[int, DocumentError]] = []
        for at in places:
            try:
                found[at] = self._index.match(documents[at])
            except EvaluationError as error:
                found[at] = error.matches
                wanted = asked(at)
                if failures := [json.loads(str(id)) for id in error.failures if id in wanted]:
                    errors.append((at, DocumentLimitError(str(EvaluationError([], failures)), 0, 0)))
            except DocumentError as error:  # more work than the limit allows, for all candidates together
                errors.append((at, error))
        return found, errors

    def _learn(
        self, names: list[str], definitions: Callable[[list[str]], Mapping[str, str]], version: object
    ) -> None:
        """Has the index know the expressions of some subscriptions as they are in a version."""
        if self._version != version:
            self._version = version
            self._current.clear()
            self._named.clear()
        unknown = [name for name in names if name not in self._current]
        if not unknown:
            return
        if len(self._texts) + len(unknown) > HELD:
            self._begin()
            unknown = names
        told = definitions(unknown)
        rows = [(name, *json.loads(text)) for name, text in told.items() if self._texts.get(name) != text]
        self._index.add_many(rows)
        self._texts.update(told)
        self._current.update(unknown)
