"""A broker as a process on Kafka: it reads its inbox, routes, and writes what follows, in transactions.

One transaction holds a batch of messages: what neighbours and clients get because of them, what is
quarantined, the records of the broker's state, and the place in the inbox. Kafka commits all of it or
nothing. The core works ahead in memory, so whenever a transaction is undone the broker is made anew from the
committed state.

Invariants: what is in memory is the committed state plus the open transaction; a transaction is begun only
after every older one of this name is finished (`init_transactions`), so the state that is read is the last.
Of two processes with one name the later one fences the earlier, which then can commit nothing and ends.

A message on which the core fails, or whose consequences cannot be written, would come again after each
restart. Its transaction is undone once, and when the message comes again it is quarantined. What a stranger
can send never gets that far: it is refused before a table changes (`pathcast.network.wire`). Cost: one commit
a batch, tens of milliseconds, so a batch takes what has piled up in the meantime.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from pathcast.network.broker import Broker
from pathcast.network.message import ClientLeave, Quarantined
from pathcast.network.outcome import Outcome
from pathcast.network.restore import restored
from pathcast.network.state import StateError
from pathcast.network.trace import Step
from pathcast.network.transports.kafka import topics
from pathcast.network.transports.kafka.connection import (
    Connection,
    FencedError,
    TransportError,
    code,
    is_fenced,
    is_lasting,
    is_retriable,
    reason,
)
from pathcast.network.transports.kafka.documents import Stored
from pathcast.network.transports.kafka.envelope import (
    Arrival,
    ForgedError,
    Place,
    arrival,
)
from pathcast.network.transports.kafka.log import position_record, read_state
from pathcast.network.transports.kafka.records import Written, records
from pathcast.network.transports.kafka.reload import successor, without
from pathcast.network.transports.kafka.report import Report
from pathcast.network.transports.monitor import Monitor, metrics
from pathcast.network.transports.settings import BrokerSettings, SettingsError
from pathcast.network.transports.status import Status
from pathcast.network.transports.traces import Traces

POLL = 0.25
"""Seconds that an idle broker waits before it looks whether it should stop."""
WAIT = 30.0
HUNG = 4 * WAIT
"""Seconds after which a call that should have come back after `WAIT` will never."""
TRANSACTION = 60_000
"""Milliseconds after which Kafka undoes the transaction of a process that is gone. Until then, or until the
process is back, what others write to the same inboxes waits behind it."""
HANDLING = 10.0
"""Seconds of work that go into one transaction, well below that."""
PATIENCE = 10
"""Transactions in a row that may be undone before the process gives up."""
BATCH_BYTES = 16 << 20


class UndoneError(Exception):
    """The open transaction cannot be committed."""


class KafkaBroker:
    """One broker; `run` returns after `stop`, or raises what ended it."""

    def __init__(
        self,
        settings: BrokerSettings,
        log: Callable[[str], None],
        reread: Callable[[], BrokerSettings] | None = None,
    ) -> None:
        self.settings = settings
        self.wanted = settings
        """The settings as they were given last; `settings` also has the neighbours that are being left."""
        self.connection = Connection(settings.kafka, settings.name)
        self.report = Report(settings.name, settings.report_seconds, log)
        self.broker = Broker(settings.name, settings.policy)
        self.traces = Traces(settings.traced)
        self.poison: dict[Place, str] = {}
        """Messages that cannot be handled, and why; they are quarantined when they come again."""
        self._producer: Producer
        self._consumer: Consumer
        self._positions: dict[str, int] = {}
        self._changes: dict[bytes, bytes | None] = {}
        self._failed: list[tuple[Place | None, KafkaError, str]] = []
        self._deliveries: list[tuple[Place | None, Written]] = []
        """Those of the transaction. They are written last, when it is known where documents are stored."""
        self._left: list[Arrival] = []
        """Messages that were read and found no time in the last transaction."""
        self._open = 0
        """Messages of the transaction."""
        self._careful = 0
        """Messages that are taken one a transaction, with each consequence written alone."""
        self._next_tick = 0.0
        self._monitor: Monitor | None = None
        self._next_page = 0.0
        self._steps: list[Step] = []
        """What happened to documents in the transaction."""
        self._reread = reread
        self._reloading = threading.Event()
        self._stopping = threading.Event()
        self.waiting_since: float | None = None
        """When a call to Kafka began that is not back, by the monotonic clock; see `HUNG`."""
        self.started = False
        """Whether it has been ready for messages."""

    def stop(self) -> None:
        """Finish the batch and return from `run`; may be called from a signal handler."""
        self._stopping.set()

    def reload(self) -> None:
        """Read the settings again after the batch at hand; may be called from a signal handler."""
        self._reloading.set()

    def check(self) -> None:
        """An error that says which topics are missing or not as they must be."""
        topics.check(self.connection, self.settings)

    def run(self, *, create_topics: bool = False) -> None:
        """Take messages until somebody calls `stop`."""
        if create_topics:
            for name in topics.create(self.connection, self.settings):
                self.report.say(f"created the topic {name}")
        self.check()
        if self.settings.monitor_port is not None:
            try:
                self._monitor = Monitor(self.settings.monitor_host, self.settings.monitor_port, self.traces)
            except OSError as error:
                raise TransportError(f"{self.settings.name}: monitor: {error.strerror}") from None
        largest = self.settings.max_message_bytes + topics.OVERHEAD
        fetched = max(50 << 20, largest)
        self._consumer = self.connection.consumer(
            {
                "group.id": self.settings.state,
                "enable.partition.eof": True,
                "fetch.max.bytes": fetched,
                "receive.message.max.bytes": fetched + (1 << 20),
            }
        )
        try:
            try:
                self._begin_anew()
            except UndoneError as error:
                raise TransportError(f"{self.settings.name}: {error}") from None
            self.started = True
            self.report.say(self._ready())
            undone, why = 0, ""
            while not self._stopping.is_set():
                try:
                    if why:
                        self._undo(why, undone)
                    if self._reloading.is_set():
                        self._reload(create_topics)
                    self._step()
                    undone, why = 0, ""
                except UndoneError as error:
                    undone, why = undone + 1, str(error)
        finally:
            if self._monitor is not None:
                self._monitor.close()
            self._consumer.close()
            self.report.tick(self.broker, 0, last=True)
        self.report.say("stopped")

    # -- one batch -----------------------------------------------------------------------------------------

    def _step(self) -> None:
        batch = self._gather()
        tick = self._tick()
        if batch or tick.messages:
            self._open = len(batch)
            self._begin()
            self._emit(tick, records(tick, self.settings, None), None)
            late = time.monotonic() + HANDLING
            for place, each in enumerate(batch):
                if place and time.monotonic() > late:
                    batch, self._left = batch[:place], batch[place:]
                    break
                try:
                    outcome = self._handled(each)
                    written = records(outcome, self.settings, each.place)
                except Exception as error:
                    # Whatever it is, the tables may be half changed, and the message would come again.
                    self.poison[each.place] = f"the broker failed on it: {type(error).__name__}: {error}"
                    raise UndoneError(self.poison[each.place]) from error
                self._emit(outcome, written, each.place)
                self._positions[each.place.topic] = each.place.offset + 1
            self._commit()
            self._careful = max(0, self._careful - len(batch))
            for each in batch:
                self.poison.pop(each.place, None)
            self.report.taken += len(batch)
        self._forget_left()
        self.report.tick(self.broker, self._behind)
        if self._monitor is not None and time.monotonic() >= self._next_page:
            self._next_page = time.monotonic() + 1.0
            report, behind = self.report, self._behind
            monitors = {peer.name: peer.monitor for peer in self.settings.neighbours.values() if peer.monitor}
            self._monitor.write(
                metrics(self.broker, taken=report.taken, undone=report.undone, behind=behind),
                Status.of(self.broker, behind=behind, monitors=monitors),
            )

    def _tick(self) -> Outcome:
        """Heartbeats that are due, and what follows from the silence of neighbours."""
        now = time.monotonic()
        if now < self._next_tick:
            return Outcome()
        self._next_tick = now + self.settings.policy.heartbeat / 2
        return self.broker.handle_tick(now)

    def _gather(self) -> list[Arrival]:
        """What has piled up, up to the size of a batch."""
        most = 1 if self._careful else self.settings.batch
        found, self._left = self._left[:most], self._left[most:]
        if found:
            return found
        size, wait = 0, POLL
        while len(found) < most and size < BATCH_BYTES:
            message = self._consumer.poll(wait)
            if message is None:
                break
            error = message.error()
            if error is None:
                each = arrival(message)
                found.append(each)
                size += len(each.value or b"")
                wait = 0.0
            elif error.code() == KafkaError._PARTITION_EOF:
                break
            elif is_lasting(error):
                topic = message.topic() or self.settings.inbox
                raise TransportError(f"{topic} cannot be read: {error.str()}")
            else:
                self.report.note([f"reading {message.topic()}: {error.str()}"])
        return found

    def _handled(self, each: Arrival) -> Outcome:
        value = each.value or b""
        why = self.poison.get(each.place)
        try:
            sender = each.sender(self.settings)
            if why is None and each.value is None:
                why = "it has no value"
        except ForgedError as error:
            why = why or str(error)
        if why is not None:
            return self._refused(each.claimed(), why, value)
        now = time.time() if each.append_time is None else each.append_time
        return self.broker.handle_bytes(sender.kind, sender.name, value, now)

    def _refused(self, sender: str, why: str, data: bytes) -> Outcome:
        self.broker.counters.quarantined += 1
        return Outcome(
            quarantined=[Quarantined(sender, why, data)],
            notes=[f"{sender}: a message was quarantined: {why}"],
        )

    # -- writing -------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._failed.clear()
        self._changes.clear()
        self._deliveries.clear()
        self._steps.clear()
        self._asked(self._producer.begin_transaction)

    def _emit(self, outcome: Outcome, written: list[Written], place: Place | None) -> None:
        for each in written:
            if each.is_delivery:
                self._deliveries.append((place, each))
            else:
                self._write(place, each)
        self.report.sent += len(outcome.messages)
        for key, value in outcome.records:
            self._changes.pop(key, None)
            self._changes[key] = value
        self.report.note(outcome.notes)
        self._steps.extend(outcome.steps)

    def _write(self, place: Place | None, each: Written) -> None:
        topic, headers = each.topic, each.with_reference()
        written = partial(self._written, place, None if each.is_delivery else each.stored)
        while True:
            try:
                self._producer.produce(topic, each.value, each.key, headers=[*headers], on_delivery=written)
            except BufferError:
                # Its queue is full: let some of it go.
                self._producer.poll(1.0)
                continue
            except KafkaException as error:
                if code(error) == KafkaError.MSG_SIZE_TOO_LARGE and place is not None:
                    self.poison[place] = f"what follows from it is too large for {topic}"
                raise self._failure(error, f"write to {topic}") from None
            if self._careful:
                self._producer.flush(WAIT)
            else:
                self._producer.poll(0)
            return

    def _written(
        self, place: Place | None, stored: Stored | None, error: KafkaError | None, message: Message
    ) -> None:
        if error is not None:
            self._failed.append((place, error, message.topic() or ""))
        elif stored is not None:
            stored.offset = message.offset()

    def _deliver(self) -> None:
        """Write deliveries, when Kafka has said where the documents are that they refer to."""
        referred = [each.stored for _, each in self._deliveries if each.stored is not None]
        if referred:
            self._producer.flush(WAIT)
            if any(stored.offset is None for stored in referred):
                raise UndoneError("could not store documents")
        for place, each in self._deliveries:
            self._write(place, each)

    def _commit(self) -> None:
        self._deliver()
        for topic, offset in self._positions.items():
            key, value = position_record(topic, offset)
            self._changes[key] = value
        for key, value in self._changes.items():
            self._write(None, Written(self.settings.state, key, value, []))
        self._insist(self._producer.commit_transaction, "commit")
        # For those who watch how far behind it is; its place is in the state.
        offsets = [TopicPartition(topic, 0, offset) for topic, offset in self._positions.items()]
        self._consumer.commit(offsets=offsets, asynchronous=True)
        self.traces.file(self._steps, time.time())

    # -- what may go wrong ---------------------------------------------------------------------------------

    def _asked(self, call: Callable[[], None]) -> None:
        try:
            call()
        except KafkaException as error:
            raise self._failure(error, "begin a transaction") from None

    def _insist(self, call: Callable[[float], None], what: str) -> None:
        """A call that may be made again until it is through; Kafka may be away for a while."""
        while True:
            self.waiting_since = time.monotonic()
            try:
                call(WAIT)
                return
            except KafkaException as error:
                if not is_retriable(error) or self._stopping.is_set():
                    raise self._failure(error, what) from None
                self.report.say(f"waiting for Kafka to {what}: {reason(error)}")
            finally:
                self.waiting_since = None

    def _failure(self, error: KafkaException, what: str) -> Exception:
        """What an error means for the process: it is fenced, or the transaction is undone."""
        if is_fenced(error):
            return FencedError(
                f"{self.settings.name}: another process runs under this name and has taken over, or this one "
                f"was away for too long: {reason(error)}"
            )
        return UndoneError(f"could not {what}: {reason(error)}")

    def _undo(self, why: str, times: int) -> None:
        """Forget the open transaction and go back to what is committed."""
        self.report.undone += 1
        usable = True
        try:
            self._insist(self._producer.abort_transaction, "undo a transaction")
        except UndoneError as error:
            # Kafka has undone it already: a server was cut off for longer than a transaction may take.
            why, usable = f"{why}; {error}", False
        careful = self._careful
        for place, failed, topic in self._failed:
            why = f"{topic}: {failed.str()}"
            if failed.code() == KafkaError.MSG_SIZE_TOO_LARGE and place is not None:
                # Messages that were sent together are refused together: only one that was alone is to blame.
                if self._careful:
                    self.poison[place] = f"what follows from it is too large for {topic}"
                else:
                    careful = self._open
        self._careful = careful
        self.report.say(f"a transaction was undone: {why}")
        if times > PATIENCE:
            raise TransportError(f"{self.settings.name}: {times} transactions in a row were undone: {why}")
        if not self.poison and not careful:
            self._stopping.wait(min(0.1 * 2**times, 10.0))
        self._begin_anew(producer=not usable)

    # -- beginning from what is committed ------------------------------------------------------------------

    def _begin_anew(self, *, producer: bool = True) -> None:
        """Begin from the committed state; with another producer if there is none that can be used."""
        if producer:
            self._producer = self.connection.producer(
                {
                    "transactional.id": self.settings.state,
                    "transaction.timeout.ms": TRANSACTION,
                    "message.max.bytes": self.settings.max_message_bytes + topics.OVERHEAD,
                }
            )
            self._insist(self._producer.init_transactions, "take over its name")
        self._restore()

    def _restore(self) -> None:
        settings = self.settings
        kept = read_state(self.connection, settings.state, self._stopping.is_set)
        if self._stopping.is_set():
            return
        try:
            self._positions = {topic: self._start(topic, kept.positions) for topic in settings.sources}
            if not kept.records:
                self._must_be_new()
        except KafkaException as error:
            raise TransportError(f"{settings.name}: the inbox cannot be read: {reason(error)}") from None
        self._left = []
        counters = self.broker.counters
        self.broker, outcome = restored(settings.name, kept.records, settings.policy)
        self.broker.counters = counters
        self._begin()
        now = time.time()
        outcomes = [outcome]
        for name in sorted(set(self.broker.links) - set(settings.neighbours)):
            if not self.broker.links[name].is_leaving:
                self.report.say(
                    f"{name} is no longer a neighbour: what it has sent and was not read yet is not taken; "
                    "taking a neighbour out of the settings of a running broker (SIGHUP) loses nothing"
                )
            outcomes.append(self.broker.handle_link_down(name, now))
        for name in sorted(set(settings.neighbours) - set(self.broker.links)):
            outcomes.append(self.broker.handle_link_up(name, now))
        for name in sorted(set(settings.neighbours) - set(self.wanted.neighbours)):
            outcomes.append(self.broker.handle_leave(name, now))
        if not settings.open:
            for name in sorted(set(self.broker.clients) - set(settings.clients)):
                self.report.say(f"{name} is no longer a client: its subscriptions and advertisements end")
                outcomes.append(self.broker.handle_client(name, ClientLeave(), now))
        for outcome in outcomes:
            self._emit(outcome, records(outcome, self.settings, None), None)
        self._commit()
        self._consumer.assign([TopicPartition(topic, 0, offset) for topic, offset in self._positions.items()])

    # -- settings that change ------------------------------------------------------------------------------

    def _reload(self, create_topics: bool) -> None:
        """Go on with the settings as they are now; with the old ones if there is a mistake in them."""
        self._reloading.clear()
        if self._reread is None:
            return
        try:
            wanted = self._reread()
            settings = successor(self.settings, wanted)
            if create_topics:
                topics.create(self.connection, settings)
            topics.check(self.connection, settings)
        except (SettingsError, TransportError) as error:
            self.report.say(f"the settings stay as they were: {error}")
            return
        self.settings, self.wanted = settings, wanted
        self.report.seconds = settings.report_seconds
        # As after a restart: there is one way to begin.
        self._restore()
        self.report.say(f"settings reloaded; {self._ready()}")

    def _forget_left(self) -> None:
        """Neighbours that have answered a goodbye, or fall silent over it, are neighbours no more."""
        leaving = [
            self.broker.links[name] for name in self.settings.neighbours if name not in self.wanted.neighbours
        ]
        left = {link.name for link in leaving if link.said_bye or link.is_silent}
        if left:
            self.settings = without(self.settings, left)
            self._restore()
            self.report.say(f"no longer a neighbour: {', '.join(sorted(left))}")

    # -- where to go on ------------------------------------------------------------------------------------

    def _start(self, topic: str, kept: dict[str, int]) -> int:
        """Where to go on reading a topic."""
        low, high = self._consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=WAIT)
        start = kept.get(topic, low)
        if start > high:
            raise StateError(
                f"{topic} ends at {high} and was read up to {start}: it is another topic of that name"
            )
        if start < low:
            gone = f"Kafka has thrown away the messages {start} to {low - 1} of {topic}, which were not read"
            if self.settings.gap == "stop":
                raise StateError(f"{gone}; gap = 'skip' goes on without them")
            self.report.say(gone)
            start = low
        return start

    def _must_be_new(self) -> None:
        """A broker that has read its inbox has a state; without it documents would be lost."""
        places = [TopicPartition(topic, 0) for topic in self.settings.sources]
        for place in self._consumer.committed(places, timeout=WAIT):
            if place.offset >= 0:
                raise StateError(
                    f"{self.settings.state} is empty, but {place.topic} was read up to {place.offset}: "
                    "the state of this broker is gone"
                )

    @property
    def _behind(self) -> int:
        """Messages that are there and not taken yet; records that end transactions count."""
        total = 0
        for topic, offset in self._positions.items():
            _, high = self._consumer.get_watermark_offsets(TopicPartition(topic, 0), cached=True)
            total += max(0, high - offset)
        return total

    def _ready(self) -> str:
        places = ", ".join(f"{topic} from {offset}" for topic, offset in self._positions.items())
        return f"ready with {self.report.tables(self.broker)}; reads {places}"
