"""The fixtures `postgres`, a server for all tests of a session, and `make`, new databases of each kind."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.relational.backends import Make

if TYPE_CHECKING:
    from tests.postgres.server import PostgresServer


def unavailable(reason: str | None) -> None:
    """Skip the test for that reason, or fail it where PostgreSQL is required."""
    if reason is None:
        return
    if os.environ.get("PATHCAST_REQUIRE_POSTGRES"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    if importlib.util.find_spec("psycopg") is None:
        unavailable("psycopg is not installed: pip install 'pathcast[relational]'")
    from tests.postgres.server import PostgresServer, missing_server

    unavailable(missing_server())
    with PostgresServer() as server:
        yield server


@pytest.fixture(params=["duckdb", "postgresql"])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Makes new databases of one kind, closed in the end; the argument: whether they ignore namespaces."""
    from pathcast.relational import Relational

    pytest.importorskip("duckdb", reason="duckdb is not installed")
    # The documents of tests are small; the statement for all others is the one to be tested.
    monkeypatch.setattr("pathcast.relational.backends.duckdb.SMALL", 0)
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    made: list[Relational] = []

    def new(ignore: bool = False) -> Relational:
        address = server.schema() if server else "duckdb"
        made.append(Relational(address, ignore_namespaces=ignore))
        return made[-1]

    yield new
    for database in made:
        database.close()
