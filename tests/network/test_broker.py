"""One broker, or a few: what it does with lies, repetitions, restarts and strangers."""

from __future__ import annotations

import subprocess
import sys
from random import Random
from typing import Any

import pytest

from pathcast import Limits, _core
from pathcast.network import Broker, Filter, Network, Policy, publications, restored, snapshot
from pathcast.network import message as m
from pathcast.network.message import Advertised
from pathcast.network.outcome import Outcome
from pathcast.network.state import Record, StateError
from pathcast.network.wire import encode

A = Advertised(("/a/b", "/a/c"))


def linked(name: str = "b1", other: str = "b2", policy: Policy | None = None) -> Broker:
    """A broker whose neighbour has said hello and has nothing to say."""
    broker = Broker(name, policy)
    broker.handle_link_up(other, 0.0)
    broker.handle_message(other, m.Hello((other, name), 1), 0.0)
    broker.handle_message(other, m.Reset(1), 0.0)
    broker.handle_message(other, m.Sync(1), 0.0)
    for round in (1, 2):
        broker.handle_message(other, m.Settled(1, name, round), 0.0)
    broker.handle_message(other, m.Synced(1), 0.0)
    assert broker.agreement.is_calm
    return broker


def texts(outcome: Outcome) -> list[str]:
    """What neighbours are told of filters, in short."""
    signs = {m.Subscribe: "+", m.Unsubscribe: "-"}
    return [
        signs[type(message)] + message.filter.xpath
        for _, message in outcome.messages
        if isinstance(message, m.Subscribe | m.Unsubscribe)
    ]


def test_what_was_hidden_surfaces_before_what_hid_it_goes() -> None:
    """A covering subscription is removed while covered ones live."""
    broker = linked(policy=Policy(advertisements=False))
    assert texts(broker.handle_client("x", m.ClientSubscribe("1", Filter("/a/b")), 0.0)) == ["+/a/b"]
    assert texts(broker.handle_client("x", m.ClientSubscribe("2", Filter("/a/b/c")), 0.0)) == []
    assert texts(broker.handle_client("x", m.ClientSubscribe("3", Filter("//b")), 0.0)) == ["+//b", "-/a/b"]
    assert texts(broker.handle_client("x", m.ClientUnsubscribe("1"), 0.0)) == []
    assert texts(broker.handle_client("x", m.ClientUnsubscribe("3"), 0.0)) == ["+/a/b/c", "-//b"]


def test_half_of_a_merger_leaves() -> None:
    """The rest is no longer merged, and nobody gets what only the merger selects."""
    from pathcast.network import Merging

    broker = linked(policy=Policy(merging=Merging(max_degree=0.5)))
    advertised = Advertised(("/a/b/x", "/a/c/x", "/a/d/x"))
    assert texts(broker.handle_message("b2", m.Advertise("b2/0", advertised), 0.0)) == []
    assert texts(broker.handle_client("x", m.ClientSubscribe("1", Filter("/a/b/x")), 0.0)) == ["+/a/b/x"]
    outcome = broker.handle_client("x", m.ClientSubscribe("2", Filter("/a/c/x")), 0.0)
    assert texts(outcome) == ["+/a/*/x", "-/a/b/x"]
    delivered = broker.handle_message("b2", m.Publish("b2/p/1", b"<a><d><x/></d></a>"), 0.0).deliveries
    assert delivered == []
    assert broker.counters.unmatched == 1
    assert texts(broker.handle_client("x", m.ClientUnsubscribe("1"), 0.0)) == ["+/a/c/x", "-/a/*/x"]
    assert texts(broker.handle_client("x", m.ClientUnsubscribe("2"), 0.0)) == ["-/a/c/x"]
    assert len(broker.cover) == 0


def test_filters_that_are_alike_and_cannot_be_merged_are_not_tried_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pathcast.network import Merging
    from pathcast.network.groups import CANDIDATES, Groups

    tried = 0
    found = Groups._found

    def counted(*arguments: Any) -> bool:
        nonlocal tried
        tried += 1
        return found(*arguments)

    monkeypatch.setattr(Groups, "_found", counted)
    broker = linked(policy=Policy(merging=Merging(max_degree=0.1)))
    broker.handle_message("b2", m.Advertise("b2/0", Advertised(("/a/*/c",))), 0.0)
    number = 10 * CANDIDATES
    for each in range(number):
        broker.handle_client("x", m.ClientSubscribe(str(each), Filter(f"/a/x{each}/c")), 0.0)
    assert len(broker.publications.sides["b2"].told) == number
    assert 1 < tried < CANDIDATES


