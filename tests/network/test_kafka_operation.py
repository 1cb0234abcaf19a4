"""Operating brokers on a real Kafka: metrics, health, status, the trace of a document, settings reloaded."""

from __future__ import annotations

import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest

pytest.importorskip("confluent_kafka")

from typer.testing import CliRunner

from pathcast.cli import app
from tests.network.deployment import WAIT, Deployment, Node, Subscriber, settle

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer


def free_ports(number: int) -> list[int]:
    probes = [socket.socket() for _ in range(number)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def lines(*words: str) -> list[str]:
    return CliRunner().invoke(app, ["network", *words]).stdout.splitlines()


def until(node: Node, text: str) -> None:
    assert node.program is not None
    node.program.until(lambda: node.said(text) > 0, text, WAIT)


def test_a_network_can_be_watched_and_changed(kafka: KafkaServer, tmp_path: Path) -> None:
    first, second = free_ports(2)
    with Deployment(kafka, tmp_path) as made:
        near = made.add(
            "b1",
            [{"name": "b2", "monitor": f"127.0.0.1:{second}"}],
            monitor={"port": first},
            report_seconds=1,
        )
        far = made.add("b2", ["b1"], monitor={"port": second})
        made.start()
        ann, wire = Subscriber(made.client("b2", "ann")), made.client("b1", "wire")
        wire.advertise("all", ["/a", "/probe"])
        ann.client.subscribe("every", "//a")
        settle(wire, "b1", [ann], "mark")
        wire.publish("1", "<a/>")
        wire.flush()
        ann.until(lambda: ann.has("b1/wire/1"), "document")

        where = f"127.0.0.1:{first}"
        assert near.program is not None
        near.program.until(lambda: len(lines("trace", "b1/wire/1", where)) == 4, "trace", WAIT)
        assert [line.split("  ", 1)[1] for line in lines("trace", "b1/wire/1", where)] == [
            "b1  published by client wire",
            "b1  sent to broker b2: it wants //a",
            "b2  received from broker b1",
            "b2  delivered to client ann: every",
        ]
        # A broker reports once a second: one may still say that the link is new.
        drawn = str(tmp_path / "network.svg")

        def linked() -> bool:
            shown = lines("status", where, "-o", drawn)
            return [line.split("  ")[0] for line in shown] == ["b1", "└─ b2"]

        near.program.until(linked, "status", WAIT)
        assert (tmp_path / "network.svg").read_text(encoding="utf-8").count("<line") == 1
        with urlopen(f"http://{where}/healthz", timeout=10) as answer:
            assert answer.read() == b"ok\n"
        with urlopen(f"http://127.0.0.1:{second}/metrics", timeout=10) as answer:
            assert b'pathcast_neighbours{broker="b2"} 1\n' in answer.read()

        # A mistake changes nothing; what can change does.
        content = near.config.read_text(encoding="utf-8")
        near.config.write_text(content.replace("report_seconds = 1", "report_seconds = 0"), encoding="utf-8")
        near.program.process.send_signal(signal.SIGHUP)
        until(near, "b1: the settings stay as they were: ")
        near.config.write_text(content.replace(f'"port" = {first}', f'"port" = {second}'), encoding="utf-8")
        near.program.process.send_signal(signal.SIGHUP)
        until(near, "monitor_port cannot change while the broker runs")
        without = "\n".join(line for line in content.splitlines() if not line.startswith("neighbours"))
        near.config.write_text(f"neighbours = []\n{without}\n", encoding="utf-8")
        near.program.process.send_signal(signal.SIGHUP)
        until(near, "b1: no longer a neighbour: b2")
        near.program.until(lambda: len(lines("status", where)) == 1, "broker alone", WAIT)
        assert far.terminate() == 0
        assert near.terminate() == 0
        assert made.quarantined("b1") == made.quarantined("b2") == []


def test_a_broker_that_is_gone_is_gone_around(kafka: KafkaServer, tmp_path: Path) -> None:
    """On a ring, documents that were on the way to a broker that was killed arrive the other way, once."""
    policy = {"heartbeat": 0.5, "suspect_after": 3.0}
    with Deployment(kafka, tmp_path) as made:
        for name, others in (("b1", ["b2", "b3"]), ("b2", ["b1", "b3"]), ("b3", ["b1", "b2"])):
            made.add(name, others, policy=policy)
        made.start()
        ann, wire = Subscriber(made.client("b3", "ann")), made.client("b2", "wire")
        wire.advertise("all", ["/a", "/probe"])
        ann.client.subscribe("every", "//a")
        settle(wire, "b2", [ann], "mark")
        # The smallest name is the root, so the way from b2 to b3 leads through b1.
        made.nodes["b1"].kill()
        for number in range(20):
            wire.publish(str(number), "<a/>")
        wire.flush()
        ann.until(lambda: all(ann.has(f"b2/wire/{number}") for number in range(20)), "way around")
        made.nodes["b1"].start()
        made.nodes["b1"].ready()
        wire.publish("last", "<a/>")
        wire.flush()
        ann.until(lambda: ann.has("b2/wire/last"), "document after the broker is back")
        settle(wire, "b2", [ann], "end")
        got = [each.document for each in ann.got if "-" not in each.document]
        assert sorted(got) == sorted({f"b2/wire/{number}" for number in range(20)} | {"b2/wire/last"})
        assert all(made.quarantined(name) == [] for name in made.nodes)
