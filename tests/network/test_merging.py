"""Mergers cover their members, are as tight as the rules allow, and are kept within the degree by brokers."""

from __future__ import annotations

from random import Random

import pytest

from pathcast import matches
from pathcast.network import Advertised, Broker, Filter, Merging, Policy, covers, imperfect_degree, merge
from pathcast.network import message as m
from pathcast.network.merging import Steps, steps, text
from pathcast.network.values import MOST, Valued, valued
from pathcast.schema import Schema
from tests.network import oracle


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a/*/c/d", "a/*/c/e", "//a/*/c/*"),
        ("/a/c/*/*", "/a//c/*/c", "/a//c/*/*"),
        ("/a//b", "/a/b", "/a//b"),
        ("/a/b/c/d", "/a/x/c/d", "/a/*/c/d"),
        ("/a/b/c/d", "/a/x/c/y", "/a/*/c/*"),
        ("/a/b/c/d", "/a/x/y/d", "/a/*/*/d"),
        ("/a/b/d/e", "/a/x/y/d/e", "/a//d/e"),
        ("/a/b", "/c/d", None),
        ("/a[x]/b", "/a[x]/c", None),
        ("/a/b//c/d", "/a//b/c/d", "/a//b//c/d"),
        ("/a/b/c/d/e", "/a/x/d/e", "/a//d/e"),
        ("//a[@x > 3]", "//a[@x > 5]", "//a[@x > 3]"),
        ("//a[@x > 5]", "//a[@x < 3]", "//a[@x > 5 or @x < 3]"),
        ("//a[@x = 1]", "//a[@x=2]", "//a[@x = 1 or @x = 2]"),
        ("//a[@x = 1 or @x = 2]", "//a[@x = 3]", "//a[@x = 1 or @x = 2 or @x = 3]"),
        ("/a[b = 'or @x = 1']/c", '/a[b/@d = "]"]/c', "/a[b = 'or @x = 1' or b/@d = \"]\"]/c"),
        ("//a[@x = 1]/b", "//a/b[@x = 1]", None),
        ("//a[@x = 1][@y = 2]", "//a[@x = 2][@y = 2]", None),
        ("//a[1]", "//a[2]", None),
        ("//a[@x = 1]", "//c[@x = 1]", None),
        ("//a[@x = 1 and @y = 1]", "//a[@x = 2]", None),
    ],
)
def test_rules(first: str, second: str, expected: str | None) -> None:
    found = merge(first, second)
    assert found == expected
    if found is not None:
        assert covers(found, first)
        assert covers(found, second)


def test_random_mergers_cover_their_members() -> None:
    random = Random(5)
    made = 0
    for _ in range(5_000):
        first, second = oracle.pattern(random, 5), oracle.pattern(random, 5)
        merger = merge(first, second)
        if merger is not None:
            made += 1
            assert covers(merger, first), (first, second, merger)
            assert covers(merger, second), (first, second, merger)
    assert made > 500


def test_degree() -> None:
    """The paper's example: two of five elements at the fourth place, so 60 % is too much."""
    schema = Schema.from_text(
        "<!ELEMENT a (b)> <!ELEMENT b (c)> <!ELEMENT c (a | b | c | d | e)*>"
        " <!ELEMENT d EMPTY> <!ELEMENT e EMPTY>",
        root="a",
    )
    degree = imperfect_degree(schema, "/a/*/c/*", ["/a/*/c/d", "/a/*/c/e"])
    assert degree == pytest.approx(0.6)
    assert imperfect_degree(schema, "/a/b", ["/a/b"]) == 0
    assert imperfect_degree(schema, "/x/*", ["/x/y"]) is None


def test_too_many_values_are_the_path_alone() -> None:
    many = " or ".join(f"@x = {number}" for number in range(MOST))
    assert merge(f"//a[{many}]/b", "//a[@x = -1]/b") == "//a/b"
    assert merge(f"//a[{many}]/b", "//a[@x = -1]/b", rules=(1, 2, 3)) is None


def changed(path: Steps, random: Random) -> Steps:
    """A path that differs in one or two things."""
    found = list(path)
    for _ in range(2):
        at = random.randrange(len(found))
        axis, name = found[at]
        found[at] = random.choice([(axis, random.choice("abc*")), (random.choice(["/", "//"]), name)])
    return tuple(found)


def test_no_rule_makes_a_tighter_merger() -> None:
    random = Random(7)
    compared = 0
    for _ in range(1_500):
        path = tuple((random.choice(["/", "//"]), random.choice("abc*")) for _ in range(random.randint(3, 5)))
        first, second = text(path), text(changed(path, random))
        merger = merge(first, second)
        for rule in (1, 2, 3):
            other = merge(first, second, rules=(rule,))
            if merger is not None and other is not None and other != merger:
                compared += 1
                assert covers(other, merger), (first, second, merger, other)
    assert compared > 100


def expression(random: Random) -> str:
    """A short path with one test of a value, of which there are few."""
    operand = random.choice(["@x", "@y", "b", "."])
    test = f"{operand} {random.choice(['=', '=', '!=', '<', '>='])} {random.choice(['1', '2', '3'])}"
    head, tail = random.choice([("//a", ""), ("//a", "/b"), ("/r/a", ""), ("/*/a", "//b")])
    return f"{head}[{test}]{tail}"


