"""Kafka's clients made from settings, and its errors as sentences."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from pathcast.errors import PathcastError, printable
from pathcast.network.transports.settings import Kafka

ANSWER = 10_000
"""Milliseconds in which a server must answer. Then the next one is asked, which may have taken over from it;
the usual minute is as long as a transaction may take, and would cost it."""
REACH = 15.0
"""Seconds in which Kafka must answer when a process starts."""
BATCH = 128 << 10
"""Bytes that are written at once. The limit of a topic is one on batches: small messages that are sent
together must not be refused together."""

_SILENT = logging.getLogger("pathcast.kafka")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False

Made = TypeVar("Made")

_FENCED = (KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH)

_LASTING = (
    KafkaError._AUTO_OFFSET_RESET,
    KafkaError.OFFSET_OUT_OF_RANGE,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.UNSUPPORTED_VERSION,
)


class TransportError(PathcastError):
    """Kafka cannot be used as the settings say, and why."""


class FencedError(TransportError):
    """Another process has taken over the name of this broker."""


class Connection:
    """One Kafka, and the clients that a process has there."""

    def __init__(self, kafka: Kafka, name: str) -> None:
        self.kafka = kafka
        self.name = name
        self.complaint = ""
        """What a client said last when it could not go on by itself."""

    def admin(self) -> AdminClient:
        """A client that looks at topics and makes them."""
        return self._made(AdminClient, {})

    def producer(self, settings: Mapping[str, Any]) -> Producer:
        """A client that writes."""
        usual = {"batch.size": BATCH, "request.timeout.ms": ANSWER}
        return self._made(Producer, {**usual, **self.kafka.producer, **settings})

    def consumer(self, settings: Mapping[str, Any]) -> Consumer:
        """A client that reads what is committed, from where it is told."""
        fixed = {
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
        }
        return self._made(Consumer, {**self.kafka.consumer, **fixed, **settings})

    def _made(self, kind: Callable[[dict[str, Any]], Made], settings: Mapping[str, Any]) -> Made:
        try:
            return kind(
                {
                    # A server that was gone for a while is found again soon.
                    "reconnect.backoff.max.ms": 2_000,
                    "socket.timeout.ms": ANSWER,
                    # Otherwise, after the whole of Kafka was away, librdkafka 2.16 may wait for ever for a
                    # coordinator that it has replaced.
                    "metadata.recovery.strategy": "none",
                    "client.id": f"pathcast-{self.name}",
                    **self.kafka.both,
                    **settings,
                    "error_cb": self._complain,
                    # Its own lines on standard error would stand between ours; what matters is a complaint.
                    "logger": _SILENT,
                }
            )
        except KafkaException as error:
            raise TransportError(f"the settings of Kafka: {reason(error)}") from None

    def _complain(self, error: KafkaError) -> None:
        self.complaint = printable(error.str())

    def reach(self) -> Mapping[str, Any]:
        """The topics that Kafka has; an error if it cannot be reached."""
        admin = self.admin()
        try:
            topics: Mapping[str, Any] = admin.list_topics(timeout=REACH).topics
        except KafkaException as error:
            admin.poll(0)
            why = self.complaint or reason(error)
            raise TransportError(
                f"Kafka at {printable(self.kafka.servers)} did not answer within {REACH:.0f} seconds: {why}"
            ) from None
        return topics


def reason(error: KafkaException) -> str:
    """What an exception says, as text for people."""
    inner = error.args[0] if error.args else error
    return printable(inner.str() if isinstance(inner, KafkaError) else str(inner))


def code(error: KafkaException) -> int:
    """Its number, or 0."""
    inner = error.args[0] if error.args else None
    return inner.code() if isinstance(inner, KafkaError) else 0


def is_fenced(error: KafkaException) -> bool:
    """Whether another producer has the same transactional id."""
    return code(error) in _FENCED


def is_retriable(error: KafkaException) -> bool:
    """Whether the same call may be made again."""
    inner = error.args[0] if error.args else None
    return isinstance(inner, KafkaError) and inner.retriable()


def is_lasting(error: KafkaError) -> bool:
    """Whether a reader will meet an error again and again; others pass, and librdkafka tries by itself."""
    return error.fatal() or error.code() in _LASTING
