"""Who may do what, on a real Kafka with passwords and access control: the grants that are printed are enough,
and no more than that."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")

from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType

from pathcast.network.message import ClientLeave
from pathcast.network.transports.access import Grant, grants
from pathcast.network.transports.kafka import KafkaBroker, KafkaClient, topics
from pathcast.network.transports.kafka.connection import Connection
from pathcast.network.transports.settings import broker_settings, client_settings
from pathcast.network.wire import encode
from tests.kafka.server import KafkaServer
from tests.network.deployment import WAIT, Subscriber
from tests.network.test_kafka_broker import running

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
USERS = ("admin", "berlin", "ann", "bob")


def secured(user: str) -> dict[str, Any]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": user,
    }


class ClosedServer(KafkaServer):
    """Kafka that asks everybody for a password and allows nobody anything."""

    def __init__(self, folder: Path) -> None:
        users = " ".join(f'user_{name}="{name}"' for name in USERS)
        login = f'{MODULE} required username="admin" password="admin" {users};'
        super().__init__(
            folder,
            settings={
                "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
                "inter.broker.listener.name": "PLAINTEXT",
                "sasl.enabled.mechanisms": "PLAIN",
                "sasl.mechanism.inter.broker.protocol": "PLAIN",
                "listener.name.plaintext.plain.sasl.jaas.config": login,
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:admin;User:ANONYMOUS",  # the controller's own listener has no names
            },
        )

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0, **secured("admin")})


def allow(admin: AdminClient, allowed: list[Grant]) -> None:
    """Apply grants."""
    kinds = {
        "topic": ResourceType.TOPIC,
        "group": ResourceType.GROUP,
        "transactional-id": ResourceType.TRANSACTIONAL_ID,
    }
    bindings = [
        AclBinding(
            kinds[each.resource],
            each.name,
            ResourcePatternType.LITERAL,
            each.principal,
            "*",
            AclOperation[each.operation.upper()],
            AclPermissionType.ALLOW,
        )
        for each in allowed
    ]
    for answer in admin.create_acls(bindings).values():
        answer.result(60)


@pytest.mark.usefixtures("kafka_available")
def test_the_grants_are_enough_and_no_more(tmp_path: Path) -> None:
    with ClosedServer(tmp_path) as server:
        kafka = {user: {"bootstrap.servers": server.bootstrap, **secured(user)} for user in USERS}
        content = {"name": "berlin", "clients": ["ann", "bob"]}
        settings = broker_settings({**content, "kafka": kafka["berlin"]})
        made = broker_settings({**content, "kafka": kafka["admin"]})
        topics.create(Connection(made.kafka, "admin"), made)
        allow(server.admin(), grants(settings))
        deadline = time.monotonic() + WAIT
        while not {*settings.sources, *settings.targets, settings.state} <= set(
            Connection(settings.kafka, "berlin").reach()
        ):
            assert time.monotonic() < deadline, "the grants have no effect"
        lines: list[str] = []
        with running(KafkaBroker(settings, lines.append), lines):
            told = client_settings({"name": "ann", "broker": "berlin", "kafka": kafka["ann"]})
            with KafkaClient(told) as client:
                client.subscribe("all", "//a")
                client.publish("1", "<a/>")
                client.flush()
                ann = Subscriber(client)
                ann.until(lambda: ann.has("berlin/ann/1"), "document")
                # Bob can neither make ann leave nor see what she gets.
                assert written(kafka["bob"], told.inbox) == KafkaError.TOPIC_AUTHORIZATION_FAILED
                assert written(kafka["bob"], settings.inbox) == KafkaError.TOPIC_AUTHORIZATION_FAILED
                assert read(kafka["bob"], told.outbox) == KafkaError.TOPIC_AUTHORIZATION_FAILED
                client.publish("2", "<a/>")
                client.flush()
                ann.until(lambda: ann.has("berlin/ann/2"), "document after bob's attempts")


def written(kafka: dict[str, Any], topic: str) -> int | None:
    """The error of an attempt to make ann leave."""
    errors: list[int | None] = []
    producer = Producer({**kafka, "log_level": 0})
    headers = [("pathcast-from", b"client ann")]
    producer.produce(
        topic,
        encode(ClientLeave()),
        headers=[*headers],
        on_delivery=lambda error, _: errors.append(error.code() if error else None),
    )
    assert producer.flush(60) == 0
    return errors[0]


def read(kafka: dict[str, Any], topic: str) -> int | None:
    """The error of an attempt to look at a topic, without which nobody reads it."""
    error = AdminClient({**kafka, "log_level": 0}).list_topics(topic, timeout=60).topics[topic].error
    return None if error is None else error.code()
