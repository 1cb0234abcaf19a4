"""A broker's state as a compacted topic, read to its end.

Beside the broker's own records there is one for each topic that is read: how far. It is written in the same
transaction as everything else. Kafka's group offsets are committed too, for those who watch how far behind a
broker is, but they expire when a broker is idle or down for some days, and a broker that lost its place
would take messages twice. So the state is what counts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from confluent_kafka import OFFSET_BEGINNING, KafkaError, KafkaException, TopicPartition

from pathcast.network.state import Record, StateError
from pathcast.network.transports.kafka.connection import Connection, TransportError, is_lasting, reason

READ = "read"
_PREFIX = b'["read",'
QUIET = 60.0
"""Seconds without a message before the end, after which reading is given up."""


@dataclass(slots=True)
class Kept:
    """What a state topic says."""

    records: list[Record] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)
    """By topic: the next message to take."""


def position_record(topic: str, offset: int) -> Record:
    """How far a topic has been read.

    >>> position_record("pathcast.b1.inbox", 7)
    Record(key=b'["read","pathcast.b1.inbox"]', value=b'{"offset":7}')
    """
    return Record(_json([READ, topic]), _json({"offset": offset}))


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def read_state(connection: Connection, topic: str, stopping: Callable[[], bool]) -> Kept:
    """The last value of each key in the state topic, up to its committed end."""
    consumer = connection.consumer({"group.id": topic, "enable.partition.eof": True})
    latest: dict[bytes, bytes] = {}
    try:
        # The client finds the beginning itself, and asks again while a new topic has no leader yet.
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        heard = time.monotonic()
        while not stopping():
            if time.monotonic() - heard > QUIET:
                why = connection.complaint or "it does not answer"
                raise TransportError(f"the state in {topic} cannot be read to its end: {why}")
            message = consumer.poll(0.5)
            if message is None:
                continue
            error = message.error()
            if error is not None:
                if error.code() == KafkaError._PARTITION_EOF:
                    break
                if is_lasting(error):
                    raise KafkaException(error)
                continue
            heard = time.monotonic()
            key, value = message.key(), message.value()
            if key is None:
                raise StateError(f"a record of {topic} has no key: this topic does not hold a broker's state")
            latest.pop(key, None)
            if value is not None:
                latest[key] = value
    except KafkaException as error:
        raise TransportError(f"the state in {topic} cannot be read: {reason(error)}") from None
    finally:
        consumer.close()
    return _sorted(latest)


def _sorted(latest: dict[bytes, bytes]) -> Kept:
    kept = Kept()
    for key, value in latest.items():
        if not key.startswith(_PREFIX):
            kept.records.append(Record(key, value))
            continue
        try:
            _, topic = json.loads(key)
            kept.positions[str(topic)] = int(json.loads(value)["offset"])
        except (ValueError, KeyError, TypeError):
            raise StateError(f"a record of the broker's state cannot be read: {key[:80]!r}") from None
    return kept
