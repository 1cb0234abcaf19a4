"""Run a topology from the first link to the last document, and count what it took."""

from __future__ import annotations

from dataclasses import dataclass, field

from pathcast.index import matches
from pathcast.network.message import Filter
from pathcast.network.simulation.channel import Channel
from pathcast.network.simulation.checks import Checks, Counted
from pathcast.network.simulation.topology import Topology
from pathcast.network.simulation.world import World

CONTROL = ("Advertise", "Unadvertise", "Subscribe", "Unsubscribe")
"""What routing by content costs beside documents; hellos keep the tree and are counted apart."""


@dataclass(slots=True)
class BrokerCount:
    """One broker when everything is over."""

    name: str
    clients: int
    subscriptions: int
    """Of its own clients."""
    filters: int
    """Distinct ones in its table."""
    told: int
    """Filters that its neighbours were told, together."""
    received: dict[str, int]
    documents: int
    delivered: int
    unmatched: int
    crashes: int


@dataclass(slots=True)
class Report:
    """What a run has shown."""

    brokers: list[BrokerCount]
    links: dict[tuple[str, str], dict[str, int]]
    """By link: messages by kind, both ways together."""
    counted: Counted
    time: float
    """Seconds in the simulation."""
    messages: dict[str, int] = field(default_factory=dict)

    @property
    def routing_messages(self) -> int:
        """Advertisements, subscriptions and documents between brokers: what the paper counts."""
        return sum(number for kind, number in self.messages.items() if kind in (*CONTROL, "Publish"))


def simulate(topology: Topology, *, checked: bool = True) -> Report:
    """Links first, then advertisements, subscriptions, documents; the network comes to rest after each.

    With `checked` every delivery is compared with flooding; raises `ViolationError`.

    >>> from pathcast.network.simulation.topology import Publishing, Subscribing, tree
    >>> from pathcast.network.message import Advertised
    >>> topology = tree(3)
    >>> topology.publishers = [Publishing("b1", "p", Advertised(("/a/b", "/a/c")), [b"<a><b/></a>"])]
    >>> topology.subscribers = [Subscribing("b3", "s", [("1", Filter("//b")), ("2", Filter("//x"))])]
    >>> report = simulate(topology)
    >>> report.counted.delivered, report.messages["Subscribe"], report.messages["Publish"]
    (1, 1, 1)
    """
    world = World(topology.seed, policy=topology.policy, encoded=checked)
    checks = Checks(world, _satisfied, is_watching=checked)
    for name in topology.brokers:
        world.add_broker(name)
    for one, other in topology.links:
        world.connect(one, other, topology.wire)
    checks.rest()
    world.crash_odds = topology.crashes
    for publisher in topology.publishers:
        checks.advertise(publisher.broker, publisher.client, "schema", publisher.advertised)
    _rest(world, checks)
    for subscriber in topology.subscribers:
        for id, filter in subscriber.filters:
            checks.subscribe(subscriber.broker, subscriber.client, id, filter)
    _rest(world, checks)
    for publisher in topology.publishers:
        for number, body in enumerate(publisher.documents):
            checks.publish(publisher.broker, publisher.client, f"d{number}", body)
    _rest(world, checks)
    return _report(world, checks)


def _rest(world: World, checks: Checks) -> None:
    odds = world.crash_odds
    if odds:
        world.run(world.now + 10.0)
    world.crash_odds = 0.0
    checks.rest()
    world.crash_odds = odds


def _satisfied(filter: Filter, body: bytes) -> bool:
    return matches(
        filter.xpath,
        body,
        ordered=filter.ordered,
        namespaces=dict(filter.namespaces),
        variables=filter.bound,
    )


def _report(world: World, checks: Checks) -> Report:
    brokers = []
    for node in world.nodes.values():
        broker = node.broker
        assert broker is not None
        brokers.append(
            BrokerCount(
                name=node.name,
                clients=len(broker.clients),
                subscriptions=sum(len(client.filters) for client in broker.clients.values()),
                filters=len(broker.publications.entries),
                told=sum(len(side.told) for side in broker.publications.sides.values()),
                received={
                    kind: sum(channel.carried.get(kind, 0) for channel in _incoming(world, node.name))
                    for kind in (*CONTROL, "Publish")
                },
                documents=broker.counters.documents,
                delivered=broker.counters.delivered,
                unmatched=broker.counters.unmatched,
                crashes=node.crashes,
            )
        )
    links: dict[tuple[str, str], dict[str, int]] = {}
    for (sender, receiver), channel in world.channels.items():
        one, other = sorted((sender, receiver))
        total = links.setdefault((one, other), {})
        for kind, number in channel.carried.items():
            total[kind] = total.get(kind, 0) + number
    return Report(brokers, links, checks.counted, world.now, world.carried())


def _incoming(world: World, name: str) -> list[Channel]:
    return [channel for (_, receiver), channel in world.channels.items() if receiver == name]
