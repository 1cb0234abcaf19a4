"""A topic takes documents from a real Kafka and delivers to it; a killed server loses and repeats nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pathcast.network.transports.settings import SettingsError
from pathcast.service.kafka.cluster import Cluster
from tests.service.server import Server

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

PAGE = 1000


def produce(kafka: KafkaServer, topic: str, values: list[bytes | None]) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    for value in values:
        producer.produce(topic, value, headers={"content-type": b"text/xml"})
    assert producer.flush(60) == 0


def pulled(server: Server, place: str, count: int) -> list[dict[str, Any]]:
    """What a subscription gets, as soon as it is that many."""
    found: list[dict[str, Any]] = []
    after = "0"
    while len(found) < count:
        parameters: dict[str, str | int] = {"after": after, "wait": 60, "limit": PAGE}
        page = server.get(f"{place}/deliveries", params=parameters).json()
        assert page["deliveries"], f"{len(found)} of {count} came"
        found += page["deliveries"]
        after = page["cursor"]
    return found


def test_documents_come_from_kafka_once_whatever_is_killed(kafka: KafkaServer, tmp_path: Path) -> None:
    incoming = kafka.create_topic("service-in", partitions=2)
    documents = [f"<a n='{number}'/>".encode() for number in range(400)]
    with Server("--data", str(tmp_path / "data"), "--kafka", kafka.bootstrap) as server:
        server.topic("t", s="/a")
        put = server.put("/v1/topics/t", json={"kafka": {"topic": incoming}})
        assert (put.status_code, put.json()["kafka"]) == (200, {"topic": incoming})
        place = "/v1/topics/t/subscriptions/s"
        produce(kafka, incoming, [*documents[:200], b"<a", None])
        assert len(pulled(server, place, 1)) >= 1
        server.kill()  # some are stored, and perhaps not committed in Kafka
        produce(kafka, incoming, [*documents[200:]])
        server.start()
        found = pulled(server, place, len(documents))
        assert sorted(each["body"].encode() for each in found) == sorted(documents)
        assert {each["content_type"] for each in found} == {"text/xml"}
        server.put("/v1/topics/t/subscriptions/last", json={"xpath": "/b"})
        produce(kafka, incoming, [b"<b/>"])
        pulled(server, "/v1/topics/t/subscriptions/last", 1)
        assert len(pulled(server, place, len(documents))) == len(documents), "none came twice"
        [letter] = server.get("/v1/dead-letters").json()["dead_letters"]
        assert letter["kind"] == "document"
        assert server.put("/v1/topics/t", json={}).status_code == 200
        assert server.stop() == 0


def test_deliveries_go_to_kafka(kafka: KafkaServer, tmp_path: Path) -> None:
    from tests.kafka.topics import consume

    outgoing = kafka.create_topic("service-out")
    with Server("--data", str(tmp_path / "data"), "--kafka", kafka.bootstrap) as server:
        path = server.topic("t")
        given = {"xpath": "/a", "delivery": {"kafka": {"topic": outgoing}}}
        put = server.put(f"{path}/subscriptions/s", json=given)
        assert (put.status_code, put.json()["delivery"]) == (201, given["delivery"])
        tested = server.post(f"{path}/subscriptions/s/test").json()
        assert tested["delivered"], tested
        sent = {
            server.post(f"{path}/documents", content=f"<a n='{n}'/>").json()["document"] for n in range(50)
        }
        found: list[tuple[bytes, bytes, dict[str, bytes]]] = []
        while len(found) < 51:
            found = consume(kafka, outgoing)
        documents = {headers["pathcast-document"].decode(): key for key, _, headers in found}
        assert sent < documents.keys()
        for document in sent:
            [delivery] = server.get(f"/v1/documents/{document}").json()["deliveries"]
            assert documents[document] == delivery["id"].encode(), "the key is the id of the delivery"
        assert {body for _, body, _ in found} >= {b"<a n='0'/>", b"<a n='49'/>"}
        missing = {"xpath": "/b", "delivery": {"kafka": {"topic": "service-missing"}}}
        assert server.put(f"{path}/subscriptions/m", json=missing).status_code == 201
        failed = server.post(f"{path}/subscriptions/m/test").json()
        assert not failed["delivered"]
        assert "topic" in failed["reason"].lower()


def test_which_topics_of_kafka_a_tenant_may_use(tmp_path: Path) -> None:
    settings = tmp_path / "kafka.toml"
    settings.write_text(
        '[kafka]\nbootstrap.servers = "127.0.0.1:1"\n[tenants]\ndefault = ["mine-*"]\n', encoding="utf-8"
    )
    with Server("--data", str(tmp_path / "data"), "--kafka", str(settings)) as server:
        path = server.topic("t")
        for topic, status in (("mine-1", 200), ("others", 403)):
            assert server.put(path, json={"kafka": {"topic": topic}}).status_code == status
            delivery = {"kafka": {"topic": topic}}
            put = server.put(f"{path}/subscriptions/s", json={"xpath": "/a", "delivery": delivery})
            assert put.status_code in ((201, 200) if status == 200 else (403,)), put.text
        both = {"kafka": {"topic": "mine-1"}, "webhook": {"url": "https://example.org"}}
        put = server.put(f"{path}/subscriptions/s", json={"xpath": "/a", "delivery": both})
        assert put.status_code == 422
        assert server.get("/readyz").status_code == 200, "a Kafka that is away harms nothing else"


def test_without_kafka(server: Server, name: str) -> None:
    put = server.put(f"/v1/topics/{name}", json={"kafka": {"topic": "t"}})
    assert (put.status_code, put.json()["detail"]) == (422, "the server was started without --kafka")


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("[kafka]\n", "kafka.bootstrap.servers is missing"),
        ('[kafka]\nbootstrap.servers = "x"\n[topics]\n', "there is no table 'topics'"),
        ('[kafka]\nbootstrap.servers = "x"\n[tenants]\na = "b"\n', "tenants.a must be a list"),
        ('tenants = 3\n[kafka]\nbootstrap.servers = "x"\n', "must be a list"),
        ("[kafka", "kafka.toml"),
    ],
)
def test_mistakes_in_the_file(tmp_path: Path, text: str, mistake: str) -> None:
    path = tmp_path / "kafka.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=mistake):
        Cluster.read(str(path))
