"""A network of brokers in this process: the transport for trying things out.

Messages travel as bytes, in order, and are handled before the call that caused them returns, so there is
nothing to start and nothing to wait for. Nothing is durable. `pathcast.network.simulation` is the one that
delays, loses and crashes.

>>> network = Network([("berlin", "paris"), ("paris", "rome")])
>>> wire, ann = network.client("berlin", "wire"), network.client("rome", "ann")
>>> wire.advertise("news", ["/news/item/title"])
>>> ann.subscribe("titles", "//item[title]")
>>> wire.publish("1", "<news><item><title>Rain</title></item></news>")
>>> [(delivery.document, delivery.ids) for delivery in ann.deliveries()]
[('berlin/wire/1', ('titles',))]

What a broker refuses goes to the quarantine with a reason, and nothing else is affected.

>>> ann.subscribe("broken", "//item[")
>>> network.quarantine[0].reason
"column 8 of '//item[': expected a step, found the end"
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

from pathcast.network.broker import Broker
from pathcast.network.message import ClientMessage, Delivery, Notice, Quarantined
from pathcast.network.moving import Move, MoveError, Side
from pathcast.network.outcome import Outcome
from pathcast.network.policy import Policy
from pathcast.network.transports.client import Client
from pathcast.network.transports.traces import Traces, in_order
from pathcast.network.wire import encode

KEPT = 1_000
"""Refused messages and notes that are kept, and at each broker documents with their traces; the latest."""


class Network:
    """Brokers that are linked with one another, and their clients.

    Not for several threads at once.
    """

    def __init__(self, links: Iterable[tuple[str, str]] = (), *, policy: Policy | None = None) -> None:
        self.policy = policy
        self.brokers: dict[str, Broker] = {}
        self.quarantine: deque[Quarantined] = deque(maxlen=KEPT)
        self.notes: deque[str] = deque(maxlen=KEPT)
        """What brokers have to say: documents that were not advertised, messages that were refused."""
        self._traces: dict[str, Traces] = {}
        self._inbox: deque[tuple[str, str, str, bytes]] = deque()
        self._outboxes: dict[tuple[str, str], deque[Delivery]] = {}
        self._notices: dict[tuple[str, str], deque[Notice]] = {}
        self._clock: Callable[[], float] = time.monotonic
        for one, other in links:
            self.connect(one, other)

    def add(self, name: str) -> Broker:
        """The broker of that name, made now if there is none."""
        if name not in self.brokers:
            self.brokers[name] = Broker(name, self.policy)
            self._traces[name] = Traces(KEPT)
        return self.brokers[name]

    def connect(self, one: str, other: str) -> None:
        """Link two brokers; those that are not there are made."""
        first, second = self.add(one), self.add(other)
        self._take(one, first.handle_link_up(other, self._clock()))
        self._take(other, second.handle_link_up(one, self._clock()))
        self._run()

    def disconnect(self, one: str, other: str) -> None:
        """Take a link away; `KeyError` when a broker is unknown."""
        first, second = self.brokers[one], self.brokers[other]
        self._take(one, first.handle_link_down(other, self._clock()))
        self._take(other, second.handle_link_down(one, self._clock()))
        self._run()

    def client(self, broker: str, name: str) -> LocalClient:
        """A client at a broker; the same name again is the same client."""
        self.add(broker)
        return LocalClient(self, broker, name)

    def put(self, target: str, kind: str, sender: str, data: bytes) -> None:
        """Bytes for a broker, from a ``"client"`` or a ``"broker"``, and what follows from them."""
        self._inbox.append((target, kind, sender, data))
        self._run()

    def taken(self, broker: str, client: str) -> list[Delivery]:
        """What has been delivered to a client and not been taken yet."""
        return list(self._outboxes.pop((broker, client), ()))

    def noticed(self, broker: str, client: str) -> list[Notice]:
        """What a client that moves was told and has not taken yet."""
        return list(self._notices.pop((broker, client), ()))

    def trace(self, document: str) -> list[str]:
        """What happened to a document at each broker, and why.

        >>> network = Network([("berlin", "paris")])
        >>> network.client("paris", "ann").subscribe("titles", "//title")
        >>> network.client("berlin", "wire").publish("1", "<title/>")
        >>> for line in network.trace("berlin/wire/1"):
        ...     print(line)
        berlin: published by client wire
        berlin: sent to broker paris: flooded: it was not advertised
        paris: received from broker berlin
        paris: delivered to client ann: titles
        """
        found = {name: steps for name, traces in self._traces.items() if (steps := traces.of(document))}
        return [f"{name}: {each.step.text()}" for name in in_order(found) for each in found[name]]

    def _run(self) -> None:
        while self._inbox:
            target, kind, sender, data = self._inbox.popleft()
            broker = self.brokers[target]
            self._take(target, broker.handle_bytes(kind, sender, data, self._clock()))

    def _take(self, name: str, outcome: Outcome) -> None:
        for neighbour, message in outcome.messages:
            self._inbox.append((neighbour, "broker", name, encode(message)))
        for delivery in outcome.deliveries:
            self._outboxes.setdefault((name, delivery.client), deque()).append(delivery)
        for notice in outcome.notices:
            self._notices.setdefault((name, notice.client), deque()).append(notice)
        self.quarantine.extend(outcome.quarantined)
        self.notes.extend(f"{name}: {note}" for note in outcome.notes)
        self._traces[name].file(outcome.steps, self._clock())


class LocalClient(Client):
    """A client of a broker in this process."""

    def __init__(self, network: Network, broker: str, name: str) -> None:
        self.network, self.broker, self.name = network, broker, name
        self._left: list[Delivery] = []
        """What came from brokers where it was before."""

    def send(self, message: ClientMessage) -> None:
        """Hand a message to the broker; everything that follows from it has happened on return."""
        self.network.put(self.broker, "client", self.name, encode(message))

    def deliveries(self) -> list[Delivery]:
        """What has arrived since the last call, in order."""
        left, self._left = self._left, []
        return [*left, *self.network.taken(self.broker, self.name)]

    def move(self, broker: str) -> None:
        """Go on at another broker, with everything; no document is lost or repeated.

        >>> network = Network([("berlin", "paris")])
        >>> ann, wire = network.client("berlin", "ann"), network.client("paris", "wire")
        >>> ann.subscribe("titles", "//title")
        >>> wire.publish("1", "<title/>")
        >>> ann.move("paris")
        >>> wire.publish("2", "<title/>")
        >>> [delivery.document for delivery in ann.deliveries()]
        ['paris/wire/1', 'paris/wire/2']
        """
        move = Move()
        sides: dict[Side, str] = {"old": self.broker, "new": self.network.add(broker).name}
        said = move.begin()
        while said:
            for side, message in said:
                self.network.put(sides[side], "client", self.name, encode(message))
            said = [
                following
                for side, name in sides.items()
                for notice in self.network.noticed(name, self.name)
                for following in move.told(side, notice)
            ]
        if move.has_failed:
            raise MoveError(f"{broker} has a client {self.name} already")
        self._left += self.network.taken(self.broker, self.name)
        self.broker = broker
