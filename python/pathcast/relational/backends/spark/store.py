"""Tables in files that never change, for Spark.

Every change of the subscriptions is a number and adds files: ``TABLE/change=N``, with the patterns in
a folder a level. The last file of a change is its row in ``changes``; what has none never happened. A match
takes the list of changes there are when it begins, so it sees all of a change or nothing of it. Subscriptions
that are taken away are rows of `Gone`, and numbers that nobody uses then are rows of `Free`, both with the
number of the change: rows of earlier changes are not seen any more, later ones are. A change that is *whole*
has everything that is needed; readers look at nothing before it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathcast.errors import DatabaseError
from pathcast.relational.backends.spark.workers import COMPILED, USE, spark_type
from pathcast.relational.settings import Settings
from pathcast.relational.sql.tables import COLUMNS, SHARED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BY_LEVEL = ("Pattern",)
REMOVED = {"Gone": {"subscription": "varchar"}, "Free": {"number": "bigint"}}
OWN = REMOVED | {"Use": USE}
"""Tables that only Spark has."""
CHANGE = (
    "number int, level int, steps int, tables string, settings string, "
    "added bigint, removed bigint, weak bigint, whole boolean"
)

LIVE = """
select s.* from {some} s left anti join {removed} r on r.%s = s.%s and r.change > s.change
"""


def columns(table: str) -> dict[str, str]:
    """The columns of a table, with their types."""
    return OWN.get(table) or COLUMNS[table]


def schema(table: str) -> str:
    """The same as Spark declares them, with the number of the change."""
    return ", ".join([*(f"{name} {spark_type(kind)}" for name, kind in columns(table).items()), "change int"])


@dataclass(frozen=True)
class Change:
    """A change: the tables that it wrote, and how many subscriptions came and went."""

    number: int
    tables: frozenset[str]
    level: int = 0
    """The highest level of a pattern."""
    steps: int = 0
    """The highest level of a step."""
    added: int = 0
    removed: int = 0
    weak: int = 0
    """Patterns that say less than their subscription, so that candidates have to be decided."""
    whole: bool = False


@dataclass(frozen=True)
class Snapshot:
    """The changes that a reader sees, and before them those that the last whole one has replaced."""

    changes: tuple[Change, ...]
    replaced: tuple[Change, ...]
    settings: Settings | None

    @property
    def next(self) -> int:
        """The number of the change after them."""
        return self.changes[-1].number + 1 if self.changes else 1

    @property
    def written(self) -> frozenset[str]:
        """The tables that have files."""
        return frozenset().union(*(change.tables for change in self.changes))

    @property
    def level(self) -> int:
        """The highest level of any pattern."""
        return max((change.level for change in self.changes), default=0)

    @property
    def steps(self) -> int:
        """The highest level of any step."""
        return max((change.steps for change in self.changes), default=0)

    @property
    def weak(self) -> bool:
        """Whether there may be candidates."""
        return any(change.weak for change in self.changes)

    @property
    def removed(self) -> int:
        """Subscriptions that left their patterns behind."""
        return sum(change.removed for change in self.changes)

    @property
    def live(self) -> int:
        """Subscriptions that are there."""
        return sum(change.added for change in self.changes) - self.removed


class Store:
    """The files below one folder."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark = spark
        self.path = path.rstrip("/")

    def snapshot(self, wanted: Settings) -> Snapshot:
        """The changes there are now, the settings being those of the first."""
        from pyspark.errors import AnalysisException

        try:
            found = self.spark.read.schema(CHANGE).parquet(f"{self.path}/changes").collect()  # a row a change
        except AnalysisException:
            return Snapshot((), (), None)
        rows = sorted(found, key=lambda row: int(row["number"]))
        changes = [
            Change(
                row["number"],
                frozenset(row["tables"].split()),
                *(row[name] for name in ("level", "steps", "added", "removed", "weak", "whole")),
            )
            for row in rows
        ]
        last = max((at for at, change in enumerate(changes) if change.whole), default=0)
        if any("Subscriber" in each.tables and "Use" not in each.tables for each in changes[last:]):
            raise DatabaseError(
                f"the tables in {self.path} are of an earlier version: subscribe in an empty folder"
            )
        settings = None
        if rows:
            settings = wanted.of([(name, content) for name, content in json.loads(rows[0]["settings"])])
        return Snapshot(tuple(changes[last:]), tuple(changes[:last]), settings)

    def commit(self, change: Change, settings: Settings) -> None:
        """Makes a change seen."""
        row = (
            change.number,
            change.level,
            change.steps,
            " ".join(sorted(change.tables)),
            json.dumps(settings.rows()),
            *(change.added, change.removed, change.weak, change.whole),
        )
        place = f"{self.path}/changes/change={change.number}"
        self.spark.createDataFrame([row], CHANGE).coalesce(1).write.parquet(place)

    def write(self, table: str, change: int, rows: DataFrame) -> None:
        """Adds the rows of a change to a table."""
        writer = rows.select(*columns(table)).write.mode("overwrite")  # what a change that failed has left
        if table in BY_LEVEL:
            writer = writer.partitionBy("level")
        writer.parquet(f"{self.path}/{table}/change={change}")

    def empty(self, table: str, change: int) -> None:
        """Takes the rows of a change away, wherever Spark can write."""
        self._nothing(table).drop("change").coalesce(1).write.mode("overwrite").parquet(
            f"{self.path}/{table}/change={change}"
        )

    def read(self, table: str, snapshot: Snapshot) -> DataFrame:
        """A table as a snapshot sees it, with what is gone or free."""
        return self.written(table, *(each.number for each in snapshot.changes if table in each.tables))

    def written(self, table: str, *changes: int) -> DataFrame:
        """What some changes wrote to a table."""
        if not changes:
            return self._nothing(table)
        reader = self.spark.read.schema(schema(table)).option("basePath", f"{self.path}/{table}")
        return reader.parquet(*(f"{self.path}/{table}/change={number}" for number in changes))

    def _nothing(self, table: str) -> DataFrame:
        """A table without rows, of which the planner knows it: what joins it is left out of plans."""
        nulls = (
            f"cast(null as {kind}) as {name}" for name, kind in map(str.split, schema(table).split(", "))
        )
        return self.spark.sql(f"select {', '.join(nulls)} where false")

    def live(self, table: str, snapshot: Snapshot) -> DataFrame:
        """A table without what is gone or free."""
        removed = "Free" if table in SHARED else "Gone"
        rows = self.read(table, snapshot)
        if not any(removed in change.tables for change in snapshot.changes):
            return rows
        (key,) = REMOVED[removed]
        query = LIVE % (key, SHARED.get(table, key))
        return self.spark.sql(query, some=rows, removed=self.read(removed, snapshot))

    def tables(self, snapshot: Snapshot) -> dict[str, DataFrame]:
        """All tables that a match reads."""
        return {table: self.live(table, snapshot) for table in COMPILED}
