"""A whole network in one process: brokers, links, clients and time, under one seed.

Nothing here depends on anything but the seed and the calls: the same seed gives the same run, message by
message. A broker's durable state is the dictionary of its records, its outgoing queues and the numbers of
what it has received. One event at a broker is one transaction: records, outgoing messages, deliveries and
the number of the message that caused them are kept together, or a crash undoes all of them.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from random import Random
from typing import Any

from pathcast.network.broker import Broker
from pathcast.network.message import BrokerMessage, ClientMessage, Delivery, Notice, Publish, Quarantined
from pathcast.network.outcome import Outcome
from pathcast.network.policy import Policy
from pathcast.network.restore import restored, snapshot
from pathcast.network.simulation.channel import Channel, Wire
from pathcast.network.wire import decode, decode_notice, encode, encode_notice


@dataclass(slots=True, eq=False)
class Node:
    """One broker with what survives its crashes."""

    name: str
    policy: Policy
    broker: Broker | None
    durable: dict[bytes, bytes] = field(default_factory=dict)
    pending: deque[Callable[[Broker], Outcome]] = field(default_factory=deque)
    """What clients and links ask for while the broker is down."""
    after: deque[Callable[[], None]] = field(default_factory=deque)
    """For each of them, what to do in the same transaction."""
    links: set[str] = field(default_factory=set)
    documents: list[bytes] = field(default_factory=list)
    """Those that were for several clients; each once."""
    undelivered: dict[str, list[Publish]] = field(default_factory=dict)
    """By neighbour: documents that were on a link when it was cut."""
    is_leaving: bool = False
    crashes: int = 0


class World:
    """Brokers, links and the time."""

    def __init__(self, seed: int = 0, *, policy: Policy | None = None, encoded: bool = True) -> None:
        self.random = Random(seed)
        self.policy = replace(policy or Policy(), seed=Random(seed).getrandbits(64))
        self.encoded = encoded
        """Whether messages travel as bytes; without, a large network runs faster."""
        self.now = 0.0
        self.nodes: dict[str, Node] = {}
        self.channels: dict[tuple[str, str], Channel] = {}
        self.quarantined: list[Quarantined] = []
        self.steps = 0
        self.crash_odds = 0.0
        """Of a crash in the middle of an event."""
        self.on_delivery: Callable[[str, Delivery], None] = lambda broker, delivery: None
        self.on_confirmation: Callable[[str, str, str], None] = lambda broker, client, id: None
        self.on_notice: Callable[[str, Notice], None] = lambda broker, notice: None
        self.on_removal: Callable[[str, set[str]], None] = lambda broker, neighbours: None
        self.on_step: Callable[[], None] = lambda: None
        self.trace: Callable[[str], None] | None = None
        self._events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._numbers = count()
        self._incarnations = count(1)
        self._said: dict[tuple[str, str], float] = {}
        """By broker and client: when the last of what is on its way there arrives."""

    # -- time ----------------------------------------------------------------------------------------------

    def schedule(self, at: float, action: Callable[..., None], *arguments: Any) -> None:
        """Do something later."""
        heapq.heappush(self._events, (at, next(self._numbers), action, arguments))

    def step(self) -> bool:
        """Do the next thing; whether there was one."""
        if not self._events:
            return False
        at, _, action, arguments = heapq.heappop(self._events)
        self.now = max(self.now, at)
        action(*arguments)
        self.on_step()
        return True

    def run(self, until: float | None = None, *, most: int = 10_000_000) -> None:
        """Go on until nothing is left to do, or until a time."""
        for _ in range(most):
            if not self._events or (until is not None and self._events[0][0] > until):
                if until is not None:
                    self.now = max(self.now, until)
                return
            self.step()
        raise RuntimeError(f"the network has not come to rest after {most:,} events")

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is on its way and everybody is up."""
        return not self._events and all(
            node.broker is not None and not node.pending for node in self.nodes.values()
        )

    # -- brokers and links ---------------------------------------------------------------------------------

    def add_broker(self, name: str, policy: Policy | None = None) -> Node:
        """A new broker, alone."""
        if name in self.nodes:
            raise ValueError(f"there is a broker {name!r}")
        policy = replace(policy or self.policy, seed=self.policy.seed)
        broker = Broker(name, policy)
        node = self.nodes[name] = Node(name, policy, broker)
        if policy.durable:
            node.durable.update((key, value) for key, value in snapshot(broker) if value is not None)
        return node

    def remove_broker(self, name: str) -> None:
        """A broker leaves with its links; its clients must have left."""
        neighbours = set(self.nodes[name].links)
        for other in sorted(neighbours):
            self.disconnect(name, other)
        del self.nodes[name]
        self.on_removal(name, neighbours)

    def connect(self, one: str, other: str, wire: Wire | None = None) -> None:
        """A link between two brokers."""
        wire = wire or Wire()
        if one == other or other in self.nodes[one].links:
            raise ValueError(f"{one!r} and {other!r} are the same or linked")
        incarnation = next(self._incarnations)
        for sender, receiver in ((one, other), (other, one)):
            self.nodes[sender].links.add(receiver)
            self.channels[sender, receiver] = Channel(self, sender, receiver, wire, incarnation)
        self.ask(one, lambda broker: broker.handle_link_up(other, self.now))
        self.ask(other, lambda broker: broker.handle_link_up(one, self.now))

    def disconnect(self, one: str, other: str) -> None:
        """A link is cut. Its ends are told which documents were on it; everything else on it is lost."""
        for sender, receiver in ((one, other), (other, one)):
            node = self.nodes[sender]
            node.links.discard(receiver)
            channel = self.channels.pop((sender, receiver))
            held = node.undelivered.setdefault(receiver, [])
            held += [each for each in map(self._decoded, channel.queue) if isinstance(each, Publish)]
        for end, neighbour in ((one, other), (other, one)):
            self.ask(end, partial(self._link_down, neighbour), partial(self._handed_back, end, neighbour))

    def _decoded(self, queued: tuple[int, Any]) -> Any:
        return decode(queued[1]) if self.encoded else queued[1]

    def _link_down(self, neighbour: str, broker: Broker) -> Outcome:
        held = self.nodes[broker.name].undelivered.get(neighbour, ())
        return broker.handle_link_down(neighbour, self.now, held)

    def _handed_back(self, end: str, neighbour: str) -> None:
        self.nodes[end].undelivered.pop(neighbour, None)

    def retire(self, name: str) -> None:
        """A broker says goodbye, and is gone when everything that it has to pass on has arrived."""
        self.nodes[name].is_leaving = True
        self.ask(name, lambda broker: broker.handle_leave(None, self.now))
        self.schedule(self.now + 0.05, self._retired, name)

    def _retired(self, name: str) -> None:
        node = self.nodes.get(name)
        if node is None:
            return
        queues = [self.channels[name, other].queue for other in node.links]
        if node.broker is None or node.pending or not node.broker.has_left or any(queues):
            self.schedule(self.now + 0.05, self._retired, name)
        else:
            self.remove_broker(name)

    def silence(self, sender: str, receiver: str, seconds: float) -> None:
        """Nothing gets through in one direction of a link for a while. Nobody is told."""
        self.channels[sender, receiver].silent_until = self.now + seconds

    def live(self, seconds: float) -> None:
        """Time passes, and every broker that is up notices."""
        end = self.now + seconds
        while self.now < end:
            for name in sorted(self.nodes):
                if self.is_up(name):
                    self.ask(name, lambda broker: broker.handle_tick(self.now))
            self.run(min(end, self.now + self.policy.heartbeat / 2))

    def forge(self, sender: str, receiver: str, message: BrokerMessage) -> None:
        """A broker says something that it would not say by itself."""
        channel = self.channels.get((sender, receiver))
        if channel is not None:
            self._push(channel, message, transmit=self.is_up(sender))

    def ask(
        self, name: str, event: Callable[[Broker], Outcome], after: Callable[[], None] | None = None
    ) -> None:
        """An event at a broker, now or when it is up again; `after` is part of its transaction."""
        node = self.nodes[name]
        node.pending.append(event)
        node.after.append(after or _nothing)
        self._drain(node)

    def client(
        self, name: str, client: str, message: ClientMessage, after: Callable[[], None] | None = None
    ) -> None:
        """A client says something to its broker."""
        if self.encoded:
            data = encode(message)
            self.ask(name, lambda broker: broker.handle_bytes("client", client, data, self.now), after)
        else:
            self.ask(name, lambda broker: broker.handle_client(client, message, self.now), after)

    def later(
        self, name: str, client: str, message: ClientMessage, after: Callable[[], None] | None = None
    ) -> None:
        """A client says something to a broker because of what another has just told it."""
        at = max(self.now + self.random.uniform(0.0, 0.05), self._said.get((name, client), 0.0))
        self._said[name, client] = at
        self.schedule(at, self.client, name, client, message, after)

    def _drain(self, node: Node) -> None:
        while node.pending and node.broker is not None:
            if not self._transact(node, node.pending[0], node.after[0], _pop(node)):
                return

    # -- messages ------------------------------------------------------------------------------------------

    def is_up(self, name: str) -> bool:
        """Whether a broker is there and running."""
        node = self.nodes.get(name)
        return node is not None and node.broker is not None

    def can_receive(self, name: str, sender: str) -> bool:
        """Whether a broker would take a message now; it must know of the link first."""
        node = self.nodes.get(name)
        return node is not None and node.broker is not None and not node.pending

    def receive(self, name: str, sender: str, payload: Any, taken: Callable[[], None]) -> bool:
        """A message arrives in order; false if the broker crashed over it."""
        if self.trace is not None:
            self.trace(f"{self.now:.6f} {sender}>{name} {payload!r}")
        if self.encoded:
            return self._transact(
                self.nodes[name],
                lambda broker: broker.handle_bytes("broker", sender, payload, self.now),
                taken,
            )
        return self._transact(
            self.nodes[name], lambda broker: broker.handle_message(sender, payload, self.now), taken
        )

    def _transact(self, node: Node, event: Callable[[Broker], Outcome], *parts: Callable[[], None]) -> bool:
        broker = node.broker
        assert broker is not None
        self.steps += 1
        outcome = event(broker)
        if self.crash_odds and self.random.random() < self.crash_odds / 2:
            self.crash(node.name)
            return False
        for part in parts:
            part()
        self._commit(node, outcome, send=False)
        if self.crash_odds and self.random.random() < self.crash_odds / 2:
            # Kept, and not yet on the wire.
            self._queue(node, outcome, transmit=False)
            self.crash(node.name)
            return False
        self._queue(node, outcome, transmit=True)
        return True

    def _commit(self, node: Node, outcome: Outcome, *, send: bool) -> None:
        for key, value in outcome.records:
            if value is None:
                node.durable.pop(key, None)
            else:
                node.durable[key] = value
        for delivery in self._delivered(node, outcome.deliveries):
            self.on_delivery(node.name, delivery)
        for client, id in outcome.confirmed:
            self.on_confirmation(node.name, client, id)
        for notice in outcome.notices:
            self.on_notice(node.name, decode_notice(encode_notice(notice)) if self.encoded else notice)
        self.quarantined.extend(outcome.quarantined)
        if send:
            self._queue(node, outcome, transmit=True)

    def _delivered(self, node: Node, deliveries: list[Delivery]) -> list[Delivery]:
        """What clients read: a document for several of them is stored once, and each looks it up."""
        if not self.encoded or len(deliveries) < 2:
            return deliveries
        places: dict[str, int] = {}
        for each in deliveries:
            if each.document not in places:
                places[each.document] = len(node.documents)
                node.documents.append(each.body)
        return [each._replace(body=node.documents[places[each.document]]) for each in deliveries]

    def _queue(self, node: Node, outcome: Outcome, *, transmit: bool) -> None:
        for neighbour, message in outcome.messages:
            channel = self.channels.get((node.name, neighbour))
            if channel is None:
                if isinstance(message, Publish):
                    # The link was cut, and the broker does not know yet.
                    node.undelivered.setdefault(neighbour, []).append(message)
                continue
            self._push(channel, message, transmit=transmit)

    def _push(self, channel: Channel, message: BrokerMessage, *, transmit: bool) -> None:
        payload: BrokerMessage | bytes = encode(message) if self.encoded else message
        size = len(payload) if isinstance(payload, bytes) else _size(message)
        channel.push(type(message).__name__, payload, size, transmit=transmit)

    # -- crashes -------------------------------------------------------------------------------------------

    def crash(self, name: str, down: float | None = None) -> None:
        """A broker stops at once and comes back from its durable state after a while."""
        node = self.nodes[name]
        if node.broker is None:
            return
        node.broker = None
        node.crashes += 1
        for other in node.links:
            self.channels[other, name].forget()
        down = self.random.uniform(0.0, 0.5) if down is None else down
        self.schedule(self.now + down, self._restart, name)

    def _restart(self, name: str) -> None:
        node = self.nodes.get(name)
        if node is None or node.broker is not None:
            return
        node.broker, outcome = restored(name, list(node.durable.items()), node.policy)
        self._commit(node, outcome, send=True)
        self._drain(node)
        for other in sorted(node.links):
            self.channels[name, other].resume()

    # -- looking at it -------------------------------------------------------------------------------------

    def brokers(self) -> Iterable[Broker]:
        """Those that are up."""
        return (node.broker for node in self.nodes.values() if node.broker is not None)

    def connected_with(self, name: str) -> set[str]:
        """The brokers that a document can reach from one; no way leads through a leaf."""
        found, pending = {name}, [name]
        while pending:
            for other in self.nodes[pending.pop()].links - found:
                found.add(other)
                if other not in self.policy.leaves:
                    pending.append(other)
        return found

    def carried(self) -> dict[str, int]:
        """Messages on all links that are there, by kind."""
        total: dict[str, int] = {}
        for channel in self.channels.values():
            for kind, number in channel.carried.items():
                total[kind] = total.get(kind, 0) + number
        return total


def _pop(node: Node) -> Callable[[], None]:
    def pop() -> None:
        node.pending.popleft()
        node.after.popleft()

    return pop


def _nothing() -> None:
    pass


def _size(message: BrokerMessage) -> int:
    return len(message.body) if isinstance(message, Publish) else 0
