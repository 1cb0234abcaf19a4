"""Matches documents as they arrive, with subscriptions that may change meanwhile.

    documents = read_documents(spark, "/data/arriving", format="xml", streaming=True,
                               options={"maxFilesPerTrigger": "1000"})
    query = stream(documents, "/data/index", "/data/matched", checkpoint="/data/checkpoint")

Spark cuts what arrives into numbered batches and asks for a batch again, with the same documents, when the
driver died before it was done. Before a batch is matched, the version of the subscriptions that it gets is
leased and noted beside Spark's checkpoint: asked again, it gets that version again. Sinks write a batch once
whatever happens; so every match is written once.

    checkpoint/pathcast/stream.json              who this stream is
    checkpoint/pathcast/batches/00000012.json    the version that batch 12 uses
    checkpoint/pathcast/metrics.jsonl            what each batch did

A batch starts when the one before it is written: slow sinks slow the reading of documents, and nothing piles
up in memory. How much a batch may take is an option of the source, `maxFilesPerTrigger`,
`maxBytesPerTrigger` or `maxOffsetsPerTrigger`. Documents that arrive twice have the same delivery ids; to
match them once, use `dropDuplicates` or `dropDuplicatesWithinWatermark` on the documents: Spark keeps what it
has seen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import BinaryType, StringType

from pathcast.spark.artifact import check_engine
from pathcast.spark.driver.answers import DEAD_COLUMNS, NODE_COLUMNS, answers, check_kept
from pathcast.spark.driver.columns import check_frame, column_type, quoted
from pathcast.spark.driver.compiled import Compiled
from pathcast.spark.driver.delivery_ids import delivery_column, hash_column
from pathcast.spark.driver.hadoop import check_output, index_folder, spark_folder
from pathcast.spark.driver.listener import remember
from pathcast.spark.driver.sinks import Batch, FileSink, Sink
from pathcast.spark.driver.stream_state import BatchMetrics, StreamState
from pathcast.spark.driver.workers import bound_batches, on_worker, shard_files
from pathcast.spark.leases import manifest_in
from pathcast.spark.options import BATCH_BYTES, MatchOptions, Mode
from pathcast.spark.worker.kept import ID
from pathcast.spark.worker.match import MatchJob
from pathcast.spark.worker.metrics import METRICS, MeteredJob, match_metered, match_shards_metered
from pathcast.spark.worker.route import ShardsJob

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from pathcast.spark.artifact import Manifest
    from pathcast.spark.worker.shards import ShardFiles

__all__ = ["stream"]

_HASH = "pathcast hash"  # its name beside the id
_OWN = ("document_hash", "index_version", "delivery_id", "batch", "xml")
_KEPT = 100  # batches that Spark can be asked for again (spark.sql.streaming.minBatchesToRetain)


def stream(
    documents: DataFrame,
    subscriptions: str | os.PathLike[str],
    output: str | os.PathLike[str] | Sink,
    *,
    checkpoint: str | os.PathLike[str],
    document: str = "xml",
    id: str = "doc_id",
    mode: Mode = "PERMISSIVE",
    engine: str = "auto",
    trigger: str | None = None,
    name: str | None = None,
    on_batch: Callable[[BatchMetrics], object] | None = None,
    batch_bytes: int = BATCH_BYTES,
    keep: Sequence[str] = (),
    ship: bool | None = None,
    share: bool | None = None,
    nodes: bool = False,
) -> StreamingQuery:
    """Starts matching a streaming DataFrame and returns Spark's query, to wait for or to stop.

    `subscriptions` is the folder that `compile_subscriptions` writes to. Compile into it again, or
    `update_subscriptions`, and the next batch uses the new version. `output` is a folder (see `FileSink`), or
    a `KafkaSink`, or a sink of your own. `checkpoint` is a folder that Spark and the driver open, or a URL; a
    stream started again with the same one goes on where it ended, with the same output.

    Matches have `doc_id`, `subscription_id`, perhaps `subscriber`, and `document_hash`, `index_version` and
    `delivery_id`; dead letters those of `match` and the same three; both the columns of the documents that
    `keep` names. See `match` for `mode`, `engine`, `batch_bytes`, `ship`, `share` and `nodes`; in FAILFAST
    the query fails at a bad document, and again at a restart.

    `trigger` is None to start a batch as soon as there are documents, an interval such as `10 seconds`, or
    `available` to take what is there and end. `on_batch` is called with the metrics of every batch, and
    again if a batch is asked for again; in a Spark Connect session that, and the reading of both folders,
    happens in the server.
    """
    check_frame(documents)
    if not documents.isStreaming:
        raise ValueError("these documents are not a stream: read them with streaming=True, or use match()")
    options = MatchOptions(
        document,
        id,
        engine,
        mode=mode,
        batch_bytes=batch_bytes,
        keep=keep,
        ship=ship,
        share=share,
        nodes=nodes,
    )
    column_type(documents, id, "documents")
    column_type(documents, document, "documents", (StringType, BinaryType))
    for each in keep:
        column_type(documents, each, "documents")
    check_kept(keep, _OWN)
    spark = documents.sparkSession
    state = spark_folder(checkpoint, spark).place
    sink = FileSink(os.fspath(output)) if isinstance(output, (str, os.PathLike)) else output
    if not callable(getattr(sink, "write", None)):
        raise TypeError(f"output must be a folder, or a sink with write(batch), not {type(sink).__name__}")
    if isinstance(sink, FileSink):
        check_output(sink.path, spark)
    folder = os.fspath(subscriptions)
    if not type(spark).__module__.startswith("pyspark.sql.connect"):
        home = index_folder(folder, spark)
        check_engine(engine, manifest_in(home).settings)  # better now than in the first batch
        folder = home.place
    runner = _Runner(folder, f"{state}/pathcast", sink, options, on_batch)
    kept = (F.col(quoted(each)) for each in keep)
    chosen = documents.select(F.col(quoted(id)).alias("doc_id"), F.col(quoted(document)).alias("xml"), *kept)
    writer = chosen.writeStream.option("checkpointLocation", state).foreachBatch(runner)
    if name is not None:
        writer = writer.queryName(name)
    if trigger == "available":
        writer = writer.trigger(availableNow=True)
    elif trigger is not None:
        writer = writer.trigger(processingTime=trigger)
    return writer.start()


@dataclass(frozen=True)
class _Runner:
    """Runs batches, in the driver or in a Spark Connect server: everything it knows is on disk."""

    subscriptions: str
    state: str
    sink: Sink
    options: MatchOptions
    on_batch: Callable[[BatchMetrics], object] | None

    def __call__(self, documents: DataFrame, number: int) -> None:
        started = monotonic()
        spark = documents.sparkSession
        state = StreamState(spark_folder(self.state, spark))
        plan = getattr(self.sink, "plan", None)
        compiled, planned = state.begin(
            number, index_folder(self.subscriptions, spark), plan(spark) if plan else None
        )
        stream = state.stream(compiled.manifest)
        again = getattr(self.sink, "reads_documents", False)
        if again or (compiled.shards > 1 and not compiled.manifest.routing):
            documents = documents.persist()  # the source is read once, whoever reads its documents again
        tagged = self._tagged(documents, compiled).persist()
        described = f"pathcast: batch {number} with index version {compiled.hash[:12]}"
        try:
            query = _describe(spark, described)
            work = _Work.of(tagged)
            matches, dead = _parts(tagged, compiled, self.options)
            has_dead = work.dead > 0 and self.options.mode != "DROPMALFORMED"
            self.sink.write(Batch(stream, number, compiled.hash, matches, dead, documents, has_dead, planned))
        finally:
            tagged.unpersist()
            documents.unpersist()
        metrics = BatchMetrics(
            batch=number,
            index_version=compiled.hash,
            subscriptions=compiled.subscriptions,
            documents=work.documents,
            bytes=work.bytes,
            matches=work.matches,
            dead_letters=work.dead,
            milliseconds=round(1000 * (monotonic() - started)),
            core_milliseconds=round(work.core_ns / 1e6),
            spark_milliseconds=round((work.task_ns - work.core_ns) / 1e6),
            tasks=work.tasks,
            finished=round(time(), 3),
        )
        if query is not None:
            remember(query, metrics)
        state.tell(metrics)
        state.forget(number - _KEPT)
        if self.on_batch is not None:
            self.on_batch(metrics)

    def _tagged(self, documents: DataFrame, compiled: Compiled) -> DataFrame:
        """All matches, dead letters and metrics of a batch; with the id travel the hash and what is kept."""
        spark, manifest = documents.sparkSession, compiled.manifest
        bound_batches(spark, self.options.batch_bytes)
        pairs = documents.select(
            F.struct(
                F.col("doc_id").alias(ID),
                hash_column(F.col("xml")).alias(_HASH),
                *(F.col(quoted(name)) for name in self.options.keep),
            ).alias("id"),
            F.col("xml").alias("document"),
        )
        jobs = [self._job(files, manifest) for files in shard_files(spark, compiled, self.options)]
        nodes = self.options.nodes
        if manifest.routing:
            # Documents are read once and ask the shards that they concern.
            every = ShardsJob(compiled.place, manifest.routing, manifest.settings, tuple(jobs))
            return answers("tagged", pairs, on_worker(match_shards_metered, every), manifest, nodes)
        frames = []
        for at, job in enumerate(jobs):
            function = on_worker(match_metered, MeteredJob(job, at == 0))
            frames.append(answers("tagged", pairs, function, manifest, nodes))
        return reduce(lambda left, right: left.union(right), frames)

    def _job(self, files: ShardFiles, manifest: Manifest) -> MatchJob:
        mode = self.options.mode
        tells = mode != "DROPMALFORMED"
        return MatchJob(
            "tagged",
            files,
            manifest.settings,
            mode == "FAILFAST",
            self.options.batch_bytes,
            tells and files.shard.number == 0,
            tells_undecided=tells,
            nodes=self.options.nodes,
        )


def _describe(spark: SparkSession, text: str) -> str | None:
    """Names the jobs of a batch in Spark's UI; the id of the query, where the session tells it."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        return None
    context = spark.sparkContext
    context.setJobDescription(text)
    return context.getLocalProperty("sql.streaming.queryId")


