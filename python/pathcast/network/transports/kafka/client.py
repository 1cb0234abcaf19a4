"""A publisher or subscriber on Kafka: it writes to its broker and reads its outbox."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import TracebackType

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from pathcast.network.message import ClientMessage, Delivery
from pathcast.network.moving import Move, MoveError, Said, Side
from pathcast.network.transports.access import client_group
from pathcast.network.transports.client import Client
from pathcast.network.transports.kafka import topics
from pathcast.network.transports.kafka.connection import Connection, TransportError, is_lasting, reason
from pathcast.network.transports.kafka.documents import DocumentGoneError, Documents, Reference
from pathcast.network.transports.kafka.envelope import NOTICE, Sender, headers_of
from pathcast.network.transports.settings import RESERVED, ClientSettings
from pathcast.network.wire import decode_delivery, decode_notice, encode

WAIT = 30.0


class KafkaClient(Client):
    """A client of one broker.

    What it sends is on its way until `flush`, which leaving a ``with`` block calls. A publisher may send a
    document again under its id after any error: the broker takes it once.
    """

    def __init__(self, settings: ClientSettings) -> None:
        self.settings = settings
        self.name = settings.name
        self._connection = Connection(settings.kafka, settings.name)
        there = self._connection.reach()
        needed = (settings.inbox, settings.outbox, settings.documents)
        missing = [name for name in needed if name not in there]
        if missing:
            raise TransportError(f"Kafka has no topic {', '.join(missing)}; was the broker ever started?")
        self._partitions = sorted(there[settings.outbox].partitions)
        self._failed: list[KafkaError] = []
        self._producer = self._connection.producer(
            {
                "enable.idempotence": True,
                "acks": "all",
                "message.max.bytes": settings.max_message_bytes + topics.OVERHEAD,
            }
        )
        self._consumer: Consumer | None = None
        self._documents: Documents | None = None

    def __enter__(self) -> KafkaClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.flush()
        finally:
            self.close()

    def send(self, message: ClientMessage) -> None:
        """Put a message on its way; `flush` waits until it is there."""
        data = encode(message)
        largest = self.settings.max_message_bytes - RESERVED
        if len(data) > largest:
            raise TransportError(f"the message has {len(data):,} bytes, and brokers take {largest:,}")
        header = Sender("client", self.name).header()
        while True:
            try:
                self._producer.produce(
                    self.settings.inbox, data, self.name, headers=[header], on_delivery=self._written
                )
            except BufferError:
                self._producer.poll(1.0)
                continue
            except KafkaException as error:
                raise TransportError(f"{self.settings.inbox} cannot be written: {reason(error)}") from None
            self._producer.poll(0)
            return

    def _written(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failed.append(error)

    def flush(self, seconds: float = WAIT) -> None:
        """Wait until everything that was sent is in the broker's inbox."""
        left = self._producer.flush(seconds)
        failed, self._failed = self._failed, []
        if failed:
            raise TransportError(
                f"{len(failed):,} messages were not taken: {reason(KafkaException(failed[0]))}"
            )
        if left:
            why = self._connection.complaint or "it does not answer"
            raise TransportError(f"{left:,} messages are not in Kafka after {seconds:g} seconds: {why}")

    def deliveries(self, wait: float | None = None) -> Iterator[Delivery]:
        """What is delivered, from where this client left off, until nothing comes for so many seconds.

        A delivery counts as taken when the next one is asked for: a client that crashes over one gets it
        again, with the same document and ids. `DocumentGoneError` says that Kafka has thrown a document away;
        the next call goes on behind it.
        """
        heard = time.monotonic()
        while True:
            message = self._polled(0.25 if wait is None else min(0.25, wait))
            if message is None:
                if wait is not None and time.monotonic() - heard >= wait:
                    return
                continue
            if not _is_notice(message):
                for delivery in self._delivered(message):
                    yield delivery
                    heard = time.monotonic()
            self._taken(message)

    def move(self, there: KafkaClient) -> Iterator[Delivery]:
        """Go on as another client object, of the same name at another broker, with everything.

        Gives what still comes from here; when it ends, the rest comes ``there``. No document is lost or
        repeated. Call it again after a crash.
        """
        if there.name != self.name:
            raise ValueError(f"{self.name} cannot move to be {there.name}")
        move = Move()
        sides: dict[Side, KafkaClient] = {"old": self, "new": there}

        def say(said: Said) -> None:
            for side, message in said:
                sides[side].send(message)
            for client in sides.values():
                client.flush()

        say(move.begin())
        while not move.is_done:
            for side, client in sides.items():
                read = client._polled(0.1)
                if read is None:
                    continue
                if _is_notice(read):
                    notice = decode_notice(read.value() or b"")
                    say(move.told(side, notice) if notice.client == self.name else [])
                else:
                    yield from client._delivered(read)
                client._taken(read)
        if move.has_failed:
            raise MoveError(f"the new broker has a client {self.name} already, or gave up waiting")

    def _polled(self, wait: float) -> Message | None:
        """The next record of the outbox."""
        self._consumer = self._consumer or self._reading()
        message = self._consumer.poll(wait)
        error = None if message is None else message.error()
        if error is None:
            return message
        if is_lasting(error):
            raise TransportError(f"{self.settings.outbox} cannot be read: {error.str()}")
        return None

    def _delivered(self, message: Message) -> Iterator[Delivery]:
        """The delivery in a record, if it is for this client."""
        delivery = decode_delivery(message.value() or b"")
        if delivery.client == self.name:
            try:
                whole = self._whole(delivery, Reference.of(message))
            except DocumentGoneError:
                self._taken(message)
                raise
            yield whole

    def _taken(self, message: Message) -> None:
        assert self._consumer is not None
        self._consumer.commit(message=message, asynchronous=True)

    def _whole(self, delivery: Delivery, reference: Reference | None) -> Delivery:
        """A delivery with its document."""
        if reference is None:
            return delivery
        if self._documents is None:
            self._documents = Documents(self._connection, self.settings.documents, client_group(self.name))
        return delivery._replace(body=self._documents.body(reference))

    def _reading(self) -> Consumer:
        # Where clients share an outbox, each reads the whole of it and keeps what is its own.
        consumer = self._connection.consumer(
            {"group.id": client_group(self.name), "auto.offset.reset": "earliest"}
        )
        outbox = self.settings.outbox
        try:
            places = consumer.committed(
                [TopicPartition(outbox, each) for each in self._partitions], timeout=WAIT
            )
            consumer.assign(places)
        except KafkaException as error:
            consumer.close()
            raise TransportError(f"{outbox} cannot be read: {reason(error)}") from None
        return consumer

    def close(self) -> None:
        """Stop reading."""
        for reader in (self._consumer, self._documents):
            if reader is not None:
                reader.close()
        self._consumer = self._documents = None


def _is_notice(message: Message) -> bool:
    return any(name == NOTICE for name, _ in headers_of(message))
