"""A batch is one statement on DuckDB and one function on PostgreSQL, however many documents and levels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("duckdb", reason="duckdb is not installed")

from pathcast.relational import Relational
from pathcast.relational.backends import duckdb

if TYPE_CHECKING:
    from tests.postgres.server import PostgresServer

FLAT = [("s", "/a/b")]
DEEP = [("s", "/a[b[c[d][e = 1]][f]][g]//h[i[j][k]][l]"), ("t", "/a/b/c/d/e/f/g"), ("u", "//b[not(c)]")]
INSIDE = "<b><c><d/><e>1</e></c><f/></b><g/><x><h><i><j/><k/></i><l/></h></x>"


def batch(number: int) -> list[tuple[int, str]]:
    return [(at, f"<a>{INSIDE * (at % 3 + 1)}</a>") for at in range(number)]


class Counting:
    """A cursor that writes down what it is asked to run."""

    def __init__(self, cursor: Any) -> None:
        self.cursor = cursor
        self.texts: list[str] = []

    def execute(self, text: str, *arguments: Any) -> Any:
        self.texts.append(text)
        return self.cursor.execute(text, *arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cursor, name)


@contextmanager
def on_duckdb(subscriptions: list[tuple[str, str]]) -> Iterator[tuple[Relational, Counting]]:
    """A database that has matched before, and its cursor."""
    with Relational("duckdb") as database:
        database.subscribe(subscriptions)
        for _ in range(2):  # the first makes tables, the second prepares
            database.match(batch(30))
        (session,) = database._backend._idle  # type: ignore[attr-defined]
        session._cursor = Counting(session._cursor)
        yield database, session._cursor


@pytest.mark.parametrize("subscriptions", [FLAT, DEEP], ids=["flat", "deep"])
@pytest.mark.parametrize("number", [1, 100])
def test_a_batch_is_one_prepared_statement_on_duckdb(
    subscriptions: list[tuple[str, str]], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb, "SMALL", 0)
    monkeypatch.setattr(duckdb, "MANY", 1)
    with on_duckdb(subscriptions) as (database, cursor):
        assert database.match(batch(number))
        begin, settings, run, *definitions, commit = cursor.texts
    assert (begin, commit) == ("begin transaction", "commit")
    assert "pathcast_setting" in settings
    assert run.startswith("execute pathcast_")
    assert definitions == []


def test_known_paths_are_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb, "SMALL", 0)
    with on_duckdb(DEEP) as (database, cursor):
        database.match(batch(5))
        assert not any("insert" in text for text in cursor.texts)
        cursor.texts.clear()
        database.match([("new", "<a><b><new/></b></a>")])
        assert sum(text.startswith(("execute", "prepare")) for text in cursor.texts) >= 2


def test_a_summary_that_is_too_large_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb, "SMALL", 0)
    monkeypatch.setattr(duckdb, "SUMMARY_PATHS", 20)
    with Relational("duckdb") as database:
        database.subscribe([("s", "//b//c"), ("t", "/a/x7")])
        sizes = []
        for at in range(30):
            found = database.match([("d", f"<a><b><x{at}><c/></x{at}></b><x{at}/></a>")])
            assert found == [("d", "s"), *([("d", "t")] if at == 7 else [])]
            (session,) = database._backend._idle  # type: ignore[attr-defined]
            sizes.append(len(session._paths))
    assert max(sizes) <= 30
    assert any(after < before for before, after in pairwise(sizes))


def test_a_batch_is_one_function_on_postgresql(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The documents are copied in, a table at a time; what is found comes back. Levels add no round trip."""
    import psycopg

    counted: list[str] = []
    for name in ("execute", "copy"):
        plain = getattr(psycopg.Cursor, name)

        def counting(self: Any, query: Any, *arguments: Any, plain: Any = plain, **options: Any) -> Any:
            counted.append(str(query))
            return plain(self, query, *arguments, **options)

        monkeypatch.setattr(psycopg.Cursor, name, counting)
    trips = set()
    for subscriptions in (FLAT, DEEP[:2]):
        with Relational(postgres.schema()) as database:
            database.subscribe(subscriptions)
            database.match(batch(3))
            for number in (1, 60):
                counted.clear()
                assert database.match(batch(number))
                assert sum("pathcast_run" in text for text in counted) == 1
                copies = sum(text.startswith("copy") for text in counted)
                trips.add(len(counted) - copies)
                assert copies <= 6
    assert len(trips) == 1
    assert max(trips) <= 6
