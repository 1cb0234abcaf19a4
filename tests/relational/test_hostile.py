"""Bad input and lost connections: a right answer or a named error, and nothing half-written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import pytest

pytest.importorskip("duckdb", reason="duckdb is not installed")

import pathcast
from pathcast import Limits
from pathcast.errors import DatabaseError, DocumentLimitError
from pathcast.relational import Relational
from pathcast.relational import database as opened_database
from pathcast.relational.backends import postgresql
from pathcast.relational.settings import Settings
from pathcast.relational.sql import tables
from pathcast.types import Id
from tests.relational.backends import Make

if TYPE_CHECKING:
    from tests.postgres.server import PostgresServer

VALUES = [
    "'",
    "''; drop table pathcast_subscription; --",
    "\\",
    "\\N",
    "\\.",
    "a\n\\.\nb",
    "tab\there",
    "line\nend",
    "\U0001f600 \u202e",
    "{Kept} {level} {0}",
    "%s %(x)s $1 ?",
    "",
    " 5 ",
    "NaN",
    "x" * 16_000,
]


def literal(value: str) -> str:
    quote = '"' if "'" in value else "'"
    return f"{quote}{value}{quote}"


def test_errata_8_branches_are_checked_at_one_node(make: Make) -> None:
    database = make(False)
    database.subscribe([("s", "/a/b[c][d]"), ("deep", "//b[c/x][d/y]")])
    apart = b"<a><b><c><x/></c></b><b><d><y/></d></b></a>"
    assert database.match([("apart", apart), ("one", b"<a><b><c><x/></c><d><y/></d></b></a>")]) == [
        ("one", "deep"),
        ("one", "s"),
    ]


def test_errata_9_the_root_is_constrained(make: Make) -> None:
    database = make(False)
    database.subscribe([("root", "/a"), ("anywhere", "//a")])
    assert database.match([("d", b"<b><a/></b>")]) == [("d", "anywhere")]


def test_values_are_data(make: Make) -> None:
    """55: quotes, emoji, what looks like SQL or like the end of a copy, in documents and expressions."""
    database, index = make(False), pathcast.Index()
    rows: list[tuple[Id, str]] = [
        (f"{kind} {number}", text.format(literal(value)))
        for number, value in enumerate(VALUES)
        for kind, text in (("=", "/a[b = {0}]"), ("!=", "//b[@x != {0}]"), ("text", "//b/text()[. = {0}]"))
    ]
    rows += [(f"number {operator}", f"//b[. {operator} 5]") for operator in ("=", "!=", "<", "<=", ">", ">=")]
    database.subscribe(rows)
    index.add_many(rows)
    documents: list[tuple[Id, bytes]] = [
        (number, f"<a><b x={quoteattr(value)}>{escape(value)}</b></a>".encode())
        for number, value in enumerate(VALUES)
    ]
    expected = sorted((number, id) for number, text in documents for id in index.match(text))
    assert database.match(documents) == expected
    assert len(database) == len(rows)


def test_ids_are_data(make: Make) -> None:
    ids: list[Id] = ["'", '"', "\\", "\0", "\n", "\U0001f600", "", "5", 5, -(2**63), "x" * 1_000]
    database = make(False)
    database.subscribe([(id, "//a") for id in ids])
    found = database.match([("d\0'", b"<a/>")])
    assert {id for _, id in found} == set(ids)
    assert {document for document, _ in found} == {"d\0'"}
    database.unsubscribe(ids)
    assert len(database) == 0


def test_a_namespace_may_hold_anything(make: Make) -> None:
    database = make(False)
    database.subscribe([("odd", "//n:a", False, {"n": "urn:\0'"}), ("plain", "//n:a", False, {"n": "urn:'"})])
    assert database.match([("d", b'<a xmlns="urn:\'"/>')]) == [("d", "plain")]


def test_a_megabyte_in_a_value(make: Make) -> None:
    database = make(False)
    database.limits = Limits(expression_bytes=3 << 20)
    value = "\U0001f600é'x" * 110_000
    database.settings = Settings(database.settings.key, {}, False, 3 << 20)
    database.subscribe([("same", f'//a[. = "{value}"]'), ("other", f'//a[. = "{value}y"]'), ("any", "//a")])
    text = f'<r><a x="{value}">{value}</a></r>'.encode()
    assert database.match([("d", text)]) == [("d", "any"), ("d", "same")]


def test_a_candidate_is_decided_by_a_process_that_would_not_have_accepted_it(make: Make) -> None:
    database = make(False)
    narrow, database.limits = database.limits, Limits(expression_bytes=1 << 20, steps=1_000)
    value = "x" * 20_000
    database.subscribe([("value", f'//a[not(. = "{value}")]'), ("steps", "//b" + "[not(a)]" * 300)])
    database.limits = narrow
    assert database.match([("d", b"<b/>"), ("e", b"<a/>")]) == [("d", "steps"), ("e", "value")]


def test_a_value_longer_than_any_constant_differs_from_all(make: Make) -> None:
    database = make(False)
    long = "1" * 20_000
    database.subscribe(
        [("!=", "//a[. != 'x']"), ("=", "//a[. = '1']"), (">", "//a[. > 5]"), ("n", "//a[. != 1]")]
    )
    assert [id for _, id in database.match([("d", f"<a>{long}</a>")])] == ["!=", ">", "n"]


def test_a_document_of_100_000_nodes(make: Make) -> None:
    database, index = make(False), pathcast.Index()
    rows = [
        (number, text)
        for number, text in enumerate(
            ["/r/a[b = 77]/c", "//a//c", "//b[. > 49999]", "//c[@x]", "/r/*/d", "//a[b][c]", "//a[not(c)]"]
        )
    ]
    database.subscribe(rows)
    index.add_many(rows)
    text = "<r>" + "".join(f"<a><b>{number}</b>{'<c/>' * 2}</a>" for number in range(25_000)) + "</r>"
    assert database.match([("d", text)]) == [("d", id) for id in index.match(text)]


def test_deep_documents_are_answered_or_refused_by_name(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    database = make(False)
    database.subscribe([("s", "//a//a/b"), ("t", "/a/a/a")])
    deep = "<a>" * 500 + "<b/>" + "</a>" * 500
    assert database.match([("d", deep)]) == [("d", "s"), ("d", "t")]
    monkeypatch.setattr(opened_database, "ROWS", 10_000)
    assert database.match([("d", deep), ("e", "<a><a><a/></a></a>")]) == [("e", "t")]
    assert isinstance(database.dead_letters[0].error, DocumentLimitError)


def test_expressions_beyond_the_bounds_of_tables_are_answered(make: Make) -> None:
    """51, 53: more levels than tables take, more alternatives, a thousand branches."""
    expressions = [
        "/a" * 40,
        "//*" * 64,
        "//a" + "".join(f"[b{number} or c{number}]" for number in range(12)),
        "//a" + "".join(f"[@x{number}]" for number in range(100)),
        "/".join(["//a[b]"] + ["a[b]"] * 20),
    ]
    database, index = make(False), pathcast.Index()
    database.subscribe(enumerate(expressions))
    index.add_many(enumerate(expressions))
    attributes = " ".join(f"x{number}=''" for number in range(100))
    documents: list[tuple[Id, str]] = [
        (0, "<a>" * 40 + "</a>" * 40),
        (1, "<x>" * 64 + "</x>" * 64),
        (2, "<a>" + "".join(f"<c{number}/>" for number in range(12)) + "</a>"),
        (3, f"<a {attributes}/>"),
        (4, "<a><b/>" * 21 + "</a>" * 21),
    ]
    expected = [(at, id) for at, text in documents for id in sorted(index.match(text))]
    assert database.match(documents) == expected
    assert {id for _, id in expected} == set(range(5))


def test_two_contents_of_one_number_are_told_and_nothing_is_written(make: Make) -> None:
    database = make(False)
    database.subscribe([("s", "/a/b")])
    with database._backend.writing() as session:
        session.execute("update {Step} set proof = 0 where low_node = 'b'")
    with pytest.raises(DatabaseError, match="same number as a different"):
        database.subscribe([("t", "/a/b"), ("u", "//c")])
    assert len(database) == 1
    assert not [frame for frame in _column(database, "low_node", "Step") if frame == "c"]


def _column(database: Relational, column: str, table: str) -> list[Any]:
    with database._backend.reading() as session:
        return [row[0] for row in session.rows(f"select {column} from {{{table}}}")]


# PostgreSQL only: connections that are lost


@pytest.fixture
def database(postgres: PostgresServer) -> Any:
    with Relational(postgres.fresh()) as database:
        database.subscribe([("s1", "/a/b"), ("s2", "//b[not(c)]")])
        yield database


def terminate(session: postgresql.PostgresSession, postgres: PostgresServer) -> None:
    """Ends the server's side of a connection, as an administrator or a crash would."""
    import psycopg

    pid = session.rows("select pg_backend_pid()")[0][0]
    with psycopg.connect(postgres.address(), autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s, 5000)", (pid,))


