"""Spark SQL: subscriptions in files that Spark reads in parts, so that they need not fit into any one memory.

Shredding, compiling and deciding run in the workers, the joins in Spark; nothing but counts and, for a caller
who gave a list, the answer itself comes to the driver. The statements are those of every backend. They run in
a session of their own beside the caller's, with adaptive execution on and joins without an equality
forbidden.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pathcast import _core
from pathcast.errors import DocumentError
from pathcast.relational.backends.spark.changes import Changes
from pathcast.relational.backends.spark.run import SparkRun, plan
from pathcast.relational.backends.spark.store import Snapshot, Store
from pathcast.relational.backends.spark.workers import (
    DECIDED,
    SHREDDED,
    Subjects,
    compiling,
    deciding,
    shredding,
    spark_type,
    wide_schema,
)
from pathcast.relational.database import ALTERNATIVES, ROWS, DeadLetter, Relational
from pathcast.relational.settings import Settings
from pathcast.relational.sql import program, steps, tables
from pathcast.types import Document, Id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SESSION = {
    "spark.sql.adaptive.enabled": "true",
    # A join of two large sides hashes the smaller one of each part instead of sorting both.
    "spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": "128MB",
    "spark.sql.autoBroadcastJoinThreshold": "16MB",
    "spark.sql.crossJoin.enabled": "false",
    # A folder a level is written without sorting by level before.
    "spark.sql.maxConcurrentOutputFileWriters": "64",
    "spark.sql.sources.partitionOverwriteMode": "static",
}
MATCH = f"""
select distinct d.document, p.subscription, p.is_exact
from ({steps.FOUND}) p
join {{XMLDocument}} d on d.node = p.node
"""
"""What was found, with the documents' own ids."""

CANDIDATE = """
select w.document, w.subscription
from {Match} w
left anti join (select * from {Match} where is_exact) m
    on m.document = w.document and m.subscription = w.subscription
where not w.is_exact
"""
"""What the expression itself has to decide."""

ASKED = """
select c.document, collect_list(struct(s.subscription, s.definition)) as candidates
from {Candidate} c
join {Subscription} s on s.subscription = c.subscription
group by c.document
"""
"""The candidates of each document; only Spark, where they go to the workers, needs them so."""

SMALL = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
}
"""For a few rows: a statement is one job, where otherwise each of its parts is one, and is not compiled."""
SMALL_ROWS = 50_000  # of a batch of documents
SMALL_SUBSCRIPTIONS = 50_000

_TOGETHER = 4_096  # documents of a list: a run has seconds to give away
_BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_SHUFFLED = "spark.sql.shuffle.partitions"
_PARTITIONS = 4  # of a shuffle, for each core


