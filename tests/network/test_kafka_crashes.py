"""Three broker processes on a real Kafka, killed and started again under load: nothing lost, nothing twice.

``PATHCAST_FAULTS=1`` kills each of them several times (``PATHCAST_BROKER_KILLS`` of each, four if not set).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("confluent_kafka")
pytest.importorskip("lxml")

from pathcast import reference
from pathcast.generate import documents, subscriptions
from pathcast.schema import Schema
from tests.network.crashing import POINTS
from tests.network.deployment import WAIT, Deployment, Subscriber, settle

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

ROOT = Path(__file__).parents[2]
BROKERS = ("athens", "berlin", "cairo")
KILLS = int(os.environ.get("PATHCAST_BROKER_KILLS", "4"))

Owed = Counter[tuple[str, str, str]]


class Load:
    """A publisher at one end, subscribers everywhere, and what they are owed by the reference matcher."""

    def __init__(self, deployment: Deployment, seed: int, brokers: Iterable[str] = BROKERS) -> None:
        print("seed", seed)
        self.schema = Schema.from_dtd(ROOT / "examples/news/wire.dtd")
        self.seed = seed
        self.publisher = deployment.client("athens", "wire")
        self.publisher.advertise("news", self.schema)
        self.publisher.advertise("probes", ["/probe"])
        self.publisher.flush()
        self.subscribers = [Subscriber(deployment.client(name, f"reader-{name}")) for name in brokers]
        self.filters: dict[str, dict[str, str]] = {each.name: {} for each in self.subscribers}
        self.owed: Owed = Counter()
        self.published = 0

    def subscribe(self, mark: str, number: int) -> None:
        """Every subscriber asks for something more."""
        for place, each in enumerate(self.subscribers):
            drawn = subscriptions(
                self.schema,
                number,
                seed=self.seed + 31 * place + len(mark),
                wildcard=0.2,
                descendant=0.2,
                predicates=1,
            )
            for count, xpath in enumerate(drawn):
                self.filters[each.name][f"{mark}{count}"] = xpath
                each.client.subscribe(f"{mark}{count}", xpath)
            each.client.flush()

    def settle(self, mark: str) -> None:
        """Wait until all of it is known, and everything published has arrived."""
        settle(self.publisher, "athens", self.subscribers, mark)

    def publish(self, number: int) -> None:
        """Publish documents at once; what they are owed is what the reference says."""
        bodies: list[tuple[str, bytes]] = []
        for body in documents(self.schema, number, seed=self.seed + self.published, max_levels=6):
            id = str(self.published)
            self.published += 1
            bodies.append((id, body))
            for client, filters in self.filters.items():
                for sid, xpath in filters.items():
                    if reference.matches(xpath, body):
                        self.owed[client, f"athens/wire/{id}", sid] += 1
        for id, body in bodies:
            self.publisher.publish(id, body)
        self.publisher.flush()

    def check(self) -> None:
        """Nothing lost, nothing false, nothing twice."""
        got: Owed = Counter(
            (each.name, delivery.document, sid)
            for each in self.subscribers
            for delivery in each.got
            for sid in delivery.ids
            if sid in self.filters[each.name]
        )
        assert self.owed
        assert _first(self.owed - got) == [], "lost"
        assert _first(got - self.owed) == [], "false or twice"


def _first(counted: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return sorted(counted)[:5]


def network(kafka: KafkaServer, folder: Path, **settings: object) -> Deployment:
    """A line of three brokers."""
    made = Deployment(kafka, folder)
    made.add("athens", ["berlin"], batch=5, report_seconds=1.0, **settings)
    made.add("berlin", ["athens", "cairo"], batch=5, report_seconds=1.0, **settings)
    made.add("cairo", ["berlin"], batch=5, report_seconds=1.0, **settings)
    return made


def test_a_broker_is_killed_under_load(kafka: KafkaServer, tmp_path: Path) -> None:
    with network(kafka, tmp_path) as made:
        made.start()
        load = Load(made, seed=11)
        load.subscribe("early", 12)
        load.settle("ready")
        far = load.subscribers[-1]
        before = len(far.got)
        load.publish(120)
        far.until(lambda: len(far.got) > before, "first delivery")
        berlin = made.nodes["berlin"]
        berlin.kill()
        load.publish(30)
        berlin.start()
        load.settle("again")
        # From here on more is asked for; a document that is on its way may or may not be owed by it.
        load.subscribe("late", 6)
        load.settle("known")
        load.publish(60)
        load.settle("end")
        load.check()
        berlin.ready()
        assert [made.quarantined(name) for name in BROKERS] == [[], [], []]


def test_a_broker_is_killed_at_every_point_of_a_transaction(kafka: KafkaServer, tmp_path: Path) -> None:
    with Deployment(kafka, tmp_path) as made:
        node = made.add("athens", ["nobody"], batch=5)
        made.start()
        load = Load(made, seed=3, brokers=["athens"])
        load.subscribe("early", 12)
        load.settle("ready")
        assert node.terminate() == 0
        load.publish(60)
        for point, number in [*((point, 3) for point in POINTS), ("written", 1)]:
            node.start_crashing(point, number)
            node.crashed()
        node.start()
        load.settle("end")
        load.check()
        written = made.committed(made.topic("athens", "outbox"), isolation="read_uncommitted")
        committed = made.committed(made.topic("athens", "outbox"))
        assert len(written) > len(committed), "no crash left anything behind: the points were not hit"


def test_a_second_process_takes_over_and_a_request_to_stop_is_kept(
    kafka: KafkaServer, tmp_path: Path
) -> None:
    with Deployment(kafka, tmp_path) as made:
        node = made.add("dakar", [])
        made.start()
        reader = Subscriber(made.client("dakar", "reader"))
        writer = made.client("dakar", "writer")
        reader.client.subscribe("all", "//a")
        reader.client.flush()
        writer.publish("1", "<a/>")
        writer.flush()
        reader.until(lambda: reader.has("dakar/writer/1"), "first document")
        first = node.program
        assert first is not None
        node.start()
        node.ready()
        writer.publish("2", "<a/>")
        writer.flush()
        assert first.process.wait(WAIT) == 1
        assert node.said("another process runs under this name") == 1
        first.kill()
        reader.until(lambda: reader.has("dakar/writer/2"), "second document")
        assert node.terminate() == 0
        assert node.said("dakar: stopped") == 1
        writer.publish("3", "<a/>")
        writer.publish("1", "<a/>")
        writer.flush()
        node.start()
        reader.until(lambda: reader.has("dakar/writer/3"), "third document")
        node.ready()
        assert [each.document for each in reader.got] == [f"dakar/writer/{number}" for number in (1, 2, 3)]


@pytest.mark.skipif("PATHCAST_FAULTS" not in os.environ, reason="takes minutes: make faults runs it")
@pytest.mark.parametrize("unit", ["document", "path"])
def test_every_broker_is_killed_again_and_again(kafka: KafkaServer, tmp_path: Path, unit: str) -> None:
    draw = Random(5)
    with network(
        kafka, tmp_path, policy={"unit": unit, "merging": {"max_degree": 0.5, "rules": [1, 2]}}
    ) as made:
        made.start()
        load = Load(made, seed=23)
        load.subscribe("early", 20)
        load.settle("ready")
        victims = [name for name in BROKERS for _ in range(KILLS)]
        draw.shuffle(victims)
        for place, victim in enumerate(victims):
            before = len(load.subscribers[0].got)
            load.publish(draw.randrange(30, 120))
            if draw.random() < 0.7:
                # Drawn once: how often one waits must not change what is drawn next.
                near, enough = load.subscribers[0], before + draw.randrange(10)
                near.until(lambda: len(near.got) > enough, "delivery")  # noqa: B023
            node = made.nodes[victim]
            node.kill()
            load.publish(draw.randrange(1, 30))
            node.start()
            if draw.random() < 0.5:
                node.ready()
            if place % 3 == 2:
                load.settle(f"round{place}")
                load.subscribe(f"more{place}-", 3)
                load.settle(f"known{place}")
        load.settle("end")
        load.check()
        for node in made.nodes.values():
            node.ready()
        assert [made.quarantined(name) for name in BROKERS] == [[], [], []]
