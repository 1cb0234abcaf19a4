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
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pathcast import _core
from pathcast.errors import DatabaseError, DocumentError, SubscriptionErrors, XPathError
from pathcast.relational import steps, tables
from pathcast.relational.program import run
from pathcast.relational.relational import ALTERNATIVES, ROWS, DeadLetter, Relational
from pathcast.relational.settings import Settings
from pathcast.relational.spark_tables import Snapshot, SparkRun, Store
from pathcast.relational.spark_workers import (
    COMPILED,
    SHREDDED,
    compiling,
    deciding,
    shredding,
    spark_type,
    wide_schema,
)
from pathcast.relational.storing import named
from pathcast.types import Document, Id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SESSION = {
    "spark.sql.adaptive.enabled": "true",
    # A join of two large sides hashes the smaller one of each part instead of sorting both.
    "spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": "128MB",
    "spark.sql.autoBroadcastJoinThreshold": "16MB",
    "spark.sql.crossJoin.enabled": "false",
    "spark.sql.sources.partitionOverwriteMode": "static",
}
_BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
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
        self.plans: dict[str, str] = {}
        """The plans of the last match, by table and level."""
        super().__init__(backend, **options)

    def _open(self, backend: Any, wanted: Settings) -> None:
        self._theirs: SparkSession = backend
        self._spark: SparkSession = backend.newSession()
        for name, value in SESSION.items():
            self._spark.conf.set(name, value)
        if (size := backend.conf.get(_BATCH_BYTES, None)) is not None:
            self._spark.conf.set(_BATCH_BYTES, size)
        if hasattr(backend, "_jsparkSession"):  # a Connect session does not tell
            cores = backend.sparkContext.defaultParallelism
            self._spark.conf.set("spark.sql.shuffle.partitions", str(_PARTITIONS * cores))
        self._store = Store(self._spark, self._path)
        snapshot = self._store.snapshot(wanted)
        self.settings = snapshot.settings or wanted
        self._snapshot = snapshot

    # Changes

    def subscribe(self, subscriptions: Any) -> None:
        """Adds subscriptions, all or none: pairs, rows, an Arrow table, or a DataFrame (id, xpath, ...)."""
        if hasattr(subscriptions, "mapInArrow"):
            compiled = self._compiled(subscriptions)
        else:
            compiled = self._compiled_here(self.compile(subscriptions))
        if "Subscription" not in compiled:
            return
        snapshot = self._store.snapshot(self.settings)
        change, level, written = snapshot.next, 0, list(compiled)
        for table, rows in compiled.items():
            if table in tables.SHARED:
                self._write_shared(table, rows, snapshot, change)
                if "level" in rows.columns:
                    level = max(level, rows.selectExpr("max(level)").first()[0] or 0)  # type: ignore[index]
            else:
                self._store.write(table, change, rows)
        if snapshot.changes:
            there = self._store.live("Subscription", snapshot).select("subscription")
            replaced = (
                compiled["Subscription"].select("subscription").join(there, "subscription", "left_semi")
            )
            self._store.write("Gone", change, replaced)
            written.append("Gone")
        self._store.commit(change, level, written, self.settings)
        self._snapshot = self._store.snapshot(self.settings)

    def _write_shared(self, table: str, rows: DataFrame, snapshot: Snapshot, change: int) -> None:
        """Adds the rows that are not there yet; two contents of one number end the change unseen."""
        key = list(tables.KEYS[table])
        rows = rows.dropDuplicates()
        known = self._store.read(table, snapshot).select(*key)
        self._store.write(table, change, rows.join(known, key, "left_anti") if snapshot.changes else rows)
        there = self._store.read(table, snapshot, change).drop("change")
        different = " or ".join(f"not (r.{name} <=> t.{name})" for name in rows.columns if name not in key)
        met = self._spark.sql(
            f"select 1 from {{rows}} r join {{there}} t on {' and '.join(f'r.{k} = t.{k}' for k in key)} "
            f"where {different} limit 1",
            rows=rows,
            there=there,
        )
        if not met.isEmpty():
            raise DatabaseError(
                "a part of a subscription has the number of another one in these tables; nothing was written"
            )

    def _compiled_here(self, compiled: dict[str, Any]) -> dict[str, DataFrame]:
        import pyarrow as pa

        subscriptions, subscribers = named(compiled)
        batches = compiled | {"Subscription": subscriptions, "Subscriber": subscribers}
        found = {}
        for table in COMPILED:
            if not batches[table].num_rows:
                continue
            schema = ", ".join(f"{name} {spark_type(kind)}" for name, kind in tables.COLUMNS[table].items())
            rows = pa.Table.from_batches([batches[table].select(list(tables.COLUMNS[table]))])
            found[table] = self._spark.createDataFrame(rows, schema=schema)
        return found

    def _compiled(self, subscriptions: DataFrame) -> dict[str, DataFrame]:
        """Compiled by the workers; of two rows with one id, either counts."""
        columns = [name for name in ("id", "xpath", "ordered", "namespaces") if name in subscriptions.columns]
        task = compiling(self.limits, self.settings, self.ordered, self.levels, ALTERNATIVES)
        place = f"{self._path}/compiled"
        wide = subscriptions.select(*columns).mapInArrow(task, wide_schema((*COMPILED, "Refused")))
        wide.write.mode("overwrite").partitionBy("part").parquet(place)
        everything = self._spark.read.schema(wide.schema).parquet(place)
        refused = everything.where("part = 'Refused'").limit(20).collect()
        if refused:
            raise SubscriptionErrors(
                (json.loads(row["subscription"]), XPathError(row["reason"], "", row["column"]))
                for row in refused
            )
        found = {}
        for table in COMPILED:
            rows = everything.where(f"part = '{table}'").select(*tables.COLUMNS[table])
            found[table] = rows
        twice = found["Subscription"].groupBy("subscription").count().where("count > 1").limit(1)
        if not twice.isEmpty():
            raise ValueError("two subscriptions of the DataFrame have the same id")
        return found

    def unsubscribe(self, ids: Any) -> None:
        """Takes subscriptions away, all or none; `KeyError` when one is not there. A DataFrame has `id`."""
        if hasattr(ids, "mapInArrow"):
            ids = [row[0] for row in ids.select("id").toLocalIterator()]
        ids = list(ids)
        names = _core.encode_ids(ids)
        gone = self._spark.createDataFrame([(name,) for name in names], "subscription string")
        snapshot = self._store.snapshot(self.settings)
        there = self._store.live("Subscription", snapshot).select("subscription")
        unknown = gone.join(there, "subscription", "left_anti").limit(1).collect()
        if unknown:
            raise KeyError(ids[names.index(unknown[0][0])])
        self._store.write("Gone", snapshot.next, gone)
        self._store.commit(snapshot.next, 0, ["Gone"], self.settings)
        self._snapshot = self._store.snapshot(self.settings)

    # Matching

    def match(self, documents: Any = ()) -> Any:
        """The pairs that match: sorted for a list, as a DataFrame for a DataFrame."""
        if hasattr(documents, "mapInArrow"):
            id, column = self._columns
            frame = documents.selectExpr(f"`{id}` as document", f"`{column}` as content")
            pairs, dead = self._matched(frame)
            unquoted = "get_json_object(concat('[', subscription, ']'), '$[0]') as subscription_id"
            self.dead_letters = dead.selectExpr(f"document as `{id}`", "reason", "line", "`column`")
            return pairs.selectExpr(f"document as `{id}`", unquoted)
        return self._match_list([*self._pending, *documents])

    def _match_list(self, waiting: list[tuple[Id, Document]]) -> list[tuple[Id, Id]]:
        import pyarrow as pa

        from pathcast.relational.documents import batches

        found: list[tuple[Id, Id]] = []
        letters: list[DeadLetter] = []
        for ids, sources in batches(waiting, self.limits.document_bytes):
            numbers = pa.array(range(len(ids)), pa.int64())
            content = pa.array([_bytes(source) for source in sources], pa.binary())
            table = pa.table({"document": numbers, "content": content})
            frame = self._theirs.createDataFrame(table, schema="document bigint, content binary")
            pairs, dead = self._matched(frame)
            for row in dead.collect():
                error = DocumentError(row["reason"], row["line"], row["column"])
                letters.append(DeadLetter(ids[row["document"]], error))
            found.extend((ids[at], json.loads(name)) for at, name in pairs.collect())
        self._pending.clear()
        self.dead_letters = letters
        return sorted(
            set(found), key=lambda pair: tuple(part for id in pair for part in (isinstance(id, str), id))
        )

    def _matched(self, documents: DataFrame) -> tuple[DataFrame, DataFrame]:
        """Rows (document, subscription), and the bad documents."""
        folder = f"{self._path}/runs/{uuid4().hex}"
        kind = documents.schema["document"].dataType.simpleString()
        shredded = f"{folder}/shredded"
        task = shredding(self.limits, self.settings, ROWS)
        parts = (*SHREDDED, "Dead")
        wide = documents.mapInArrow(task, wide_schema(parts, kind))
        wide.write.partitionBy("part").parquet(shredded)
        everything = self._spark.read.schema(wide.schema).parquet(shredded)
        snapshot = self._snapshot
        session = SparkRun(self._spark, folder, self._store.tables(snapshot), snapshot.level)
        for part in SHREDDED:
            session.load(part, everything.where(f"part = '{part}'").select(*tables.COLUMNS[part]))
        run(session, cutting=self.cutting)
        self.plans = session.plans
        matches = session.query(steps.MATCHES)
        session.make("Candidate", steps.CANDIDATES)
        decided = self._decided(session, documents)
        if decided is not None:
            decided.write.parquet(f"{folder}/decided")
            matches = matches.unionByName(self._spark.read.parquet(f"{folder}/decided"))
        dead = everything.where("part = 'Dead'").select("document", "reason", "line", "column")
        return matches, dead

    def _decided(self, session: SparkRun, documents: DataFrame) -> DataFrame | None:
        """The candidates that match, decided by the workers, which get each document once."""
        candidates = session.query(
            "select c.document, collect_list(struct(s.subscription, s.definition)) as candidates"
            " from {Candidate} c join {Subscription} s on s.subscription = c.subscription group by c.document"
        )
        if session.query("select 1 from {Candidate} limit 1").isEmpty():
            return None
        kind = documents.schema["document"].dataType.simpleString()
        task = deciding(self.limits, self.settings)
        rows = documents.join(candidates, "document").select("document", "content", "candidates")
        return rows.mapInArrow(task, f"document {kind}, subscription string")

    # The rest

    def sweep(self) -> None:
        """Nothing yet: patterns that nobody needs cost space, and change no answer."""

    def count(self, table: str) -> int:
        """How many rows a table has."""
        return self._store.tables(self._snapshot)[table].count()

    def close(self) -> None:
        """Removes the tables if they were for its life only."""
        if self._temporary:
            shutil.rmtree(self._path, ignore_errors=True)
        else:
            shutil.rmtree(Path(self._path) / "runs", ignore_errors=True)


def _bytes(document: Any) -> bytes | None:
    """A document as bytes; text keeps its meaning whatever encoding it declares, by a byte order mark."""
    if isinstance(document, str):
        return ("\ufeff" + document.removeprefix("\ufeff")).encode()
    return bytes(document) if not hasattr(document, "__fspath__") else Path(document).read_bytes()
