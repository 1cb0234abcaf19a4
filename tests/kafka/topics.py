"""Puts documents into a topic, and reads a topic to its end."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confluent_kafka import Message

    from tests.kafka.server import KafkaServer

WAIT = 60.0


def publish(kafka: KafkaServer, topic: str, some: list[tuple[int, bytes]]) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": kafka.bootstrap, "enable.idempotence": True, "log_level": 0})
    for _, document in some:
        producer.produce(topic, document)
    assert producer.flush(WAIT) == 0


def messages(kafka: KafkaServer, topic: str, isolation: str = "read_committed") -> list[Message]:
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


def consume(kafka: KafkaServer, topic: str) -> list[tuple[bytes, bytes, dict[str, bytes]]]:
    """Key, value and headers of all committed messages."""
    found = []
    for message in messages(kafka, topic):
        key, value, headers = message.key(), message.value(), message.headers() or []
        assert isinstance(key, bytes)
        assert isinstance(value, bytes)
        assert isinstance(headers, list)
        found.append((key, value, {name: header for name, header in headers if isinstance(header, bytes)}))
    return found
