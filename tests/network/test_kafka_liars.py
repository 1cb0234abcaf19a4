"""Neighbours and clients that lie, on a real Kafka: what they send is quarantined with a reason, and nobody
else notices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("confluent_kafka")

from pathcast.network import message as m
from pathcast.network.message import Advertised, BrokerMessage, ClientMessage, Filter
from pathcast.network.transports.settings import RESERVED
from pathcast.network.wire import encode
from tests.network.deployment import WAIT, Deployment, Subscriber, settle

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

LARGEST = 300_000  # bytes of a message; Kafka itself takes a little more
RATE, BURST, FLOOD = 100, 200, 2_000
Header = tuple[str, bytes]


def of(sender: str) -> list[Header]:
    return [("pathcast-from", sender.encode())]


def test_lies_are_set_aside_and_others_are_unaffected(kafka: KafkaServer, tmp_path: Path) -> None:
    policy = {"rate": float(RATE), "burst": BURST, "max_filters": 100, "max_advertisements": 3}
    with Deployment(kafka, tmp_path) as made:
        honest = {"name": "honest", "speaks_on": f"{made.prefix}.honest-to-edge"}
        mallory = {"name": "mallory", "speaks_on": made.topic("edge", "inbox")}
        made.add("edge", [honest, mallory], max_message_bytes=LARGEST, policy=policy)
        made.add("honest", [{"name": "edge", "inbox": honest["speaks_on"]}], max_message_bytes=LARGEST)
        made.start()
        reader = Subscriber(made.client("edge", "reader"))
        writer = made.client("honest", "writer")
        writer.advertise("all", ["/a", "/probe"])
        writer.flush()
        reader.client.subscribe("a", "/a")
        settle(writer, "honest", [reader], "ready")

        inbox = made.topic("edge", "inbox")
        expected: list[tuple[str, str]] = []

        def lie(why: str, sender: str | None, value: bytes | BrokerMessage | ClientMessage | None) -> None:
            data = value if value is None or isinstance(value, bytes) else encode(value)
            made.put(inbox, (data, [] if sender is None else of(sender)))
            expected.append(((sender or "nobody"), why))

        liar = "broker mallory"
        lie("no header line", liar, b"\x00\xff garbled")
        lie("not JSON", liar, b"{" + b"[" * 50_000 + b"\n")
        lie("no message of kind 'become-root'", liar, b'{"v":1,"kind":"become-root"}\n')
        lie("version 2", liar, b'{"v":2,"kind":"reset","epoch":1}\n')
        lie("which is not a whole number", liar, b'{"v":1,"kind":"reset","epoch":"x"}\n')
        lie("given twice", liar, b'{"v":1,"kind":"reset","epoch":1,"epoch":1}\n')
        lie("has no value", liar, None)
        lie("and the limit is", liar, m.Publish("x/y/1", b"<a>" + b" " * (LARGEST - RESERVED) + b"</a>"))
        lie("its way to the root cannot be right", liar, m.Hello(("edge", "mallory"), 1))
        lie("has not been", liar, m.Reset(99))
        lie("a broker does not send such messages", liar, m.ClientPublish("1", b"<a/>"))
        lie("line 1", liar, m.Publish("x/y/2", b"<a><b></a>"))
        lie("it is not a neighbour", "broker nobody", m.Publish("x/y/3", b"<a/>"))
        lie("speaks on another topic: it is forged", "broker honest", m.Publish("x/y/4", b"<a/>"))
        lie("0 headers", None, m.Publish("x/y/5", b"<a/>"))
        lie("neither 'broker NAME'", "root", m.Publish("x/y/6", b"<a/>"))
        lie("no such subscription", "client eve", m.ClientUnsubscribe("never"))
        lie("a client does not send such messages", "client eve", m.Publish("x/y/7", b"<a/>"))
        lie("expected a step", "client eve", m.ClientSubscribe("s", Filter("//a[")))
        lie("line 1", "client eve", m.ClientPublish("1", b"no document"))
        bad = rb'{"v":1,"kind":"client-subscribe","id":"\ud800\uffff","filter":{"xpath":"//a"}}' + b"\n"
        lie("surrogate", "client eve", bad)
        lie("column", "client eve", m.ClientAdvertise("s", Advertised(("/a(/b",))))

        # It joins as a neighbour should, and lies about what it has said before.
        made.put(inbox, (encode(m.Hello(("mallory",), 1)), of(liar)), (encode(m.Reset(1)), of(liar)))
        lie("has not subscribed to that", liar, m.Unsubscribe(Filter("//never")))
        lie("has not advertised that", liar, m.Unadvertise("never/0"))
        lie("expected a step", liar, m.Subscribe(Filter("//a[")))

        writer.publish("between", "<a/>")
        flood = [(encode(m.Subscribe(Filter(f"//f{number}"))), of(liar)) for number in range(FLOOD)]
        made.put(inbox, *flood)
        # A client of the flooded broker itself, behind the flood.
        near = made.client("edge", "near")
        near.publish("after", "<a/>")
        near.flush()
        writer.publish("last", "<a/>")
        writer.flush()
        reader.until(lambda: reader.has("edge/near/after") and reader.has("honest/writer/last"), "document")
        wanted = [each.document for each in reader.got if "a" in each.ids]
        assert sorted(wanted) == ["edge/near/after", "honest/writer/between", "honest/writer/last"]

        found = made.quarantined("edge")
        for sender, why in expected:
            assert any(who == sender and why in reason for who, reason, _ in found), (sender, why)
        floods = [reason for who, reason, _ in found if who == liar and "a second" in reason]
        filters = [reason for who, reason, _ in found if who == liar and "filters, the most" in reason]
        assert len(floods) + len(filters) >= FLOOD - BURST
        assert floods
        assert filters
        assert len(found) == len(expected) + len(floods) + len(filters)
        assert made.quarantined("honest") == []
        assert {value for _, _, value in found} >= {b"\x00\xff garbled"}
        assert made.nodes["edge"].said("\n") < 200, "a flood must not fill the log"

        # And none of it is a reason not to come back after a crash.
        edge = made.nodes["edge"]
        edge.kill()
        edge.start()
        writer.publish("back", "<a/>")
        writer.flush()
        reader.until(lambda: reader.has("honest/writer/back"), "document after a restart")
        edge.ready()


def test_a_message_that_a_topic_does_not_take_is_set_aside(kafka: KafkaServer, tmp_path: Path) -> None:
    with Deployment(kafka, tmp_path) as made:
        small = kafka.create_topic(f"{made.prefix}.small", config={"max.message.bytes": "2000"})
        made.add("edge", [], clients=[{"name": "tiny", "outbox": small}])
        made.start()
        tiny, other = made.client("edge", "tiny"), Subscriber(made.client("edge", "other"))
        writer = made.client("edge", "writer")
        tiny.subscribe("large", "//large")
        tiny.flush()
        other.client.subscribe("small", "//small")
        other.client.flush()
        body = "<large>" + "".join(f"{number:x}" for number in range(5_000)) + "</large>"
        # Small ones that are sent together with it, and are too large together, are not to blame.
        for number in range(20):
            writer.publish(f"small{number}", f"<large>{'x' * 200}</large>")
        writer.publish("1", body)
        writer.publish("2", "<small/>")
        writer.flush()
        other.until(lambda: other.has("edge/writer/2"), "small document")
        ((sender, reason, _),) = made.quarantined("edge")
        assert sender == "client writer"
        assert "too large for" in reason
        assert len(made.committed(small)) == 20
        assert made.nodes["edge"].program is not None
        assert made.nodes["edge"].program.running, WAIT