def test_subscriptions_follow_advertisements() -> None:
    """Advertise after subscribe, unadvertise while there are subscriptions."""
    broker = linked()
    assert texts(broker.handle_client("x", m.ClientSubscribe("1", Filter("//b")), 0.0)) == []
    assert texts(broker.handle_client("x", m.ClientSubscribe("2", Filter("//z")), 0.0)) == []
    assert texts(broker.handle_message("b2", m.Advertise("b2/0", A), 0.0)) == ["+//b"]
    assert texts(broker.handle_message("b2", m.Unadvertise("b2/0"), 0.0)) == ["-//b"]


def test_an_advertisement_hides_behind_one_that_covers_it() -> None:
    broker = linked()

    def told(outcome: Outcome) -> list[str]:
        return [
            type(message).__name__
            for _, message in outcome.messages
            if isinstance(message, m.Advertise | m.Unadvertise)
        ]

    small, large = Advertised(("/a/b",)), Advertised(("/a(/*)+",))
    assert told(broker.handle_client("p", m.ClientAdvertise("1", small), 0.0)) == ["Advertise"]
    assert told(broker.handle_client("p", m.ClientAdvertise("2", small), 0.0)) == []
    assert told(broker.handle_client("p", m.ClientAdvertise("3", large), 0.0)) == ["Advertise", "Unadvertise"]
    assert told(broker.handle_client("p", m.ClientUnadvertise("3"), 0.0)) == ["Advertise", "Unadvertise"]
    assert told(broker.handle_client("p", m.ClientLeave(), 0.0)) == ["Unadvertise"]


LIES: list[tuple[m.BrokerMessage, str]] = [
    (m.Unsubscribe(Filter("/never")), "has not subscribed"),
    (m.Unadvertise("never"), "has not advertised"),
    (m.Subscribe(Filter("/a[")), "expected a step"),
    (m.Subscribe(Filter("/" + "/a" * 9000)), ""),
    (m.Subscribe(Filter("//n:a")), "no namespace is bound"),
    (m.Advertise("x", Advertised(("/a(",))), "expected"),
    (m.Hello(("b3", "a"), 1), "way to the root cannot be right"),
    (m.Hello(("b2", "a", "b2"), 1), "way to the root cannot be right"),
    (m.Reset(99), "has not been"),
    (m.Publish("b9/x/1", b"<a>"), "line 1"),
    (m.Publish("b9/x/2", b'<!DOCTYPE a [<!ENTITY x "y">]><a/>'), "entity"),
]


@pytest.mark.parametrize(("lie", "reason"), LIES, ids=[type(lie).__name__ for lie, _ in LIES])
def test_a_neighbour_that_lies_changes_nothing(lie: m.BrokerMessage, reason: str) -> None:
    broker = linked()
    broker.handle_client("x", m.ClientSubscribe("1", Filter("//b")), 0.0)
    before = sorted(snapshot(broker))
    outcome = broker.handle_message("b2", lie, 0.0)
    assert reason in outcome.quarantined[0].reason
    assert outcome.quarantined[0].sender == "broker b2"
    assert not outcome.messages
    assert not outcome.deliveries
    assert sorted(snapshot(broker)) == before


def test_garbled_bytes_and_strangers_are_set_aside() -> None:
    """And what they send never starts a line of a log."""
    broker = linked()
    for kind, sender, data in (
        ("broker", "b2", b"\x00\x01garbage"),
        ("broker", "b2", b'{"v":1,"kind":"no\\nsuch"}\n'),
        ("broker", "nobody", encode(m.Subscribe(Filter("/a")))),
        ("broker", "b2", encode(m.ClientSubscribe("1", Filter("/a")))),
        ("client", "x", encode(m.Subscribe(Filter("/a")))),
    ):
        outcome = broker.handle_bytes(kind, sender, data, 0.0)
        assert len(outcome.quarantined) == 1
        assert outcome.quarantined[0].data == data
        assert all(note.isprintable() for note in outcome.notes)
    assert not broker.publications.entries


