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

import numpy as np
import pyarrow as pa

from pathcast.errors import PathcastError
from pathcast.spark.worker.shards import Batches
from pathcast.spark.worker.vectors import blobs, from_numpy

__all__ = ["MESSAGE", "Positions", "Range", "TopicJob", "positions", "read_range"]

Positions: TypeAlias = dict[str, int]
"""By `topic/partition`, the offset of the next message."""

_HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])
MESSAGE = {
    "key": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", "UTC"),
    "headers": pa.list_(pa.field("element", _HEADER)),
}
"""What a message has beside its value, named and typed as by Spark's own source."""

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
    keep: tuple[str, ...] = ()
    """What else of a message goes with its document: names of `MESSAGE`."""
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
    """The documents, as columns `id` (`topic/partition/offset`) and `document`, and those to keep."""
    import confluent_kafka

    reader = _consumer(job)
    taken: list[Any] = []
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
                taken.append(message)
                filled += len(message)
                over = message.offset() == part.end - 1
                if filled >= job.batch_bytes:
                    yield _batch(part, taken, job.keep)
                    taken, filled = [], 0
        if taken:
            yield _batch(part, taken, job.keep)
    finally:
        reader.close()


def _batch(part: Range, messages: list[Any], keep: tuple[str, ...]) -> Any:
    ids = [f"{part.topic}/{part.partition}/{message.offset()}" for message in messages]
    documents = [message.value() for message in messages]
    columns = [blobs(ids, pa.string()), blobs(documents, pa.binary())]
    columns += [_kept(name, part, messages) for name in keep]
    return pa.RecordBatch.from_arrays(columns, ["id", "document", *keep])


def _kept(name: str, part: Range, messages: list[Any]) -> Any:
    kind = MESSAGE[name]
    if name == "key":
        return blobs([message.key() for message in messages], kind)
    if name == "topic":
        return blobs([part.topic] * len(messages), kind)
    if name == "partition":
        return from_numpy(np.full(len(messages), part.partition, np.int32))
    if name == "offset":
        return from_numpy(np.array([message.offset() for message in messages], np.int64))
    if name == "timestamp":
        milliseconds = np.array([message.timestamp()[1] for message in messages], np.int64)
        return from_numpy(milliseconds * 1_000).cast(kind)
    headers = [message.headers() or [] for message in messages]
    ends = np.zeros(len(headers) + 1, np.int32)
    np.cumsum([len(some) for some in headers], out=ends[1:])
    each = [header for some in headers for header in some]
    keys, values = ([header[which] for header in each] for which in (0, 1))
    members = [blobs(keys, pa.string()), blobs(values, pa.binary())]
    pairs = pa.StructArray.from_arrays(members, fields=list(_HEADER))
    return pa.ListArray.from_arrays(from_numpy(ends), pairs, kind)


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
