"""Puts documents into a topic, and reads a topic to its end."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer


def publish(kafka: KafkaServer, topic: str, some: list[tuple[int, bytes]]) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": kafka.bootstrap, "enable.idempotence": True, "log_level": 0})
    for _, document in some:
        producer.produce(topic, document)
    assert producer.flush(60) == 0


def consume(kafka: KafkaServer, topic: str) -> list[tuple[bytes, bytes, dict[str, bytes]]]:
    """All committed messages, to the end."""
    from confluent_kafka import Consumer, KafkaError, TopicPartition

    found: list[tuple[bytes, bytes, dict[str, bytes]]] = []
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "group.id": uuid.uuid4().hex,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )
    try:
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        ended: set[int] = set()
        deadline = time.monotonic() + 60
        while len(ended) < len(partitions):
            assert time.monotonic() < deadline
            message: Any = consumer.poll(1)
            if message is None:
                continue
            if message.error():
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                ended.add(message.partition())
                continue
            headers = dict(message.headers() or [])
            found.append((message.key(), message.value(), headers))
    finally:
        consumer.close()
    return found
