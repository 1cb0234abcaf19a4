"""The topics that a broker needs: what they must be like, and how they are made.

The inbox and the state have one partition each, because a broker takes messages in one order. The state is
compacted: the last record of each key is all that a broker must know. The inbox is stamped by Kafka, not by
the sender, so that a flood is measured with a clock that nobody can set.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.cimpl import NewTopic

from pathcast.network.transports.kafka.connection import Connection, TransportError, code, reason
from pathcast.network.transports.settings import BrokerSettings

SECONDS = 30.0
OVERHEAD = 4 << 10
"""What Kafka adds to a message: lengths, the key and the headers."""


def create(connection: Connection, settings: BrokerSettings) -> list[str]:
    """Make the topics that are missing; their names. What is there stays as it is."""
    return _create(connection, _wanted(settings), 1, settings.replication)


def create_shares(connection: Connection, settings: BrokerSettings) -> list[str]:
    """Make the topic by which processes share the parts of a broker, if it is missing."""
    return _create(connection, {settings.shares: {}}, settings.parts, settings.replication)


def check_shares(connection: Connection, settings: BrokerSettings) -> None:
    """An error if that topic is missing, or was made for another number of parts."""
    there = connection.reach()
    if settings.shares not in there:
        raise TransportError(f"Kafka has no topic {settings.shares}; --create-topics makes what is missing")
    partitions = len(there[settings.shares].partitions)
    if partitions != settings.parts:
        raise TransportError(
            f"the topic {settings.shares} has {partitions} partitions, and {settings.name} is to have "
            f"{settings.parts} parts: their number cannot change"
        )


def _create(
    connection: Connection, topics: dict[str, dict[str, str]], partitions: int, copies: int
) -> list[str]:
    there = connection.reach()
    wanted = {name: config for name, config in topics.items() if name not in there}
    made: list[str] = []
    if not wanted:
        return made
    admin = connection.admin()
    asked = admin.create_topics(
        [
            NewTopic(name, num_partitions=partitions, replication_factor=copies, config=config)
            for name, config in wanted.items()
        ],
        operation_timeout=SECONDS,
    )
    for name, answer in asked.items():
        try:
            answer.result(SECONDS)
            made.append(name)
        except KafkaException as error:
            # A neighbour that starts at the same moment may have made it.
            if code(error) != KafkaError.TOPIC_ALREADY_EXISTS:
                raise TransportError(f"the topic {name} cannot be created: {reason(error)}") from None
    deadline = time.monotonic() + SECONDS
    while set(wanted) - set(connection.reach()) and time.monotonic() < deadline:
        time.sleep(0.1)  # another server of the cluster may not have heard of them yet
    return made


def check(connection: Connection, settings: BrokerSettings) -> None:
    """An error that names every topic which is missing, or has more than the one partition it may have."""
    there = connection.reach()
    missing = [name for name in _wanted(settings) if name not in there]
    if missing:
        raise TransportError(
            f"Kafka has no topic {', '.join(missing)}; --create-topics makes what is missing"
        )
    for name in (*settings.sources, settings.state):
        partitions = len(there[name].partitions)
        if partitions != 1:
            raise TransportError(
                f"the topic {name} has {partitions} partitions and must have 1: a broker takes messages "
                "in one order"
            )


def _wanted(settings: BrokerSettings) -> dict[str, dict[str, str]]:
    largest = {"max.message.bytes": str(settings.max_message_bytes + OVERHEAD)}
    inbox = {**largest, "message.timestamp.type": "LogAppendTime"}
    state = {**largest, "cleanup.policy": "compact"}
    neighbours = [peer.sent_to for peer in settings.neighbours.values()]
    return {
        **_each([*settings.sources, *neighbours], inbox),
        settings.state: state,
        **_each([name for name in settings.targets if name not in neighbours], largest),
    }


def _each(names: Iterable[str], config: dict[str, str]) -> dict[str, dict[str, str]]:
    return dict.fromkeys(names, config)
