"""Compile, match and deliver on Spark, with the time of each step and the figures of the whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from demo.letters import DeadLetter, Story, dead_letter, headline
from pathcast.index import Index
from pathcast.spark import (
    compile_subscriptions,
    deliver,
    match_tagged,
    read_documents,
    read_outbox,
    split_tagged,
    write_outboxes,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Figures", "Places", "check_answers", "run"]

INBOX = 8  # stories of one inbox that are shown


class WrongAnswerError(AssertionError):
    """Spark and the index in this process disagree."""


@dataclass(frozen=True)
class Places:
    """Where everything is, below one folder."""

    folder: Path

    @property
    def documents(self) -> tuple[Path, Path]:
        """The tables of documents: those that come while everything is cold, and all others."""
        return self.folder / "documents/first", self.folder / "documents/others"

    @property
    def subscriptions(self) -> Path:
        """The table of subscriptions."""
        return self.folder / "subscriptions.parquet"

    @property
    def index(self) -> Path:
        """Compiled subscriptions."""
        return self.folder / "index"

    @property
    def answers(self) -> tuple[Path, Path]:
        """Matches and dead letters, of each table of documents."""
        return self.folder / "answers/first", self.folder / "answers/others"

    @property
    def outbox(self) -> Path:
        """What subscribers get: a folder for each."""
        return self.folder / "outbox"


@dataclass
class Figures:
    """What a run gave."""

    cores: int
    seconds: dict[str, float] = field(default_factory=dict)
    """By step, in order."""
    documents: int = 0
    first: int = 0
    """How many of them are matched while everything is cold."""
    megabytes: float = 0.0
    subscriptions: int = 0
    version: str = ""
    index_megabytes: float = 0.0
    refused: list[dict[str, Any]] = field(default_factory=list)
    matches: int = 0
    matched_documents: int = 0
    dead: list[DeadLetter] = field(default_factory=list)
    reader: str = ""
    """Whose inbox is shown."""
    inbox: list[Story] = field(default_factory=list)
    dead_by_reason: list[tuple[str, int]] = field(default_factory=list)
    matches_per_document: list[int] = field(default_factory=list)
    subscribers: list[tuple[str, int, int]] = field(default_factory=list)
    """Name, deliveries and matches, the most deliveries first."""
    deliveries: int = 0
    popular: list[tuple[str, str, int]] = field(default_factory=list)
    """Subscription, expression and matches, the most matches first."""
    core_seconds: float = 0.0
    """What one thread of the core needs for all documents, without Spark."""

    @property
    def rate(self) -> float:
        """Documents matched in a second, none of them seen before, after the first ones."""
        return (self.documents - self.first) / self.seconds["match"]

    @property
    def cold_rate(self) -> float:
        """The same for the first documents, while workers start and load the index."""
        return self.first / self.seconds["match, cold"]

    @property
    def core_share(self) -> float:
        """The share of the cores' time while matching that the core needs; the rest is Spark's."""
        busy = self.seconds["match"] + self.seconds["match, cold"]
        return min(1.0, self.core_seconds / (self.cores * busy))


def run(spark: SparkSession, places: Places, figures: Figures, step: Callable[[str], object]) -> None:
    """The job as a user would write it; every step ends with its result on disk."""

    @contextmanager
    def timed(name: str, says: str) -> Iterator[None]:
        step(says)
        start = time.perf_counter()
        yield
        figures.seconds[name] = time.perf_counter() - start

    with timed("compile", "Compiling subscriptions"):
        table = spark.read.parquet(str(places.subscriptions))
        compiled = compile_subscriptions(table, places.index)
    figures.subscriptions, figures.version = compiled.subscriptions, compiled.hash
    figures.index_megabytes = sum(shard.index_bytes for shard in compiled.manifest.shards) / 1e6
    figures.refused = [row.asDict() for row in compiled.rejected.orderBy("id").collect()]

    tables = [read_documents(spark, str(folder), format="parquet") for folder in places.documents]
    steps = (
        ("match, cold", f"Matching the first {figures.first:,} documents, cold"),
        ("match", f"Matching the other {figures.documents - figures.first:,}, warm and unseen"),
    )
    for (name, says), table_of_documents, answers in zip(steps, tables, places.answers, strict=True):
        with timed(name, says):
            match_tagged(table_of_documents, compiled).write.mode("overwrite").parquet(str(answers))
    documents = tables[0].unionByName(tables[1])
    matches, dead = split_tagged(spark.read.parquet(*map(str, places.answers)))

    with timed("deliver", "Delivering to outboxes"):
        write_outboxes(deliver(matches, documents), str(places.outbox))

    with timed("summarise", "Looking at the results"):
        _look(spark, places, figures, matches, dead, table)
        _read(spark, places, figures, documents, dead, table)


def _look(
    spark: SparkSession,
    places: Places,
    figures: Figures,
    matches: DataFrame,
    dead: DataFrame,
    subscriptions: DataFrame,
) -> None:
    per_document = [row[1] for row in matches.groupBy("doc_id").count().collect()]
    figures.matches, figures.matched_documents = sum(per_document), len(per_document)
    none = figures.documents - dead.count() - len(per_document)
    figures.matches_per_document = [0] * none + sorted(per_document)
    figures.dead_by_reason = [
        (row.kind, row["count"])
        for row in dead.groupBy("kind").count().orderBy(F.desc("count"), "kind").collect()
    ]
    deliveries = spark.read.parquet(f"{places.outbox}/log").where("kind = 'delivery'")
    delivered = deliveries.groupBy("subscriber").agg(F.count("*").alias("documents"))
    matched = matches.groupBy("subscriber").agg(F.count("*").alias("matches"))
    figures.subscribers = [
        (row.subscriber, row.documents, row.matches)
        for row in delivered.join(matched, "subscriber").orderBy(F.desc("documents"), "subscriber").collect()
    ]
    figures.deliveries = sum(row[1] for row in figures.subscribers)
    popular = matches.groupBy("subscription_id").count().orderBy(F.desc("count"), "subscription_id").limit(8)
    named = popular.join(
        subscriptions.select(F.col("id").alias("subscription_id"), "xpath"), "subscription_id"
    )
    figures.popular = [
        (row.subscription_id, row.xpath, row["count"])
        for row in named.orderBy(F.desc("count"), "subscription_id").collect()
    ]


def _read(
    spark: SparkSession,
    places: Places,
    figures: Figures,
    documents: DataFrame,
    dead: DataFrame,
    subscriptions: DataFrame,
) -> None:
    """Dead letters beside their documents, and what is in the inbox of the reader who got most."""
    letters = dead.join(documents.select("doc_id", "xml"), "doc_id", "left").orderBy("doc_id").collect()
    figures.dead = [dead_letter(row.asDict(), row.xml) for row in letters]
    figures.reader = figures.subscribers[0][0]
    alerts = {
        row.id: row.xpath for row in subscriptions.where(F.col("subscriber") == figures.reader).collect()
    }
    inbox = read_outbox(spark, str(places.outbox), figures.reader)
    figures.inbox = [
        Story(row.doc_id, headline(row.document), tuple(alerts[each] for each in row.subscriptions))
        for row in inbox.orderBy("doc_id").limit(INBOX).collect()
    ]


def check_answers(places: Places, figures: Figures) -> None:
    """Matches all documents in this process with one thread: the core's time, and the answers to expect.

    `WrongAnswerError` when Spark's matches or deliveries are others.
    """
    table = pq.read_table(places.subscriptions, columns=["id", "xpath", "subscriber"])
    bad = {row["id"] for row in figures.refused}
    rows = [row for row in table.to_pylist() if row["id"] not in bad]
    index = Index()
    index.add_many([(place, row["xpath"]) for place, row in enumerate(rows)])
    documents = pa.concat_tables([pq.read_table(folder) for folder in places.documents])
    expected: set[tuple[str, str]] = set()
    dead: set[str] = set()
    core = 0.0
    for batch in documents.to_batches(max_chunksize=512):
        start = time.perf_counter()
        lists = index.match_many(batch.column("xml")).to_arrow()
        core += time.perf_counter() - start
        for doc_id, found in zip(batch.column("doc_id").to_pylist(), lists.to_pylist(), strict=True):
            if found is None:
                dead.add(doc_id)
            else:
                expected.update((doc_id, rows[int(place)]["id"]) for place in found)
    figures.core_seconds = core
    columns = ["doc_id", "subscription_id", "reason"]
    answers = pa.concat_tables([pq.read_table(folder, columns=columns) for folder in places.answers])
    matched = answers.filter(pa.compute.is_null(answers["reason"]))
    found = list(zip(matched["doc_id"].to_pylist(), matched["subscription_id"].to_pylist(), strict=True))
    owners = {row["id"]: row["subscriber"] for row in rows}
    if len(found) != len(expected) or set(found) != expected:
        raise WrongAnswerError(f"Spark found {len(found):,} matches, the index {len(expected):,}")
    if {letter.doc_id for letter in figures.dead} != dead:
        raise WrongAnswerError(f"Spark found {len(figures.dead):,} dead letters, the index {len(dead):,}")
    if figures.deliveries != len({(owners[each], doc_id) for doc_id, each in expected}):
        raise WrongAnswerError(f"{figures.deliveries:,} deliveries are not one for each reader and document")
