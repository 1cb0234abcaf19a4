"""Reads documents from a range of offsets of a Kafka partition within a worker.

A range ends before an offset that was there when it was planned. Behind the last message of a range there may
be offsets without messages, of transactions and of compaction: it is over when a later message comes, or when
the partition has nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeAlias

import pyarrow as pa

from pathcast.errors import PathcastError
from pathcast.spark.worker.shards import Batches
from pathcast.spark.worker.vectors import blobs

__all__ = ["Positions", "Range", "TopicJob", "positions", "read_range"]

Positions: TypeAlias = dict[str, int]
"""By `topic/partition`, the offset of the next message."""

_MESSAGES = 1_000  # that are asked for at once


@dataclass(frozen=True)
class Range:
    """What one task reads: messages from `start` on, before `end`."""

    topic: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True)
class TopicJob:
    """How ranges are read."""

    servers: str
    options: Mapping[str, str]
    """The client's, with librdkafka's names."""
    batch_bytes: int
    timeout: float = 120.0
    """Seconds without an answer after which a task fails."""


def positions(topics: Iterable[str], job: TopicJob) -> tuple[Positions, Positions]:
    """The first message of each partition that is there, and the position behind the last one."""
    reader = _consumer(job)
    import confluent_kafka

    first: Positions = {}
    behind: Positions = {}
    try:
        there = reader.list_topics(timeout=job.timeout).topics
        for name in topics:
            if name not in there or there[name].error is not None:
                raise PathcastError(f"there is no topic {name!r} on {job.servers}")
            for number in sorted(there[name].partitions):
                place = confluent_kafka.TopicPartition(name, number)
                low, high = reader.get_watermark_offsets(place, timeout=job.timeout)
                first[f"{name}/{number}"], behind[f"{name}/{number}"] = low, high
    except confluent_kafka.KafkaException as error:
        raise PathcastError(f"{job.servers} did not tell what is in its topics: {error}") from error
    finally:
        reader.close()
    return first, behind


def _consumer(job: TopicJob) -> Any:
    """A consumer that commits nothing and belongs to no group that others could join."""
    try:
        import confluent_kafka
    except ImportError:
        raise PathcastError(
            "reading topics needs confluent-kafka on the driver and where executors run: pip install "
            "'pathcast[kafka]'; or read_documents(..., format='kafka'), which is Spark's connector"
        ) from None
    own = {
        "bootstrap.servers": job.servers,
        "group.id": "pathcast-source",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
    }
    return confluent_kafka.Consumer({"log_level": 0, **job.options, **own})


def read_range(part: Range, job: TopicJob) -> Batches:
    """The documents, as columns `id` and `document`; the id is `topic/partition/offset`."""
    import confluent_kafka

    reader = _consumer(job)
    ids: list[str] = []
    documents: list[bytes | None] = []
    filled, heard = 0, monotonic()
    try:
        reader.assign([confluent_kafka.TopicPartition(part.topic, part.partition, part.start)])
        over = part.start >= part.end
        while not over:
            messages = reader.consume(_MESSAGES, timeout=1.0)
            if messages:
                heard = monotonic()
            elif monotonic() - heard > job.timeout:
                raise PathcastError(
                    f"{job.servers} did not answer for {job.timeout:.0f} seconds: {_where(part)}"
                )
            for message in messages:
                error = message.error()
                if error is not None and error.code() != confluent_kafka.KafkaError._PARTITION_EOF:
                    raise _failed(part, error)
                if error is not None or message.offset() >= part.end:
                    over = True
                    break
                value = message.value()
                ids.append(f"{part.topic}/{part.partition}/{message.offset()}")
                documents.append(value)
                filled += len(value or b"")
                over = message.offset() == part.end - 1
                if filled >= job.batch_bytes:
                    yield _batch(ids, documents)
                    ids, documents, filled = [], [], 0
        if ids:
            yield _batch(ids, documents)
    finally:
        reader.close()


def _batch(ids: list[str], documents: list[bytes | None]) -> Any:
    return pa.RecordBatch.from_arrays(
        [blobs(ids, pa.string()), blobs(documents, pa.binary())], ["id", "document"]
    )


def _where(part: Range) -> str:
    return f"topic {part.topic}, partition {part.partition}, offsets {part.start} to {part.end - 1}"


def _failed(part: Range, error: Any) -> PathcastError:
    import confluent_kafka

    kinds = confluent_kafka.KafkaError
    if error.code() in (kinds._AUTO_OFFSET_RESET, kinds.OFFSET_OUT_OF_RANGE):
        return PathcastError(
            f"messages are gone before they were read ({_where(part)}): the broker keeps them too short a "
            "time, or the topic was made anew. To go on with what is there, start with a new checkpoint"
        )
    return PathcastError(f"{_where(part)} cannot be read: {error}")
