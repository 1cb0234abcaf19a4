"""A real Kafka of three nodes, each of which may be paused: to the others it is cut off.

Every topic has three copies and takes a message when two have it, so the cluster goes on without one node and
stops without two. A node that is paused (SIGSTOP) keeps its connections and answers nothing, as one behind a
network that drops everything; when it goes on it finds that the others have a new leader.
"""

from __future__ import annotations

import os
import signal
import time
import uuid
from base64 import urlsafe_b64encode
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.kafka.server import HOST, KafkaServer, KafkaServerError, free_ports

NODES = 3
DEADLINE = 120.0
COPIES = {
    "default.replication.factor": NODES,
    "min.insync.replicas": 2,
    "offsets.topic.replication.factor": NODES,
    "transaction.state.log.replication.factor": NODES,
    "transaction.state.log.min.isr": 2,
    # A node that says nothing for so long is no longer waited for.
    "replica.lag.time.max.ms": 3000,
    "controller.quorum.election.timeout.ms": 1000,
    "controller.quorum.fetch.timeout.ms": 2000,
}


class KafkaCluster:
    """Three nodes; a context manager."""

    def __init__(self, folder: Path) -> None:
        ports = free_ports(2 * NODES)
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        voters = ",".join(f"{node}@{HOST}:{ports[2 * node - 1]}" for node in range(1, NODES + 1))
        self.nodes = [
            KafkaServer(
                folder / f"node{node}",
                settings={**COPIES, "node.id": node, "controller.quorum.voters": voters},
                ports=(ports[2 * node - 2], ports[2 * node - 1]),
                cluster=cluster,
            )
            for node in range(1, NODES + 1)
        ]
        self._paused: set[int] = set()

    def __enter__(self) -> KafkaCluster:
        with ExitStack() as stack:
            stack.callback(self.close)
            for node in self.nodes:
                node.begin()
            self.until_whole()
            stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all nodes."""
        for node in range(len(self.nodes)):
            self.go_on(node)
        for server in self.nodes:
            server.close()

    @property
    def bootstrap(self) -> str:
        """Where clients find it."""
        return ",".join(node.bootstrap for node in self.nodes)

    def pause(self, node: int) -> None:
        """Cut a node off."""
        os.kill(self.nodes[node].pid, signal.SIGSTOP)
        self._paused.add(node)

    def go_on(self, node: int) -> None:
        """Let it in again."""
        if node in self._paused:
            os.kill(self.nodes[node].pid, signal.SIGCONT)
            self._paused.discard(node)

    def leader(self, topic: str) -> int:
        """The node that leads a topic's only partition."""
        found = self.admin().list_topics(topic, timeout=10).topics[topic].partitions[0].leader
        return int(found) - 1

    def until_whole(self) -> None:
        """Wait until all nodes are let in."""
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            if not all(node.running for node in self.nodes):
                break
            try:
                if len(self.admin().list_topics(timeout=2).brokers) == NODES:
                    return
            except KafkaException:
                pass  # not yet
        lines = "\n".join(node.last_lines(15) for node in self.nodes)
        raise KafkaServerError(f"three nodes are not a cluster after {DEADLINE:.0f} seconds:\n{lines}")

    def admin(self) -> AdminClient:
        """A client for what only an administrator may do."""
        return AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
