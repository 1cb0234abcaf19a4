"""Real broker processes on a real Kafka, with clients, for tests."""

from __future__ import annotations

import json
import signal
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from pathcast.network.message import Delivery
from pathcast.network.transports.kafka import KafkaClient
from pathcast.network.transports.settings import client_settings
from tests.kafka.topics import Kafka, messages, settled
from tests.spark.processes import Program

WAIT = 120.0  # seconds; a busy machine


class Node:
    """One broker process, and its settings for the next one."""

    def __init__(self, name: str, folder: Path, config: Path) -> None:
        self.name, self.config = name, config
        self.log = folder / f"{name}.log"
        self.starts = 0
        self.program: Program | None = None

    def start(self) -> Program:
        """Start it, and do not wait; a process that runs already goes on."""
        self.starts += 1
        command = [
            sys.executable,
            "-m",
            "pathcast",
            "broker",
            "--config",
            str(self.config),
            "--create-topics",
        ]
        self.program = Program(command, self.log)
        return self.program

    def start_crashing(self, point: str, number: int) -> None:
        """Start one that kills itself at a point of a transaction."""
        command = [sys.executable, "-m", "tests.network.crashing", point, str(number), str(self.config)]
        self.program = Program(command, self.log)

    def crashed(self) -> None:
        """Wait until it has killed itself."""
        assert self.program is not None
        assert self.program.process.wait(WAIT) == -signal.SIGKILL, self.program.last_lines()
        self.program.kill()
        self._forget_starts()

    def _forget_starts(self) -> None:
        """A process that was ended before it was ready never says so: only what was said counts."""
        self.starts = self.said(": ready with")

    def ready(self) -> None:
        """Wait until it takes messages."""
        assert self.program is not None
        self.program.until(lambda: self.said(": ready with") >= self.starts, "broker is ready", WAIT)

    def said(self, text: str) -> int:
        """How often its log has a text."""
        return self.log.read_text(encoding="utf-8").count(text)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        assert self.program is not None
        assert self.program.running, self.program.last_lines()
        self.program.kill()
        self._forget_starts()

    def terminate(self) -> int:
        """Ask it to stop; its exit status."""
        assert self.program is not None
        self.program.process.send_signal(signal.SIGTERM)
        status = self.program.process.wait(WAIT)
        self.program.kill()
        return status


class Subscriber:
    """A client that keeps what it got."""

    def __init__(self, client: KafkaClient) -> None:
        self.client = client
        self.name = client.name
        self.got: list[Delivery] = []

    def take(self, wait: float = 0.2) -> None:
        """Take what is there."""
        self.got.extend(self.client.deliveries(wait))

    def until(self, reached: Callable[[], bool], what: str) -> None:
        """Take deliveries until something is true of them."""
        deadline = time.monotonic() + WAIT
        while not reached():
            assert time.monotonic() < deadline, f"{self.name}: no {what}, and {len(self.got)} deliveries"
            self.take()

    def has(self, document: str) -> bool:
        """Whether a document was delivered."""
        return any(each.document == document for each in self.got)


class Deployment:
    """Some brokers on one Kafka, with topics of their own."""

    def __init__(self, kafka: Kafka, folder: Path) -> None:
        self.kafka, self.folder = kafka, folder
        self.prefix = f"t{uuid.uuid4().hex[:8]}"
        self.nodes: dict[str, Node] = {}
        self.clients: list[KafkaClient] = []

    def __enter__(self) -> Deployment:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in self.clients:
            client.close()
        for node in self.nodes.values():
            if node.program is not None:
                node.program.kill()

    def add(self, name: str, neighbours: Sequence[Any], **settings: Any) -> Node:
        """A broker that can be started."""
        content = {
            "name": name,
            "prefix": self.prefix,
            "neighbours": list(neighbours),
            "open": True,
            **settings,
            "kafka": {"bootstrap.servers": self.kafka.bootstrap},
        }
        config = self.folder / f"{name}.toml"
        config.write_text(_toml(content), encoding="utf-8")
        node = self.nodes[name] = Node(name, self.folder, config)
        return node

    def start(self) -> None:
        """Start all brokers and wait until they are ready."""
        for node in self.nodes.values():
            node.start()
        for node in self.nodes.values():
            node.ready()

    def client(self, broker: str, name: str, *, shared: bool = True) -> KafkaClient:
        """A client of a broker, on the topics that all share or on its own."""
        content = {
            "name": name,
            "broker": broker,
            "open": shared,
            "prefix": self.prefix,
            "kafka": {"bootstrap.servers": self.kafka.bootstrap},
        }
        client = KafkaClient(client_settings(content))
        self.clients.append(client)
        return client

    def topic(self, broker: str, kind: str) -> str:
        """The name of a topic of a broker."""
        return f"{self.prefix}.{broker}.{kind}"

    def put(self, topic: str, *records: tuple[bytes | None, list[tuple[str, bytes]]]) -> None:
        """Write records as anybody who may write could."""
        producer = Producer({"bootstrap.servers": self.kafka.bootstrap, "message.max.bytes": 2_000_000})
        failed: list[KafkaError] = []
        for value, headers in records:
            producer.produce(
                topic,
                value,
                headers=[*headers],
                on_delivery=lambda error, _: failed.append(error) if error else None,
            )
        assert producer.flush(WAIT) == 0
        assert not failed

    def committed(self, topic: str, isolation: str = "read_committed") -> list[Message]:
        """All committed records of a topic, or all with the other isolation."""
        if isolation == "read_committed":
            settled(self.kafka, topic)
        return messages(self.kafka, topic, isolation)

    def quarantined(self, broker: str) -> list[tuple[str, str, bytes]]:
        """Sender, reason and bytes of what a broker has quarantined."""
        found = []
        for message in self.committed(self.topic(broker, "quarantine")):
            headers = message.headers()
            assert isinstance(headers, list)
            values = dict(headers)
            sender, reason = values["pathcast-sender"], values["pathcast-reason"]
            assert isinstance(sender, bytes)
            assert isinstance(reason, bytes)
            found.append((sender.decode(), reason.decode(), message.value() or b""))
        return found


def settle(publisher: KafkaClient, broker: str, subscribers: Sequence[Subscriber], mark: str) -> None:
    """Wait until everything that was sent before is known at the publisher's broker, and delivered.

    Messages keep their order on every way. So when a document arrives that a subscriber's latest
    subscription asks for, all its older ones are known, and all older documents have arrived.
    """
    for each in subscribers:
        each.client.subscribe(f"{mark}", f"/probe[@for='{each.name}' and @mark='{mark}']")
        each.client.flush()
    for each in subscribers:
        deadline = time.monotonic() + WAIT
        number = 0
        while not any(found.document.startswith(f"{broker}/{publisher.name}/{mark}-") for found in each.got):
            assert time.monotonic() < deadline, f"{each.name} never heard of {mark}"
            publisher.publish(f"{mark}-{each.name}-{number}", f"<probe for='{each.name}' mark='{mark}'/>")
            publisher.flush()
            each.take(0.5)
            number += 1


def _toml(content: dict[str, Any]) -> str:
    plain = {key: value for key, value in content.items() if not isinstance(value, dict)}
    tables = {key: value for key, value in content.items() if isinstance(value, dict)}
    lines = [f"{key} = {_value(value)}" for key, value in plain.items()]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f'"{key}" = {_value(value)}' for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)
