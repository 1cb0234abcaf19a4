"""The TOML files of brokers and clients: a mistake is told with its file and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pathcast.network.transports.settings import (
    RESERVED,
    SettingsError,
    broker_settings,
    client_settings,
    read_broker,
    read_client,
)

ROOT = Path(__file__).parents[3]
KAFKA = {"bootstrap": {"servers": "localhost:9092"}}


def test_the_examples_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", "secret")
    broker = read_broker(ROOT / "examples/network/broker.toml")
    client = read_client(ROOT / "examples/network/client.toml")
    assert client.inbox == broker.clients["ann"].speaks_on
    assert client.outbox == broker.clients["ann"].sent_to
    assert client.kafka == broker.kafka


def test_what_is_usual_need_not_be_said() -> None:
    found = broker_settings({"name": "b1", "neighbours": ["b2"], "kafka": KAFKA})
    assert found.inbox == "pathcast.b1.inbox"
    assert found.neighbours["b2"].sent_to == "pathcast.b2.from.b1"
    assert found.sources == ["pathcast.b1.inbox", "pathcast.b1.from.b2"]
    assert found.policy.wire.body_bytes == found.max_message_bytes - RESERVED


def test_dotted_and_quoted_settings_of_kafka_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "pass")
    file = tmp_path / "broker.toml"
    file.write_text(
        'name = "b1"\n[kafka]\nbootstrap.servers = "h:1"\n"security.protocol" = "SASL_SSL"\n'
        'sasl.password = "x${WORD}y"\nenable.ssl.certificate.verification = true\n'
        '[kafka.producer]\nlinger.ms = 3\n[kafka.consumer]\n"fetch.wait.max.ms" = 7\n',
        encoding="utf-8",
    )
    kafka = read_broker(file).kafka
    assert kafka.both == {
        "bootstrap.servers": "h:1",
        "security.protocol": "SASL_SSL",
        "sasl.password": "xpassy",
        "enable.ssl.certificate.verification": "true",
    }
    assert kafka.producer == {"linger.ms": "3"}
    assert kafka.consumer == {"fetch.wait.max.ms": "7"}


def test_peers_may_have_topics_of_their_own() -> None:
    found = broker_settings(
        {
            "name": "b1",
            "neighbours": [{"name": "b2", "inbox": "in2", "speaks_on": "b2-to-b1", "leaf": True}],
            "clients": ["ann", {"name": "bob", "outbox": "bob"}],
            "open": True,
            "kafka": KAFKA,
        }
    )
    assert found.policy.leaves == {"b2"}
    assert found.sources == ["pathcast.b1.inbox", "b2-to-b1"]
    own = [f"pathcast.b1.{kind}" for kind in ("outbox", "quarantine", "documents")]
    assert found.targets == [*own, "in2", "bob"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": None}, "name must be a name of letters"),
        ({"name": "b 1"}, "name must be a name of letters"),
        ({"nam": "b1"}, "there is no key 'nam'; the keys are batch"),
        ({"neighbours": ["b1"]}, "the broker itself"),
        ({"neighbours": "b2"}, "neighbours must be a list"),
        ({"neighbours": ["b2", "b2"]}, r"neighbours\[1\]: 'b2' is there twice"),
        ({"neighbours": [{"name": "b2", "outbox": "x"}]}, r"no key 'neighbours\[0\]\.outbox'"),
        ({"neighbours": [{"name": "b2", "monitor": "http://x"}]}, r"monitor must be host:port"),
        ({"monitor": {"traced": -1}}, r"monitor\.traced must be at least 0"),
        ({"neighbours": [{"inbox": "x"}]}, r"neighbours\[0\]\.name must be a name"),
        ({"topics": {"state": "pathcast.b1.inbox"}}, "one topic cannot be both"),
        ({"clients": [{"name": "a", "outbox": "pathcast.b1.inbox"}]}, "one topic cannot be both"),
        ({"topics": {"inbox": "a/b"}}, r"topics\.inbox must be a name"),
        ({"open": 1}, "open must be true or false, not 1"),
        ({"batch": 0}, "batch must be at least 1, not 0"),
        ({"batch": True}, "batch must be an integer, not True"),
        ({"gap": "ignore"}, "gap must be 'stop' or 'skip'"),
        ({"max_message_bytes": 1000}, "max_message_bytes must be at least 262,144"),
        ({"report_seconds": 0}, "report_seconds must be more than 0"),
        ({"policy": {"covring": True}}, r"there is no key 'policy\.covring'"),
        ({"policy": {"durable": False}}, r"there is no key 'policy\.durable'"),
        ({"policy": {"covering": "yes"}}, r"policy\.covering must be true or false"),
        ({"policy": {"unit": "word"}}, "policy: unit is 'document' or 'path'"),
        ({"policy": {"rate": 0}}, r"policy\.rate must be more than 0"),
        ({"policy": {"merging": {"max_degree": 2}}}, "policy: max_degree is a share"),
        ({"policy": {"limits": {"deep": 1}}}, r"no key 'policy\.limits\.deep'"),
        ({"policy": {"limits": {"depth": 0}}}, "policy: depth must be between"),
        ({"kafka": {}}, r"kafka\.bootstrap\.servers is missing"),
        ({"kafka": {**KAFKA, "sasl.password": "${NOT_THERE_AT_ALL}"}}, "variable NOT_THERE_AT_ALL"),
        ({"kafka": {**KAFKA, "transactional": {"id": "x"}}}, r"kafka\.transactional\.id cannot be set"),
        ({"kafka": {**KAFKA, "consumer": {"isolation.level": "x"}}}, r"kafka\.consumer\.isolation\.level"),
        ({"kafka": {**KAFKA, "a": [1]}}, r"kafka\.a must be text"),
    ],
)
def test_mistakes_are_told_with_their_key(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message) as raised:
        broker_settings({"name": "b1", "kafka": KAFKA, **change}, "edge.toml")
    assert str(raised.value).startswith("edge.toml: ")


def test_a_client_needs_a_name_and_a_broker(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="broker is missing"):
        client_settings({"name": "ann", "kafka": KAFKA})
    with pytest.raises(SettingsError, match="cannot be read"):
        read_client(tmp_path / "absent.toml")
    (tmp_path / "bad.toml").write_text("name = ", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"bad\.toml"):
        read_broker(tmp_path / "bad.toml")
