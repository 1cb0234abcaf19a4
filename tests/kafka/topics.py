"""Puts documents into a topic, and reads a topic to its end."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from confluent_kafka import Message
    from confluent_kafka.admin import AdminClient

WAIT = 60.0
ABANDONED = 120.0  # seconds: Kafka ends the transaction of a process that is gone after one minute


class Kafka(Protocol):
    """One server, or a cluster."""

    @property
    def bootstrap(self) -> str: ...

    def admin(self) -> AdminClient: ...


def publish(kafka: Kafka, topic: str, some: list[tuple[int, bytes]]) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": kafka.bootstrap, "enable.idempotence": True, "log_level": 0})
    for _, document in some:
        producer.produce(topic, document)
    assert producer.flush(WAIT) == 0


def settled(kafka: Kafka, topic: str) -> None:
    """Waits until the transactions that have written to a topic are over.

    A commit reaches one topic after the other: what one already shows to readers of committed messages may
    still be hidden in the next. What is written after the call is not waited for.
    """
    from confluent_kafka import IsolationLevel, TopicPartition
    from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

    admin = kafka.admin()
    numbers = admin.list_topics(topic, timeout=WAIT).topics[topic].partitions
    end = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    latest = {TopicPartition(topic, number): end for number in numbers}

    def ends(isolation: IsolationLevel) -> list[int]:
        found = admin.list_offsets(latest, isolation_level=isolation, request_timeout=WAIT)
        return [found[place].result(WAIT).offset for place in latest]

    written = ends(IsolationLevel.READ_UNCOMMITTED)
    deadline = time.monotonic() + ABANDONED
    while any(one < other for one, other in zip(ends(IsolationLevel.READ_COMMITTED), written, strict=True)):
        assert time.monotonic() < deadline, f"a transaction on {topic} is not over"


def messages(kafka: Kafka, topic: str, isolation: str = "read_committed") -> list[Message]:
    """All messages of a topic, from its beginning to the end that this isolation sees."""
    from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "group.id": str(uuid.uuid4()),
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
            "log_level": 0,
        }
    )
    found: list[Message] = []
    deadline = time.monotonic() + WAIT
    try:
        partitions = consumer.list_topics(topic, timeout=WAIT).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        open_partitions = set(partitions)
        while open_partitions:
            assert time.monotonic() < deadline, f"the end of {topic} was not reached"
            message = consumer.poll(0.5)
            if message is None:
                continue
            error = message.error()
            if error is None:
                found.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                open_partitions.discard(message.partition())
            else:
                raise KafkaException(error)
    finally:
        consumer.close()
    return found


def consume(kafka: Kafka, topic: str) -> list[tuple[bytes, bytes, dict[str, bytes]]]:
    """Key, value and headers of all committed messages."""
    found = []
    for message in messages(kafka, topic):
        key, value, headers = message.key(), message.value(), message.headers() or []
        assert isinstance(key, bytes)
        assert isinstance(value, bytes)
        assert isinstance(headers, list)
        named: dict[str, bytes] = {}
        for name, header in headers:
            assert isinstance(header, bytes)
            named[name] = header
        found.append((key, value, named))
    return found