class SparkRelational(Relational):
    """`Relational` on a `SparkSession`; `path` is where the tables are, for good, or else for its life.

    What takes a list takes a DataFrame as well. `match` of a DataFrame with the columns `id` and `document`
    gives a DataFrame (document, subscription_id), and `dead_letters` is then one too.
    """

    dead_letters: Any

    def __init__(
        self,
        backend: SparkSession | str,
        *,
        path: str | None = None,
        id: str = "doc_id",
        document: str = "xml",
        **options: Any,
    ) -> None:
        self._temporary = path is None
        self._path = path or tempfile.mkdtemp(prefix="pathcast-relational-")
        self._columns = (id, document)
        self._run: SparkRun | None = None
        self._begun: dict[Callable[[SparkRun], None], tuple[tuple[int, ...], SparkRun]] = {}
        """What depends on the steps or on the subscriptions alone, and the changes that it was made of."""
        self._subjects: Subjects = ()
        """The values that tests look at, of the same changes."""
        self._is_small = False
        """Whether the last match had few rows."""
        super().__init__(backend, **options)

    def _open(self, backend: Any, wanted: Settings) -> None:
        self._theirs: SparkSession = backend
        self._spark: SparkSession = backend.newSession()
        for name, value in SESSION.items():
            self._spark.conf.set(name, value)
        if (size := backend.conf.get(_BATCH_BYTES, None)) is not None:
            self._spark.conf.set(_BATCH_BYTES, size)
        partitions = int(str(backend.conf.get(_SHUFFLED, "200")))
        if hasattr(backend, "_jsparkSession"):  # a Connect session does not tell
            partitions = min(partitions, _PARTITIONS * backend.sparkContext.defaultParallelism)
        self._spark.conf.set(_SHUFFLED, str(partitions))
        self._store = Store(self._spark, self._path)
        self.settings = self._store.snapshot(wanted).settings or wanted
        self._changes = Changes(self._store, self.settings)

    # Changes

    def subscribe(self, subscriptions: Any) -> None:
        """Adds subscriptions, all or none: pairs, rows, an Arrow table, or a DataFrame (id, xpath, ...)."""
        if hasattr(subscriptions, "mapInArrow"):
            names = [
                name for name in ("id", "xpath", "ordered", "namespaces") if name in subscriptions.columns
            ]
            task = compiling(self.limits, self.settings, self.ordered, self.levels, ALTERNATIVES)
            compiled = self._changes.compiled(subscriptions.select(*names), task)
        else:
            compiled = self._changes.compiled_here(self.compile(subscriptions))
        self._changes.subscribe(compiled)

    def unsubscribe(self, ids: Any) -> None:
        """Takes subscriptions away, all or none; `KeyError` when one is not there. A DataFrame has `id`."""
        self._changes.unsubscribe(ids if hasattr(ids, "mapInArrow") else _core.encode_ids(list(ids)))

    def sweep(self) -> None:
        """Writes the tables anew as one change, without the rows that were taken out.

        It is done by itself when as many subscriptions were removed as are left.
        """
        self._changes.sweep()

    # Matching

    def match(self, documents: Any = ()) -> Any:
        """The pairs that match: sorted for a list, as a DataFrame for a DataFrame."""
        snapshot = self._store.snapshot(self.settings)
        if hasattr(documents, "mapInArrow"):
            id, column = self._columns
            frame = documents.selectExpr(f"`{id}` as document", f"`{column}` as content")
            pairs, dead = self._matched_frames(frame, snapshot, f"{self._path}/runs/{uuid4().hex}")
            unquoted = "get_json_object(concat('[', subscription, ']'), '$[0]') as subscription_id"
            self.dead_letters = dead.selectExpr(f"document as `{id}`", "reason", "line", "`column`")
            return pairs.selectExpr(f"document as `{id}`", unquoted)
        return self._match_list([*self._pending, *documents], snapshot)

    def query(self, sql: str, documents: Any = ()) -> Any:
        """Matches a DataFrame of documents and answers a query about ``{matches}``, as a DataFrame."""
        id, _ = self._columns
        matches = self.match(documents).withColumnsRenamed(
            {id: "document", "subscription_id": "subscription"}
        )
        return self._theirs.sql(sql, matches=matches)

    def _match_list(self, waiting: list[tuple[Id, Document]], snapshot: Snapshot) -> list[tuple[Id, Id]]:
        import pyarrow as pa

        from pathcast.relational.documents import batches

        found: list[tuple[Id, Id]] = []
        letters: list[DeadLetter] = []
        for ids, sources in batches(waiting, self.limits.document_bytes, _TOGETHER):
            folder = f"{self._path}/runs/{uuid4().hex}"
            numbers = pa.array(range(len(ids)), pa.int64())
            content = pa.array([_bytes(source) for source in sources], pa.binary())
            table = pa.table({"document": numbers, "content": content})
            frame = self._theirs.createDataFrame(table, schema="document bigint, content binary")
            pairs, dead = self._matched_frames(frame, snapshot, folder)
            for row in dead.collect():
                error = DocumentError(row["reason"], row["line"], row["column"])
                letters.append(DeadLetter(ids[row["document"]], error))
            found.extend((ids[at], json.loads(name)) for at, name in pairs.collect())
            shutil.rmtree(folder, ignore_errors=True)
        self._pending.clear()
        self.dead_letters = letters
        return sorted(
            set(found), key=lambda pair: tuple(part for id in pair for part in (isinstance(id, str), id))
        )

    def _matched_frames(
        self, documents: DataFrame, snapshot: Snapshot, folder: str
    ) -> tuple[DataFrame, DataFrame]:
        """Rows (document, subscription), and the bad documents, for the caller's session.

        On Spark Connect, DataFrames of two sessions do not meet: what goes from one to the other is in files.
        """
        from pyspark.sql import Observation
        from pyspark.sql.functions import count, lit

        theirs = documents.sparkSession
        kind = documents.schema["document"].dataType.simpleString()
        stored = self._store.tables(snapshot)
        are_few = snapshot.live <= SMALL_SUBSCRIPTIONS
        with self._fitted(are_few):
            begun = self._begin(snapshot, stored)
        task = shredding(self.limits, self.settings, ROWS, self._subjects)
        wide = documents.mapInArrow(task, wide_schema(SHREDDED, kind))
        counted = Observation()
        wide.observe(counted, count(lit(1)).alias("rows")).write.parquet(f"{folder}/shredded")
        self._is_small = are_few and counted.get.get("rows", 0) <= SMALL_ROWS
        with self._fitted(self._is_small):
            shredded = self._spark.read.schema(wide.schema).parquet(f"{folder}/shredded")
            session = self._run = SparkRun(self._spark, folder, stored | begun)
            decided = self._decided(session, snapshot, documents, shredded)
        found = theirs.read.schema(f"document {kind}, subscription string, is_exact boolean")
        matches = found.parquet(*session.places("Match")).where("is_exact").drop("is_exact")
        dead = theirs.read.schema(wide.schema).parquet(f"{folder}/shredded").where("part = 'Dead'")
        dead = dead.select("document", "reason", "line", "column")
        if decided is not None:
            certain = decided.where("subscription is not null")
            matches = matches.unionAll(certain.select("document", "subscription"))
            undecided = decided.where("subscription is null")
            dead = dead.unionAll(undecided.select("document", "reason", "line", "column"))
        return matches, dead

    def _decided(
        self, session: SparkRun, snapshot: Snapshot, documents: DataFrame, shredded: DataFrame
    ) -> DataFrame | None:
        """Makes `Match`; what the expressions have decided on candidates, if there are any."""
        for part in tables.DOCUMENTS:
            rows = shredded.where(f"part = '{part}'").select(*tables.COLUMNS[part])
            # Several tasks may have the same paths.
            session.load(part, rows.distinct() if part in {"XMLPath", "XMLPathAncestor"} else rows)
        session.load("XMLDocument", shredded.where("part = 'XMLDocument'").select("node", "document"))
        session.make("NewPath", "select path from {XMLPath}")
        program.extend_summary(session, snapshot.steps)
        program.find_facts(session, snapshot.level, with_values=bool(self._subjects))
        session.make("Match", MATCH)
        if not snapshot.weak:
            return None
        session.make("Candidate", CANDIDATE)
        session.make("Asked", ASKED)
        return self._decide(session, documents) if session.has_rows("Asked") else None

    def _begin(self, snapshot: Snapshot, stored: dict[str, DataFrame]) -> dict[str, DataFrame]:
        """The tables that are made of the steps and of the subscriptions, kept until there are others."""
        every = tuple(each.number for each in snapshot.changes)
        steps = tuple(each.number for each in snapshot.changes if "Step" in each.tables)
        made: dict[str, DataFrame] = {}
        for begin, changes in ((program.begin_steps, steps), (program.begin_version, every)):
            known = self._begun.get(begin)
            if known is None or known[0] != changes:
                if known:
                    shutil.rmtree(known[1].folder, ignore_errors=True)
                run = SparkRun(self._spark, f"{self._path}/runs/{uuid4().hex}", stored)
                begin(run)
                if begin is program.begin_version:
                    rows = stored["Subject"].select("subject", "node", "name").collect()
                    self._subjects = tuple(tuple(row) for row in rows)
                self._begun[begin] = changes, run
            made |= self._begun[begin][1].made()
        return made

    @contextmanager
    def _fitted(self, is_small: bool) -> Iterator[None]:
        """The settings for a few rows, until the end of the block."""
        settings = self._spark.conf
        before = {name: settings.get(name) for name in SMALL} if is_small else {}
        for name in before:
            settings.set(name, SMALL[name])
        try:
            yield
        finally:
            for name, value in before.items():
                settings.set(name, str(value))

    def _decide(self, session: SparkRun, documents: DataFrame) -> DataFrame:
        """Writes the candidates that match, and why others are undecided; workers get each document once."""
        asked = documents.sparkSession.read.parquet(*session.places("Asked"))
        rows = documents.join(asked, "document").select("document", "content", "candidates")
        session.planned["Decided"] = rows
        kind = documents.schema["document"].dataType.simpleString()
        task = deciding(self.limits, self.settings)
        schema = ", ".join(
            f"`{name}` {spark_type(each)}" for name, each in {"document": kind, **DECIDED}.items()
        )
        place = f"{session.folder}/decided"
        rows.mapInArrow(task, schema).write.parquet(place)
        return documents.sparkSession.read.schema(schema).parquet(place)

    @property
    def plans(self) -> dict[str, str]:
        """How Spark meant to do the last change and the last match, by table and level."""
        told = {name: plan(rows) for name, rows in self._changes.planned.items()}
        with self._fitted(self._is_small):
            return told | {
                name: plan(rows) for name, rows in (self._run.planned if self._run else {}).items()
            }

    # The rest

    def count(self, table: str) -> int:
        """How many rows a table has."""
        return self._store.tables(self._store.snapshot(self.settings))[table].count()

    def close(self) -> None:
        """Removes the tables if they were for its life only, and ends its session."""
        if not hasattr(self._spark, "_jsparkSession") and not self._spark.client.is_closed:
            self._spark.client.release_session()  # left open, it would keep a process from ending
            self._spark.client.close()
        if self._temporary:
            shutil.rmtree(self._path, ignore_errors=True)
        else:
            shutil.rmtree(Path(self._path) / "runs", ignore_errors=True)


def _bytes(document: Any) -> bytes | None:
    """A document as bytes; text keeps its meaning whatever encoding it declares, by a byte order mark."""
    if isinstance(document, str):
        return ("\ufeff" + document.removeprefix("\ufeff")).encode()
    return bytes(document) if not hasattr(document, "__fspath__") else Path(document).read_bytes()