def test_a_flood_is_cut_and_others_are_not() -> None:
    """Also when the clock jumps back."""
    broker = linked(policy=Policy(rate=10.0, burst=20))
    for name in ("flood", "calm"):
        broker.handle_client(name, m.ClientSubscribe("s", Filter("//b")), 0.0)
    refused = 0
    for number in range(1_000):
        outcome = broker.handle_client("flood", m.ClientPublish(str(number), b"<a/>"), 5.0 - number / 1000)
        refused += bool(outcome.quarantined)
    assert 950 <= refused <= 990
    outcome = broker.handle_client("calm", m.ClientPublish("1", b"<b/>"), 4.0)
    assert [delivery.client for delivery in outcome.deliveries] == ["calm", "flood"]
    assert broker.handle_client("flood", m.ClientPublish("again", b"<b/>"), 10.0).deliveries


def test_too_many_filters_are_refused() -> None:
    broker = linked(policy=Policy(max_filters=3, max_advertisements=2))
    for number in range(5):
        outcome = broker.handle_message("b2", m.Subscribe(Filter(f"/a{number}")), 0.0)
        assert bool(outcome.quarantined) == (number >= 3)
    broker.handle_message("b2", m.Unsubscribe(Filter("/a0")), 0.0)
    assert not broker.handle_message("b2", m.Subscribe(Filter("/a9")), 0.0).quarantined
    for number in range(4):
        outcome = broker.handle_message("b2", m.Advertise(f"b2/{number}", A), 0.0)
        assert bool(outcome.quarantined) == (number >= 2)


def test_ids_of_documents() -> None:
    """The same id again, with the same bytes and with others; a replay from a neighbour."""
    broker = linked()
    broker.handle_client("x", m.ClientSubscribe("1", Filter("//b")), 0.0)
    assert len(broker.handle_client("p", m.ClientPublish("1", b"<b/>"), 0.0).deliveries) == 1
    again = broker.handle_client("p", m.ClientPublish("1", b"<b/>"), 0.0)
    assert (again.deliveries, again.quarantined) == ([], [])
    other = broker.handle_client("p", m.ClientPublish("1", b"<b x=''/>"), 0.0)
    assert "used before" in other.quarantined[0].reason
    assert len(broker.handle_message("b2", m.Publish("b2/p/1", b"<b/>"), 0.0).deliveries) == 1
    assert broker.handle_message("b2", m.Publish("b2/p/1", b"<b/>"), 0.0).deliveries == []
    assert broker.counters.duplicates == 3


def test_a_document_that_breaks_its_promise_is_delivered_and_told() -> None:
    broker = linked()
    broker.handle_client("x", m.ClientSubscribe("1", Filter("//z")), 0.0)
    broker.handle_client("p", m.ClientAdvertise("k", A), 0.0)
    outcome = broker.handle_client("p", m.ClientPublish("1", b"<a><b/><z/></a>"), 0.0)
    assert len(outcome.deliveries) == 1
    assert broker.counters.violations == 1
    assert "/a/z" in outcome.notes[0]
    broker.handle_client("p", m.ClientPublish("2", b"<a><b/><c/></a>"), 0.0)
    assert broker.counters.violations == 1


def test_a_client_changes_a_subscription() -> None:
    """The id stays, the expression changes; refused ones change nothing."""
    broker = linked(policy=Policy(advertisements=False))
    broker.handle_client("x", m.ClientSubscribe("1", Filter("/a")), 0.0)
    assert texts(broker.handle_client("x", m.ClientSubscribe("1", Filter("/b")), 0.0)) == ["+/b", "-/a"]
    assert broker.handle_client("x", m.ClientSubscribe("1", Filter("/b[")), 0.0).quarantined
    assert broker.clients["x"].filters == {"1": Filter("/b")}
    assert broker.handle_client("x", m.ClientUnsubscribe("9"), 0.0).quarantined
    broker.handle_client("x", m.ClientUnsubscribe("1"), 0.0)
    assert broker.handle_client("x", m.ClientUnsubscribe("1"), 0.0).quarantined
    assert not broker.clients


