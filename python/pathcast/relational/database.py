"""`Relational`: subscriptions in the tables of a database, documents matched against them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pathcast import _core
from pathcast.errors import DocumentError, SubscriptionErrors
from pathcast.limits import Limits
from pathcast.relational.backends import connect
from pathcast.relational.candidates import Verifier
from pathcast.relational.documents import batches
from pathcast.relational.settings import Settings
from pathcast.relational.sql import program, steps
from pathcast.relational.subscriptions import add, remove, sweep
from pathcast.types import ArrowStream, Document, Id, Namespaces, Subscription

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pathcast.relational.backends.backend import Reader

LEVELS = 16
ALTERNATIVES = 64
ROWS = 20_000_000


class DeadLetter(NamedTuple):
    """A document that was refused, with the reason."""

    document: Id
    error: DocumentError


class Relational:
    """Subscriptions in the tables of a database, and documents matched against them by SQL.

    `backend` is ``"duckdb"`` for tables in memory, ``"duckdb:///FILE"`` for a file, a
    ``"postgresql://user@host/db"`` address, or a `SparkSession`, which takes and gives DataFrames as well.

    >>> db = Relational("duckdb")
    >>> db.subscribe([("s1", "/a/b"), (2, "//b[@x > 3]")])
    >>> db.match([("d1", b"<a><b x='5'/></a>")])
    [('d1', 2), ('d1', 's1')]
    >>> db.unsubscribe(["s1"])
    >>> db.match([("d1", b"<a><b x='5'/></a>")]), len(db)
    ([('d1', 2)], 1)
    """

    def __new__(cls, backend: str | SparkSession = "duckdb", **options: Any) -> Any:
        """Makes a `SparkRelational`, which has the same methods, when given a Spark session."""
        if cls is Relational and not isinstance(backend, str):
            from pathcast.relational.backends.spark import SparkRelational

            return object.__new__(SparkRelational)
        return object.__new__(cls)

    def __init__(
        self,
        backend: str | SparkSession = "duckdb",
        *,
        limits: Limits | None = None,
        ordered: bool = False,
        namespaces: Namespaces | None = None,
        ignore_namespaces: bool = False,
        cutting: bool = True,
        levels: int = LEVELS,
    ) -> None:
        """Opens the database, and makes the tables if they are not there.

        `ordered`, `namespaces` and `ignore_namespaces` are as for `pathcast.Index`. The last two apply to the
        whole database and are stored in it. `cutting` is a step that only saves time. Of an expression with
        more than `levels` levels, the tables match the upper levels, and an index decides the rest. Every
        level costs each match a round of statements; on Spark, several jobs.
        """
        self.limits = limits or Limits()
        self.ordered = ordered
        self.cutting = cutting
        self.levels = levels
        if levels < 1:
            raise ValueError(f"levels must be at least 1, not {levels}")
        self.dead_letters: list[DeadLetter] = []
        """The bad documents of the last `match`."""
        self._pending: list[tuple[Id, Document]] = []
        wanted = Settings.new(namespaces, ignore_namespaces, self.limits.expression_bytes)
        self._open(backend, wanted)

    def _open(self, backend: Any, wanted: Settings) -> None:
        self._backend = connect(backend)
        self.settings = self._backend.prepare(wanted)
        self._verifier = Verifier(self.limits, self.settings)

    def compile(self, subscriptions: Iterable[Subscription] | ArrowStream) -> dict[str, Any]:
        """The rows of subscriptions; raises one error that lists every bad expression."""
        tables, refused = _core.compile(
            subscriptions,
            self.limits,
            self.ordered,
            self.settings.namespaces,
            self.settings.ignore_namespaces,
            self.settings.key,
            self.levels,
            ALTERNATIVES,
        )
        if refused:
            raise SubscriptionErrors((id, error) for _, id, error in refused)
        return tables

    def subscribe(self, subscriptions: Iterable[Subscription] | ArrowStream) -> None:
        """Adds subscriptions, all or none; a known id gets the new expression.

        Takes what `pathcast.Index.add_many` takes: pairs, rows with mode and namespaces, or an Arrow table.
        """
        tables = self.compile(subscriptions)
        with self._backend.writing() as session:
            add(session, tables)

    def unsubscribe(self, ids: Iterable[Id]) -> None:
        """Removes subscriptions, all or none; `KeyError` if one is unknown."""
        ids = list(ids)
        names = _core.encode_ids(ids)
        with self._backend.writing() as session:
            unknown = remove(session, names)
            if unknown:
                raise KeyError(ids[names.index(unknown)])

    def publish(self, documents: Iterable[tuple[Id, Document]]) -> None:
        """Queues documents for the next `match`."""
        self._pending.extend(documents)

    def match(self, documents: Iterable[tuple[Id, Document]] = ()) -> list[tuple[Id, Id]]:
        """The pairs of document and subscription that match, sorted; numbers come before texts.

        Bad documents are in `dead_letters`. The call sees the subscriptions as they were when it began. If
        the connection is lost, it raises `DatabaseError` and can be called again.
        """
        waiting = [*self._pending, *documents]
        dead: list[DeadLetter] = []
        found: dict[Id, list[Id]] = {}
        with self._backend.reading() as session:
            for ids, sources in batches(waiting, self.limits.document_bytes):
                tables, refused = _core.shred(
                    sources, self.limits, self.settings.ignore_namespaces, self.settings.text_bytes, ROWS
                )
                dead.extend(DeadLetter(ids[at], error) for at, error in refused)
                for name, rows in tables.items():
                    session.load(name, rows)
                program.run(session, cutting=self.cutting)
                for document, id in self._answers(session, sources):
                    found.setdefault(ids[document], []).append(id)
        self._pending.clear()
        self.dead_letters = dead
        if len({id for id, _ in waiting}) < len(waiting):  # two documents of one name
            found = {id: list(set(names)) for id, names in found.items()}
        return [(id, name) for id in _sorted(found) for name in _sorted(found[id])]

    def _answers(self, session: Reader, sources: Sequence[Document]) -> Iterator[tuple[int, Id]]:
        """The documents' places in the batch with the subscriptions that match."""
        documents, texts = session.pairs(steps.MATCHES)
        names = {text: json.loads(text) for text in set(texts)}
        yield from zip(documents, map(names.__getitem__, texts), strict=True)
        if not session.rows("select 1 from {Subscriber} where not is_exact limit 1"):
            return
        session.make("Candidate", steps.CANDIDATES)
        documents, texts = session.pairs("select document, subscription from {Candidate}")
        if documents:
            definitions = dict(zip(*session.pairs(steps.DEFINITIONS), strict=True))
            candidates = zip(documents, texts, strict=True)
            for document, text in self._verifier.decide(candidates, definitions, sources):
                yield document, json.loads(text)

    def sweep(self) -> None:
        """Deletes rows that only removed subscriptions used; also happens by itself from time to time."""
        with self._backend.writing() as session:
            sweep(session)

    def count(self, table: str) -> int:
        """The number of rows of a table; `pathcast.relational.sql.tables` lists the tables."""
        with self._backend.reading() as session:
            return int(session.rows(f"select count(*) from {{{table}}}")[0][0])

    def __len__(self) -> int:
        return self.count("Subscription")

    def close(self) -> None:
        """Closes the connection; tables in memory are lost."""
        self._backend.close()

    def __enter__(self) -> Relational:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _sorted(ids: Collection[Id]) -> list[Id]:
    """Numbers before texts, each in order."""
    try:
        return sorted(ids)
    except TypeError:
        return sorted(ids, key=lambda id: (isinstance(id, str), id))
