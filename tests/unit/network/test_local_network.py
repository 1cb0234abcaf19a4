"""A network in this process, for trying things out."""

from __future__ import annotations

from random import Random

import pytest

from pathcast import Index
from pathcast.network.message import Delivery
from pathcast.network.transports import Network
from pathcast.schema import Schema

SCHEMA = """
<!ELEMENT a (b*, c?)>  <!ELEMENT b (c*)>  <!ELEMENT c EMPTY>  <!ATTLIST c n CDATA #IMPLIED>
"""


def test_documents_go_where_they_are_wanted() -> None:
    draw = Random(4)
    network = Network([("b1", "b2"), ("b2", "b3"), ("b3", "b1"), ("b3", "b4")])
    writer = network.client("b1", "writer")
    writer.advertise("all", Schema.from_text(SCHEMA))
    expressions = ["//c", "/a/b/c", "/a[c]/b", "//c[@n='1']", "/a[not(b)]", "/a/b", "//b[c/@n > 1]"]
    readers = {name: network.client(name, "reader") for name in ("b1", "b2", "b3", "b4")}
    indexes = {name: Index() for name in readers}
    for name, reader in readers.items():
        for xpath in draw.sample(expressions, 4):
            reader.subscribe(xpath, xpath)
            indexes[name].add(xpath, xpath)
    owed: dict[str, list[tuple[str, set[str | int]]]] = {name: [] for name in readers}
    for number in range(60):
        inner = "".join(f"<c n='{draw.randrange(3)}'/>" for _ in range(draw.randrange(3)))
        body = f"<a>{f'<b>{inner}</b>' * draw.randrange(3)}{draw.choice(['', '<c/>'])}</a>"
        writer.publish(str(number), body)
        for name, index in indexes.items():
            if found := set(index.match(body)):
                owed[name].append((f"b1/writer/{number}", found))
    for name, reader in readers.items():
        assert [(each.document, set(each.ids)) for each in reader.deliveries()] == owed[name]
        assert reader.deliveries() == []
    assert not network.quarantine


def test_clients_leave_and_links_go() -> None:
    network = Network([("b1", "b2")])
    writer, reader = network.client("b1", "w"), network.client("b2", "r")
    writer.advertise("all", "/a")
    reader.subscribe("s", "/a")
    writer.publish("1", "<a/>")
    assert reader.deliveries() == [Delivery("r", "b1/w/1", ("s",), b"<a/>")]
    network.disconnect("b1", "b2")
    writer.publish("2", "<a/>")
    network.connect("b1", "b2")
    writer.publish("3", "<a/>")
    assert [each.document for each in reader.deliveries()] == ["b1/w/2", "b1/w/3"]
    reader.leave()
    writer.leave()
    assert not any(broker.publications.entries or broker.clients for broker in network.brokers.values())
    with pytest.raises(KeyError):
        network.disconnect("b1", "nobody")


def test_what_strangers_send_is_set_aside() -> None:
    network = Network([("b1", "b2")])
    reader = network.client("b2", "reader")
    reader.subscribe("s", "//a")
    network.put("b2", "broker", "b1", b"garbled")
    network.put("b2", "broker", "mallory", b'{"v":1,"kind":"reset","epoch":1}\n')
    reader.publish("1", "<a>")
    reader.publish("2", "<a/>")
    assert [each.sender for each in network.quarantine] == ["broker b1", "broker mallory", "client reader"]
    assert [each.document for each in reader.deliveries()] == ["b2/reader/2"]
