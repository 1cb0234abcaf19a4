"""Documents that a broker stores once for several clients, and how a client reads them.

They are in a topic of the broker that all its clients may read, sealed (`sealed`). A
delivery of one has no body but a header ``pathcast-document`` with the offset and the key. Body and delivery
are written in one transaction, so a delivery that can be read has its document.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from pathcast.network.transports.kafka.connection import Connection, TransportError, is_lasting, reason
from pathcast.network.transports.kafka.envelope import Header, headers_of
from pathcast.network.transports.kafka.sealed import new_key, opened, sealed

DOCUMENT = "pathcast-document"
WAIT = 30.0
NEAR = 100
"""Offsets up to which reading on is cheaper than asking for another place."""


class DocumentGoneError(TransportError):
    """A document was delivered, and Kafka has thrown it away before it was read."""


class Stored:
    """A document that is being stored; where it is, is known when Kafka has answered."""

    def __init__(self, body: bytes) -> None:
        self.key = new_key()
        self.data = sealed(body, self.key)
        self.offset: int | None = None

    def header(self) -> Header:
        """What a delivery says of it."""
        return (DOCUMENT, f"{self.offset} {self.key.hex()}".encode())


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a document is stored, and its key."""

    offset: int
    key: bytes

    @classmethod
    def of(cls, message: Message) -> Reference | None:
        """What a delivery refers to; None if it has the document itself."""
        for name, value in headers_of(message):
            if name == DOCUMENT:
                offset, _, key = value.decode("ascii").partition(" ")
                return cls(int(offset), bytes.fromhex(key))
        return None


class Documents:
    """Reads stored documents; mostly one after another, because deliveries come in their order."""

    def __init__(self, connection: Connection, topic: str, group: str) -> None:
        self.topic = topic
        self._consumer: Consumer = connection.consumer({"group.id": group})
        self._next: int | None = None
        self._last: tuple[int, bytes] | None = None

    def body(self, reference: Reference) -> bytes:
        """A document; `DocumentGoneError` if Kafka has it no more."""
        if self._last is None or self._last[0] != reference.offset:
            self._last = (reference.offset, self._read(reference.offset))
        return opened(self._last[1], reference.key)

    def _read(self, offset: int) -> bytes:
        if self._next is None or not self._next <= offset < self._next + NEAR:
            self._consumer.assign([TopicPartition(self.topic, 0, offset)])
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            message = self._consumer.poll(0.25)
            if message is None:
                continue
            error = message.error()
            if error is not None and is_lasting(error):
                self._next = None
                self._must_be_there(offset)
                raise TransportError(f"{self.topic} cannot be read: {error.str()}")
            if error is None:
                at = message.offset()
                assert at is not None
                self._next = at + 1
                if at == offset:
                    return message.value() or b""
                if at > offset:
                    self._must_be_there(offset)
                    raise TransportError(f"{self.topic} has no message {offset}: it is another topic")
        raise TransportError(f"{self.topic} could not be read within {WAIT:g} seconds")

    def _must_be_there(self, offset: int) -> None:
        try:
            low, _ = self._consumer.get_watermark_offsets(TopicPartition(self.topic, 0), timeout=WAIT)
        except KafkaException as error:
            raise TransportError(f"{self.topic} cannot be read: {reason(error)}") from None
        if offset < low:
            raise DocumentGoneError(
                f"Kafka has thrown away the message {offset} of {self.topic}, a document that was delivered "
                "and not read; let the topic keep its messages for longer than the outboxes"
            )

    def close(self) -> None:
        """Stop reading."""
        self._consumer.close()
