"""The fixtures `postgres`, a server for all tests of a session, and `make`, databases of each embedded kind."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.relational.backends import Make, fresh_database

if TYPE_CHECKING:
    from tests.relational.postgres import PostgresServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process runs them all, so that one server does; a database has to be installed."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("relational"))


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
    from tests.relational.postgres import PostgresServer, missing_server

    unavailable(missing_server())
    with PostgresServer() as server:
        yield server


@pytest.fixture(params=["duckdb", "postgresql"])
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """Makes new databases of one kind, closed in the end; the argument says whether they ignore namespaces."""
    from pathcast.relational import Relational

    pytest.importorskip("duckdb", reason="duckdb is not installed")
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    made: list[Relational] = []

    def new(ignore: bool = False) -> Relational:
        address = fresh_database(server) if server else "duckdb"
        made.append(Relational(address, ignore_namespaces=ignore))
        return made[-1]

    yield new
    for database in made:
        database.close()
