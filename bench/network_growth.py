"""How a network grows: up to 1,000 brokers and 1,000,000 subscriptions in one process, with churn and faults.

A tree of brokers with three children each, subscriptions drawn from one set of paths at brokers drawn at
random, one publisher at the root. One subscription of a hundred is then replaced by another, as in a minute.
Then one link of a hundred is cut while documents are published, and made again. Deliveries are compared with
flooding all the time: nothing may be lost, and nothing may come twice. When links change, brokers send again
what was published before, so a subscription may get a document that is older than itself. It need not, so
such deliveries do not count.

What a broker takes in memory is measured by itself: each is made from its records in a process of its own.
"""

from __future__ import annotations

import pickle
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from bench.harness.answers import WrongAnswerError
from bench.harness.kept import Kept, Row
from bench.harness.turns import scale
from bench.network import SETS, advertised, expressions, nitf
from bench.plan import Plan
from pathcast.generate import documents
from pathcast.index import Index
from pathcast.network import Broker, Filter, Merging, Policy, restored, snapshot
from pathcast.network import message as m
from pathcast.network.routing import document_id
from pathcast.network.simulation.topology import tree
from pathcast.network.simulation.world import World

SCALE = scale()
SIZES = ((10, 10_000), (100, 100_000), (1_000, 100_000), (1_000, 1_000_000))
"""Brokers and subscriptions; the last with merging alone, because it takes long."""
CHILDREN = 3
CHURN = 0.01
"""Share of the subscriptions that is replaced in a minute, and of the links that fail."""
MERGING = Merging(max_degree=0.1, rules=(1, 2), depth=10)


