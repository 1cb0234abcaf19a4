"""Tables in files that never change, for Spark.

Every change of the subscriptions is a number and adds files: ``TABLE/change=N``, with the edges and tests in
a folder a level. The last file of a change is its row in ``changes``; what has none never happened. A match
takes the list of changes there are when it begins, so it sees all of a change or nothing of it. Subscriptions
that are taken away are rows of `Gone`, with the number of the change.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathcast.relational.settings import Settings
from pathcast.relational.spark_workers import COMPILED, spark_type
from pathcast.relational.tables import COLUMNS, SHARED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BY_LEVEL = ("XPathFrame", "XPathPred")
GONE = {"subscription": "varchar"}
CHANGE = "number int, level int, tables string, settings string"
KEPT_AS_FILES = {"FrameMatch", "PredicateMatch", "Kept", "Level", "Candidate"}
"""Tables of a run that several statements read; the others are parts of the statements that read them."""

LIVE = """
select s.* from {Some} s left anti join {Gone} g on g.subscription = s.subscription and g.change > s.change
"""


def schema(table: str) -> str:
    """The columns of a table as Spark declares them."""
    columns = GONE if table == "Gone" else COLUMNS[table]
    return ", ".join([*(f"{name} {spark_type(kind)}" for name, kind in columns.items()), "change int"])


@dataclass(frozen=True)
class Snapshot:
    """The changes that a reader sees: their numbers, each with the tables that it wrote."""

    changes: tuple[tuple[int, frozenset[str]], ...]
    level: int
    settings: Settings | None

    @property
    def next(self) -> int:
        """The number of the change after them."""
        return self.changes[-1][0] + 1 if self.changes else 1


class Store:
    """The files below one folder."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark = spark
        self.path = path.rstrip("/")

    def snapshot(self, wanted: Settings) -> Snapshot:
        """The changes there are now, the settings being those of the first."""
        from pyspark.errors import AnalysisException

        try:
            rows = (
                self.spark.read.schema(CHANGE).parquet(f"{self.path}/changes").collect()
            )  # one row a change
        except AnalysisException:
            rows = []
        rows = sorted(rows, key=lambda row: row["number"])
        settings = None
        if rows:
            settings = wanted.of([(name, content) for name, content in json.loads(rows[0]["settings"])])
        changes = tuple((row["number"], frozenset(row["tables"].split())) for row in rows)
        return Snapshot(changes, max((row["level"] for row in rows), default=0), settings)

    def commit(self, change: int, level: int, written: Iterable[str], settings: Settings) -> None:
        """Makes a change seen."""
        row = (change, level, " ".join(written), json.dumps(settings.rows()))
        self.spark.createDataFrame([row], CHANGE).coalesce(1).write.parquet(
            f"{self.path}/changes/change={change}"
        )

    def write(self, table: str, change: int, rows: DataFrame) -> None:
        """Adds the rows of a change to a table."""
        columns = list(GONE if table == "Gone" else COLUMNS[table])
        writer = rows.select(*columns).write.mode("overwrite")  # what a change that failed has left
        if table in BY_LEVEL:
            writer = writer.partitionBy("level")
        writer.parquet(f"{self.path}/{table}/change={change}")

    def read(self, table: str, snapshot: Snapshot, more: int | None = None) -> DataFrame:
        """A table as a snapshot sees it, perhaps with a change that is not yet seen; the gone included."""
        changes = [change for change, written in snapshot.changes if table in written]
        paths = [f"{self.path}/{table}/change={change}" for change in [*changes, *([more] if more else [])]]
        if not paths:
            return self.spark.createDataFrame([], schema(table))
        reader = self.spark.read.schema(schema(table)).option("basePath", f"{self.path}/{table}")
        return reader.parquet(*paths)

    def live(self, table: str, snapshot: Snapshot) -> DataFrame:
        """`Subscription` or `Subscriber` without those that are gone."""
        if not any("Gone" in written for _, written in snapshot.changes):
            return self.read(table, snapshot)
        return self.spark.sql(LIVE, Some=self.read(table, snapshot), Gone=self.read("Gone", snapshot))

    def tables(self, snapshot: Snapshot) -> dict[str, DataFrame]:
        """All tables that a match reads."""
        found = {table: self.read(table, snapshot) for table in SHARED}
        return found | {table: self.live(table, snapshot) for table in COMPILED if table not in SHARED}


class SparkRun:
    """The tables of one run, each a DataFrame; those that are read more than once are files."""

    def __init__(self, spark: SparkSession, folder: str, kept: dict[str, DataFrame], level: int) -> None:
        self._spark = spark
        self._folder = folder
        self._tables = dict(kept)
        self._level = level
        self._numbers = itertools.count()
        self.plans: dict[str, str] = {}
        """The plan of each statement that was run, by table and level."""

    def load(self, name: str, rows: Any) -> None:
        """Takes a DataFrame as a table."""
        self._tables[name] = rows

    def query(self, query: str, level: int = 0) -> DataFrame:
        """What a query answers."""
        used: dict[str, Any] = {name: each for name, each in self._tables.items() if f"{{{name}}}" in query}
        if "{level}" in query:
            used["level"] = level
        return self._spark.sql(query, **used)

    def make(self, name: str, query: str, level: int = 0) -> None:
        """Makes a table of what a query answers."""
        self._tables[name] = self._kept(name, self.query(query, level), level)

    def grow(self, name: str, query: str) -> None:
        """Adds what a query answers to a table; it comes from `Level`, which is in files."""
        self._tables[name] = self._tables[name].unionByName(self.query(query))

    def highest_level(self) -> int:
        """The highest level of any pattern."""
        return self._level

    def _kept(self, name: str, rows: DataFrame, level: int) -> DataFrame:
        if name not in KEPT_AS_FILES:
            return rows
        self.plans[f"{name} {level}" if level else name] = _plan(rows.explain)
        place = f"{self._folder}/{next(self._numbers)}-{name}"
        rows.write.parquet(place)
        return self._spark.read.schema(rows.schema).parquet(place)


def _plan(explain: Callable[[str], None]) -> str:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        explain("formatted")
    return out.getvalue()