def filled() -> Broker:
    """A broker with a bit of everything."""
    broker = linked()
    broker.handle_message("b2", m.Advertise("b2/0", A), 0.0)
    broker.handle_message("b2", m.Subscribe(Filter("/a/c")), 0.0)
    broker.handle_client("x", m.ClientSubscribe("1", Filter("//b", False, (("n", "urn:n"),))), 0.0)
    broker.handle_client("x", m.ClientSubscribe("2", Filter("/a[b][c]", True)), 0.0)
    broker.handle_client("p", m.ClientAdvertise("k", A), 0.0)
    broker.handle_client("p", m.ClientPublish("1", b"<a/>"), 0.0)
    return broker


def test_a_restored_broker_is_the_same() -> None:
    broker = filled()
    again, outcome = restored("b1", snapshot(broker))
    assert outcome.messages == []
    assert sorted(snapshot(again)) == sorted(snapshot(broker))
    document = m.Publish("b2/p/7", b"<a><b/><c/></a>")
    assert again.handle_message("b2", document, 1.0) == broker.handle_message("b2", document, 1.0)


def test_other_roots_and_leaves_after_a_restart_are_told() -> None:
    """Nobody may go on with a tree that the new settings do not allow."""
    ring = Network([("b1", "b2"), ("b2", "b3"), ("b3", "b1")])
    assert ring.brokers["b3"].path == ("b3", "b1")
    records = snapshot(ring.brokers["b3"])
    same, outcome = restored("b3", records)
    assert (same.path, outcome.messages) == (("b3", "b1"), [])
    other, outcome = restored("b3", records, Policy(roots=("b2",)))
    # Nobody has said yet that b2 is the root, so the way changes when they do; b3 itself may be one at once.
    assert other.path == ("b3", "b1")
    root, outcome = restored("b3", records, Policy(roots=("b3",)))
    assert root.path == ("b3",)
    assert {type(message).__name__ for _, message in outcome.messages} >= {"Unrest", "Hello"}
    leaf, outcome = restored("b3", records, Policy(leaves=frozenset(["b2"])))
    assert not leaf.agreement.is_calm
    assert any(isinstance(message, m.Unrest) for _, message in outcome.messages)
    _, outcome = restored("b3", snapshot(leaf), Policy(leaves=frozenset(["b2"])))
    assert outcome.messages == []


def test_damaged_state_is_an_error() -> None:
    """Torn, corrupted, of another version or broker; never a broker that forgot something."""
    records = snapshot(filled())
    damaged = [
        [Record(b'["broker"]', b'{"version":1,"name":"b1"}')],
        [Record(b'["broker"]', b'{"version":2,"name":"b9"}')],
        [Record(b"[", b"{}")],
        [Record(b"[]", b"{}")],
        [Record(b'["doc","x"]', b"[]")],
        [Record(b'["unheard-of","x"]', b"{}")],
        [Record(b'["link","b2"]', b"{}")],
        [Record(b'["sub","b7","/a",false,[]]', b"{}")],
        [Record(b'["client-sub","x","1"]', b'{"xpath":"/a["}')],
        [Record(b'["client-adv","x","1"]', b'{"as":"b1/0","texts":["/zz"]}')],
        [Record(b'["path"]', b'{"path":["b1","b0"]}')],
    ]
    for change in damaged:
        with pytest.raises(StateError):
            restored("b1", [*records, *change])
    for key, value in records:
        if value is not None and value != b"{}":
            with pytest.raises(StateError):
                restored("b1", [*records, (key, value[:-1])])


def test_neighbours_are_told_when_a_restored_broker_wants_something_else() -> None:
    broker = filled()
    records = [record for record in snapshot(broker) if b'"client-sub","x","1"' not in record.key]
    # //b no longer hides the tree pattern.
    _, outcome = restored("b1", records)
    assert texts(outcome) == ["+/a[b][c]", "-//b"]
    again, outcome = restored("b1", records, Policy(placed=1))
    assert texts(outcome) == [], "what neighbours were told is trusted for a while"
    told: list[str] = []
    while again.publications.sides["b2"].unfilled is not None:
        told += texts(again.handle_tick(0.0))
    assert told == ["+/a[b][c]", "-//b"]


