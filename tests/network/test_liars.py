"""Neighbours and clients that lie: what they say about others is not believed, and nobody else is hurt."""

from __future__ import annotations

import pytest

from pathcast.network import Broker, Filter, Policy
from pathcast.network import message as m
from pathcast.network.message import Advertised
from pathcast.network.publications import EVERYTHING
from pathcast.network.simulation import Checks, World
from tests.network.scenario import satisfied

BODY = b"<x><y/></x>"
WORLDS_END = (1 << 53) - 1


def triangle() -> Checks:
    """b1 and b2 are linked with one another and both with a leaf that lies; b2 wants what b1 publishes."""
    world = World(1, policy=Policy(leaves=frozenset(["evil"])))
    for name in ("b1", "b2", "evil"):
        world.add_broker(name)
    for one, other in (("b1", "b2"), ("b1", "evil"), ("b2", "evil")):
        world.connect(one, other)
    checks = Checks(world, satisfied, liars=frozenset(["evil"]))
    checks.subscribe("b2", "s", "1", Filter("//y"))
    checks.advertise("b1", "news", "k", Advertised(("/x/y",)))
    checks.rest()
    return checks


def broker(checks: Checks, name: str) -> Broker:
    """A broker of a world that is up."""
    found = checks.world.nodes[name].broker
    assert found is not None
    return found


def test_a_document_is_not_published_by_somebody_else() -> None:
    """The genuine one is delivered, and only that."""
    checks = triangle()
    for victim in ("b1", "b2"):
        checks.world.forge("evil", victim, m.Publish("b1/news/7", b"<x><y>forged</y></x>"))
    checks.world.run()
    checks.publish("b1", "news", "7", BODY)
    checks.rest()
    assert checks.counted.delivered == checks.counted.owed == 1
    assert [each.reason for each in checks.world.quarantined] == [
        "it is a leaf and passes on a document of others"
    ] * 2


def test_a_document_of_this_broker_does_not_come_from_a_neighbour() -> None:
    """Trusted or not."""
    one = Broker("b1")
    one.handle_link_up("b2", 0.0)
    assert one.handle_message("b2", m.Publish("b1/news/7", BODY), 0.0).quarantined
    assert not one.handle_client("news", m.ClientPublish("7", BODY), 0.0).quarantined


def test_no_way_leads_through_a_leaf() -> None:
    """However good the root that it knows."""
    checks = triangle()
    for victim in ("b1", "b2"):
        checks.world.forge("evil", victim, m.Hello(("evil", "!"), 1))
        checks.world.forge("evil", victim, m.Hello(("evil", "b1"), 1))
    checks.world.run()
    assert broker(checks, "b1").path == ("b1",)
    assert broker(checks, "b2").path == ("b2", "b1")
    before = checks.world.channels["b1", "b2"].carried.get("Publish", 0)
    checks.publish("b1", "news", "1", BODY)
    checks.world.run()
    assert checks.counted.delivered == 1
    assert checks.world.channels["b1", "b2"].carried["Publish"] == before + 1


def test_numbers_are_not_used_up() -> None:
    checks = triangle()
    checks.world.forge("evil", "b1", m.Unrest(WORLDS_END, "evil"))
    checks.rest()
    assert "there have not been" in checks.world.quarantined[0].reason
    assert broker(checks, "b1").agreement.stamp[0] < 100


def test_a_leaf_that_answers_nothing_holds_nobody_up() -> None:
    """Subscriptions are confirmed and tables trusted while it is there and mute."""
    checks = triangle()
    for neighbour in ("b1", "b2"):
        checks.world.silence("evil", neighbour, 1e6)
    checks.subscribe("b1", "s", "2", Filter("/x"))
    checks.world.add_broker("b3")
    checks.world.connect("b2", "b3")
    checks.world.run(checks.world.now + 5.0)
    for name in ("b1", "b2", "b3"):
        assert broker(checks, name).agreement.is_calm
    assert all(held.is_confirmed for held in checks.subscribed.values())


def test_a_leaf_advertises_for_nobody_else() -> None:
    """Otherwise the genuine advertisement would be refused as another of that name."""
    one = Broker("b1", Policy(leaves=frozenset(["evil"])))
    one.handle_link_up("evil", 0.0)
    one.handle_message("evil", m.Hello(("evil", "b1"), 1), 0.0)
    one.handle_message("evil", m.Reset(1), 0.0)
    refused = one.handle_message("evil", m.Advertise("b2/0", Advertised(("/lie",))), 0.0).quarantined
    assert [each.reason for each in refused] == ["it is a leaf and advertises for others"]
    assert not one.handle_message("evil", m.Advertise("evil/0", Advertised(("/a",))), 0.0).quarantined


def test_a_leaf_is_not_told_what_others_want() -> None:
    checks = triangle()
    told = broker(checks, "b1").publications.sides["evil"].told
    assert list(told) == [EVERYTHING]


def test_a_leaf_says_what_it_wants_before_anybody_advertises_it() -> None:
    """It is not waited for, so a publisher may publish before a leaf has heard of it."""
    world = World(1, policy=Policy(leaves=frozenset(["leaf"])))
    for name in ("b1", "b2", "leaf"):
        world.add_broker(name)
    world.connect("b1", "b2")
    world.connect("b2", "leaf")
    checks = Checks(world, satisfied)
    checks.subscribe("leaf", "s", "1", Filter("/x"))
    checks.rest()
    assert [entry.neighbours for entry in broker(checks, "b2").publications.entries.values()][-1] == {"leaf"}
    checks.advertise("b1", "p", "k", Advertised(("/x/y",)))
    checks.rest()
    assert set(broker(checks, "b2").subscriptions.informed["leaf"].told.values()) == {"b2/*"}
    checks.publish("b1", "p", "1", b"<x/>")
    checks.rest()
    assert checks.counted.delivered == 1


def test_a_leaf_sends_whole_documents_where_paths_are_the_unit() -> None:
    """Branches and values cannot be answered from single paths."""
    world = World(1, policy=Policy(unit="path", leaves=frozenset(["leaf"])))
    for name in ("b1", "leaf"):
        world.add_broker(name)
    world.connect("b1", "leaf")
    checks = Checks(world, satisfied)
    checks.subscribe("b1", "s", "1", Filter("/x[y][z]"))
    checks.advertise("leaf", "p", "k", Advertised(("/x/y", "/x/z")))
    checks.rest()
    checks.publish("leaf", "p", "1", b"<x><y/><z/></x>")
    checks.rest()
    assert checks.counted.delivered == 1


@pytest.mark.parametrize(("first", "second"), [(("a", "b/1"), ("a/b", "1")), (("a", "b%2F1"), ("a", "b/1"))])
def test_ids_of_clients_are_not_mistaken_for_one_another(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    one = Broker("b1")
    one.handle_client("s", m.ClientSubscribe("1", Filter("//y")), 0.0)
    found = [
        delivery.document
        for client, id in (first, second)
        for delivery in one.handle_client(client, m.ClientPublish(id, BODY), 0.0).deliveries
    ]
    assert len(set(found)) == 2


def test_a_refused_document_is_not_silent() -> None:
    """By policy, what was not advertised is refused, with the path that was not."""
    one = Broker("b1", Policy(unadvertised="refuse"))
    outcome = one.handle_client("p", m.ClientPublish("1", BODY), 0.0)
    assert "/x/y, which p has not advertised" in outcome.quarantined[0].reason
    assert outcome.notes
