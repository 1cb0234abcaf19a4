"""The fixture `server`: one process for each store and test file, with topics of each test's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.relational.conftest import postgres as postgres

if TYPE_CHECKING:
    from tests.postgres.server import PostgresServer

if sys.version_info < (3, 11):
    collect_ignore_glob = ["*"]  # the service needs Python 3.11
else:
    from tests.service.server import Server

    @pytest.fixture(scope="module", params=["sqlite", "postgresql"])
    def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
        """A server that lets webhooks reach this machine."""
        if request.param == "sqlite":
            store = ("--data", str(tmp_path_factory.mktemp("data")))
        else:
            running: PostgresServer = request.getfixturevalue("postgres")
            store = ("--database", running.fresh())
        with Server(*store, "--allow-webhooks-to", "127.0.0.0/8") as server:
            yield server


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses."""
    node: pytest.Item = request.node
    return "".join(letter if letter.isalnum() else "-" for letter in node.name)[:100]
