"""A broker on a real Kafka: what it says about mistakes, and what it does with what it cannot handle."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from typer.testing import CliRunner

from pathcast.cli import app
from pathcast.network.outcome import Outcome
from pathcast.network.state import StateError
from pathcast.network.transports.kafka import KafkaBroker, KafkaClient, TransportError, connection, process
from pathcast.network.transports.kafka.documents import DocumentGoneError
from pathcast.network.transports.kafka.envelope import Arrival
from pathcast.network.transports.kafka.sealed import TAG
from pathcast.network.transports.settings import BrokerSettings, broker_settings, client_settings
from tests.kafka import jars
from tests.kafka.server import KafkaServer
from tests.network.deployment import WAIT, Deployment, Subscriber, settle


@pytest.fixture
def made(kafka: KafkaServer, tmp_path: Path) -> Iterator[Deployment]:
    with Deployment(kafka, tmp_path) as deployment:
        yield deployment


def settings(made: Deployment, **more: Any) -> BrokerSettings:
    kafka = {"bootstrap.servers": made.kafka.bootstrap, **more.pop("kafka", {})}
    return broker_settings({"name": "edge", "open": True, "prefix": made.prefix, "kafka": kafka, **more})


@contextmanager
def running(broker: KafkaBroker, lines: list[str]) -> Iterator[None]:
    """A broker in a thread; what ends it is raised here."""
    ended: list[BaseException] = []

    def run() -> None:
        try:
            broker.run(create_topics=True)
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        while not any("ready with" in line for line in lines) and thread.is_alive():
            thread.join(0.02)
        yield
    finally:
        broker.stop()
        thread.join(WAIT)
        print("\n".join(lines))
        if ended:
            raise ended[0]


@contextmanager
def broker(made: Deployment, kind: type[KafkaBroker] = KafkaBroker, **more: Any) -> Iterator[list[str]]:
    lines: list[str] = []
    with running(kind(settings(made, **more), lines.append), lines):
        yield lines


def test_topics_that_are_missing_are_named(made: Deployment, kafka: KafkaServer) -> None:
    found = settings(made, neighbours=["other"])
    with pytest.raises(TransportError, match="Kafka has no topic") as raised:
        KafkaBroker(found, print).run()
    for name in (found.inbox, found.state, found.outbox, found.quarantine, made.topic("other", "from.edge")):
        assert name in str(raised.value)
    kafka.create_topic(found.inbox, partitions=2)
    with pytest.raises(TransportError, match=r"edge\.inbox has 2 partitions and must have 1"):
        KafkaBroker(found, print).run(create_topics=True)


def test_the_command_says_what_is_wrong(made: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REACH", 1.0)
    config = made.add("edge", []).config
    absent = CliRunner().invoke(app, ["broker", "-c", str(config)])
    assert absent.exit_code == 2
    assert "--create-topics makes what is missing" in absent.stderr
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace(made.kafka.bootstrap, "127.0.0.1:1"), encoding="utf-8")
    unreachable = CliRunner().invoke(app, ["broker", "-c", str(config)])
    assert unreachable.exit_code == 2
    assert "Kafka at 127.0.0.1:1 did not answer within 1 seconds" in unreachable.stderr
    config.write_text(f'{text}"no.such.setting" = 1\n', encoding="utf-8")
    wrong = CliRunner().invoke(app, ["broker", "-c", str(config)])
    assert wrong.exit_code == 2
    assert "no.such.setting" in wrong.stderr


def test_a_broker_without_its_state_or_with_another_inbox_does_not_start(
    made: Deployment, kafka: KafkaServer
) -> None:
    with broker(made):
        reader = Subscriber(made.client("edge", "reader"))
        reader.client.subscribe("a", "//a")
        reader.client.publish("1", "<a/>")
        reader.client.flush()
        reader.until(lambda: reader.has("edge/reader/1"), "document")
    admin, found = made.kafka.admin(), settings(made)
    # Messages that nobody has read are thrown away, as a short retention does.
    reader.client.publish("2", "<a/>")
    reader.client.publish("3", "<a/>")
    reader.client.flush()
    gone = TopicPartition(found.inbox, 0, 3)
    admin.delete_records([gone])[gone].result(WAIT)
    with pytest.raises(StateError, match="thrown away the messages 2 to 2"), broker(made):
        pass
    with broker(made, gap="skip") as lines:
        reader.until(lambda: reader.has("edge/reader/3"), "document after the gap")
    assert any("thrown away" in line for line in lines)
    _recreate(kafka, admin, found.state)
    with pytest.raises(StateError, match=r"is empty, but .*inbox was read up to"), broker(made):
        pass


def _recreate(kafka: KafkaServer, admin: AdminClient, topic: str) -> None:
    admin.delete_topics([topic], operation_timeout=WAIT)[topic].result(WAIT)
    while topic in admin.list_topics(timeout=WAIT).topics:
        pass
    kafka.create_topic(topic, config={"cleanup.policy": "compact"})


def test_an_inbox_that_is_another_one_is_noticed(made: Deployment, kafka: KafkaServer) -> None:
    with broker(made):
        client = Subscriber(made.client("edge", "client"))
        client.client.subscribe("a", "//a")
        client.client.publish("1", "<a/>")
        client.client.flush()
        client.until(lambda: client.has("edge/client/1"), "document")
    _recreate(kafka, made.kafka.admin(), settings(made).inbox)
    with pytest.raises(StateError, match="it is another topic of that name"), broker(made):
        pass


class Failing(KafkaBroker):
    """One with a mistake in it: a certain document is too much for it, after the tables have changed."""

    def _handled(self, each: Arrival) -> Outcome:
        outcome = super()._handled(each)
        if b"<poison/>" in (each.value or b"") and each.place not in self.poison:
            raise RecursionError("too deep")
        return outcome


def test_a_message_over_which_the_broker_fails_is_set_aside(made: Deployment) -> None:
    with broker(made, Failing) as lines:
        reader = Subscriber(made.client("edge", "reader"))
        reader.client.subscribe("all", "//*")
        reader.client.publish("1", "<a/>")
        reader.client.publish("2", "<poison/>")
        reader.client.publish("3", "<a/>")
        reader.client.flush()
        reader.until(lambda: reader.has("edge/reader/3"), "last document")
    assert [each.document for each in reader.got] == ["edge/reader/1", "edge/reader/3"]
    ((sender, reason, _),) = made.quarantined("edge")
    assert sender == "client reader"
    assert reason == "the broker failed on it: RecursionError: too deep"
    assert sum("a transaction was undone" in line for line in lines) == 1


def test_a_delivery_too_large_for_one_message_is_several(made: Deployment) -> None:
    with broker(made, max_message_bytes=300_000):
        reader = Subscriber(made.client("edge", "reader"))
        names = [f"{number:04d}{'n' * 196}" for number in range(1_500)]
        for name in names:
            reader.client.subscribe(name, "//a")
        reader.client.publish("1", "<a>" + "x" * 200_000 + "</a>")
        reader.client.publish("2", "<a/>")
        reader.client.flush()
        reader.until(lambda: reader.has("edge/reader/2"), "documents")
    for document in ("edge/reader/1", "edge/reader/2"):
        ids = [id for each in reader.got if each.document == document for id in each.ids]
        assert sorted(ids) == names
    with pytest.raises(TransportError, match="and brokers take"):
        reader.client.publish("4", "x" * 1_000_000)


def test_a_document_for_several_clients_is_stored_once_and_sealed(made: Deployment) -> None:
    large = "<a>" + "x" * 50_000 + "</a>"
    with broker(made, open=False, clients=["ann", "bob", "cid"]):
        ann, bob, cid = (
            Subscriber(made.client("edge", name, shared=False)) for name in ("ann", "bob", "cid")
        )
        for each in (ann, bob):
            each.client.subscribe("a", "//a")
            each.client.flush()
        settle(ann.client, "edge", [ann, bob], "ready")
        cid.client.subscribe("b", "//b")
        for number, document in enumerate((large, "<a/>", "<b>" + "y" * 1_000 + "</b>", large, large)):
            cid.client.publish(str(number), document)
        cid.client.flush()
        for each in (ann, bob):
            each.until(lambda each=each: each.has("edge/cid/4"), "document")  # type: ignore[misc]
        cid.until(lambda: cid.has("edge/cid/2"), "document")
    wanted = [("edge/cid/0", large), ("edge/cid/1", "<a/>"), ("edge/cid/3", large), ("edge/cid/4", large)]
    for each in (ann, bob):
        got = [(one.document, one.body.decode()) for one in each.got if one.document.startswith("edge/cid")]
        assert got == wanted
        sizes = [
            len(message.value() or b"") for message in made.committed(made.topic("edge", f"to.{each.name}"))
        ]
        assert max(sizes) < 1_000, "a delivery carries the document"
    stored = [message.value() or b"" for message in made.committed(made.topic("edge", "documents"))]
    assert [len(each) for each in stored] == [len(large) + TAG] * 3
    assert all(b"xxx" not in each for each in stored)
    assert len(set(stored)) == 3, "a key was used twice"


def test_a_stored_document_that_kafka_has_thrown_away_is_told_of_once(made: Deployment) -> None:
    large = "<a>" + "x" * 5_000 + "</a>"
    with broker(made):
        ann, bob = (Subscriber(made.client("edge", name)) for name in ("ann", "bob"))
        for each in (ann, bob):
            each.client.subscribe("a", "//a")
            each.client.flush()
        settle(ann.client, "edge", [ann, bob], "ready")
        for number in range(3):
            ann.client.publish(str(number), large)
        ann.client.flush()
        ann.until(lambda: ann.has("edge/ann/2"), "document")
        topic = made.topic("edge", "documents")
        second = [message.offset() or 0 for message in made.committed(topic)][1]
        admin = AdminClient({"bootstrap.servers": made.kafka.bootstrap, "log_level": 0})
        for answer in admin.delete_records([TopicPartition(topic, 0, second)]).values():
            answer.result(60)
        with pytest.raises(DocumentGoneError, match="thrown away"):
            bob.until(lambda: bob.has("edge/ann/2"), "document")
        bob.until(lambda: bob.has("edge/ann/2"), "document")
    got = [each.document for each in bob.got if len(each.body) > 1_000]
    assert got == ["edge/ann/1", "edge/ann/2"]


def test_a_transaction_that_takes_long_is_committed_in_parts(
    made: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "HANDLING", 0.0)
    with broker(made):
        reader = Subscriber(made.client("edge", "reader"))
        reader.client.subscribe("all", "//a")
        for number in range(20):
            reader.client.publish(str(number), "<a/>")
        reader.client.flush()
        reader.until(lambda: reader.has("edge/reader/19"), "last document")
    assert [each.document for each in reader.got] == [f"edge/reader/{number}" for number in range(20)]


def test_only_listed_clients_are_let_in(made: Deployment) -> None:
    with broker(made, open=False, clients=["reader"]):
        reader = Subscriber(made.client("edge", "reader", shared=False))
        stranger = made.client("edge", "stranger")
        stranger.publish("1", "<a/>")
        stranger.flush()
        reader.client.subscribe("all", "//a")
        reader.client.publish("1", "<a/>")
        reader.client.flush()
        reader.until(lambda: reader.has("edge/reader/1"), "document")
    assert [(who, why) for who, why, _ in made.quarantined("edge")] == [
        ("client stranger", "it is not a client of this broker")
    ]


class SecuredServer(KafkaServer):
    """Kafka behind TLS and passwords."""

    def __init__(self, folder: Path, client: Mapping[str, str], certificate: Path) -> None:
        users = 'username="admin" password="a" user_admin="a" user_pathcast="p"'
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        self.client = client
        super().__init__(
            folder,
            settings={
                "listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT",
                "inter.broker.listener.name": "PLAINTEXT",
                "sasl.enabled.mechanisms": "PLAIN",
                "sasl.mechanism.inter.broker.protocol": "PLAIN",
                "listener.name.plaintext.plain.sasl.jaas.config": f"{module} required {users};",
                "ssl.keystore.location": certificate,
                "ssl.keystore.password": "changeit",
                "ssl.keystore.type": "PKCS12",
                "ssl.truststore.location": certificate,
                "ssl.truststore.password": "changeit",
                "ssl.truststore.type": "PKCS12",
            },
        )

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0, **self.client})


@pytest.mark.usefixtures("kafka_available")
def test_tls_and_passwords_pass_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = jars.java()
    assert java is not None
    keytool = str(Path(os.path.realpath(java)).with_name("keytool"))
    store, pem = tmp_path / "server.p12", tmp_path / "server.pem"
    common = ["-alias", "server", "-keystore", str(store), "-storepass", "changeit"]
    host = ["-dname", "CN=127.0.0.1", "-ext", "SAN=ip:127.0.0.1", "-keyalg", "EC"]
    for command in (["-genkeypair", *host], ["-exportcert", "-rfc", "-file", str(pem)]):
        subprocess.run([keytool, *command, *common], check=True, capture_output=True)
    monkeypatch.setenv("THE_PASSWORD", "p")
    secured = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "pathcast",
        "ssl.ca.location": str(pem),
    }
    with SecuredServer(tmp_path, {**secured, "sasl.password": "p"}, store) as server:
        kafka = {**secured, "bootstrap.servers": server.bootstrap, "sasl.password": "${THE_PASSWORD}"}
        lines: list[str] = []
        with running(
            KafkaBroker(broker_settings({"name": "edge", "open": True, "kafka": kafka}), lines.append), lines
        ):
            told = client_settings({"name": "reader", "broker": "edge", "open": True, "kafka": kafka})
            with KafkaClient(told) as client:
                client.subscribe("all", "//a")
                client.publish("1", "<a/>")
                client.flush()
                reader = Subscriber(client)
                reader.until(lambda: reader.has("edge/reader/1"), "document")
        monkeypatch.setattr(connection, "REACH", 2.0)
        refused = broker_settings({"name": "edge", "kafka": {**kafka, "sasl.password": "wrong"}})
        with pytest.raises(TransportError, match="uthentication"):
            KafkaBroker(refused, print).run()


@pytest.mark.skipif("PATHCAST_FAULTS" not in os.environ, reason="takes a minute: make faults runs it")
@pytest.mark.parametrize("end", [KafkaServer.stop, KafkaServer.kill], ids=["stop", "kill"])
def test_kafka_may_go_away_for_a_while(made: Deployment, kafka: KafkaServer, end: Any) -> None:
    with broker(made, batch=2):
        reader = Subscriber(made.client("edge", "reader"))
        reader.client.subscribe("all", "//a")
        for number in range(200):
            reader.client.publish(str(number), "<a/>")
        reader.client.flush()
        reader.until(lambda: len(reader.got) > 5, "first documents")
        end(kafka)
        kafka.start()
        reader.client.publish("last", "<a/>")
        reader.client.flush()
        reader.until(lambda: reader.has("edge/reader/last"), "last document")
    assert [each.document for each in reader.got] == [
        *(f"edge/reader/{number}" for number in range(200)),
        "edge/reader/last",
    ]
