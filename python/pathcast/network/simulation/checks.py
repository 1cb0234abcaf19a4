"""What must hold in every network, looked at after every step: the flooding oracle.

If every document went to every broker and were matched there with the subscriptions of its clients, exactly
the matching ones would be delivered. Routing by content must deliver the same:

- **nothing false**: a delivery is for subscriptions that exist at that moment and that the document
satisfies;
- **nothing twice**: no subscription gets a document two times;
- **nothing lost**: a subscription and an advertisement that the network has come to rest with are
*settled*. Each
  document that matches a settled subscription, published under a settled advertisement, is delivered by the
  time the network is at rest again, whatever other subscriptions come and go, are covered, merged and
  uncovered meanwhile, and whoever crashes. Only when links or brokers leave or come may documents that are
  on their way be lost;
- **nothing left**: when everybody has left, all tables are empty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pathcast.network.message import (
    Advertised,
    ClientAdvertise,
    ClientPublish,
    ClientSubscribe,
    ClientUnadvertise,
    ClientUnsubscribe,
    Delivery,
    Filter,
)
from pathcast.network.restore import snapshot
from pathcast.network.simulation.world import World


class ViolationError(AssertionError):
    """An invariant does not hold."""


Place = tuple[str, str, str]
"""Broker, client, id."""


@dataclass(slots=True, eq=False)
class Held:
    """A subscription or an advertisement as the oracle knows it."""

    filter: Filter | None
    is_settled: bool = False


@dataclass(slots=True)
class Counted:
    """What the oracle has seen."""

    published: int = 0
    delivered: int = 0
    owed: int = 0
    checked: int = 0
    rests: int = 0


@dataclass(slots=True, eq=False)
class Checks:
    """Acts for the clients of a world, and knows what they must get.

    `matches` says whether a document satisfies a filter, by other means than the brokers'.
    """

    world: World
    matches: Callable[[Filter, bytes], bool]
    subscribed: dict[Place, Held] = field(default_factory=dict)
    advertised: dict[Place, Held] = field(default_factory=dict)
    bodies: dict[str, bytes] = field(default_factory=dict)
    delivered: set[tuple[Place, str]] = field(default_factory=set)
    owed: dict[tuple[Place, str], None] = field(default_factory=dict)
    counted: Counted = field(default_factory=Counted)
    is_watching: bool = True
    """Whether deliveries are compared with flooding; otherwise they are only counted."""
    is_disturbed: bool = False
    """Whether links or brokers have changed since the network was at rest."""

    def __post_init__(self) -> None:
        self.world.on_delivery = self._delivery

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
            self.advertised[broker, client, id] = Held(None)

        self.world.client(broker, client, ClientAdvertise(id, advertised), done)

    def unadvertise(self, broker: str, client: str, id: str) -> None:
        """A publisher takes it back."""

        def done() -> None:
            self.advertised.pop((broker, client, id), None)

        self.world.client(broker, client, ClientUnadvertise(id), done)

    def publish(self, broker: str, client: str, id: str, body: bytes, under: str | None) -> None:
        """A publisher publishes a document that keeps to the advertisement `under`, or to none."""

        def done() -> None:
            self._published(broker, client, f"{broker}/{client}/{id}", body, under)

        self.world.client(broker, client, ClientPublish(id, body), done)

    def disturb(self) -> None:
        """Links or brokers change now: what is on its way may be lost."""
        self.is_disturbed = True
        self.owed.clear()

    # -- the oracle ----------------------------------------------------------------------------------------

    def _published(self, broker: str, client: str, document: str, body: bytes, under: str | None) -> None:
        if document in self.bodies:
            return
        self.bodies[document] = body
        self.counted.published += 1
        if not self.is_watching:
            return
        held = self.advertised.get((broker, client, under or ""))
        promised = not self.world.policy.advertisements or (held is not None and held.is_settled)
        flooded = self.world.connected_with(broker)
        for place, wanted in self.subscribed.items():
            here = place[0] == broker
            if place[0] not in flooded or wanted.filter is None or not self.matches(wanted.filter, body):
                continue
            if here or (promised and wanted.is_settled and not self.is_disturbed):
                self.owed[place, document] = None
                self.counted.owed += 1

    def _delivery(self, broker: str, delivery: Delivery) -> None:
        if not self.is_watching:
            self.counted.delivered += len(delivery.ids)
            return
        for id in delivery.ids:
            place = (broker, delivery.client, id)
            held = self.subscribed.get(place)
            if held is None or held.filter is None:
                raise ViolationError(
                    f"{delivery.document} was delivered to {place}, who has not asked for it"
                )
            body = self.bodies.get(delivery.document, delivery.body)
            if not self.matches(held.filter, body):
                raise ViolationError(f"{delivery.document} was delivered to {place}: {held.filter.xpath}")
            if (place, delivery.document) in self.delivered:
                raise ViolationError(f"{delivery.document} was delivered to {place} twice")
            self.delivered.add((place, delivery.document))
            self.counted.delivered += 1
            self.owed.pop((place, delivery.document), None)

    def _stop_owing(self, place: Place) -> None:
        for pair in [pair for pair in self.owed if pair[0] == place]:
            del self.owed[pair]
        # The same id with another filter may get the same documents again.
        self.delivered = {pair for pair in self.delivered if pair[0] != place}

    # -- the network at rest -------------------------------------------------------------------------------

    def rest(self) -> None:
        """Let the network come to rest, and look at everything."""
        self.world.run()
        if not self.world.is_at_rest:
            raise ViolationError("the network has nothing to do and is not at rest")
        self.counted.rests += 1
        if self.owed:
            (place, document), *_ = self.owed
            held = self.subscribed[place]
            text = held.filter.xpath if held.filter else ""
            raise ViolationError(f"{len(self.owed)} lost, the first is {document} for {place}: {text}")
        for held in (*self.subscribed.values(), *self.advertised.values()):
            held.is_settled = True
        self.is_disturbed = False
        self.durable_state_is_whole()

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
