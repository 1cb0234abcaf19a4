"""Value tests: those along chains are summed up first, those of the node itself are looked at last."""

from __future__ import annotations

from itertools import product

import pytest

pytest.importorskip("duckdb", reason="duckdb is not installed")

from pathcast import Index
from tests.relational.backends import Make
from tests.relational.test_plans import matched

TESTS = ("> 3", ">= 3", "< 3", "<= 3", "!= 3", "!= 'x'", "= 3", "= 'x'")
VALUES = ("", "1", "3", "3.0", "5", "x", "y", "NaN", "-0")
SHAPES = (
    "//a[@m {0}]",  # at the end of a chain
    "//a[@m {0}]/b",  # of the node itself, beside a leaf
    "//a[@m {0}][@n {1}]",  # nothing to start from but a test
    "//a[@m {0}][@n {1}]/b",
    "//a[@m {0}][b][c][@n {1}]",  # a further slot
    "//a[.//b {0}][c]",  # several values below one node
    "//a[b/text() {0}][@n {1}]",  # several values of one node
    "//a[@m {0}][@n {1}][@o]/b[c[@m {1}][d]]",  # on two levels
    "//a[@m][c[@n {0}]]",
)


def subscriptions() -> list[tuple[str, str]]:
    found = {
        shape.format(first, second)
        for shape, first, second in product(SHAPES, TESTS, TESTS)
        if first != second
    }
    return [(xpath, xpath) for xpath in sorted(found)]


def documents() -> list[tuple[int, str]]:
    texts = []
    for first, second in product(VALUES, VALUES):
        inner = f"<b>{first}<i/>{second}<c m='{second}'><d/></c></b><c n='{first}'/>"
        texts += [
            f"<a m='{first}' n='{second}'/>",
            f"<r><a m='{first}' n='{second}' o=''>{inner}</a></r>",
            f"<r><a m='{first}'><b>{first}</b><b>{second}</b><c/></a><a n='{second}'>{inner}</a></r>",
        ]
    return list(enumerate(texts))


def test_every_test_in_every_place_answers_as_the_index_does(make: Make) -> None:
    database, index = make(False), Index()
    rows = subscriptions()
    database.subscribe(rows)
    index.add_many(rows)
    wanted = [(at, id) for at, text in documents() for id in sorted(index.match(text))]
    assert {id for _, id in wanted} >= {xpath for xpath, _ in rows if "!=" in xpath and "= 3" not in xpath}
    assert database.match(documents()) == wanted


def test_what_most_nodes_pass_is_no_fact(make: Make) -> None:
    """Thousands of tests of one attribute would be a row each for every node that has it."""
    database = make(False)
    database.subscribe((number, f"//item[@price != {number}]/rare") for number in range(1_000))
    many = [b"<r>" + b"<item price='7'/>" * 100 + b"</r>", b"<item price='7'><rare/></item>"]
    with matched(database, many) as session:
        assert session.rows("select count(*) from {Base}")[0][0] <= 10
        assert session.rows("select count(*) from {Level}")[0][0] == 999


def test_the_values_of_a_chain_are_summed_up_before_they_are_tested(make: Make) -> None:
    database = make(False)
    database.subscribe((number, f"//item[price > {number}]/b") for number in range(50))
    prices = "".join(f"<price>{number}</price>" for number in range(200))
    with matched(database, [f"<item>{prices}<b/></item>".encode()]) as session:
        assert session.rows("select count(*) from {Base}")[0][0] <= 50 + 10
        assert session.rows("select count(*) from {Level}")[0][0] == 50
