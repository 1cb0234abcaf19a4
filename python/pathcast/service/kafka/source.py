"""Documents from Kafka: each source is a thread that reads messages and publishes them.

The place in Kafka is committed after the documents are durable, so a crash in between reads some of them
again. Each message is published with an idempotency key made of its partition, offset and time: what was
stored before is answered as before and delivered no second time. Several processes share the partitions of a
topic as one consumer group. A message that is not well-formed is a dead letter, like any document.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaException, Message
from sqlalchemy.exc import SQLAlchemyError

from pathcast.errors import DocumentError
from pathcast.network.transports.kafka.connection import Connection, TransportError, reason
from pathcast.service.problems import Problem
from pathcast.service.publishing import Publication

if TYPE_CHECKING:
    from pathcast.service.catalog import LiveTopic
    from pathcast.service.core import Service

log = logging.getLogger("pathcast.service")

_TOGETHER = 500  # messages of one commit
_IDLE = 0.5  # seconds that one look waits for messages
_AGAIN = 1.0  # seconds until a store or a Kafka that failed is tried again


@dataclass(frozen=True, slots=True)
class Place:
    """What a source reads, and for which topic."""

    number: int
    topic: str
    group: str

    @classmethod
    def of(cls, live: LiveTopic) -> Place | None:
        """What the settings of a topic say."""
        given = live.settings.get("kafka")
        if given is None:
            return None
        return cls(live.number, given["topic"], given.get("group") or f"pathcast-{live.tenant}-{live.name}")


class Sources:
    """The sources of all topics, kept as the settings of the topics say."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._running: dict[Place, Source] = {}

    async def run(self) -> None:
        """Look again and again until the server stops."""
        while True:
            wanted = {place for live in self._service.catalog.topics() if (place := Place.of(live))}
            for place in self._running.keys() - wanted:
                self._running.pop(place).stop()
            for place in wanted - self._running.keys():
                self._running[place] = Source(self._service, place, asyncio.get_running_loop())
            await asyncio.sleep(_AGAIN)

    async def stop(self) -> None:
        """End all sources; what they have not committed is read again."""
        running = list(self._running.values())
        for source in running:
            source.stop()
        for source in running:
            await asyncio.to_thread(source.thread.join)


class Source:
    """One thread that reads one topic of Kafka."""

    def __init__(self, service: Service, place: Place, loop: asyncio.AbstractEventLoop) -> None:
        self._service = service
        self._place = place
        self._loop = loop
        self._stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, name=f"kafka-{place.topic}", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Ask it to end."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._read()
            except (KafkaException, TransportError) as error:
                why = reason(error) if isinstance(error, KafkaException) else str(error)
                log.warning("the topic %s of Kafka cannot be read: %s", self._place.topic, why)
            except RuntimeError:  # the event loop is closed
                return
            self._stopping.wait(_AGAIN)

    def _read(self) -> None:
        cluster = self._service.settings.kafka
        assert cluster is not None
        settings = {
            "group.id": self._place.group,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 10_000,  # others take over from a process that died
        }
        consumer = Connection(cluster.kafka, self._place.group).consumer(settings)
        try:
            consumer.subscribe([self._place.topic])
            while not self._stopping.is_set():
                self._turn(consumer)
        finally:
            consumer.close()

    def _turn(self, consumer: Consumer) -> None:
        found = consumer.consume(_TOGETHER, _IDLE)
        for message in found:
            if (error := message.error()) is not None:
                raise KafkaException(error)
        while found and not self._stopping.is_set():
            if self._published(found):
                ends = {(each.topic(), each.partition()): each for each in found}
                for message in ends.values():
                    consumer.commit(message=message, asynchronous=False)
                return
            self._stopping.wait(_AGAIN)

    def _published(self, found: Sequence[Message]) -> bool:
        """Whether all of them are durable now."""
        waiting = asyncio.run_coroutine_threadsafe(self._publish(found), self._loop)
        while True:
            try:
                return waiting.result(_IDLE)
            except TimeoutError:
                if self._stopping.is_set():
                    waiting.cancel()
                    return False

    async def _publish(self, found: Sequence[Message]) -> bool:
        live = self._service.catalog.by_number(self._place.number)
        if live is None:  # the topic was removed
            return False
        try:
            given = [self._publication(live, each) for each in found]
            done = await asyncio.gather(*(self._service.publish(each) for each in given if each is not None))
        except (Problem, SQLAlchemyError) as error:
            log.warning("documents of Kafka wait for the store: %s", error)
            return False
        return all(each.status != 404 for each in done)

    def _publication(self, live: LiveTopic, message: Message) -> Publication | None:
        body = message.value()
        if not isinstance(body, bytes):  # a message that only deletes a key
            return None
        headers = dict(message.headers() or ())
        kind = headers.get("content-type")
        place = f"{message.topic()}/{message.partition()}/{message.offset()}@{message.timestamp()[1]}"
        most = self._service.settings.document_bytes
        return Publication(
            live,
            body,
            "",
            kind.decode("latin-1")[:255] if isinstance(kind, bytes) else None,
            f"kafka {hashlib.sha256(place.encode()).hexdigest()}",
            refused=DocumentError(f"longer than {most:,} bytes", 0, 0, "limit") if len(body) > most else None,
        )
