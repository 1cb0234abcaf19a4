"""The server that other tests rely on: it stores, commits and aborts, and survives a stop and a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kafka import jars

confluent_kafka = pytest.importorskip("confluent_kafka")

from confluent_kafka import KafkaError, Producer  # noqa: E402

from tests.kafka.server import KafkaServer, KafkaServerError  # noqa: E402
from tests.kafka.topics import messages  # noqa: E402

WAIT = 30.0


@pytest.fixture
def topic(kafka: KafkaServer) -> str:
    return kafka.create_topic(f"documents-{uuid.uuid4()}")


def produce(kafka: KafkaServer, topic: str, *values: str) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "acks": "all"})
    for value in values:
        producer.produce(topic, value.encode())
    assert producer.flush(WAIT) == 0


def consumed(kafka: KafkaServer, topic: str, isolation: str = "read_committed") -> list[str]:
    """All values of a topic, from its beginning to the end that this isolation sees."""
    found = []
    for message in messages(kafka, topic, isolation):
        value = message.value()
        assert value is not None
        found.append(value.decode())
    return found


def transactional(kafka: KafkaServer) -> Producer:
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": str(uuid.uuid4())})
    producer.init_transactions(WAIT)
    return producer


def test_what_is_produced_is_consumed(kafka: KafkaServer, topic: str) -> None:
    produce(kafka, topic, "<a/>", "<b/>", "<c/>")
    assert consumed(kafka, topic) == ["<a/>", "<b/>", "<c/>"]


def test_only_what_is_committed_is_seen(kafka: KafkaServer, topic: str) -> None:
    producer = transactional(kafka)
    for value, end in (
        ("<aborted/>", producer.abort_transaction),
        ("<committed/>", producer.commit_transaction),
    ):
        producer.begin_transaction()
        producer.produce(topic, value.encode())
        assert producer.flush(WAIT) == 0
        end(WAIT)
    assert consumed(kafka, topic) == ["<committed/>"]
    assert consumed(kafka, topic, "read_uncommitted") == ["<aborted/>", "<committed/>"]


@pytest.mark.parametrize("end", [KafkaServer.stop, KafkaServer.kill], ids=["stop", "kill"])
def test_a_restart_keeps_everything(
    kafka: KafkaServer, topic: str, end: Callable[[KafkaServer], None]
) -> None:
    bootstrap = kafka.bootstrap
    produce(kafka, topic, "<before/>")
    producer = transactional(kafka)
    producer.begin_transaction()
    producer.produce(topic, b"<committed/>")
    producer.commit_transaction(WAIT)
    producer.begin_transaction()
    producer.produce(topic, b"<open/>")
    assert producer.flush(WAIT) == 0

    end(kafka)
    assert not kafka.running
    kafka.start()

    assert kafka.bootstrap == bootstrap
    assert consumed(kafka, topic) == ["<before/>", "<committed/>"]
    producer.commit_transaction(WAIT)
    produce(kafka, topic, "<after/>")
    assert consumed(kafka, topic) == ["<before/>", "<committed/>", "<open/>", "<after/>"]


def test_a_topic_has_to_be_created(kafka: KafkaServer) -> None:
    absent = f"absent-{uuid.uuid4()}"
    errors: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "topic.metadata.propagation.max.ms": 0})
    producer.produce(absent, b"<a/>", on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(WAIT) == 0
    assert [error and error.code() for error in errors] == [KafkaError.UNKNOWN_TOPIC_OR_PART]
    assert absent not in kafka.admin().list_topics(timeout=WAIT).topics


def test_partitions_and_the_settings_of_a_topic(kafka: KafkaServer) -> None:
    name = f"many-{uuid.uuid4()}"
    kafka.create_topic(name, partitions=4, config={"max.message.bytes": "1000"})
    assert len(kafka.admin().list_topics(name, timeout=WAIT).topics[name].partitions) == 4
    errors: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    producer.produce(name, os.urandom(2000), on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(WAIT) == 0
    assert [error and error.code() for error in errors] == [KafkaError.MSG_SIZE_TOO_LARGE]


@pytest.mark.usefixtures("kafka_available")
def test_large_messages_and_nothing_left_behind(tmp_path: Path) -> None:
    size = 3 << 20
    with KafkaServer(tmp_path, message_max_bytes=size + 1000) as server:
        name = server.create_topic("large")
        producer = Producer({"bootstrap.servers": server.bootstrap, "message.max.bytes": size + 1000})
        producer.produce(name, b"x" * size)
        assert producer.flush(WAIT) == 0
        assert len(consumed(server, name)[0]) == size
        with pytest.raises(KafkaServerError, match="running already"):
            server.start()
        pid = server.pid
    assert not server.running
    assert not server.data.exists()
    assert "Kafka Server started" in server.log.read_text()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.usefixtures("kafka_available")
def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    server = KafkaServer(tmp_path, settings={"num.io.threads": "several"})
    with pytest.raises(KafkaServerError, match=r"num\.io\.threads"), server:
        pass


@pytest.mark.usefixtures("kafka_available")
def test_a_server_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib, signal; from tests.kafka.server import KafkaServer\n"
        "server = KafkaServer(pathlib.Path(sys.argv[1])); server.start()\n"
        "print(server.pid, flush=True); signal.pause()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, cwd=jars.ROOT, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout
        pid = int(starter.stdout.readline())
        os.kill(pid, 0)
        starter.send_signal(signal.SIGKILL)
    assert _gone(pid)


def _gone(pid: int) -> bool:
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
