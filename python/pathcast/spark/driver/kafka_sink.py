"""A sink of messages in Kafka; `worker.kafka` says why every message is there once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from time import monotonic
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from pathcast.spark.driver.outboxes import deliver, outbox_messages
from pathcast.spark.driver.sinks import Batch
from pathcast.spark.driver.workers import on_worker
from pathcast.spark.worker.kafka import SendJob, clients, committed_batch, send_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["KafkaSink"]

_HEADERS = "array<struct<key:string,value:binary>>"
_MOST = 32  # producers, unless asked for more


@dataclass(frozen=True)
class KafkaSink:
    """Messages in a topic for matches and, if named, topics for dead letters and outboxes; all must exist.

    A match is a message with the delivery id as key and a JSON object of the columns as value; so is a dead
    letter. Outboxes are as `send_outboxes` sends them. `options` are the client's: librdkafka's names with
    transactions, Spark's with `kafka.` in front without.

    With transactions each batch is sent from executors, in `producers` parts (as many as the session has
    cores, if not given). A part is one transaction, which may take ten minutes, and which commits the number
    of the batch as the offset of a consumer group named after the stream and the part. A broker forgets such
    offsets a week (`offsets.retention.minutes`) after the last batch: a stream that was killed between the
    commit of a part and the end of its batch, and is restarted only then, may send that part twice.
    """

    servers: str
    topic: str
    dead_topic: str | None = None
    outbox_topic: str | None = None
    transactional: bool = True
    options: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 120.0
    """Seconds that a batch waits for brokers that do not answer before the stream fails."""
    producers: int | None = None

    def __post_init__(self) -> None:
        if self.producers is not None and self.producers < 1:
            raise ValueError(f"producers must be at least 1, not {self.producers}")

    @property
    def reads_documents(self) -> bool:
        """Whether it needs the documents of a batch beside its matches."""
        return self.outbox_topic is not None

    def plan(self, spark: SparkSession) -> dict[str, Any]:
        """What must be the same when a batch is asked for again: the stream notes it with the batch."""
        if not self.transactional:
            return {}
        connect = type(spark).__module__.startswith("pyspark.sql.connect")
        cores = 4 if connect else int(spark.sparkContext.defaultParallelism)
        return {"producers": self.producers or min(cores, _MOST)}

    def write(self, batch: Batch) -> None:
        topics = [(self.topic, _as_json(batch.matches))]
        if self.dead_topic is not None and batch.has_dead:
            topics.append((self.dead_topic, _as_json(batch.dead)))
        if self.outbox_topic is not None:
            topics.append((self.outbox_topic, outbox_messages(deliver(batch.matches, batch.documents))))
        if self.transactional:
            self._send(batch, topics)
            return
        options = {"kafka.bootstrap.servers": self.servers, "includeHeaders": "true", **self.options}
        for topic, messages in topics:
            messages.write.format("kafka").options(**options).option("topic", topic).save()

    def _send(self, batch: Batch, topics: list[tuple[str, DataFrame]]) -> None:
        job = SendJob(self.servers, batch.stream, batch.number, self.topic, dict(self.options), self.timeout)
        plan = batch.plan
        if plan is None:
            # An older version began this batch and sent it, if at all, in one transaction of the driver.
            if _was_sent(job):
                return
            plan = self.plan(batch.documents.sparkSession)
        parts = plan["producers"]
        rows = reduce(DataFrame.unionByName, [_messages(topic, messages) for topic, messages in topics])
        hash = F.xxhash64("topic", "key", "value")
        numbered = rows.withColumn("part", F.pmod(hash, F.lit(parts)).cast("int"))
        placed = numbered.repartitionById(parts, F.col("part"))
        placed.mapInArrow(on_worker(send_rows, job), "part int, sent bigint").collect()


def _messages(topic: str, messages: DataFrame) -> DataFrame:
    headers = F.col("headers") if "headers" in messages.columns else F.lit(None)
    return messages.select(
        F.lit(topic).alias("topic"), "key", "value", headers.cast(_HEADERS).alias("headers")
    )


def _was_sent(job: SendJob) -> bool:
    producer, consumer = clients(job, f"pathcast-{job.stream}")
    deadline = monotonic() + job.timeout
    try:
        producer.init_transactions(job.timeout)  # a driver of that version that still runs cannot commit now
        return committed_batch(consumer, job.place, deadline) > job.batch
    finally:
        consumer.close()


def _as_json(rows: DataFrame) -> DataFrame:
    return rows.select(
        F.col("delivery_id").cast("binary").alias("key"),
        F.to_json(F.struct("*")).cast("binary").alias("value"),
    )
