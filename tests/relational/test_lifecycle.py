"""Subscriptions come and go: what is left equals a fresh database, and what nobody needs is swept."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("duckdb", reason="duckdb is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import pyarrow as pa

import pathcast
from pathcast import _core
from pathcast.errors import DatabaseError
from pathcast.relational import Relational
from pathcast.relational.sql import tables
from pathcast.types import Id
from tests.property.agreement import batch_of
from tests.relational.backends import Make

DOCUMENT = b"<a><b x='5'>2</b><c/></a>"


def test_any_order_of_changes_equals_a_fresh_database(make: Make) -> None:
    """Add, replace and remove at random, beside an index that does the same."""
    random = Random(5)
    batches = [batch_of(5, number) for number in range(20)]
    batches = [batch for batch in batches if not batch.ignore_namespaces and not batch.default]
    drawn = [subscription for batch in batches for subscription in batch.subscriptions]
    documents = [(at, doc.text.encode()) for at, doc in enumerate(d for b in batches for d in b.documents)]
    database, index = make(False), pathcast.Index()
    for _ in range(6):
        rows = []
        for id in random.sample(range(200), 60):
            one = random.choice(drawn)
            rows.append((id, one.xpath, one.ordered, one.namespaces or None, one.variables or None))
        database.subscribe(rows)
        index.add_many(rows)
        gone: list[Id] = random.sample(index.ids(), 25)
        database.unsubscribe(gone)
        for each in gone:
            index.remove(each)
        if random.random() < 0.5:
            database.sweep()
        assert len(database) == len(index)
        expected = sorted((at, id) for at, text in documents for id in index.match(text))
        assert database.match(documents) == expected


def test_removing_leaves_what_a_fresh_database_has(make: Make) -> None:
    """Rows that several subscriptions share stay until the last of them goes; no sweep is needed."""
    database, fresh = make(False), make(False)
    database.subscribe(
        [(1, "/a[b = 2][x/y][z]/c//d"), (2, "//e[f][g]/c//d"), (3, "//x[@y < 3][y]"), (4, "/a/b")]
    )
    database.subscribe([(1, "//e[f][g]/c//d[not(f)]"), (5, "/a[b = 2][x[@y < 3][y]/z][w]//d")])
    database.unsubscribe([3, 5])
    fresh.subscribe([(1, "//e[f][g]/c//d[not(f)]"), (2, "//e[f][g]/c//d"), (4, "/a/b")])
    for table in tables.KEYS:
        if table != "Setting":
            assert database.count(table) == fresh.count(table), table
    document = b"<e><f/><g/><c><x><d/></x></c></e>"
    assert database.match([("d", document)]) == fresh.match([("d", document)]) == [("d", 1), ("d", 2)]
    database.sweep()
    assert database.count("Slot") == fresh.count("Slot")
    database.unsubscribe([1, 2, 4])
    assert all(database.count(table) == 0 for table in tables.SHARED)


def test_ids_of_every_kind_come_back_in_order(make: Make) -> None:
    database = make(False)
    ids: list[Id] = [10, 9, -3, "9", "b", "", 'quoted "\\ \n\x01 text', "é𝄞", "\\u0041"]
    database.subscribe((id, "//b | //c") for id in ids)
    numbers, texts = [id for id in ids if isinstance(id, int)], [id for id in ids if isinstance(id, str)]
    assert database.match([("d", DOCUMENT)]) == [("d", id) for id in [*sorted(numbers), *sorted(texts)]]


def test_removing_what_is_not_there_is_an_error_and_removes_nothing(make: Make) -> None:
    database = make(False)
    database.subscribe([("s1", "//a"), (1, "//a"), ("1", "//b")])
    with pytest.raises(KeyError):
        database.unsubscribe(["s1", "s2"])
    with pytest.raises(KeyError):
        database.unsubscribe([2])
    assert database.match([("d", DOCUMENT)]) == [("d", 1), ("d", "1"), ("d", "s1")]
    database.unsubscribe([1])
    assert database.match([("d", DOCUMENT)]) == [("d", "1"), ("d", "s1")]


def test_tables_of_a_run_keep_every_row_however_many(make: Make) -> None:
    """DuckDB 2.0.0 lost rows inserted into a table that began empty in the same transaction."""
    numbers = pa.array(range(300_000), pa.int64())
    with make(False)._backend.reading() as session:
        session.load("Level", pa.record_batch({"node": numbers, "slot": numbers}))
        session.make("Fact", "select node, slot from {Level} where slot < 0")
        for half in (0, 1):
            session.grow("Fact", f"select distinct node, slot from {{Level}} where slot % 2 = {half}")
        found = session.rows("select count(*), min(slot), max(slot) from {Fact}")
        assert found == [(300_000, 0, 299_999)]
        joined = "select count(*) from {Fact} x join {Level} l on l.slot = x.slot"
        assert session.rows(joined) == [(300_000,)]


def test_a_summary_that_begins_with_many_rows_keeps_them(make: Make) -> None:
    """DuckDB 1.5.6 lost 167,896 rows that were inserted into an empty summary at once."""
    database = make(False)
    names = "abcdefghijkl"
    chains = [
        "//".join(name for at, name in enumerate(names) if mask >> at & 1) for mask in range(1, 1 << 12)
    ]
    database.subscribe(enumerate(f"//{chain}//*" for chain in chains))
    leaves = "".join(f"<z{number}/>" for number in range(40))
    document = "".join(f"<{name}>" for name in names) + leaves
    document += "".join(f"</{name}>" for name in reversed(names))
    assert len(database.match([("d", document)])) == len(chains)


def test_as_many_matches_as_do_not_fit_one_block(make: Make) -> None:
    database = make(False)
    database.subscribe((number, f"//a[b{number % 7}]//c[@x != {number}]/d") for number in range(3_000))
    inside = "".join(f"<b{number}/>" for number in range(6)) + "<c x='-1'><d/></c>"
    found = database.match((number, f"<r><a>{inside}</a></r>") for number in range(60))
    expected = [number for number in range(3_000) if number % 7 < 6]
    assert found == [(at, number) for at in range(60) for number in expected]


def test_published_documents_are_matched_once(make: Make) -> None:
    database = make(False)
    database.subscribe([("s", "//b")])
    database.publish([("d1", DOCUMENT), ("bad", b"<a>")])
    assert database.match([("d2", "<b/>")]) == [("d1", "s"), ("d2", "s")]
    assert [letter.document for letter in database.dead_letters] == ["bad"]
    assert database.match() == []
    assert database.dead_letters == []


def test_a_removal_in_the_middle_of_a_match_is_seen_whole_or_not_at_all(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several documents of one call in batches of one; the subscription goes after the first."""
    database = make(False)
    database.subscribe([("s1", "/a/b"), ("s2", "//b[not(@y)]"), ("s3", "//c")])
    monkeypatch.setattr("pathcast.relational.documents.DOCUMENTS", 1)
    plain, failures, calls = _core.shred, [], 0

    def shred(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:  # from another thread, as another client would

            def remove() -> None:
                try:
                    database.unsubscribe(["s1", "s2"])
                except BaseException as error:
                    failures.append(error)

            thread = threading.Thread(target=remove)
            thread.start()
            thread.join()
        return plain(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(_core, "shred", shred)
    found = database.match([(number, DOCUMENT) for number in range(3)])
    assert not failures
    assert found == [(number, name) for number in range(3) for name in ("s1", "s2", "s3")]
    assert database.match([(0, DOCUMENT)]) == [(0, "s3")]


def test_a_file_is_opened_again_with_its_settings(tmp_path: Path) -> None:
    address = f"duckdb:///{tmp_path}/subscriptions.duckdb"
    with Relational(address, namespaces={"n": "urn:x"}) as database:
        database.subscribe([("s1", "//n:b"), ("s2", "//n:b[not(n:c)]")])
    with pytest.raises(DatabaseError, match="namespaces"):
        Relational(address)
    with Relational(address, namespaces={"n": "urn:x"}) as database:
        database.subscribe([("s3", "//n:b")])
        assert database.count("Step") == 1, "equal patterns have equal numbers in every process"
        found = database.match([("d", b"<b xmlns='urn:x'/>")])
        assert found == [("d", "s1"), ("d", "s2"), ("d", "s3")]


def test_an_address_that_names_nothing_is_told() -> None:
    with pytest.raises(ValueError, match="there is no backend"):
        Relational("sqlite:///x")