def table(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Tables, traffic, time, and memory of single brokers."""
    schema = nitf()
    if schema is None:
        return
    bodies = list(documents(schema, max(10, int(50 * SCALE)), max_levels=10, target_size=4_000, seed=9))
    for brokers, number in SIZES:
        if plan.sizes and number not in plan.sizes:
            continue
        choices = (MERGING,) if (brokers, number) == SIZES[-1] else (None, MERGING)
        number = max(1_000, int(number * SCALE))
        for merging in choices:
            subject = f"{brokers:,} brokers, {number:,} subscriptions{', merging' if merging else ''}"
            if not kept.has(subject):
                yield _row(subject, _Grown(brokers, number, merging), bodies)


@dataclass
class _Grown:
    """A network and what its clients have asked for."""

    brokers: int
    number: int
    merging: Merging | None
    held: list[tuple[str, str, str]] = field(default_factory=list)
    """Broker, client and path of each subscription, by its id."""
    asked: Counter[str] = field(default_factory=Counter)
    since: list[int] = field(default_factory=list)
    """By id: how many documents had been published before."""
    published: dict[str, tuple[int, bytearray]] = field(default_factory=dict)
    """By document: its number, and which subscriptions have it."""
    delivered: int = 0
    """To subscriptions that are older than the document."""
    expected: int = 0

    def __post_init__(self) -> None:
        self.random = Random(self.brokers)
        self.pool = expressions(SETS["A"])
        self.overlay = tree(self.brokers, CHILDREN)
        # Links heal by what is kept of documents: here all of it.
        policy = Policy(durable=False, merging=self.merging, flooded=10_000)
        self.world = World(1, policy=policy, encoded=False)
        self.world.on_delivery = self._count
        for name in self.overlay.brokers:
            self.world.add_broker(name)
        for one, other in self.overlay.links:
            self.world.connect(one, other)
        schema = nitf()
        assert schema is not None
        self.world.run()
        self.world.client("b1", "p", m.ClientAdvertise("k", advertised(schema)))
        self.world.run()

    def _count(self, broker: str, delivery: m.Delivery) -> None:
        number, has = self.published[delivery.document]
        for place in map(int, delivery.ids):
            if has[place]:
                raise WrongAnswerError(f"subscription {place} got {delivery.document} twice")
            has[place] = 1
            self.delivered += self.since[place] <= number

    def subscribe(self) -> None:
        """Everybody subscribes."""
        for place in range(self.number):
            broker = self.overlay.brokers[1 + self.random.randrange(self.brokers - 1)]
            self.held.append((broker, f"c{place % 100}", ""))
            self.since.append(0)
            self.replace(place)
            if place % 1_000 == 0:
                self.world.run()
        self.world.run()

    def replace(self, place: int) -> None:
        """A subscription gets another path."""
        broker, client, before = self.held[place]
        path = self.random.choice(self.pool)
        self.held[place] = (broker, client, path)
        self.since[place] = len(self.published)
        self.asked[before] -= bool(before)
        self.asked[path] += 1
        self.world.client(broker, client, m.ClientSubscribe(str(place), Filter(path)))

    def publish(self, name: str, bodies: list[bytes], *, settle: bool) -> None:
        """Publish documents, and count what flooding would deliver."""
        index = Index()
        paths = [path for path, number in self.asked.items() if number]
        index.add_many(list(enumerate(paths)))
        for place, body in enumerate(bodies):
            self.expected += sum(self.asked[paths[int(found)]] for found in index.match(body))
            id = f"{name}-{place}"
            self.published[document_id("b1", "p", id)] = (len(self.published), bytearray(self.number))
            self.world.client("b1", "p", m.ClientPublish(id, body))
            if settle:
                self.world.run()

    def carried(self) -> int:
        """Messages of routing state so far."""
        return _control(self.world.carried())

    def check(self) -> None:
        """Nothing is lost and nothing comes twice."""
        self.world.run()
        if self.delivered != self.expected:
            raise WrongAnswerError(f"{self.delivered:,} deliveries, and flooding makes {self.expected:,}")


def _control(carried: dict[str, int]) -> int:
    return sum(number for kind, number in carried.items() if kind != "Publish")


def _row(subject: str, grown: _Grown, bodies: list[bytes]) -> Row:
    world, number = grown.world, grown.number
    began, before = time.process_time(), grown.carried()
    grown.subscribe()
    built, subscribed = time.process_time(), grown.carried()
    grown.publish("first", bodies, settle=True)
    done = time.process_time()
    grown.check()
    hops = world.carried().get("Publish", 0) / len(bodies)
    changes = max(1, int(number * CHURN))
    for place in grown.random.sample(range(number), changes):
        grown.replace(place)
        world.run()
    churned, changed = time.process_time(), grown.carried()
    grown.publish("churned", bodies[:10], settle=True)
    grown.check()
    links = grown.random.sample(grown.overlay.links, max(1, int(len(grown.overlay.links) * CHURN)))
    sent = 0
    for place, (one, other) in enumerate(links):
        at = grown.carried()
        sent += _control(world.channels[one, other].carried) + _control(world.channels[other, one].carried)
        world.disconnect(one, other)
        grown.publish(f"cut {place}", bodies[:5], settle=False)
        world.connect(one, other)
        world.run()
        grown.check()
        sent += grown.carried() - at
    sizes = [len(broker.publications.entries) for broker in world.brokers()]
    memory = {
        f"MB {where}": _memory(world.nodes[name].broker, world.policy)
        for where, name in _places(grown.overlay.brokers).items()
    }
    values = {
        "table at the publisher": float(sizes[0]),
        "largest table": float(max(sizes)),
        "all tables": float(sum(sizes)),
        "messages / subscription": (subscribed - before) / number,
        "subscriptions / s": number / (built - began),
        "hops / document": hops,
        "ms / document": 1e3 * (done - built) / len(bodies),
        "messages / change": (changed - subscribed) / changes,
        "ms / change": 1e3 * (churned - done) / changes,
        "messages / fault": sent / len(links),
        **memory,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    return Row(subject, values)


def _places(brokers: list[str]) -> dict[str, str]:
    """The root, a broker half way down, and the last."""
    return {
        "at the publisher": brokers[0],
        "in the middle": brokers[len(brokers) // 9],
        "at a leaf": brokers[-1],
    }


def _memory(broker: Broker | None, policy: Policy) -> float:
    """What one broker takes, made from its records in a process of its own."""
    assert broker is not None
    data = pickle.dumps((broker.name, policy, [tuple(each) for each in snapshot(broker)]))
    command = [sys.executable, "-m", "bench.network_growth"]
    return float(subprocess.run(command, input=data, capture_output=True, check=True).stdout)


def _resident() -> float:
    """Megabytes of this process that are in memory now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / (1 << 20)


def _measured() -> None:
    name, policy, records = pickle.load(sys.stdin.buffer)
    before = _resident()
    broker, _ = restored(name, records, policy)
    while any(side.unfilled is not None for side in broker.publications.sides.values()):
        broker.handle_tick(0.0)
    print(_resident() - before)


if __name__ == "__main__":
    _measured()