def test_under_another_policy_neighbours_are_told_at_once() -> None:
    _, outcome = restored("b1", snapshot(filled()), Policy(covering=False))
    assert "+/a[b][c]" in texts(outcome)


def test_a_leaf_is_told_after_a_restart_what_a_client_has_asked_for_too() -> None:
    broker = Broker("b1")
    broker.handle_client("x", m.ClientSubscribe("1", publications.EVERYTHING), 0.0)
    broker.handle_link_up("b2", 0.0)
    broker.handle_message("b2", m.Hello(("b2", "b1"), 1), 0.0)
    again, _ = restored("b1", snapshot(broker), Policy(leaves=frozenset(["b2"])))
    assert publications.EVERYTHING in again.publications.sides["b2"].told


def test_a_restored_broker_finds_out_little_by_little() -> None:
    again, _ = restored("b1", snapshot(filled()), Policy(placed=1))
    (side,) = again.publications.sides.values()
    left: list[int] = []
    while side.unfilled is not None:
        left.append(len(side.unfilled))
        assert texts(again.handle_tick(0.0)) == []
    assert left == list(range(len(again.publications.entries) - 1, 0, -1))
    assert side.placed


def test_changes_do_not_wait_until_a_restored_broker_knows_what_covers_what() -> None:
    """What is new is told at once, nothing is taken back, and in the end the neighbour knows the roots."""
    records = snapshot(filled())
    whole = filled()
    again, _ = restored("b1", records, Policy(placed=1))
    side = again.publications.sides["b2"]
    before = set(side.told)
    for broker in (again, whole):
        new = broker.handle_client("x", m.ClientSubscribe("new", Filter("/a/b/new")), 0.0)
        gone = broker.handle_client("x", m.ClientUnsubscribe("1"), 0.0)
        if broker is again:
            assert texts(new) == ["+/a/b/new"], "whether anything covers it is not known yet"
            assert texts(gone) == []
            assert side.unfilled is not None
            assert before < set(side.told)
    while side.unfilled is not None:
        again.handle_tick(0.0)
    assert set(side.told) == set(whole.publications.sides["b2"].told)
    assert {record.key for record in snapshot(again)} == {record.key for record in snapshot(whole)}


def test_a_neighbour_that_advertises_nothing_costs_nothing() -> None:
    broker = linked()
    side = broker.publications.sides["b2"]
    advertised = m.Advertised(("/a/b",))
    for step in range(2):
        broker.handle_client("x", m.ClientSubscribe(str(step), Filter(f"/a[b = {step}]")), 0.0)
        assert not side.placed
        assert not side.told
        assert len(side.overlap.waiting) == 0
        broker.handle_message("b2", m.Advertise("k", advertised), 0.0)
        assert len(side.told) == step + 1
        broker.handle_message("b2", m.Unadvertise("k"), 0.0)
        assert not side.told


def test_paths_as_the_unit() -> None:
    broker = linked(policy=Policy(unit="path", advertisements=False))
    broker.handle_message("b2", m.Subscribe(Filter("//b")), 0.0)
    outcome = broker.handle_client("p", m.ClientPublish("1", b"<a><b x='1'>text</b><b x='1'/><c/></a>"), 0.0)
    assert outcome.messages == [("b2", m.Publish("b1/p/1", b'<a><b x="1"/></a>', 0))]
    broker.handle_message("b2", m.Subscribe(Filter("/a[c = '']")), 0.0)
    outcome = broker.handle_client("p", m.ClientPublish("2", b"<a><b/><c/></a>"), 0.0)
    assert outcome.messages == [("b2", m.Publish("b1/p/2", b"<a><b/><c/></a>"))]
    broker.handle_client("x", m.ClientSubscribe("1", Filter("//b")), 0.0)
    broker.handle_client("x", m.ClientSubscribe("2", Filter("not(//c)")), 0.0)
    found = [
        delivery.ids
        for number in (0, 1)
        for delivery in broker.handle_message(
            "b2", m.Publish("b2/p/1", b"<a><b/></a>", number), 0.0
        ).deliveries
    ]
    assert found == [("1",)]


