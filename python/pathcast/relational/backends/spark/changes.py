"""Changes of the subscriptions on Spark: what is added, taken away and swept, each a change of the `Store`.

Whatever is compared is compared by joins, so that no subscription comes to the driver: only counts do, and
one id for a message.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pathcast.errors import DatabaseError, SubscriptionErrors, XPathError
from pathcast.relational.backends.spark import uses
from pathcast.relational.backends.spark.store import Change, Snapshot, Store, columns
from pathcast.relational.backends.spark.workers import COMPILED, naming, spark_type, wide_schema
from pathcast.relational.settings import Settings
from pathcast.relational.sql import tables
from pathcast.relational.subscriptions import COLLISION, named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SWEPT_FROM = 1_000
"""Removed subscriptions that start a sweep, once they are also as many as those that remain."""


@dataclass(frozen=True)
class Compiled:
    """The rows of subscriptions by table, those that have any."""

    tables: dict[str, DataFrame]
    level: int
    steps: int
    added: int
    weak: int


class Changes:
    """The one who changes a store; there must be no other at the same time."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self.planned: dict[str, DataFrame] = {}
        """What the last change asked of Spark, by table."""

    def compiled_here(self, compiled: dict[str, Any]) -> Compiled:
        """Rows that were compiled in this process, as DataFrames."""
        import pyarrow as pa
        import pyarrow.compute as pc

        subscriptions, subscribers = named(compiled)
        batches = compiled | {"Subscription": subscriptions, "Subscriber": subscribers}
        found = {}
        batches["Use"] = pa.record_batch(uses.used(batches))
        for table in (*COMPILED, "Use"):
            if batches[table].num_rows:
                schema = ", ".join(f"{name} {spark_type(kind)}" for name, kind in columns(table).items())
                rows = pa.Table.from_batches([batches[table].select(list(columns(table)))])
                found[table] = self._store.spark.createDataFrame(rows, schema=schema)
        level, steps = (pc.max(batches[table].column("level")).as_py() or 0 for table in ("Pattern", "Step"))
        weak = subscribers.num_rows - (pc.sum(subscribers.column("is_exact")).as_py() or 0)
        return Compiled(found, level, steps, subscriptions.num_rows, weak)

    def compiled(self, subscriptions: DataFrame, task: Callable[..., Any]) -> Compiled:
        """Rows that the workers compile; all bad ones that fit a message are raised together."""
        place = f"{self._store.path}/compiled"
        wide = subscriptions.mapInArrow(task, wide_schema((*COMPILED, "Use", "Refused")))
        wide.write.mode("overwrite").parquet(place)  # not by part: that would sort all rows
        everything = self._store.spark.read.schema(wide.schema).parquet(place)
        counted = self._store.spark.sql(
            "select part, count(*) as number, coalesce(max(level), 0) as level, "
            "count_if(not is_exact) as weak from {everything} group by part",
            everything=everything,
        )
        parts = {row["part"]: row for row in counted.collect()}  # a row a table
        if "Refused" in parts:
            refused = everything.where("part = 'Refused'").limit(20).collect()
            raise SubscriptionErrors(
                (json.loads(row["subscription"]), XPathError(row["reason"], "", row["column"]))
                for row in refused
            )
        found = {
            table: everything.where(f"part = '{table}'").select(*columns(table))
            for table in (*COMPILED, "Use")
            if table in parts
        }
        if not found:
            return Compiled({}, 0, 0, 0, 0)
        names = found["Subscription"]
        if not names.groupBy("subscription").count().where("count > 1").limit(1).isEmpty():
            raise ValueError("two subscriptions of the DataFrame have the same id")
        return Compiled(
            found,
            parts["Pattern"]["level"] if "Pattern" in parts else 0,
            parts["Step"]["level"] if "Step" in parts else 0,
            parts["Subscription"]["number"],
            parts["Subscriber"]["weak"],
        )

    def subscribe(self, compiled: Compiled) -> None:
        """Adds the rows; subscriptions with a known id are replaced."""
        if not compiled.added:
            return
        snapshot = self._store.snapshot(self._settings)
        number, removed, written = snapshot.next, 0, set(compiled.tables)
        self.planned = {}
        for table, rows in compiled.tables.items():
            if table in tables.SHARED:
                self._write_shared(table, rows, snapshot)
            else:
                self._store.write(table, number, rows)
        if snapshot.live:
            there = self._store.live("Subscription", snapshot).select("subscription")
            names = compiled.tables["Subscription"].select("subscription")
            removed = self._write_gone(names.join(there, "subscription", "left_semi"), number)
            written.add("Gone")
        change = Change(
            number, frozenset(written), compiled.level, compiled.steps, compiled.added, removed, compiled.weak
        )
        self._commit(self._freeing(change, snapshot))

    def _write_shared(self, table: str, rows: DataFrame, snapshot: Snapshot) -> None:
        """Adds the rows that are not there yet; two contents of one number end the change unseen."""
        from pyspark.errors import PySparkException

        known = self._store.live(table, snapshot)
        query = new_rows(table, any(table in change.tables for change in snapshot.changes))
        used: dict[str, Any] = {"rows": rows} | ({"known": known} if "{known}" in query else {})
        new = self._store.spark.sql(query, **used)
        self.planned[table] = new
        try:
            self._store.write(table, snapshot.next, new)
        except PySparkException as error:
            if COLLISION in str(error):
                raise DatabaseError(COLLISION) from None
            raise

    def _write_gone(self, gone: DataFrame, number: int) -> int:
        self.planned["Gone"] = gone
        self._store.write("Gone", number, gone)
        return self._store.written("Gone", number).count()

    def unsubscribe(self, names: list[str] | DataFrame) -> None:
        """Takes subscriptions away; `KeyError` if one is not there. Ids as they are kept, or as rows."""
        spark = self._store.spark
        if isinstance(names, list):
            gone = spark.createDataFrame([(name,) for name in names], "subscription string")
        else:
            place = f"{self._store.path}/named"
            found = names.select("id").mapInArrow(naming(), "subscription string")
            found.write.mode("overwrite").parquet(place)
            gone = spark.read.schema("subscription string").parquet(place)
        gone = gone.distinct()
        snapshot = self._store.snapshot(self._settings)
        there = self._store.live("Subscription", snapshot).select("subscription")
        unknown = gone.join(there, "subscription", "left_anti")
        self.planned = {"unknown": unknown}
        for row in unknown.limit(1).collect():
            raise KeyError(json.loads(row["subscription"]))
        removed = self._write_gone(gone, snapshot.next)
        change = Change(snapshot.next, frozenset({"Gone"}), removed=removed)
        self._commit(self._freeing(change, snapshot))

    def _freeing(self, change: Change, before: Snapshot) -> Change:
        """The change with what nobody uses after it taken out."""
        if not change.removed:
            return change
        store, after = self._store, replace(before, changes=(*before.changes, change))
        rows: dict[str, Any] = {
            "before": store.live("Subscriber", before).select("subscription", "pattern"),
            "Gone": store.written("Gone", change.number),
            "Subscriber": store.live("Subscriber", after).select("pattern"),
            "Use": store.read("Use", after),
        }
        place = f"{store.path}/loose"
        self.planned["Loose"] = store.spark.sql(uses.LOOSE, **_asked(uses.LOOSE, rows))
        self.planned["Loose"].write.mode("overwrite").parquet(place)
        rows["Loose"] = store.spark.read.schema("number bigint").parquet(place)
        self.planned["Free"] = store.spark.sql(uses.FREE, **_asked(uses.FREE, rows))
        store.write("Free", change.number, self.planned["Free"])
        return replace(change, tables=change.tables | {"Free"})

    def _commit(self, change: Change) -> None:
        self._store.commit(change, self._settings)
        snapshot = self._store.snapshot(self._settings)
        if snapshot.removed >= max(SWEPT_FROM, snapshot.live):
            self.sweep()

    def sweep(self) -> None:
        """Writes everything that is needed once more as one whole change, without what nobody needs.

        What it replaces stays for those who read it, until the next sweep.
        """
        store, snapshot = self._store, self._store.snapshot(self._settings)
        number, kept = snapshot.next, [table for table in COMPILED if table in snapshot.written]
        if not snapshot.changes:
            return
        for table in kept:
            store.write(table, number, store.live(table, snapshot))
        subscribers = store.written("Subscriber", number)
        store.write("Use", number, store.read("Use", snapshot).join(subscribers, "pattern", "left_semi"))
        level, steps = (
            store.written(table, *[number] * (table in kept)).selectExpr("max(level)").collect()[0][0] or 0
            for table in ("Pattern", "Step")
        )
        written = {"Use", *kept}
        weak = subscribers.where("not is_exact").count()
        added = store.written("Subscription", number).count()
        change = Change(number, frozenset(written), level, steps, added, 0, weak, whole=True)
        store.commit(change, self._settings)
        before = max((at for at, each in enumerate(snapshot.replaced) if each.whole), default=0)
        for old in snapshot.replaced[before:]:
            for table in old.tables:
                store.empty(table, old.number)