def _parts(tagged: DataFrame, compiled: Compiled, options: MatchOptions) -> tuple[DataFrame, DataFrame]:
    """Matches and dead letters as sinks get them."""
    version = F.lit(compiled.hash)
    doc_id, hash = F.col(f"doc_id.{quoted(ID)}"), F.col(f"doc_id.{quoted(_HASH)}")
    kept = [F.col(f"doc_id.{quoted(name)}").alias(name) for name in options.keep]
    names = ["subscription_id", "subscriber"] if compiled.manifest.subscriber_type else ["subscription_id"]
    names += NODE_COLUMNS if options.nodes else []
    last = [hash.alias("document_hash"), version.alias("index_version")]
    delivered = delivery_column(doc_id, hash, F.col("subscription_id"), version).alias("delivery_id")
    matches = tagged.where(F.col("kind").isNull()).select(
        doc_id.alias("doc_id"), *names, *kept, *last, delivered
    )
    letters = tagged.where(F.col("kind").isNotNull() & (F.col("kind") != F.lit(METRICS)))
    undelivered = delivery_column(doc_id, hash, None, version).alias("delivery_id")
    dead = letters.select(doc_id.alias("doc_id"), *DEAD_COLUMNS, *kept, *last, undelivered)
    return matches, dead


@dataclass(frozen=True)
class _Work:
    """The sums over all tasks of a batch."""

    documents: int
    bytes: int
    matches: int
    dead: int
    core_ns: int
    task_ns: int
    tasks: int

    @classmethod
    def of(cls, tagged: DataFrame) -> _Work:
        rows = tagged.where(F.col("kind") == F.lit(METRICS)).select("reason").collect()
        tasks: list[dict[str, Any]] = [json.loads(row.reason) for row in rows]
        first = [task for task in tasks if task["first"]]
        return cls(
            documents=sum(task["documents"] for task in first),
            bytes=sum(task["bytes"] for task in first),
            matches=sum(task["matches"] for task in tasks),
            dead=sum(task["dead"] for task in first) + sum(task["undecided"] for task in tasks),
            core_ns=sum(task["core_ns"] for task in tasks),
            task_ns=sum(task["task_ns"] for task in tasks),
            tasks=len(tasks),
        )