FORBIDDEN = frozenset(
    {"asyncio", "concurrent", "ctypes", "datetime", "fcntl", "http", "io", "logging", "multiprocessing", "os"}
    | {"pathlib", "random", "secrets", "select", "selectors", "shutil", "signal", "socket", "socketserver"}
    | {"sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid"}
)

PROGRAM = """
import ast, sys
from pathlib import Path
import pathcast.network
folder = Path(pathcast.network.__file__).parent
pending, seen, bad = ["broker", "restore"], set(), []
while pending:
    name = pending.pop()
    if name in seen:
        continue
    seen.add(name)
    for node in ast.walk(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
        for each in names:
            if each.split(".")[0] in FORBIDDEN:
                bad.append(f"{name} imports {each}")
            if each.startswith("pathcast.network."):
                inner = each.split(".")[2]
                if (folder / f"{inner}.py").exists():
                    pending.append(inner)
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in ("open", "print"):
            bad.append(f"{name} calls {called.id}")
print(len(seen), *bad, sep="\\n")
"""


def test_the_broker_does_no_input_or_output() -> None:
    """It and everything of the network that it uses: no files, no sockets, no clock, no randomness."""
    program = f"FORBIDDEN = {sorted(FORBIDDEN)!r}\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    count, *bad = done.stdout.split("\n")[:-1]
    assert not bad
    assert int(count) >= 10


