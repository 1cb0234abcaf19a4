"""A client that moves from one broker to another: what the brokers promise, and what they refuse."""

from __future__ import annotations

import pytest

from pathcast.network import Broker, Filter, Network, Policy
from pathcast.network import message as m
from pathcast.network.message import Notice
from pathcast.network.moving import MoveError
from pathcast.network.restore import restored, snapshot
from pathcast.network.transports.memory import LocalClient


def documents(client: LocalClient) -> list[str]:
    return [delivery.document for delivery in client.deliveries()]


def test_subscriptions_and_advertisements_move() -> None:
    network = Network([("b1", "b2"), ("b2", "b3")])
    wire, ann = network.client("b3", "wire"), network.client("b1", "ann")
    ann.subscribe("a", "//a")
    ann.subscribe("n", "//n:b", namespaces={"n": "urn:n"})
    ann.advertise("mine", ["/c"])
    wire.subscribe("c", "//c")
    wire.publish("1", "<a/>")
    for place in ("b2", "b3", "b1"):
        ann.move(place)
        wire.publish(f"at {place}", "<a/>")
        wire.publish(f"for n at {place}", "<b xmlns='urn:n'/>")
        ann.publish(place, "<c/>")
    assert documents(ann) == [
        f"b3/wire/{each}"
        for each in ("1", "at b2", "for n at b2", "at b3", "for n at b3", "at b1", "for n at b1")
    ]
    assert documents(wire) == ["b2/ann/b2", "b3/ann/b3", "b1/ann/b1"]
    assert not network.quarantine
    assert [list(broker.clients) for broker in network.brokers.values()] == [["ann"], [], ["wire"]]


def test_a_client_that_is_there_already_cannot_move_there_and_stays() -> None:
    network = Network([("b1", "b2")])
    one, other = network.client("b1", "ann"), network.client("b2", "ann")
    one.subscribe("a", "//a")
    other.subscribe("b", "//b")
    with pytest.raises(MoveError, match="b2 has a client ann already"):
        one.move("b2")
    one.subscribe("c", "//c")
    other.publish("1", "<c><a/><b/></c>")
    assert [delivery.ids for delivery in one.deliveries()] == [("a", "c")]
    assert [delivery.ids for delivery in other.deliveries()] == [("b",)]


def test_names_that_look_like_marks_move_with_paths_as_the_unit() -> None:
    """A subscription that has a document is not mistaken for that of another client."""
    network = Network([("b1", "b2")], policy=Policy(unit="path", advertisements=False))
    clients = [network.client("b1", name) for name in ("a", "a>b")]
    clients[0].subscribe("b>c", "//x")
    clients[1].subscribe("c", "//x")
    wire = network.client("b2", "wire")
    wire.publish("1", "<x/>")
    assert [documents(each) for each in clients] == [["b2/wire/1"]] * 2
    for each in clients:
        each.move("b2")
    wire.publish("2", "<x/>")
    assert [documents(each) for each in clients] == [["b2/wire/2"]] * 2


def kinds(notices: list[Notice]) -> list[str]:
    return [notice.kind for notice in notices]


def test_what_is_on_its_way_is_waited_for() -> None:
    """The old broker answers when its neighbour has, and delivers what comes before that."""
    broker = Broker("b1")
    broker.handle_client("ann", m.ClientSubscribe("a", Filter("//a")), 0.0)
    broker.handle_link_up("b2", 0.0)
    hello = broker.handle_message("b2", m.Hello(("b2", "b1"), 1), 0.0)
    assert any(isinstance(message, m.Reset) for _, message in hello.messages)
    for message in (m.Reset(1), m.Sync(1)):
        broker.handle_message("b2", message, 0.0)
    while not broker.agreement.is_calm:
        link = broker.links["b2"]
        broker.handle_message("b2", m.Synced(link.asked), 0.0)
        broker.handle_message("b2", m.Settled(*broker.agreement.stamp, link.settle_sent), 0.0)
    assert kinds(broker.handle_client("ann", m.ClientDepart(), 0.0).notices) == ["holds"]
    refused = broker.handle_client("ann", m.ClientUnsubscribe("a"), 0.0)
    assert refused.quarantined[0].reason == "it is moving to another broker"
    leaving = broker.handle_client("ann", m.ClientLeave(), 0.0)
    assert not leaving.notices
    (sync,) = [message for _, message in leaving.messages if isinstance(message, m.Sync)]
    assert sync.through
    again, _ = restored("b1", snapshot(broker))
    late = again.handle_message("b2", m.Publish("b2/wire/1", b"<a/>"), 0.0)
    assert [delivery.document for delivery in late.deliveries] == ["b2/wire/1"]
    # The restarted broker asks again.
    for _ in range(2):
        assert again.clients
        gone = again.handle_message("b2", m.Synced(again.links["b2"].asked), 0.0)
    assert [(notice.kind, notice.documents) for notice in gone.notices] == [("departed", ("b2/wire/1",))]
    assert not again.clients


def test_a_sync_that_goes_through_asks_everybody_else_first() -> None:
    network = Network([("b1", "b2"), ("b2", "b3"), ("b3", "b4")])
    middle = network.brokers["b2"]
    number = middle.links["b3"].told
    out = middle.handle_message("b1", m.Sync(7, through=True), 0.0)
    assert out.messages == [("b3", m.Sync(number + 1, through=True))]
    out = middle.handle_message("b3", m.Synced(number + 1), 0.0)
    assert out.messages == [("b1", m.Synced(7))]


def test_nobody_makes_a_broker_hold_documents_without_end() -> None:
    broker = Broker("b1", Policy(flooded_bytes=100))
    broker.handle_client("ann", m.ClientArrive(1), 0.0)
    ready = broker.handle_client("ann", m.ClientSubscribe("a", Filter("//a")), 0.0)
    assert kinds(ready.notices) == ["ready"]
    held = broker.handle_client("wire", m.ClientPublish("1", b"<a/>"), 0.0)
    assert not held.deliveries
    ended = broker.handle_client("wire", m.ClientPublish("2", b"<a>" + b"x" * 100 + b"</a>"), 0.0)
    assert kinds(ended.notices) == ["ended"]
    assert not broker.clients
    assert snapshot(broker) == snapshot(restored("b1", snapshot(broker))[0])


def test_a_client_that_names_more_documents_than_anybody_remembers_is_refused() -> None:
    broker = Broker("b1", Policy(remembered=10))
    broker.handle_client("ann", m.ClientArrive(0), 0.0)
    out = broker.handle_client("ann", m.ClientArrived(tuple(map(str, range(21))), is_last=True), 0.0)
    assert out.quarantined[0].reason == "it names more documents than any broker remembers"


def test_a_long_list_comes_in_parts() -> None:
    network = Network([("b1", "b2")])
    ann = network.client("b1", "ann")
    for number in range(1_100):
        ann.subscribe(str(number), f"//a{number}")
    for number in range(1_100):
        ann.publish(str(number), f"<a{number}/>")
    ann.move("b2")
    ann.publish("last", "<a1099/>")
    got = documents(ann)
    assert len(got) == 1_101
    assert got[-1] == "b2/ann/last"
    assert len(network.brokers["b2"].clients["ann"].filters) == 1_100
