"""What must hold in every network, looked at after every step: the flooding oracle.

If every document went to every broker and were matched there with the subscriptions of its clients, exactly
the matching ones would be delivered. Routing by content must deliver the same:

- **nothing false**: a delivery is for subscriptions that exist at that moment and that the document
  satisfies;
- **nothing twice**: no subscription gets a document two times;
- **nothing lost**: once a subscription is confirmed to its client, every document that it asks for and that
  is published anywhere, advertised or not, is delivered by the time the network is at rest, whatever happens
  meanwhile: subscriptions that come and go, are covered and merged, brokers that crash, join and leave, links
  that are cut and made. Somebody who cannot be reached by any link, also at the moment of publishing, waits
  until there is one;
- **nothing left**: when everybody has left, all tables are empty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from pathcast.network.broker import Broker
from pathcast.network.message import (
    Advertised,
    ClientAdvertise,
    ClientPublish,
    ClientSubscribe,
    ClientUnadvertise,
    ClientUnsubscribe,
    Delivery,
    Filter,
    Notice,
)
from pathcast.network.moving import Move
from pathcast.network.restore import snapshot
from pathcast.network.routing import document_id
from pathcast.network.simulation.world import World


class ViolationError(AssertionError):
    """An invariant does not hold."""


Place = tuple[str, str, str]
"""Broker, client, id."""


@dataclass(slots=True, eq=False)
class Held:
    """A subscription as the oracle knows it."""

    filter: Filter
    is_confirmed: bool = False


class Moving(Move):
    """A client that moves from one broker to another."""

    def __init__(self, client: str, old: str, new: str) -> None:
        super().__init__()
        self.client, self.old, self.new = client, old, new


@dataclass(slots=True)
class Counted:
    """What the oracle has seen."""

    published: int = 0
    delivered: int = 0
    owed: int = 0
    checked: int = 0
    rests: int = 0
    moved: int = 0


@dataclass(slots=True, eq=False)
class Checks:
    """Acts for the clients of a world, and knows what they must get.

    `matches` says whether a document satisfies a filter, by other means than the brokers'.
    """

    world: World
    matches: Callable[[Filter, bytes], bool]
    subscribed: dict[Place, Held] = field(default_factory=dict)
    advertised: set[Place] = field(default_factory=set)
    bodies: dict[str, bytes] = field(default_factory=dict)
    delivered: set[tuple[Place, str]] = field(default_factory=set)
    owed: set[tuple[Place, str]] = field(default_factory=set)
    keepers: dict[str, set[str]] = field(default_factory=dict)
    """By document: the broker where it was published, or the neighbours to whom that has left it."""
    moving: dict[tuple[str, str], Moving] = field(default_factory=dict)
    """By client and one of its brokers."""
    liars: frozenset[str] = frozenset()
    """Brokers that say what they like: nothing is promised to them, and nothing by them."""
    counted: Counted = field(default_factory=Counted)
    is_watching: bool = True
    """Whether deliveries are compared with flooding; otherwise they are only counted."""

    def __post_init__(self) -> None:
        self.world.on_delivery = self._delivery
        self.world.on_confirmation = self._confirmation
        self.world.on_removal = self._removal
        self.world.on_notice = self._notice

    # -- clients -------------------------------------------------------------------------------------------

    def subscribe(self, broker: str, client: str, id: str, filter: Filter) -> None:
        """A client subscribes."""

        def done() -> None:
            place = (broker, client, id)
            held = self.subscribed.get(place)
            if held is None or held.filter != filter:
                self._stop_owing(place)
                self.subscribed[place] = Held(filter)

        self.world.client(broker, client, ClientSubscribe(id, filter), done)

    def unsubscribe(self, broker: str, client: str, id: str) -> None:
        """A client gives up a subscription."""

        def done() -> None:
            self.subscribed.pop((broker, client, id), None)
            self._stop_owing((broker, client, id))

        self.world.client(broker, client, ClientUnsubscribe(id), done)

    def advertise(self, broker: str, client: str, id: str, advertised: Advertised) -> None:
        """A publisher advertises."""

        def done() -> None:
            self.advertised.add((broker, client, id))

        self.world.client(broker, client, ClientAdvertise(id, advertised), done)

    def unadvertise(self, broker: str, client: str, id: str) -> None:
        """A publisher takes it back."""

        def done() -> None:
            self.advertised.discard((broker, client, id))

        self.world.client(broker, client, ClientUnadvertise(id), done)

    def publish(self, broker: str, client: str, id: str, body: bytes) -> None:
        """A publisher publishes a document, advertised or not."""

        def done() -> None:
            self._published(broker, document_id(broker, client, id), body)

        self.world.client(broker, client, ClientPublish(id, body), done)

    def move(self, client: str, old: str, new: str) -> None:
        """A client moves, and passes on what the brokers have to say to each other."""
        move = self.moving[client, old] = self.moving[client, new] = Moving(client, old, new)
        for side, message in move.begin():
            self.world.client(getattr(move, side), client, message)

    def _notice(self, broker: str, notice: Notice) -> None:
        move = self.moving.get((notice.client, broker))
        if move is None:
            raise ViolationError(f"{notice.client} was told at {broker} of a move that it does not make")
        for side, message in move.told("old" if broker == move.old else "new", notice):
            is_end = move.is_done and side == "new"
            done = partial(self._moved, move) if is_end else None
            self.world.later(getattr(move, side), move.client, message, done)
            if is_end:
                self._departed(move)
        if move.has_failed:
            self._moved(move)

    def _departed(self, move: Moving) -> None:
        """From here on everything is owed at the new broker, and nothing at the old one."""

        def there(place: Place) -> Place:
            return (move.new, *place[1:]) if place[:2] == (move.old, move.client) else place

        self.subscribed = {there(place): held for place, held in self.subscribed.items()}
        self.advertised = {there(place) for place in self.advertised}
        self.owed = {(there(place), document) for place, document in self.owed}
        self.delivered = {(there(place), document) for place, document in self.delivered}

    def _moved(self, move: Moving) -> None:
        for broker in (move.old, move.new):
            del self.moving[move.client, broker]
        self.counted.moved += 1

    # -- the oracle ----------------------------------------------------------------------------------------

    def _confirmation(self, broker: str, client: str, id: str) -> None:
        held = self.subscribed.get((broker, client, id))
        if held is None:
            raise ViolationError(f"{id} of {client} at {broker} was confirmed and does not exist")
        held.is_confirmed = True

    def _removal(self, broker: str, neighbours: set[str]) -> None:
        for keepers in self.keepers.values():
            if broker in keepers:
                keepers.remove(broker)
                keepers |= neighbours - self.liars

    def _published(self, broker: str, document: str, body: bytes) -> None:
        if document in self.bodies:
            return
        self.bodies[document] = body
        self.counted.published += 1
        if not self.is_watching:
            return
        self.keepers[document] = {broker}
        for place, held in self.subscribed.items():
            if (place[0] == broker or held.is_confirmed) and self.matches(held.filter, body):
                self.owed.add((place, document))
                self.counted.owed += 1

    def _delivery(self, broker: str, delivery: Delivery) -> None:
        if not self.is_watching:
            self.counted.delivered += len(delivery.ids)
            return
        for id in delivery.ids:
            place = (broker, delivery.client, id)
            held = self.subscribed.get(place)
            if held is None:
                raise ViolationError(
                    f"{delivery.document} was delivered to {place}, who has not asked for it"
                )
            body = self.bodies.get(delivery.document, delivery.body)
            if self.world.policy.unit == "document" and delivery.body != body:
                raise ViolationError(f"{delivery.document} was delivered to {place} with another body")
            if not self.matches(held.filter, body):
                raise ViolationError(f"{delivery.document} was delivered to {place}: {held.filter.xpath}")
            if (place, delivery.document) in self.delivered:
                raise ViolationError(f"{delivery.document} was delivered to {place} twice")
            self.delivered.add((place, delivery.document))
            self.counted.delivered += 1
            self.owed.discard((place, delivery.document))

    def _stop_owing(self, place: Place) -> None:
        self.owed = {pair for pair in self.owed if pair[0] != place}
        # The same id with another filter may get the same documents again.
        self.delivered = {pair for pair in self.delivered if pair[0] != place}

    # -- the network at rest -------------------------------------------------------------------------------

    def rest(self) -> None:
        """Let the network come to rest, and look at everything."""
        self.world.run()
        if not self.world.is_at_rest:
            raise ViolationError("the network has nothing to do and is not at rest")
        self.counted.rests += 1
        for move in self.moving.values():
            raise ViolationError(f"{move.client} has not arrived at {move.new} from {move.old}")
        for place, document in sorted(self.owed):
            if not self.keepers[document].isdisjoint(self.world.connected_with(place[0])):
                text = self.subscribed[place].filter.xpath
                raise ViolationError(f"{document} was lost for {place}: {text}")
            if not self.keepers[document]:
                raise ViolationError(f"{document} is nowhere any more, and {place} waits for it")
        for place, held in self.subscribed.items():
            if not held.is_confirmed:
                raise ViolationError(f"the subscription {place} was never confirmed")
        for broker in self._honest():
            if not broker.agreement.is_calm:
                raise ViolationError(f"{broker.name} still floods documents")
            suspected = [link.name for link in broker.links.values() if link.is_gone_around]
            if suspected:
                raise ViolationError(f"{broker.name} still suspects {suspected}")
        self.durable_state_is_whole()

    def _honest(self) -> list[Broker]:
        return [broker for broker in self.world.brokers() if broker.name not in self.liars]

    def durable_state_is_whole(self) -> None:
        """What was written change by change is what the brokers know."""
        for node in self.world.nodes.values():
            if node.broker is None or not node.policy.durable:
                continue
            whole = {key: value for key, value in snapshot(node.broker) if value is not None}
            if whole != node.durable:
                keys = [key for key in whole.keys() | node.durable if whole.get(key) != node.durable.get(key)]
                raise ViolationError(f"the records of {node.name} differ at {sorted(keys)[:3]}")
            self.counted.checked += 1

    def everybody_leaves(self) -> None:
        """All subscriptions and advertisements are taken back; nothing of them may remain."""
        for broker, client, id in list(self.subscribed):
            self.unsubscribe(broker, client, id)
        for broker, client, id in list(self.advertised):
            self.unadvertise(broker, client, id)
        self.rest()
        for one in self.world.brokers():
            left = {
                "filters": list(one.publications.entries),
                "advertisements": list(one.subscriptions.publishers),
                "clients": list(one.clients),
                "expressions": len(one.cover),
                "indexed": len(one.publications.index),
                "told": [side.name for side in one.publications.sides.values() if side.told],
                "placed": [side.name for side in one.publications.sides.values() if side.placed],
            }
            found = {name: what for name, what in left.items() if what}
            if found:
                raise ViolationError(f"{one.name} still has {found}")
