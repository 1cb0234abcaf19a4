"""A part of a batch is in Kafka once, whoever sends it how often: without Spark, against a real Kafka."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")

import pyarrow as pa

from pathcast.errors import PathcastError
from pathcast.spark.driver.kafka_sink import _was_sent
from pathcast.spark.worker.kafka import SendJob, _Errors, _Sender, clients, send_rows
from tests.kafka.topics import consume, settled

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


@pytest.fixture
def job(kafka: KafkaServer) -> SendJob:
    topic = kafka.create_topic(f"out-{uuid4()}", partitions=2)
    return SendJob(kafka.bootstrap, uuid4().hex, 0, topic, {}, 30.0)


def rows(job: SendJob, part: int, count: int = 5) -> Any:
    names = [f"{job.batch}/{part}/{number}" for number in range(count)]
    headers = [[{"key": "of", "value": name.encode()}] if part else None for name in names]
    return pa.RecordBatch.from_pydict(
        {
            "part": pa.array([part] * count, pa.int32()),
            "topic": pa.array([job.place] * count),
            "key": pa.array([name.encode() for name in names], pa.binary()),
            "value": pa.array([b"value"] * count, pa.binary()),
            "headers": pa.array(headers, HEADERS),
        }
    )


def sent(*batches: Any, job: SendJob) -> list[tuple[int, int]]:
    told = [each.to_pydict() for each in send_rows(iter(batches), job)]
    return [(each["part"][0], each["sent"][0]) for each in told]


def keys(kafka: KafkaServer, job: SendJob) -> list[str]:
    settled(kafka, job.place)
    return sorted(key.decode() for key, _, _ in consume(kafka, job.place))


def test_what_was_committed_is_not_sent_again(kafka: KafkaServer, job: SendJob) -> None:
    assert sent(rows(job, 0), rows(job, 0, 0), job=job) == [(0, 5)]
    wanted = [f"0/0/{number}" for number in range(5)]
    assert keys(kafka, job) == wanted
    # The batch is asked for again: a part that was sent is skipped, the other one is sent.
    assert sent(rows(job, 0), job=job) == [(0, 0)]
    assert sent(rows(job, 1), job=job) == [(1, 5)]
    wanted += [f"0/1/{number}" for number in range(5)]
    assert keys(kafka, job) == wanted
    headers = [told for key, _, told in consume(kafka, job.place) if key == b"0/1/3"]
    assert headers == [{"of": b"0/1/3"}]
    # A task of an older batch that comes late changes nothing.
    later = SendJob(job.servers, job.stream, 4, job.place, {}, 30.0)
    assert sent(rows(later, 1, 1), job=later) == [(1, 1)]
    assert sent(rows(job, 1), job=job) == [(1, 0)]
    assert keys(kafka, job) == [*wanted, "4/1/0"]
    # A task without rows opens nothing.
    assert sent(job=job) == []


def test_of_two_that_send_one_commits(kafka: KafkaServer, job: SendJob) -> None:
    believed_dead = _Sender(job, 0)
    believed_dead.send(rows(job, 0))
    assert sent(rows(job, 0), job=job) == [(0, 5)]
    with pytest.raises(PathcastError, match="part 0 of batch 0 could not be sent"):
        believed_dead.commit()
    assert keys(kafka, job) == [f"0/0/{number}" for number in range(5)]


def test_a_fatal_error_that_a_callback_met_is_told(job: SendJob) -> None:
    from confluent_kafka import KafkaError, KafkaException

    sender: Any = SimpleNamespace(part=3, _job=job)
    with pytest.raises(PathcastError, match=r"part 3 of batch 0 could not be sent.*fenced"), _Errors(sender):
        raise SystemError("returned a result with an exception set") from KafkaException(
            KafkaError(KafkaError._FENCED)
        )
    with pytest.raises(SystemError, match="of its own"), _Errors(sender):
        raise SystemError("of its own")


def test_a_transaction_that_nobody_ends_is_undone_by_the_next(kafka: KafkaServer, job: SendJob) -> None:
    killed = _Sender(job, 1)
    killed.send(rows(job, 1))
    killed._producer.flush(30)  # in the topic, and not committed
    assert sent(rows(job, 1), job=job) == [(1, 5)]
    assert keys(kafka, job) == [f"0/1/{number}" for number in range(5)]


def test_rows_of_several_parts_are_refused(kafka: KafkaServer, job: SendJob) -> None:
    with pytest.raises(PathcastError, match="rows of several parts"):
        sent(rows(job, 0), rows(job, 1), job=job)
    # What was sent of them is undone, and nobody waits for it.
    assert [sent(rows(job, part, 1), job=job) for part in (0, 1)] == [[(0, 1)], [(1, 1)]]
    assert keys(kafka, job) == ["0/0/0", "0/1/0"]


def test_a_batch_that_an_older_version_sent_is_not_sent_again(kafka: KafkaServer, job: SendJob) -> None:
    from confluent_kafka import TopicPartition

    assert not _was_sent(job)
    # It sent a batch in one transaction of the driver, under the name of the stream.
    producer, consumer = clients(job, f"pathcast-{job.stream}")
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.send_offsets_to_transaction(
        [TopicPartition(job.place, 0, 1)], consumer.consumer_group_metadata(), 30
    )
    producer.commit_transaction(30)
    consumer.close()
    assert _was_sent(job)
    assert not _was_sent(SendJob(job.servers, job.stream, 1, job.place, {}, 30.0))
