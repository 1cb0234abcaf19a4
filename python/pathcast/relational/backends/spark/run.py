"""The tables of one run on Spark.

A table that several statements read is written to files, once; the others are parts of the statements that
read them. Files tell the planner true sizes, and a table that grows is one scan of all its files, so that the
plans of high levels are no longer than those of low ones.
"""

from __future__ import annotations

import contextlib
import io
import itertools
from typing import TYPE_CHECKING, Any

from pathcast.relational.sql import steps, summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

IN_FILES = {
    *("XMLPath", "XMLPathAncestor", "Trie", "StepLabel", "NewPair", "Open"),
    *("Base", "Fact", "Level", "Match", "Asked", "TestSlot", "Equal"),
}
BY_LEVEL = {"Trie"}
"""Tables that are read one level at a time, each of which has a folder of its own."""


class SparkRun:
    """A `Session` whose tables are DataFrames."""

    def __init__(self, spark: SparkSession, folder: str, kept: dict[str, DataFrame]) -> None:
        self._spark = spark
        self.folder = folder
        self._kept = kept
        self._tables = dict(kept)
        self._files: dict[str, list[str]] = {}
        self._numbers = itertools.count()
        self.planned: dict[str, DataFrame] = {}
        """What was asked of Spark, by table and level."""

    def load(self, name: str, rows: Any) -> None:
        """Takes a DataFrame as a table."""
        self._files[name] = []
        if name in IN_FILES:
            self._add(name, rows, 0)
        else:
            self._tables[name] = rows

    def made(self) -> dict[str, DataFrame]:
        """The tables that were made, as statements read them."""
        return {name: rows for name, rows in self._tables.items() if name not in self._kept}

    def query(self, query: str, level: int = 0) -> DataFrame:
        """What a query answers."""
        used: dict[str, Any] = {name: each for name, each in self._tables.items() if f"{{{name}}}" in query}
        if "{level}" in query:
            used["level"] = level
        return self._spark.sql(query, **used)

    def make(self, name: str, query: str, level: int = 0) -> None:
        """Makes a table of what a query answers.

        A summary is of one batch alone: no path is known before, and there are no paths of others in it.
        """
        self._files[name] = []
        if query == summary.OPEN:
            return
        if query == steps.BATCH_STEPS:
            self._tables[name] = self._tables["PathStep"]
        elif name in IN_FILES:
            self._add(name, self.query(query, level), level)
        else:
            self._tables[name] = self.query(query, level)

    def grow(self, name: str, query: str, level: int = 0) -> None:
        """Adds what a query answers to a table."""
        if query == summary.CLOSED:  # every path is new
            self._tables[name] = self._tables["Open"]
        if name not in IN_FILES:
            return
        if query == summary.NEXT_STEPS:  # it reads what was added last, of which the planner knows the size
            self._tables[name] = self._read(self._files[name][-1:], self._tables[name])
        self._add(name, self.query(query, level), len(self._files[name]))

    def places(self, name: str) -> list[str]:
        """Where the files of a table are."""
        return list(self._files[name])

    def has_rows(self, name: str) -> bool:
        """Whether there is any row in a table."""
        return not self._tables[name].isEmpty()

    def _add(self, name: str, rows: DataFrame, level: int) -> None:
        self.planned[f"{name} {level}" if level else name] = rows
        place = f"{self.folder}/{next(self._numbers)}-{name}"
        writer = rows.write.partitionBy("level") if name in BY_LEVEL else rows.write
        writer.parquet(place)
        self._files[name].append(place)
        self._tables[name] = self._read(self._files[name], rows)

    def _read(self, places: list[str], rows: DataFrame) -> DataFrame:
        """Rows of that kind from files."""
        return self._spark.read.schema(rows.schema).parquet(*places)


def plan(rows: DataFrame) -> str:
    """How Spark means to find some rows."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        rows.explain("formatted")
    return out.getvalue()
