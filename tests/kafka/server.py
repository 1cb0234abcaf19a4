"""A real Kafka of one node, started from its Java archives, that a test may stop, kill and start again.

The node is broker and controller at once (KRaft). It listens on two ports of the loopback interface that it
keeps for its whole life, so a client that was connected before a stop finds it again after the start.
Internal topics have one replica, which makes transactions and consumer groups work; topics are never
created by being named.

Everything lives in one folder: ``data`` is removed by :meth:`KafkaServer.close`, ``server.log`` stays for
those who want to know what went wrong. A broker does not outlive the process that started it, however that
one ends.

On an idle machine the first start takes four seconds (two programs in Java: one formats the storage, one
serves), a start after a stop three, and one after a kill six, as the controller waits for the dead broker's
session to end.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.kafka import jars

HOST = "127.0.0.1"
MEBIBYTE = 1 << 20
DEADLINE = 60.0  # seconds; a start takes three to six on an idle machine
POLL = 0.05
# Below those that systems hand out to outgoing connections, which might take the port of a stopped broker.
PORTS = range(20_000, 32_000)
MACHINE = ("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")

SETTINGS: Mapping[str, object] = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "auto.create.topics.enable": "false",
    "default.replication.factor": 1,
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    # A group need not wait for members that never come.
    "group.initial.rebalance.delay.ms": 0,
    # After a kill the controller waits that long before it lets the same broker in again.
    "broker.session.timeout.ms": 3000,
    "broker.heartbeat.interval.ms": 500,
    # Small: two cores, and a heap of which the cleaner alone would take a quarter.
    "num.network.threads": 1,
    "num.io.threads": 2,
    "background.threads": 2,
    "log.cleaner.dedupe.buffer.size": 4 * MEBIBYTE,
    "log.index.size.max.bytes": MEBIBYTE,
}

LOGGING = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss.SSS} %-5p %m (%c{1})%n%throwable
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


class KafkaServerError(Exception):
    """The server did not do what was asked; the message ends with the last lines of its log."""


class KafkaServer:
    """One Kafka node; a context manager that is started on entry and gone on exit."""

    def __init__(
        self,
        folder: Path,
        *,
        message_max_bytes: int = MEBIBYTE,
        settings: Mapping[str, object] | None = None,
        ports: tuple[int, int] | None = None,
        cluster: str | None = None,
    ) -> None:
        """Prepare a server in ``folder``; ``settings`` are broker properties that win over the usual ones.

        A node of a cluster is told its ports, for clients and for controllers, and the cluster's id.
        """
        if reason := jars.missing_broker():
            raise KafkaServerError(reason)
        self.folder = folder
        self.data = folder / "data"
        self.log = folder / "server.log"
        self._settings = {**SETTINGS, "message.max.bytes": message_max_bytes, **(settings or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._formatted = False
        self._port, self._controller_port = ports or free_ports(2)
        self._cluster = cluster or urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")

    def __enter__(self) -> KafkaServer:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def bootstrap(self) -> str:
        """What clients call ``bootstrap.servers``; the same before and after a restart."""
        return f"{HOST}:{self._port}"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        if self._process is None:
            raise KafkaServerError("the server is not running")
        return self._process.pid

    def start(self) -> None:
        """Start, for the first time or again on the same data and port; returns when clients are served."""
        self.begin()
        self._until(self._serves, "answer its clients")

    def begin(self) -> None:
        """Start, and do not wait."""
        if self.running:
            raise KafkaServerError("the server is running already")
        if not self._formatted:
            self._format()
        command = [*self._java(), "kafka.Kafka", str(self.folder / "server.properties")]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,  # an interrupt on the terminal is for the tests, which then stop it
            )
        self._guard = _kill_when_we_are_gone(self._process.pid)

    def stop(self) -> None:
        """Ask it to shut down in order (SIGTERM) and wait until it has."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once (SIGKILL), as a crash would; what clients were told is written stays."""
        self._end(signal.SIGKILL)

    def close(self) -> None:
        """End it, if it runs, and remove its data; the log stays."""
        self.kill()
        shutil.rmtree(self.data, ignore_errors=True)

    def create_topic(self, name: str, *, partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        """Create a topic, wait until every partition has a leader, and return its name."""
        admin = self.admin()
        topic = NewTopic(name, num_partitions=partitions, replication_factor=1, config=dict(config or {}))
        admin.create_topics([topic], operation_timeout=DEADLINE)[name].result(timeout=DEADLINE)

        def led() -> bool:
            found = admin.list_topics(name, timeout=5).topics[name].partitions
            return len(found) == partitions and all(each.leader >= 0 for each in found.values())

        self._until(led, f"lead every partition of {name}")
        return name

    def admin(self) -> AdminClient:
        """A client for what only an administrator may do."""
        return AdminClient(
            {
                "bootstrap.servers": self.bootstrap,
                "reconnect.backoff.ms": 50,
                "reconnect.backoff.max.ms": 250,
                "log_level": 0,
            }
        )

    def last_lines(self, count: int = 40) -> str:
        """The end of its log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])

    def _format(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "log4j2.properties").write_text(LOGGING, encoding="utf-8")
        settings = {
            "controller.quorum.voters": f"1@{HOST}:{self._controller_port}",
            **self._settings,
            "log.dirs": self.data,
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://{HOST}:{self._controller_port}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
        }
        properties = self.folder / "server.properties"
        properties.write_text(
            "".join(f"{key}={value}\n" for key, value in settings.items()), encoding="utf-8"
        )
        command = [*self._java(), "kafka.tools.StorageTool", "format", f"--cluster-id={self._cluster}"]
        with self.log.open("ab") as log:
            done = subprocess.run(
                [*command, "--config", str(properties)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                timeout=DEADLINE,
                check=False,
            )
        if done.returncode:
            raise self._error("could not format its storage")
        self._formatted = True

    def _java(self) -> list[str]:
        program = jars.java()
        assert program
        logging = f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}"
        return [program, *MACHINE, logging, "-cp", f"{jars.BROKER}{os.sep}*"]

    def _serves(self) -> bool:
        """Whether the port is open and the node behind it is a broker that is let into its cluster."""
        try:
            socket.create_connection((HOST, self._port), timeout=1).close()
        except OSError:
            return False
        return bool(self.admin().list_topics(timeout=2).brokers)

    def _until(self, reached: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            if not self.running:
                raise self._error(f"ended before it could {what}")
            try:
                if reached():
                    return
            except KafkaException:
                pass  # not yet
            time.sleep(POLL)
        raise self._error(f"did not {what} within {DEADLINE:.0f} seconds")

    def _end(self, how: signal.Signals) -> None:
        process, guard = self._process, self._guard
        self._process = self._guard = None
        late = False
        if process is not None:
            process.send_signal(how)
            try:
                process.wait(DEADLINE)
            except subprocess.TimeoutExpired:
                late = True
                process.kill()
                process.wait()
        if guard is not None:
            # It waits for its input to end and would then kill a number that may be someone else's by now.
            guard.kill()
            guard.wait()
            assert guard.stdin
            guard.stdin.close()
        if late:
            raise self._error(f"did not stop within {DEADLINE:.0f} seconds")

    def _error(self, what: str) -> KafkaServerError:
        return KafkaServerError(f"the Kafka server {what}; the end of {self.log}:\n{self.last_lines()}")


def _kill_when_we_are_gone(pid: int) -> subprocess.Popen[bytes]:
    """A shell that waits for the end of its input, which comes when this process ends, however it ends."""
    return subprocess.Popen(
        ["sh", "-c", 'read -r _; kill -KILL "$0"', str(pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on; random, so that servers started side by side differ."""
    found: list[int] = []
    for port in random.SystemRandom().sample(PORTS, k=1000):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise KafkaServerError(f"no {count} free ports between {PORTS.start} and {PORTS.stop}")
