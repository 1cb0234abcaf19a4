"""Deliveries to Kafka: one message each, written to all replicas before it counts as delivered.

The key of a message is the id of its delivery, so a consumer that drops ids it has seen, or a compacted
topic, has each once.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from pathcast.errors import printable
from pathcast.network.transports.kafka.connection import Connection, reason
from pathcast.service.kafka.cluster import Cluster
from pathcast.service.webhooks.sender import Letter, Outcome

_POLL = 0.1  # seconds


class Sink:
    """Writes messages; one for each process."""

    def __init__(self, cluster: Cluster, timeout: float) -> None:
        settings = {
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": 5,
            "topic.metadata.propagation.max.ms": 5_000,  # then a topic that is not there is told as such
            "delivery.timeout.ms": int(timeout * 1000),
            "message.max.bytes": 64 << 20,  # what the topic takes is the topic's business
        }
        self._producer: Producer = Connection(cluster.kafka, "sink").producer(settings)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._poll, name="kafka-sink", daemon=True)
        self._thread.start()

    def _poll(self) -> None:
        """The client calls back only while somebody polls it."""
        while not self._stopping.is_set():
            self._producer.poll(_POLL)

    async def send(self, topic: str, letter: Letter) -> Outcome:
        """Write one message; never raises for what Kafka does."""
        began = time.perf_counter()
        loop = asyncio.get_running_loop()
        written: asyncio.Future[str | None] = loop.create_future()

        def done(error: KafkaError | None, message: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(_settle, written, None if error is None else printable(error.str()))

        try:
            self._producer.produce(
                topic, letter.body, letter.id, on_delivery=done, headers=list(letter.headers().items())
            )
            why = await written
        except BufferError:
            why = "too many messages wait for Kafka"
        except KafkaException as error:
            why = reason(error)
        return Outcome(why is None, time.perf_counter() - began, reason=why)

    def close(self) -> None:
        """End; what is not written is not delivered, and is tried again."""
        self._stopping.set()
        self._thread.join()
        self._producer.purge()
        self._producer.flush(1.0)


def _settle(written: asyncio.Future[str | None], error: str | None) -> None:
    if not written.done():
        written.set_result(error)