def test_a_connection_lost_in_a_match_is_an_error_and_the_call_can_be_made_again(
    database: Relational, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.publish([("d1", b"<a><b/></a>")])
    with monkeypatch.context() as patch:
        plain = postgresql.PostgresSession._copy

        def copy_and_lose(self: Any, *arguments: Any) -> None:
            plain(self, *arguments)
            terminate(self, postgres)

        patch.setattr(postgresql.PostgresSession, "_copy", copy_and_lose)
        with pytest.raises(DatabaseError, match="PostgreSQL"):
            database.match([("d2", b"<a><b/></a>")])
    assert database.match([("d2", b"<a/>")]) == [("d1", "s1"), ("d1", "s2")]


def test_a_connection_lost_in_a_change_leaves_nothing_half_written(
    database: Relational, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {table: database.count(table) for table in tables.KEYS}
    with monkeypatch.context() as patch:
        plain = postgresql.PostgresSession.insert

        def insert_and_lose(self: Any, name: str, query: str) -> None:
            plain(self, name, query)
            if name == "Subscription":
                terminate(self, postgres)

        patch.setattr(postgresql.PostgresSession, "insert", insert_and_lose)
        with pytest.raises(DatabaseError, match="PostgreSQL"):
            database.subscribe([("s1", "//x[y = 3]"), ("s3", "//z")])
    assert {table: database.count(table) for table in tables.KEYS} == before
    assert database.match([("d", b"<a><b/></a>")]) == [("d", "s1"), ("d", "s2")]
    database.subscribe([("s3", "//b")])
    assert database.match([("d", b"<a><b/></a>")]) == [("d", "s1"), ("d", "s2"), ("d", "s3")]


def test_a_server_that_was_restarted_is_found_again(database: Relational, postgres: PostgresServer) -> None:
    postgres.stop()
    with pytest.raises(DatabaseError, match="PostgreSQL"):
        database.match([("d", b"<a><b/></a>")])
    postgres.start()
    assert database.match([("d", b"<a><b/></a>")]) == [("d", "s1"), ("d", "s2")]


def test_two_clients_that_subscribe_at_once_agree(postgres: PostgresServer) -> None:
    """Each adds the same expressions under its own ids, from its own thread and connections."""
    from concurrent.futures import ThreadPoolExecutor

    address = postgres.fresh()
    with ThreadPoolExecutor(3) as pool:
        clients = list(pool.map(lambda _: Relational(address), range(3)))
        rows = [(number, f"/a/b{number}[c = {number}]/d") for number in range(200)]

        def add(which: int) -> None:
            for at in range(0, len(rows), 50):
                clients[which].subscribe((f"{which}-{id}", text) for id, text in rows[at : at + 50])

        list(pool.map(add, range(3)))
    assert len(clients[0]) == 600
    found = clients[1].match([("d", b"<a><b7><c>7</c><d/></b7></a>")])
    assert found == [("d", f"{which}-7") for which in range(3)]
    assert clients[2].count("Slot") == 200 * 2, "each pattern is there once"
    for client in clients:
        client.close()


def test_a_candidate_beyond_its_limit_is_told_and_the_rest_is_answered() -> None:
    document = f"<r>{'<a/>' * 2_000}</r>"
    rows = [
        ("costly", "//*[count(preceding::*) > count(following::*)]"),
        ("cheap", "//a"),
        ("odd", "//a[not(b)]"),
    ]
    for limits in (Limits(evaluation_steps=10_000), Limits(work=1_000)):
        with Relational("duckdb", limits=limits) as database:
            database.subscribe(rows)
            found = database.match([("d", document), ("e", "<a/>")])
            assert {("d", "cheap"), ("e", "cheap"), ("e", "odd")} <= set(found)
            assert ("d", "costly") not in found
            ((name, error),) = database.dead_letters
            assert (name, error.kind) == ("d", "limit")
            assert limits.work == 1_000 or "'costly'" in error.reason
