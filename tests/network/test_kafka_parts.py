"""Three processes share one broker on a real Kafka, and one of them goes: nothing lost, nothing twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("confluent_kafka")

from pathcast.network.transports.access import grants
from pathcast.network.transports.kafka import KafkaClient, KafkaShare, TransportError
from pathcast.network.transports.parts import part_of, parts
from pathcast.network.transports.settings import SettingsError, broker_settings
from tests.network.deployment import WAIT, Deployment, Node, Subscriber, settle

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

PARTS = 3
NUMBER = 40
PUBLISHERS = ["wire0", "wire1", "wire2"]
READERS = {"all": "//a", "even": "//a[@n mod 2 = 0]", "ann": "//a[@by = 'wire1']"}
FAULTS = pytest.mark.skipif("PATHCAST_FAULTS" not in os.environ, reason="takes a while: make faults runs it")


def place(client: str) -> str:
    """The part that serves a client."""
    number = part_of(client, PARTS)
    return f"hub.{number}" if number else "hub"


@pytest.fixture
def made(kafka: KafkaServer, tmp_path: Path) -> Iterator[Deployment]:
    with Deployment(kafka, tmp_path) as deployment:
        deployment.add("hub", ["edge"], parts=PARTS, clients=[*PUBLISHERS, *READERS], open=False, batch=20)
        config = deployment.nodes["hub"].config
        for name in ("second", "third"):
            deployment.nodes[name] = Node(name, tmp_path, config)
        deployment.add("edge", ["hub"], clients=["far"], open=False)
        yield deployment


def runs(node: Node) -> str:
    """The parts that a process runs, by its own account."""
    said = [line for line in node.log.read_text(encoding="utf-8").splitlines() if "runs of 3 parts:" in line]
    return said[-1].partition("parts: ")[2] if said else "none"


def load(wires: list[KafkaClient], begin: int, end: int) -> None:
    for number in range(begin, end):
        for wire in wires:
            wire.publish(str(number), f"<a n='{number}' by='{wire.name}'>{'x' * 600}</a>")
    for wire in wires:
        wire.flush()


@pytest.mark.parametrize("end", [Node.terminate, pytest.param(Node.kill, marks=FAULTS)], ids=["stop", "kill"])
def test_the_parts_of_a_process_that_is_gone_move(made: Deployment, end: Callable[[Node], object]) -> None:
    assert {part_of(name, PARTS) for name in PUBLISHERS} == set(range(PARTS))
    hub = [made.nodes[name] for name in ("hub", "second", "third")]
    for node in made.nodes.values():
        node.start()
    for node in hub:
        assert node.program is not None
        node.program.until(lambda node=node: runs(node) != "none", "a process has a part", WAIT)  # type: ignore[misc]
    wires = [made.client("hub", name, shared=False) for name in PUBLISHERS]
    readers = [Subscriber(made.client("hub", name, shared=False)) for name in READERS]
    made.nodes["edge"].ready()
    far = Subscriber(made.client("edge", "far", shared=False))
    for each in readers:
        each.client.subscribe("wanted", READERS[each.name])
    far.client.subscribe("wanted", "//a")
    for wire in wires:
        wire.advertise("all", ["/a", "/probe"])
        settle(wire, place(wire.name), [*readers, far], f"ready-{wire.name}")
    load(wires, 0, NUMBER)
    gone = hub[2]
    moving = runs(gone)
    end(gone)
    load(wires, NUMBER, 2 * NUMBER)
    wanted: dict[str, Callable[[int, str], bool]] = {
        "all": lambda number, by: True,
        "far": lambda number, by: True,
        "even": lambda number, by: number % 2 == 0,
        "ann": lambda number, by: by == "wire1",
    }
    for each in (*readers, far):
        owed = {
            name: [f"{place(name)}/{name}/{n}" for n in range(2 * NUMBER) if wanted[each.name](n, name)]
            for name in PUBLISHERS
        }
        last = [documents[-1] for documents in owed.values() if documents]
        each.until(lambda each=each, last=last: all(map(each.has, last)), "last documents")  # type: ignore[misc]
        each.take(1.0)
        got = [found.document for found in each.got if "-" not in found.document]
        for name, documents in owed.items():
            mine = [document for document in got if document.split("/")[1] == name]
            assert mine == documents, f"{each.name}: lost, repeated or out of order"
    others = {part for node in hub[:2] for part in runs(node).split(", ")}
    assert moving != "none"
    assert others == {"0", "1", "2"}
    assert made.quarantined("hub") == made.quarantined("edge") == []


def test_all_parts_are_granted_what_they_need() -> None:
    content = {"name": "hub", "parts": PARTS, "clients": PUBLISHERS, "kafka": {"bootstrap.servers": "h:1"}}
    made = broker_settings(content)
    found = {each[1:] for each in grants(made) if each.principal == "User:hub"}
    for part in parts(made):
        needed = [("Read", topic) for topic in (*part.sources, part.state)]
        needed += [("Write", topic) for topic in (*part.targets, part.state)]
        assert {(operation, "topic", topic) for operation, topic in needed} <= found
        assert {("Write", "transactional-id", part.state), ("Read", "group", part.state)} <= found
    assert {("Read", "topic", made.shares), ("Read", "group", made.shares)} <= found
    assert sorted(name for part in parts(made) for name in part.clients) == PUBLISHERS


def test_the_number_of_parts_cannot_change(made: Deployment) -> None:
    content = {
        "name": "hub",
        "prefix": made.prefix,
        "parts": PARTS,
        "kafka": {"bootstrap.servers": made.kafka.bootstrap},
    }
    with pytest.raises(TransportError, match=r"hub\.state\.parts; --create-topics"):
        KafkaShare(broker_settings(content), print).run()
    share = KafkaShare(broker_settings(content), print)
    share.stop()
    share.run(create_topics=True)
    with pytest.raises(TransportError, match="has 3 partitions, and hub is to have 4 parts"):
        KafkaShare(broker_settings({**content, "parts": 4}), print).run(create_topics=True)
    with pytest.raises(SettingsError, match="a broker that is open has one"):
        broker_settings({**content, "open": True})
    with pytest.raises(SettingsError, match=r"'hub\.2', which is the name of a part"):
        broker_settings({**content, "neighbours": ["hub.2", "hub.3"]})
