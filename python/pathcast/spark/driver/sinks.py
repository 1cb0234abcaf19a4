"""Where a stream writes.

A sink is asked to write a batch again when the driver died before Spark knew that it was written, and must
then have the effect of writing it once.

- `FileSink`: a folder for each batch, written over: exactly once.
- `KafkaSink`: one transaction for each batch, which also notes the batch's number: exactly once for consumers
  that read committed messages only. It goes through the driver.
- `KafkaSink(transactional=False)`: Spark's connector, from all executors: at least once. The key of a message
  is its delivery id, so a consumer that drops ids it has seen, or a compacted topic, has each once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, cast

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from pathcast.errors import PathcastError
from pathcast.spark.artifact import replace_file
from pathcast.spark.driver.outbox_log import write_outboxes
from pathcast.spark.driver.outboxes import deliver, outbox_messages
from pathcast.spark.places import local_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Batch", "FileSink", "KafkaSink", "Sink", "StreamError", "read_deliveries"]

_OWNER = "_stream.json"


class StreamError(PathcastError, RuntimeError):
    """A stream that cannot go on, and why."""


@dataclass(frozen=True)
class Batch:
    """A batch to write: the same for the same `stream` and `number`, however often it is asked for."""

    stream: str
    number: int
    index_version: str
    matches: DataFrame
    dead: DataFrame
    documents: DataFrame
    """`doc_id` and `xml`."""
    has_dead: bool


class Sink(Protocol):
    """What `stream` writes to. It travels to a Spark Connect server, so it holds no session."""

    def write(self, batch: Batch) -> None:
        """Writes a batch; a second time it changes nothing."""


@dataclass(frozen=True)
class FileSink:
    """Parquet files in `path/matches/batch=00000012/`, `path/dead/batch=...` and perhaps `path/outboxes/...`.

    `path` is anything that Spark can write to. Files under a batch that is being written are seen when they
    are complete, so a reader sees a batch, or does not yet.
    """

    path: str
    outboxes: bool = False

    def write(self, batch: Batch) -> None:
        self._claim(batch.stream)
        name = f"batch={batch.number:08}"
        batch.matches.write.mode("overwrite").parquet(f"{self.path}/matches/{name}")
        if batch.has_dead:
            batch.dead.write.mode("overwrite").parquet(f"{self.path}/dead/{name}")
        if self.outboxes:
            delivered = deliver(batch.matches, batch.documents)
            write_outboxes(delivered, f"{self.path}/outboxes", batch=batch.number)

    def _claim(self, stream: str) -> None:
        """Two streams, or one whose checkpoint was deleted, would write over each other's batches."""
        folder = local_path(self.path)
        if folder is None:
            return
        owner = folder / _OWNER
        try:
            found = json.loads(owner.read_bytes())["stream"]
        except FileNotFoundError:
            if (folder / "matches").exists():
                raise StreamError(f"{folder} holds files of something else: choose another output") from None
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(owner, json.dumps({"stream": stream}).encode())
            return
        if found != stream:
            raise StreamError(
                f"{folder} holds the batches of another stream, or of this one with another checkpoint, and "
                "this one would write over them: choose another output, or use that checkpoint again"
            )