def _asked(query: str, tables: dict[str, Any]) -> dict[str, Any]:
    """The tables that a query names."""
    return {name: rows for name, rows in tables.items() if f"{{{name}}}" in query}


def new_rows(table: str, is_known: bool) -> str:
    """The query for rows that a table does not have; it fails where two contents have met in one number."""
    key = tables.KEYS[table]
    rest = [name for name in columns(table) if name not in key]
    one = "min(proof) = max(proof)" if "proof" in rest else "true"
    # Of a pattern, two sets may have chosen different slots as the rarest; any row will do, but a whole one.
    row = f"min(struct({', '.join(rest)}))" if rest else "null"
    given = f"select {', '.join(key)}, {row} as row, {one} as is_one from {{rows}} group by {', '.join(key)}"
    names = ", ".join([*(f"g.{name}" for name in key), *(f"g.row.{name}" for name in rest)])
    if not is_known:
        return f"select {names} from ({given}) as g where assert_true(g.is_one, '{COLLISION}') is null"
    number = tables.SHARED[table]
    known = f"select distinct {number}{', proof' if 'proof' in rest else ''} from {{known}}"
    same = "t.proof = g.row.proof" if "proof" in rest else "true"
    return (
        f"select {names} from ({given}) as g left join ({known}) t on t.{number} = g.{number} "
        f"where (t.{number} is null or not (g.is_one and {same})) "
        f"and assert_true(g.is_one and t.{number} is null, '{COLLISION}') is null"
    )
