"""The fixture ``kafka``: one server for all tests of a session, for every test folder.

Without Java, the archives or the client library a test that asks for it is skipped, with the reason. Where
``PATHCAST_REQUIRE_KAFKA`` is set, as in ``.ci/run``, it fails instead: there a skipped test would be a hole.
A test that stops the server starts it again; one that wants other settings makes a server of its own.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.kafka import jars

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

SERVER = pytest.StashKey["KafkaServer"]()


def unavailable(reason: str | None) -> None:
    """Skip the test for that reason, or fail it where Kafka is required."""
    if reason is None:
        return
    if os.environ.get("PATHCAST_REQUIRE_KAFKA"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def kafka_available() -> None:
    """Everything that a server and its clients need is there."""
    unavailable(jars.missing_broker())
    if importlib.util.find_spec("confluent_kafka") is None:
        unavailable("confluent-kafka is not installed: pip install 'pathcast[kafka]'")


@pytest.fixture(scope="session")
def kafka_session(
    kafka_available: None, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[KafkaServer]:
    from tests.kafka.server import KafkaServer

    with KafkaServer(tmp_path_factory.mktemp("kafka")) as server:
        pytestconfig.stash[SERVER] = server
        yield server


@pytest.fixture
def kafka(kafka_session: KafkaServer) -> KafkaServer:
    """The server of the session, running, whatever the test before did to it."""
    if not kafka_session.running:
        kafka_session.start()
    return kafka_session


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails with the server in use shows what the server said."""
    report = yield
    server = item.config.stash.get(SERVER, None)
    if report.failed and server is not None and "kafka_session" in getattr(item, "fixturenames", ()):
        report.sections.append(("Kafka server log", server.last_lines()))
    return report
