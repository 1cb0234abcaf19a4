"""`Relational`: subscriptions in the tables of a database, documents matched against them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pathcast import _core
from pathcast.errors import DocumentError, SubscriptionErrors
from pathcast.limits import Limits
from pathcast.relational.answers import merged, pairs
from pathcast.relational.backends import connect
from pathcast.relational.candidates import Pairs, Verifier
from pathcast.relational.documents import batches
from pathcast.relational.settings import NODE_BITS, Settings
from pathcast.relational.sql import steps
from pathcast.relational.sql.names import run_table
from pathcast.relational.subscriptions import add, remove, sweep
from pathcast.types import ArrowStream, Document, Id, Namespaces, Subscription

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pathcast.relational.backends.backend import Found, Reader
    from pathcast.relational.sql.program import Shape

LEVELS = 16
ALTERNATIVES = 64
ROWS = 20_000_000


class DeadLetter(NamedTuple):
    """A document that was refused, or that some subscription took too long to decide on, with the reason."""

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
        cutting: bool | None = None,
        levels: int = LEVELS,
    ) -> None:
        """Opens the database, and makes the tables if they are not there.

        `ordered`, `namespaces` and `ignore_namespaces` are as for `pathcast.Index`. The last two apply to the
        whole database and are stored in it. Of an expression with more than `levels` levels, the tables match
        the upper levels, and an index decides the rest. `cutting` has no effect any more.
        """
        self.limits = limits or Limits()
        self.ordered = ordered
        self.levels = levels
        if cutting is not None:
            warnings.warn("cutting has no effect any more", DeprecationWarning, stacklevel=2)
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
        self._answers = _core.Answers()

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
        with self._backend.reading() as session:
            found = self._match(session, documents)
        return pairs(found)

    def query(self, sql: str, documents: Iterable[tuple[Id, Document]] = ()) -> list[tuple[Any, ...]]:
        """Matches documents and answers a query about what was found, in the same transaction.

        ``{matches}`` in the query stands for a table with the columns `document` and `subscription`, the ids
        as texts. It may be joined with every table of the database.

        >>> db = Relational("duckdb")
        >>> db.subscribe([("s1", "/a/b"), ("s2", "//b"), ("s3", "//c")])
        >>> db.query("select document, count(*) from {matches} group by document", [("d1", b"<a><b/></a>")])
        [('d1', 2)]
        """
        import pyarrow as pa

        with self._backend.reading() as session:
            found = pairs(self._match(session, documents))
            columns = {
                name: pa.array([str(pair[at]) for pair in found], pa.string())
                for at, name in enumerate(("document", "subscription"))
            }
            session.load("Matches", pa.record_batch(columns))
            return session.answer(sql.replace("{matches}", run_table("Matches")))

    def _match(self, session: Reader, documents: Iterable[tuple[Id, Document]]) -> dict[Id, list[Id]]:
        waiting = [*self._pending, *documents]
        dead: list[DeadLetter] = []
        found: dict[Id, list[Id]] = {}
        shape = session.shape()
        for ids, sources in batches(waiting, self.limits.document_bytes):
            rows, refused = self._shred(sources, shape)
            dead.extend(DeadLetter(ids[at], error) for at, error in refused)
            if outlined := session.outline(shape, rows):
                definitions = partial(_definitions, session)
                decided, undecided = self._verifier.decide_outlined(
                    *outlined, definitions, sources, version=shape.version
                )
                matched = self._answers.by_document(*decided)
            else:
                matched, undecided = self._matched(session, shape, session.run(shape, rows), sources)
            dead.extend(DeadLetter(ids[at], error) for at, error in undecided)
            for document, names in matched:
                id = ids[document]
                found[id] = merged([found[id], names]) if id in found else names
        self._pending.clear()
        self.dead_letters = dead
        return found

    def _shred(self, sources: Sequence[Document], shape: Shape) -> Any:
        settings = self.settings
        return _core.shred(
            sources,
            self.limits,
            settings.ignore_namespaces,
            settings.text_bytes,
            ROWS,
            settings.key,
            shape.subjects,
        )

    def _matched(
        self, session: Reader, shape: Shape, found: Found, sources: Sequence[Document]
    ) -> tuple[list[tuple[int, list[Id]]], list[tuple[int, DocumentError]]]:
        """What matches each document, and the documents with candidates that took too long."""
        import pyarrow as pa
        import pyarrow.compute as pc

        nodes, names, is_exact = (column.combine_chunks() for column in found.rows.columns)
        documents = pc.shift_right(nodes, NODE_BITS)
        if pc.all(is_exact).as_py():
            return (found.numbering or self._answers).by_document(documents, names), []
        if found.numbering:
            names = found.numbering.names.take(names)
        is_weak = pc.invert(is_exact)
        candidates = Pairs(documents.filter(is_weak), names.filter(is_weak))
        certain = Pairs(documents.filter(is_exact), names.filter(is_exact))
        decided, undecided = self._verifier.decide(
            candidates, partial(_definitions, session), sources, version=shape.version, certain=certain
        )
        columns = zip(certain, decided, strict=True)
        return self._answers.by_document(*(pa.concat_arrays(each) for each in columns)), undecided

    def sweep(self) -> None:
        """Deletes rows that no subscription uses; removing leaves none, so there should be none."""
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


def _definitions(session: Reader, names: list[str]) -> dict[str, str]:
    """The expressions of some subscriptions."""
    import pyarrow as pa

    session.load("Asked", pa.record_batch({"subscription": pa.array(names, pa.string())}))
    return dict(session.rows(steps.DEFINITIONS))
