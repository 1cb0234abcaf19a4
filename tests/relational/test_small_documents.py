"""On DuckDB, few subscriptions on a small document: names find the candidates, the expressions decide."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("duckdb", reason="duckdb is not installed")

from pathcast import Limits
from pathcast.relational import Relational
from pathcast.relational.backends import duckdb
from tests.relational.agreement import run
from tests.relational.verdicts import wrong_verdicts


@pytest.fixture
def database() -> Iterator[Relational]:
    with Relational("duckdb") as database:
        yield database


@pytest.fixture
def everything_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb, "SMALL", 1 << 30)
    monkeypatch.setattr(duckdb, "FEW", 1 << 30)


def in_memory(ignore: bool) -> Relational:
    return Relational("duckdb", ignore_namespaces=ignore)


@pytest.mark.usefixtures("everything_is_small")
def test_the_verdicts_of_testdata() -> None:
    wrong = wrong_verdicts(in_memory)
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.usefixtures("everything_is_small")
def test_random_pairs() -> None:
    pairs, wrong = run(17, range(10), in_memory)
    print(f"seed 17, {pairs} pairs")
    assert not wrong, "\n".join(wrong[:3])


def test_only_what_has_a_name_of_the_document_is_a_candidate(database: Relational) -> None:
    database.subscribe(
        [("a", "//a"), ("b", "/a/b[c][d]"), ("c", "//c[not(d)]"), ("d", "/e/d"), ("not", "not(//a)")]
    )
    assert database.match([("d", b"<a><b/></a>"), ("e", b"<e/>")]) == [("d", "a"), ("e", "not")]
    backend: Any = database._backend
    with backend.reading() as session:
        found = session.rows(duckdb.outlining())
        outline: Any = session._outline(session.shape())
    candidates = {each for _, name in found for each in outline.subscriptions[name]}
    assert candidates == {'"a"', '"b"', '"not"'}


@pytest.mark.usefixtures("everything_is_small")
def test_what_costs_too_much_is_told_where_it_is_a_candidate() -> None:
    with Relational("duckdb", limits=Limits(evaluation_steps=10_000)) as database:
        database.subscribe(
            [("costly", "//a[count(preceding::*) > count(following::*)]"), ("odd", "//*[not(b)]")]
        )
        found = database.match([("d", "<r>" + "<a/>" * 500 + "</r>"), ("e", "<r>" + "<c/>" * 500 + "</r>")])
        assert found == [("d", "odd"), ("e", "odd")]
        ((name, error),) = database.dead_letters
    assert (name, "'costly'" in error.reason) == ("d", True)


def test_changes_are_seen(database: Relational) -> None:
    document = b"<a><b>2</b><c/></a>"
    database.subscribe([("s", "/a[b = 2]"), ("t", "//c")])
    assert database.match([("d", document)]) == [("d", "s"), ("d", "t")]
    database.subscribe([("s", "/a[b = 3]"), ("u", "/a[b = 2][c]")])
    assert database.match([("d", document)]) == [("d", "t"), ("d", "u")]
    database.unsubscribe(["t"])
    assert database.match([("d", document)]) == [("d", "u")]


def test_many_subscriptions_go_through_the_whole_statement(
    database: Relational, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb, "FEW", 2)
    database.subscribe([(number, f"//a[b = {number}]") for number in range(3)])
    backend: Any = database._backend
    for few in (False, True):
        assert database.match([("d", b"<a><b>2</b></a>")]) == [("d", 2)]
        with backend.reading() as session:
            assert (session._outline(session.shape()) is not None) is few
        database.unsubscribe([0] if not few else [])


def test_threads_share_what_is_known_of_the_expressions(database: Relational) -> None:
    database.subscribe([(number, f"//a[not(b = {number})]") for number in range(50)])
    wanted = {text: [("d", n) for n in range(50) if n != text] for text in range(8)}
    found: dict[int, list[object]] = {}

    def match(text: int) -> None:
        found[text] = [database.match([("d", f"<a><b>{text}</b></a>")]) for _ in range(5)]

    threads = [threading.Thread(target=match, args=(text,)) for text in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {text: [pairs] * 5 for text, pairs in wanted.items()}
