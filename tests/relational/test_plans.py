"""Joins start from the small side: the rows of every operator, read from the plans after the run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("duckdb", reason="duckdb is not installed")

from pathcast import _core
from pathcast.relational import Relational
from pathcast.relational.backends.backend import Reader
from pathcast.relational.backends.duckdb import DuckSession
from pathcast.relational.database import ROWS
from pathcast.relational.sql import names, program, steps
from tests.relational.backends import Make

COMMON = 3_000  # subscriptions that ask for what every document has
DOCUMENTS = 40


def operators(node: Any) -> Iterator[tuple[str, int]]:
    """Kind and rows of every operator of a plan as JSON, whichever database it is from."""
    if isinstance(node, list):
        for each in node:
            yield from operators(each)
    elif isinstance(node, dict):
        if "operator_cardinality" in node:
            yield (
                str(node.get("operator_type") or node.get("operator_name")),
                int(node["operator_cardinality"]),
            )
        if "Actual Rows" in node:
            yield str(node["Node Type"]), int(node["Actual Rows"] * node["Actual Loops"])
        for value in node.values():
            if isinstance(value, (list, dict)):
                yield from operators(value)


def sides(node: Any) -> Iterator[tuple[int, int]]:
    """Of every hash join of a plan: the rows that were looked up, and those that were hashed."""
    if isinstance(node, list):
        for each in node:
            yield from sides(each)
    elif isinstance(node, dict):
        kind = str(node.get("operator_type") or node.get("Node Type"))
        if kind.replace("_", " ").lower() == "hash join":
            left, right = (next(operators(each))[1] for each in node.get("children") or node["Plans"])
            yield left, right
        for value in node.values():
            yield from sides(value)


@contextmanager
def matched(database: Relational, documents: list[bytes]) -> Iterator[Reader]:
    """A session that has gone all the way with some documents, table by table."""
    settings = database.settings
    with database._backend.reading() as session:
        shape = session.shape()
        rows, _ = _core.shred(
            documents, database.limits, False, settings.text_bytes, ROWS, settings.key, shape.subjects
        )
        if isinstance(session, DuckSession):  # its statement leaves no tables behind
            for name, some in rows.items():
                session.load(name, some)
            session.summarise(shape, rows["XMLPath"])
            program.find_facts(session, shape.levels, with_values=rows["XMLValue"].num_rows > 0)
        else:
            session.run(shape, rows)
        yield session


def analysed(session: Reader, query: str) -> Any:
    """The plan of a statement after it ran once more."""
    found = session.rows(f"explain (analyze, format json) {names.filled(query, 1)}")
    plan = found[0][-1]
    return json.loads(plan) if isinstance(plan, str) else plan


def joined(database: Relational, documents: list[bytes], query: str) -> dict[str, int]:
    """The most rows that any join or aggregate gave while a statement ran over some documents."""
    most: dict[str, int] = {}
    with matched(database, documents) as session:
        plan = analysed(session, query)
    for kind, count in operators(plan):
        name = kind.lower().replace("_", " ")
        if any(word in name for word in ("join", "loop", "group", "aggregate", "distinct")):
            most[name] = max(most.get(name, 0), count)
    return most


@pytest.fixture
def database(make: Make) -> Relational:
    """Thousands of subscriptions with a slot that every document fills, and one that hardly any does."""
    database = make(False)
    database.subscribe((number, f"/news/item[@lang = 'en'][code = {number}]") for number in range(COMMON))
    return database


def documents() -> list[bytes]:
    return [
        f"<news><item lang='en'><code>{number}</code><p/></item></news>".encode()
        for number in range(DOCUMENTS)
    ]


def test_a_common_slot_is_looked_up_and_not_multiplied(database: Relational) -> None:
    """Begun from `@lang`, each document would give a row for each subscription."""
    for query in (steps.STARTED, steps.PAIRED):
        most = joined(database, documents(), steps.at_first(query))
        assert most, "no join was seen in the plan"
        assert max(most.values()) <= 4 * DOCUMENTS, most
    from_the_wrong_end = steps.at_first(steps.STARTED.replace("first_slot", "second_slot"))
    assert max(joined(database, documents(), from_the_wrong_end).values()) == COMMON * DOCUMENTS


def test_the_facts_are_looked_up_and_not_hashed(make: Make) -> None:
    """Hashing all facts for each level took more time than everything else."""
    database = make(False)
    database.subscribe([("rare", "//item[code = 1][p]"), *((name, f"//p[{name} != 1][q]") for name in "abc")])
    many = "<p><a/><b/><c/><q/></p>" * 50
    some = [f"<news><item><code>{number}</code>{many}</item></news>".encode() for number in range(10)]
    with matched(database, some) as session:
        found = list(sides(analysed(session, steps.at_first(steps.PAIRED))))
        facts = int(session.rows("select count(*) from {Base}")[0][0])
    assert found, "no hash join was seen in the plan"
    # Not compared with the rows looked up: what was hashed may have filtered them before they were counted.
    assert all(hashed < facts for _, hashed in found), (found, facts)


def test_a_pattern_rises_once_for_each_chain(database: Relational) -> None:
    most = joined(database, documents(), steps.RISING)
    assert most, "no join was seen in the plan"
    assert max(most.values()) <= 8 * DOCUMENTS, most


def test_leaves_are_found_once_however_many_nodes_there_are(make: Make) -> None:
    database = make(False)
    database.subscribe([("s", "//item[p][q]"), ("t", "/news//p")])
    many = [b"<news><item>" + b"<p/>" * 500 + b"<q/></item></news>"]
    most = joined(database, many, steps.LEAVES)
    assert most, "no join was seen in the plan"
    assert max(most.values()) <= 20, most


def test_values_that_no_test_looks_at_are_no_rows(database: Relational) -> None:
    with database._backend.reading() as session:
        shape = session.shape()
    assert sorted((node, name) for _, node, name in shape.subjects) == [("code", "."), ("item", "@lang")]
    rows, _ = _core.shred(
        [b"<news><item lang='en' x='1' y='2'><code>1</code><p>text</p></item></news>"],
        database.limits,
        False,
        100,
        ROWS,
        database.settings.key,
        shape.subjects,
    )
    assert rows["XMLValue"].num_rows == 2
