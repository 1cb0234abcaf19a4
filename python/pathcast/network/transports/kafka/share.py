"""One process of a broker that several processes share: it runs the parts that Kafka assigns to it.

A topic without messages has a partition for each part. The processes are a consumer group on it, so Kafka
says who runs which part, gives the parts of a process that is gone to the others, and shares anew when
one comes. A part is one `KafkaBroker` in a thread, with its own state and transactional id: who takes a part
over undoes what was left open, fences whoever still holds it, and goes on from the committed state. A part
that moves between living processes finishes its batch first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from confluent_kafka import Consumer, TopicPartition

from pathcast.network.transports.kafka import topics
from pathcast.network.transports.kafka.connection import Connection, TransportError, is_lasting
from pathcast.network.transports.kafka.process import POLL, KafkaBroker
from pathcast.network.transports.parts import parts
from pathcast.network.transports.settings import BrokerSettings

SESSION = 10_000
"""Milliseconds after which the parts of a process that is gone are given to others."""


class Part:
    """A part that runs in a thread."""

    def __init__(self, broker: KafkaBroker) -> None:
        self.broker = broker
        self.error: Exception | None = None
        self.thread = threading.Thread(target=self._run, name=broker.settings.name, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.broker.run()
        except Exception as error:  # the process ends with it
            self.error = error


class KafkaShare:
    """The parts that one process runs; `run` returns after `stop`, or raises what ended one of them."""

    def __init__(
        self,
        settings: BrokerSettings,
        log: Callable[[str], None],
        reread: Callable[[], BrokerSettings] | None = None,
    ) -> None:
        self.settings = settings
        self.connection = Connection(settings.kafka, settings.name)
        self.started = False
        """Whether Kafka has answered and everything is there."""
        self._log, self._reread = log, reread
        self._parts: dict[int, Part] = {}
        self._stopping = threading.Event()

    @property
    def waiting_since(self) -> float | None:
        """When the oldest call to Kafka began that is not back; see `KafkaBroker`."""
        since = [part.broker.waiting_since for part in list(self._parts.values())]
        return min((each for each in since if each is not None), default=None)

    def stop(self) -> None:
        """Finish all batches and return from `run`; may be called from a signal handler."""
        self._stopping.set()

    def reload(self) -> None:
        """Read the settings again; may be called from a signal handler."""
        for part in list(self._parts.values()):
            part.broker.reload()

    def check(self) -> None:
        """An error that says which topics are missing or not as they must be."""
        topics.check_shares(self.connection, self.settings)
        for part in parts(self.settings):
            topics.check(self.connection, part)

    def run(self, *, create_topics: bool = False) -> None:
        """Run what is assigned until somebody calls `stop`."""
        if create_topics:
            made = [name for part in parts(self.settings) for name in topics.create(self.connection, part)]
            for name in (*made, *topics.create_shares(self.connection, self.settings)):
                self._say(f"created the topic {name}")
        self.check()
        self.started = True
        topic = self.settings.shares
        consumer = self.connection.consumer(
            {
                "group.id": topic,
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": SESSION,
                "auto.offset.reset": "latest",
            }
        )
        consumer.subscribe([topic], on_assign=self._take, on_revoke=self._give_up, on_lost=self._give_up)
        try:
            while not self._stopping.is_set():
                message = consumer.poll(POLL)
                error = None if message is None else message.error()
                if error is not None and is_lasting(error):
                    raise TransportError(f"{topic} cannot be read: {error.str()}")
                for part in self._parts.values():
                    if part.error is not None:
                        raise part.error
        finally:
            self._end(list(self._parts))
            consumer.close()
        self._say("stopped")

    def _take(self, consumer: Consumer, assigned: list[TopicPartition]) -> None:
        settings = parts(self.settings)
        for number in sorted(each.partition for each in assigned):
            again = None if self._reread is None else partial(self._again, self._reread, number)
            self._parts[number] = Part(KafkaBroker(settings[number], self._log, again))
        self._say_which()

    def _give_up(self, consumer: Consumer, revoked: list[TopicPartition]) -> None:
        self._end([each.partition for each in revoked])
        self._say_which()

    def _end(self, numbers: list[int]) -> None:
        ending = [self._parts.pop(number) for number in numbers if number in self._parts]
        for part in ending:
            part.broker.stop()
        for part in ending:  # each finishes its batch
            part.thread.join()

    def _again(self, reread: Callable[[], BrokerSettings], number: int) -> BrokerSettings:
        """The settings of a part as they are now; `KafkaBroker` refuses another number of parts."""
        wanted = parts(reread())
        return wanted[min(number, len(wanted) - 1)]

    def _say_which(self) -> None:
        if not self._stopping.is_set():
            numbers = ", ".join(map(str, sorted(self._parts))) or "none"
            self._say(f"runs of {self.settings.parts} parts: {numbers}")

    def _say(self, text: str) -> None:
        self._log(f"{self.settings.name}: {text}")
