"""Brokers on a Kafka of three nodes that is partitioned: nothing is lost, and nothing comes twice.

Takes two minutes and three Java programs: ``make faults`` runs it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("confluent_kafka")

from tests.kafka.cluster import NODES, KafkaCluster
from tests.network.deployment import Deployment, Subscriber, settle

pytestmark = [
    pytest.mark.skipif("PATHCAST_FAULTS" not in os.environ, reason="takes two minutes: make faults runs it"),
    pytest.mark.usefixtures("kafka_available"),
]
BATCH = 20


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[KafkaCluster]:
    with KafkaCluster(tmp_path) as made:
        yield made


def test_a_partitioned_kafka_loses_nothing(cluster: KafkaCluster, tmp_path: Path) -> None:
    """Each node is cut off in turn while documents are published, first those that lead inbox and state."""
    with Deployment(cluster, tmp_path) as made:
        for name, other in (("b1", "b2"), ("b2", "b1")):
            made.add(name, [other], replication=NODES)
        made.start()
        wire, ann = made.client("b1", "wire"), Subscriber(made.client("b2", "ann"))
        wire.advertise("all", ["/a", "/probe"])
        ann.client.subscribe("a", "//a")
        settle(wire, "b1", [ann], "ready")
        published = 0
        leaders = [cluster.leader(made.topic("b1", kind)) for kind in ("inbox", "state")]
        for node in [*leaders, *(set(range(NODES)) - set(leaders))]:
            for paused in (True, False):
                if paused:
                    cluster.pause(node)
                else:
                    cluster.go_on(node)
                for _ in range(BATCH):
                    wire.publish(str(published), f"<a n='{published}'/>")
                    published += 1
                wire.flush(120)
                last = f"b1/wire/{published - 1}"
                ann.until(lambda last=last: ann.has(last), "document from a cluster of two")  # type: ignore[misc]
        cluster.until_whole()
        # Without two of three nobody can be sure of anything: everything waits, and goes on.
        for node in (0, 1):
            cluster.pause(node)
        for _ in range(BATCH):
            wire.publish(str(published), f"<a n='{published}'/>")
            published += 1
        ann.take(2.0)
        for node in (0, 1):
            cluster.go_on(node)
        wire.flush(120)
        ann.until(lambda: ann.has(f"b1/wire/{published - 1}"), "document after the partition")
        got = [each.document for each in ann.got if "/ready-" not in each.document]
        assert got == [f"b1/wire/{number}" for number in range(published)], "lost, repeated or out of order"
        for broker in ("b1", "b2"):
            assert made.quarantined(broker) == []
