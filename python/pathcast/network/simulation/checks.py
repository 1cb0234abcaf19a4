"""What must hold in every network, looked at after every step: the flooding oracle.

If every document went to every broker and were matched there with the subscriptions of its clients, exactly
the matching ones would be delivered. Routing by content must deliver the same:

- **nothing false**: a delivery is for subscriptions that exist at that moment and that the document
  satisfies;
- **nothing twice**: no subscription gets a document two times;
- **nothing lost**: once a subscription is confirmed to its client, every document that it asks for and that
  is published anywhere in the network is delivered by the time the network is at rest, advertised or not, and
  whatever happens meanwhile: subscriptions that come and go, are covered and merged, brokers that crash, join
  and leave, links that are cut and made. Somebody who cannot be reached by any link waits until there is one;
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
    reach: frozenset[str] = frozenset()
    """The brokers of the network when it was confirmed; none before."""


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
    advertised: set[Place] = field(default_factory=set)
    bodies: dict[str, bytes] = field(default_factory=dict)
    delivered: set[tuple[Place, str]] = field(default_factory=set)
    owed: dict[tuple[Place, str], str] = field(default_factory=dict)
    """Place and document, with the broker where it was published."""
    cut_off: set[tuple[Place, str]] = field(default_factory=set)
    """Those that could not be reached when the network was last at rest."""
    counted: Counted = field(default_factory=Counted)
    is_watching: bool = True
    """Whether deliveries are compared with flooding; otherwise they are only counted."""

    def __post_init__(self) -> None:
        self.world.on_delivery = self._delivery
        self.world.on_confirmation = self._confirmation

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

    # -- the oracle ----------------------------------------------------------------------------------------

    def _confirmation(self, broker: str, client: str, id: str) -> None:
        held = self.subscribed.get((broker, client, id))
        if held is None:
            raise ViolationError(f"{id} of {client} at {broker} was confirmed and does not exist")
        held.reach = frozenset(self.world.connected_with(broker))

    def _published(self, broker: str, document: str, body: bytes) -> None:
        if document in self.bodies:
            return
        self.bodies[document] = body
        self.counted.published += 1
        if not self.is_watching:
            return
        connected = self.world.connected_with(broker)
        for place, held in self.subscribed.items():
            known = place[0] == broker or (held.reach and self._is_known(held, place[0], broker))
            if known and place[0] in connected and self.matches(held.filter, body):
                self.owed[place, document] = broker
                self.counted.owed += 1

    def _is_known(self, held: Held, subscriber: str, publisher: str) -> bool:
        """Whether a confirmed subscription counts where a document is published.

        It does where it was confirmed. In a network that was joined with that one since, it does as soon as
        the publisher's broker has heard of the change.
        """
        if publisher in held.reach:
            return True
        here, there = self.world.nodes[publisher].broker, self.world.nodes[subscriber].broker
        if here is None or not here.agreement.is_calm:
            return True
        return there is not None and there.agreement.stamp == here.agreement.stamp

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
        for (place, document), origin in list(self.owed.items()):
            if origin in self.world.nodes and place[0] not in self.world.connected_with(origin):
                self.cut_off.add((place, document))
            elif origin not in self.world.nodes and (place, document) in self.cut_off:
                del self.owed[place, document]
            else:
                text = self.subscribed[place].filter.xpath
                raise ViolationError(f"{document} was lost for {place}: {text}")
        for place, held in self.subscribed.items():
            if not held.reach:
                raise ViolationError(f"the subscription {place} was never confirmed")
            held.reach = frozenset(self.world.connected_with(place[0]))
        for broker in self.world.brokers():
            if not broker.agreement.is_calm:
                raise ViolationError(f"{broker.name} still floods documents")
            suspected = [link.name for link in broker.links.values() if link.is_suspected]
            if suspected:
                raise ViolationError(f"{broker.name} still suspects {suspected}")
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