def document(random: Random) -> bytes:
    def element(depth: int) -> str:
        name = random.choice("ab") if depth else "r"
        attributes = "".join(f" {each}='{random.randint(0, 4)}'" for each in "xy" if random.random() < 0.5)
        inside = "".join(element(depth + 1) for _ in range(random.randint(0, 3))) if depth < 4 else ""
        return f"<{name}{attributes}>{inside or random.randint(0, 4)}</{name}>"

    return element(0).encode()


def test_values_that_are_listed_are_neither_more_nor_less() -> None:
    """A merger of values selects a document if and only if a member does."""
    random = Random(11)
    documents = [document(random) for _ in range(40)]
    listed = 0
    for _ in range(1_500):
        first, second = expression(random), expression(random)
        merger = merge(first, second)
        if merger is None:
            continue
        assert covers(merger, first), (first, second, merger)
        assert covers(merger, second), (first, second, merger)
        if merger not in (first, second):
            listed += 1
            for body in random.sample(documents, 5):
                expected = matches(first, body) or matches(second, body)
                assert matches(merger, body) == expected, (first, second, merger, body)
    assert listed > 100


def linked(merging: Merging, *advertised: str) -> Broker:
    broker = Broker("b1", Policy(merging=merging))
    broker.handle_link_up("b2", 0.0)
    broker.handle_message("b2", m.Hello(("b2", "b1"), 1), 0.0)
    broker.handle_message("b2", m.Reset(1), 0.0)
    broker.handle_message("b2", m.Advertise("b2/0", Advertised(advertised)), 0.0)
    return broker


def told(broker: Broker) -> list[str]:
    return [filter.xpath for filter in broker.publications.sides["b2"].told]


def test_a_broker_finds_two_names_that_differ() -> None:
    advertised = ("/a/b/c/d", "/a/b/c/y", "/a/x/c/d", "/a/x/c/y")
    broker = linked(Merging(rules=(2,)), *advertised)
    for number, xpath in enumerate(advertised):
        assert len(told(broker)) == number
        broker.handle_client("x", m.ClientSubscribe(str(number), Filter(xpath)), 0.0)
    assert told(broker) == ["/a/*/c/*"], "with all four it is perfect"
    tolerant = linked(Merging(rules=(2,), max_degree=0.5), *advertised)
    for number, xpath in enumerate(("/a/b/c/d", "/a/x/c/y")):
        tolerant.handle_client("x", m.ClientSubscribe(str(number), Filter(xpath)), 0.0)
    assert told(tolerant) == ["/a/*/c/*"]


def test_a_broker_lists_values() -> None:
    broker = linked(Merging(rules=(4,)), "/a/b")
    sent = 0
    for number in range(40):
        outcome = broker.handle_client(
            "x", m.ClientSubscribe(str(number), Filter(f"/a/b[@n = {number}]")), 0.0
        )
        sent += len(outcome.messages)
    tests = [parts.tests for xpath in told(broker) if (parts := valued(xpath))]
    assert sum(map(len, tests)) == 40
    assert sorted(map(len, tests), reverse=True) == [16, 16, 8]
    # A merger is told anew when it doubles, and each time two are taken back for one at most.
    assert sent < 4 * 40
    broker.handle_client("x", m.ClientUnsubscribe("0"), 0.0)
    assert not any("@n = 0" in (valued(xpath) or Valued("", (), "")).tests for xpath in told(broker))
    for number in range(1, 40):
        broker.handle_client("x", m.ClientUnsubscribe(str(number)), 0.0)
    assert (told(broker), len(broker.cover)) == ([], 0)


@pytest.mark.parametrize("degree", [0.0, 0.4])
def test_whatever_comes_and_goes_the_neighbour_knows_enough(degree: float) -> None:
    """Every wanted filter is covered by one that was told; nothing is in two mergers; the degree is kept."""
    random = Random(round(degree * 10))
    names = "abc"
    broker = linked(Merging(rules=(1, 2, 3, 4), max_degree=degree), "{#=a,b,c;a!=a,b,c;b!=a,b,c;c!=a,b,c}")
    groups = broker.publications.sides["b2"].groups
    assert groups is not None
    held: dict[str, str] = {}
    merged = 0
    for number in range(200):
        if held and random.random() < 0.45:
            id = random.choice(sorted(held))
            del held[id]
            broker.handle_client("x", m.ClientUnsubscribe(id), 0.0)
        else:
            chosen = [random.choice(["/", "/", "//"]) + random.choice(names) for _ in range(4)]
            test = f"[@x = {random.randint(1, 30)}]"
            xpath = random.choice(
                ["".join(chosen), "".join(chosen[:2]) + test, f"//a[@y < {random.randint(1, 9)}]"]
            )
            held[str(number)] = xpath
            broker.handle_client("x", m.ClientSubscribe(str(number), Filter(xpath)), 0.0)
        known = told(broker)
        for xpath in set(held.values()) - set(known):
            assert any(covers(each, xpath) for each in known), (number, xpath)
        members = [member for group in groups.by_merger.values() for member in group.members]
        assert len(members) == len(set(members)) == len(groups.by_member)
        for group in groups.by_merger.values():
            assert groups._degree(group) <= degree
            assert all(broker.cover.covers(group.entry.handle, each) for each in group.members)
            merged += len(group.members)
    assert merged > 100
    for id in list(held):
        broker.handle_client("x", m.ClientUnsubscribe(id), 0.0)
    assert (told(broker), len(broker.cover), len(groups.waiting)) == ([], 0, 0)


def test_steps_and_text_are_inverse() -> None:
    random = Random(3)
    for _ in range(200):
        path = steps(oracle.pattern(random))
        assert path is not None
        assert steps(text(path)) == path