def test_the_last_advertisement_costs_no_more_than_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is one message to others, and is compared only with filters that wait for one of its names."""
    broker = linked()
    broker.handle_link_up("b3", 0.0)
    broker.handle_message("b3", m.Hello(("b3", "b1"), 1), 0.0)
    broker.handle_message("b3", m.Reset(1), 0.0)
    for number in range(100):
        broker.handle_client("x", m.ClientSubscribe(str(number), Filter(f"/r/a{number}//b")), 0.0)
    looked: list[tuple[int, int]] = []
    original = broker.cover

    class Watched:
        def __getattr__(self, name: str) -> object:
            return getattr(original, name)

        def overlapping(self, numbers: list[int], handles: list[int]) -> list[int]:
            looked.append((len(numbers), len(handles)))
            return original.overlapping(numbers, handles)

    monkeypatch.setattr(broker.publications.sides["b2"].overlap, "cover", Watched())
    for number in range(100):
        advertised = Advertised((f"/r/a{number}/b",))
        outcome = broker.handle_message("b2", m.Advertise(f"b2/{number}", advertised), 0.0)
        told = [type(each) for _, each in outcome.messages if isinstance(each, m.Advertise | m.Unadvertise)]
        assert told == [m.Advertise]
        assert texts(outcome) == [f"+/r/a{number}//b"]
    # The first time that the neighbour advertises anything, all are looked at.
    assert looked == [(1, 0), (1, 100), *[(1, 1)] * 99]
    outcome = broker.handle_message("b2", m.Unadvertise("b2/70"), 0.0)
    assert texts(outcome) == ["-/r/a70//b"]
    told = [type(each) for _, each in outcome.messages if isinstance(each, m.Advertise | m.Unadvertise)]
    assert told == [m.Unadvertise]


def test_many_advertisements_come_and_go_in_any_order() -> None:
    """Whatever hides behind whatever, the other neighbour knows what covers all that is left."""
    random = Random(3)
    texts = ["/a/b", "/a/c", "/a(/*)+", "/a/*", "/d/e", "/d(/*)+", "/f", "/g/h", "/g/*", "/d/*"]
    broker = linked()
    broker.handle_link_up("b3", 0.0)
    broker.handle_message("b3", m.Hello(("b3", "b1"), 1), 0.0)
    broker.handle_message("b3", m.Reset(1), 0.0)
    held: dict[str, str] = {}
    known: dict[str, str] = {}
    for step in range(600):
        if held and random.random() < 0.5:
            id = random.choice(sorted(held))
            del held[id]
            message: m.BrokerMessage = m.Unadvertise(id)
        else:
            id = f"b2/{step}"
            held[id] = random.choice(texts)
            message = m.Advertise(id, Advertised((held[id],)))
        outcome = broker.handle_message("b2", message, 0.0)
        assert not outcome.quarantined
        for neighbour, each in outcome.messages:
            if neighbour == "b3" and isinstance(each, m.Advertise):
                assert each.id not in known
                known[each.id] = each.advertised.texts[0]
            elif neighbour == "b3" and isinstance(each, m.Unadvertise):
                del known[each.id]
        assert known.items() <= held.items()
        for text in held.values():
            assert any(_advertisement_covers(other, text) for other in known.values())


def _advertisement_covers(general: str, specific: str) -> bool:
    cover = _core.Cover(Limits())
    cover.advertise(0, [general])
    cover.advertise(1, [specific])
    return cover.advertisement_covers(0, 1)


def test_many_names_are_no_way_around_the_rate() -> None:
    """Memory of senders is bounded, and so is what all of them may send together."""
    broker = linked(policy=Policy(rate=10.0, burst=20, total_rate=100.0))
    refused = 0
    for number in range(20_000):
        outcome = broker.handle_client(f"name{number}", m.ClientPublish("1", b"<a/>"), number / 10_000)
        refused += bool(outcome.quarantined)
    assert refused >= 19_000
    assert len(broker.rates.buckets) <= 10_000


def test_clients_are_bounded() -> None:
    broker = linked(policy=Policy(max_clients=3))
    for number in range(5):
        outcome = broker.handle_client(f"c{number}", m.ClientSubscribe("1", Filter("//a")), 0.0)
        assert bool(outcome.quarantined) == (number >= 3)
    broker.handle_client("c0", m.ClientLeave(), 0.0)
    assert not broker.handle_client("c9", m.ClientSubscribe("1", Filter("//a")), 0.0).quarantined


def test_origins_and_ids_of_documents_are_checked() -> None:
    """A neighbour cannot speak for this broker, and two clients never have the same id."""
    broker = linked()
    broker.handle_client("x", m.ClientSubscribe("1", Filter("//a")), 0.0)
    for document in ("b1/news/7", "b2/news", "b2/news/7/8", "b2/news/7!", "b2/news/7#1", "b2/x>1/2"):
        outcome = broker.handle_message("b2", m.Publish(document, b"<a/>"), 0.0)
        assert outcome.quarantined, document
        assert not outcome.deliveries
    assert broker.handle_client("news", m.ClientPublish("7", b"<a/>"), 0.0).deliveries
    assert broker.handle_client("a", m.ClientPublish("b/1", b"<a/>"), 0.0).deliveries
    assert broker.handle_client("a/b", m.ClientPublish("1", b"<a><c/></a>"), 0.0).deliveries


def test_a_neighbour_that_invents_a_root_changes_nothing_where_roots_are_configured() -> None:
    broker = linked("b2", "b1", Policy(roots=("b1",)))
    broker.handle_message("b1", m.Hello(("b1",), 1), 0.0)
    assert broker.path == ("b2", "b1")
    broker.handle_link_up("evil", 0.0)
    broker.handle_message("evil", m.Hello(("evil", "!"), 1), 0.0)
    assert broker.path == ("b2", "b1")
    assert broker.links["b1"].is_used


def test_what_is_not_advertised_is_refused_if_the_policy_says_so() -> None:
    broker = linked(policy=Policy(unadvertised="refuse"))
    broker.handle_client("p", m.ClientAdvertise("k", A), 0.0)
    assert not broker.handle_client("p", m.ClientPublish("1", b"<a><b/></a>"), 0.0).quarantined
    outcome = broker.handle_client("p", m.ClientPublish("2", b"<a><z/></a>"), 0.0)
    assert "/a/z" in outcome.quarantined[0].reason
    assert not [each for _, each in outcome.messages if isinstance(each, m.Publish)]


def test_a_neighbour_that_never_answers_costs_no_memory() -> None:
    """Subscriptions come and go while it is silent; when it answers, what is left is confirmed."""
    broker = linked(policy=Policy(advertisements=False))
    for number in range(10_000):
        broker.handle_client("x", m.ClientSubscribe("1", Filter(f"/a{number}")), 0.0)
    waiting = broker.agreement._confirming
    assert sum(len(each.subscriptions) for each in waiting) < 5_000
    confirmed = []
    for _ in range(3):
        link = broker.links["b2"]
        confirmed += broker.handle_message("b2", m.Synced(link.asked), 0.0).confirmed
    assert confirmed == [("x", "1")]