@dataclass(frozen=True)
class KafkaSink:
    """Messages in a topic for matches and, if named, topics for dead letters and outboxes; all must exist.

    A match is a message with the delivery id as key and a JSON object of the columns as value; so is a dead
    letter. Outboxes are as `send_outboxes` sends them. `options` are the client's: librdkafka's names with
    transactions, Spark's with `kafka.` in front without.

    With transactions the number of the last batch is kept as the committed offset of a consumer group named
    after the stream. A broker forgets it a week (`offsets.retention.minutes`) after the last batch: a stream
    that was killed between the two commits and is restarted only then may send that batch twice.
    """

    servers: str
    topic: str
    dead_topic: str | None = None
    outbox_topic: str | None = None
    transactional: bool = True
    options: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 120.0
    """Seconds that a batch waits for brokers that do not answer before the stream fails."""

    def write(self, batch: Batch) -> None:
        topics = [(self.topic, _as_json(batch.matches))]
        if self.dead_topic is not None and batch.has_dead:
            topics.append((self.dead_topic, _as_json(batch.dead)))
        if self.outbox_topic is not None:
            topics.append((self.outbox_topic, outbox_messages(deliver(batch.matches, batch.documents))))
        if self.transactional:
            self._transaction(batch, topics)
            return
        options = {"kafka.bootstrap.servers": self.servers, "includeHeaders": "true", **self.options}
        for topic, messages in topics:
            messages.write.format("kafka").options(**options).option("topic", topic).save()

    def _transaction(self, batch: Batch, topics: Iterable[tuple[str, DataFrame]]) -> None:
        confluent: Any = _confluent()
        name = f"pathcast-{batch.stream}"
        common = {"bootstrap.servers": self.servers, "log_level": 0, **self.options}
        producer = confluent.Producer(
            {"transaction.timeout.ms": 600_000, "linger.ms": 20, **common, "transactional.id": name}
        )
        consumer = confluent.Consumer(
            {**common, "group.id": name, "enable.auto.commit": False, "isolation.level": "read_committed"}
        )
        deadline = monotonic() + self.timeout
        try:
            # From here on a driver that still runs somewhere cannot commit, and what it began is undone.
            _insist(producer.init_transactions, deadline)
            place = confluent.TopicPartition(self.topic, 0)

            def last(wait: float) -> int:
                (found,) = consumer.committed([place], timeout=wait)
                if found.error:
                    raise confluent.KafkaException(found.error)
                return cast(int, found.offset)  # negative if there is none

            if _insist(last, deadline) > batch.number:
                return
            self._send(producer, topics)
            place.offset = batch.number + 1
            group = consumer.consumer_group_metadata()
            deadline = monotonic() + self.timeout
            _insist(lambda wait: producer.send_offsets_to_transaction([place], group, wait), deadline)
            _insist(producer.commit_transaction, deadline)
        except confluent.KafkaException as error:
            raise StreamError(f"batch {batch.number} could not be sent to {self.servers}: {error}") from error
        finally:
            consumer.close()

    def _send(self, producer: Any, topics: Iterable[tuple[str, DataFrame]]) -> None:
        failed: list[str] = []

        def told(error: Any, message: Any) -> None:
            if error is not None:
                failed.append(str(error))

        producer.begin_transaction()
        for topic, messages in topics:
            for row in messages.toLocalIterator():
                headers = [(each.key, bytes(each.value)) for each in row.headers] if len(row) > 2 else None
                message = {"key": _bytes(row.key), "value": _bytes(row.value), "headers": headers}
                while not failed:
                    try:
                        producer.produce(topic, on_delivery=told, **message)
                        break
                    except BufferError:  # its queue is full: brokers are slower than we are
                        producer.poll(0.1)
                producer.poll(0)
                if failed:
                    break
        if not failed and producer.flush(self.timeout):
            failed.append(f"no answer within {self.timeout:.0f} seconds")
        if failed:
            raise StreamError(f"{self.servers} did not take a message for {self.topic}: {failed[0]}")


def _confluent() -> Any:
    try:
        import confluent_kafka
    except ImportError:
        raise StreamError(
            "KafkaSink needs confluent-kafka: pip install 'pathcast[kafka]'; or use transactional=False, "
            "which is Spark's connector and sends at least once"
        ) from None
    return confluent_kafka


def _insist(call: Callable[[float], Any], deadline: float) -> Any:
    """Calls again while the client says that it may go better next time."""
    confluent: Any = _confluent()
    while True:
        try:
            return call(max(1.0, min(10.0, deadline - monotonic())))
        except confluent.KafkaException as error:
            cause = error.args[0]
            kinds = confluent.KafkaError
            again = cause.retriable() or cause.code() in (
                kinds._TIMED_OUT,
                kinds._TRANSPORT,
                kinds._ALL_BROKERS_DOWN,
                kinds._WAIT_COORD,
                kinds.COORDINATOR_LOAD_IN_PROGRESS,
                kinds.COORDINATOR_NOT_AVAILABLE,
                kinds.NOT_COORDINATOR,
                kinds.UNSTABLE_OFFSET_COMMIT,
            )
            if not again or monotonic() > deadline:
                raise


def _bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)


def _as_json(rows: DataFrame) -> DataFrame:
    return rows.select(
        F.col("delivery_id").cast("binary").alias("key"),
        F.to_json(F.struct("*")).cast("binary").alias("value"),
    )


def read_deliveries(spark: SparkSession, output: str | os.PathLike[str]) -> DataFrame:
    """The matches that a stream wrote to files, every delivery id once, whoever sent documents twice."""
    return spark.read.parquet(f"{os.fspath(output)}/matches").dropDuplicates(["delivery_id"])
