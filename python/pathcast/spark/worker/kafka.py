"""Sends the rows of a batch to Kafka from within a worker: one transaction for each part of the batch.

The rows of a batch are cut into parts by a hash of what they say, so a batch that is asked for again has the
same parts. A part has a transactional id and a consumer group of its own, named after stream and part. Its
transaction also commits the number of the batch as an offset of that group. So who sends a part:

1. takes the transactional id, from which moment on nobody who had it before can commit;
2. reads the offset: if it tells of this batch or a later one, the part was sent, and nothing is to do;
3. sends the rows and commits them together with the offset.

A task that runs twice, a worker that was believed dead, a driver that was replaced: whoever comes last takes
the id, and one of them commits. Consumers that read committed messages see every row once. The parts of a
batch are seen one after the other, not at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, cast

import pyarrow as pa

from pathcast.errors import PathcastError
from pathcast.spark.worker.shards import Batches

__all__ = ["SendJob", "clients", "committed_batch", "send_rows"]

_TRANSACTION = 600_000  # milliseconds that a part may take; brokers allow up to fifteen minutes


@dataclass(frozen=True)
class SendJob:
    """A batch of a stream, and where it goes."""

    servers: str
    stream: str
    batch: int
    place: str
    """A topic that is there, to whose first partition the offsets are said to belong."""
    options: Mapping[str, str]
    timeout: float


def send_rows(batches: Batches, job: SendJob) -> Batches:
    """Sends a part, given as `part`, `topic`, `key`, `value`, `headers`; tells how many rows it sent."""
    sender: _Sender | None = None
    try:
        for batch in batches:
            if not batch.num_rows:
                continue
            if sender is None:
                sender = _Sender(job, batch.column("part")[0].as_py())
            sender.send(batch)
        if sender is not None:
            sender.commit()
    except BaseException:
        if sender is not None:
            sender.give_up()
        raise
    if sender is not None:
        yield pa.RecordBatch.from_pydict(
            {"part": pa.array([sender.part], pa.int32()), "sent": pa.array([sender.sent], pa.int64())}
        )


class _Sender:
    """Holds the transactional id of a part."""

    def __init__(self, job: SendJob, part: int) -> None:
        self.part, self.sent = part, 0
        self._job = job
        self._failed: list[str] = []
        self._producer, self._consumer = clients(
            job,
            f"pathcast-{job.stream}-{part}",
            on_delivery=self._told,
            **{"delivery.report.only.error": True},
        )
        deadline = monotonic() + job.timeout
        with self._errors():
            _insist(self._producer.init_transactions, deadline)
            self._done = committed_batch(self._consumer, job.place, deadline) > job.batch
            if not self._done:
                self._producer.begin_transaction()

    def send(self, batch: Any) -> None:
        """Adds rows to the transaction, or to what is skipped because it was sent before."""
        if batch.column("part").unique().to_pylist() != [self.part]:
            raise PathcastError(f"rows of several parts reached one task; part {self.part} is not sent")
        if self._done:
            return
        with self._errors():
            columns = (batch.column(name).to_pylist() for name in ("topic", "key", "value", "headers"))
            for topic, key, value, headers in zip(*columns, strict=True):
                self._produce(topic, key, value, headers)
        self.sent += batch.num_rows

    def _produce(self, topic: str, key: bytes, value: bytes, headers: Iterable[Any] | None) -> None:
        pairs = [(each["key"], each["value"]) for each in headers] if headers else None
        while not self._failed:
            try:
                self._producer.produce(topic, value, key, headers=pairs)
                return
            except BufferError:  # its queue is full: brokers are slower than we are
                self._producer.poll(0.1)
        self._fail()

    def commit(self) -> None:
        """Makes the rows visible, and the batch known as sent; or raises, and nothing was sent."""
        if self._done:
            self._consumer.close()
            return
        with self._errors():
            if self._producer.flush(self._job.timeout):
                self._failed.append(f"no answer within {self._job.timeout:.0f} seconds")
            if self._failed:
                self._fail()
            place = _clients().TopicPartition(self._job.place, 0, self._job.batch + 1)
            group = self._consumer.consumer_group_metadata()
            deadline = monotonic() + self._job.timeout
            _insist(lambda wait: self._producer.send_offsets_to_transaction([place], group, wait), deadline)
            _insist(self._producer.commit_transaction, deadline)
        self._consumer.close()

    def _told(self, error: Any, message: Any) -> None:
        if error is not None:
            self._failed.append(f"{message.topic()}: {error}")

    def _fail(self) -> None:
        raise PathcastError(f"{self._job.servers} did not take a message for {self._failed[0]}")

    def _errors(self) -> _Errors:
        return _Errors(self)

    def give_up(self) -> None:
        """Ends the transaction, so that consumers need not wait until it runs out."""
        kafka = _clients()
        with suppress(kafka.KafkaException, RuntimeError):
            self._producer.purge()
            self._producer.abort_transaction(5.0)
        self._consumer.close()


@dataclass(frozen=True)
class _Errors:
    """Says what could not be sent."""

    sender: _Sender

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        # With a fatal error under way the client still calls us back, and makes a SystemError of both.
        error = error.__cause__ if isinstance(error, SystemError) else error
        if isinstance(error, _clients().KafkaException):
            job = self.sender._job
            raise PathcastError(
                f"part {self.sender.part} of batch {job.batch} could not be sent to {job.servers}: {error}"
            ) from error


def clients(job: SendJob, name: str, **settings: Any) -> tuple[Any, Any]:
    """A producer with this transactional id, and a consumer of the group of the same name."""
    kafka = _clients()
    common = {"bootstrap.servers": job.servers, "log_level": 0, **job.options}
    first = {"transaction.timeout.ms": _TRANSACTION, "linger.ms": 20}
    producer = kafka.Producer({**first, **common, **settings, "transactional.id": name})
    group = {"group.id": name, "enable.auto.commit": False, "isolation.level": "read_committed"}
    return producer, kafka.Consumer({**common, **group})


def committed_batch(consumer: Any, topic: str, deadline: float) -> int:
    """One more than the last batch that was committed; negative if none was."""
    kafka = _clients()
    place = kafka.TopicPartition(topic, 0)

    def last(wait: float) -> int:
        (found,) = consumer.committed([place], timeout=wait)
        if found.error:
            raise kafka.KafkaException(found.error)
        return cast(int, found.offset)

    return cast(int, _insist(last, deadline))


def _clients() -> Any:
    try:
        import confluent_kafka
    except ImportError:
        raise PathcastError(
            "KafkaSink needs confluent-kafka on the driver and where executors run: pip install "
            "'pathcast[kafka]'; or use transactional=False, which is Spark's connector and sends at least "
            "once"
        ) from None
    return confluent_kafka


def _insist(call: Callable[[float], Any], deadline: float) -> Any:
    """Calls again while the client says that it may go better next time."""
    kafka = _clients()
    kinds = kafka.KafkaError
    later = (
        kinds._TIMED_OUT,
        kinds._TRANSPORT,
        kinds._ALL_BROKERS_DOWN,
        kinds._WAIT_COORD,
        kinds.COORDINATOR_LOAD_IN_PROGRESS,
        kinds.COORDINATOR_NOT_AVAILABLE,
        kinds.NOT_COORDINATOR,
        kinds.UNSTABLE_OFFSET_COMMIT,
    )
    while True:
        try:
            return call(max(1.0, min(10.0, deadline - monotonic())))
        except kafka.KafkaException as error:
            cause = error.args[0]
            if not (cause.retriable() or cause.code() in later) or monotonic() > deadline:
                raise
