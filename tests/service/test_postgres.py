"""Several processes on one PostgreSQL: each sees what the others change, and none of them is needed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from pathcast.service.core import Service
from pathcast.service.settings import Settings
from pathcast.service.store import keys
from tests.service.fleet import survives
from tests.service.receiver import Receiver
from tests.service.server import Server

if TYPE_CHECKING:
    from tests.postgres.server import PostgresServer

OPTIONS = ("--allow-webhooks-to", "127.0.0.0/8")


@pytest.fixture
def pair(postgres: PostgresServer) -> Iterator[tuple[Server, Server]]:
    """Two servers on a new database."""
    address = postgres.fresh()
    with Server("--database", address, *OPTIONS) as one, Server("--database", address, *OPTIONS) as other:
        yield one, other


def test_what_one_process_changes_the_other_sees(pair: tuple[Server, Server]) -> None:
    one, other = pair
    path = one.topic("t", s="//a")
    for number in range(20):
        given = {"xpath": f"//a[@n = {number}]"}
        assert one.put(f"{path}/subscriptions/n{number}", json=given).status_code == 201
        published = other.post(f"{path}/documents", content=f"<a n='{number}'/>")
        assert published.json()["matched"] == 2, "the next document sees it, whoever takes it"
        assert other.post(f"{path}/match", content=f"<a n='{number}'/>").json()["matches"] == [
            "s",
            f"n{number}",
        ]
        assert other.delete(f"{path}/subscriptions/n{number}").status_code == 204
        assert one.post(f"{path}/documents", content=f"<a n='{number}'/>").json()["matched"] == 1
    assert other.put(path, json={"ignore_namespaces": True}).status_code == 200
    assert one.post(f"{path}/documents", content="<a xmlns='urn:x'/>").json()["matched"] == 1
    assert other.delete(path).status_code == 204
    assert one.post(f"{path}/documents", content="<a/>").status_code == 404


def test_a_wait_at_one_process_ends_when_the_other_publishes(pair: tuple[Server, Server]) -> None:
    one, other = pair
    path = one.topic("t", s="//a")
    with one.client.stream("GET", f"{path}/subscriptions/s/events") as response:
        lines = response.iter_lines()
        next(lines)
        document = other.post(f"{path}/documents", content="<a/>").json()["document"]
        assert any(document in line for line in lines)


def test_one_key_at_two_processes(pair: tuple[Server, Server]) -> None:
    one, other = pair
    path = one.topic("t", s="//a")
    keyed = {"Idempotency-Key": "k"}
    first = one.post(f"{path}/documents", content="<a/>", headers=keyed)
    again = other.post(f"{path}/documents", content="<a/>", headers=keyed)
    assert again.json() == first.json()
    assert len(one.get(f"{path}/subscriptions/s/deliveries").json()["deliveries"]) == 1


def test_webhooks_are_shared_and_called_once(postgres: PostgresServer) -> None:
    address = postgres.fresh()
    with contextlib.ExitStack() as running:
        receiver = running.enter_context(Receiver())
        server = running.enter_context(Server("--database", address, *OPTIONS))
        running.enter_context(Server("--database", address, "--worker", *OPTIONS))
        path = server.topic("t")
        body = {"xpath": "//a", "delivery": {"webhook": {"url": receiver.url}}}
        assert server.put(f"{path}/subscriptions/s", json=body).status_code == 201
        sent = {server.post(f"{path}/documents", content="<a/>").json()["document"] for _ in range(40)}
        calls = receiver.wait(lambda got: sent <= {call.headers["pathcast-document"] for call in got})
        assert len(calls) == len(sent), "a lease keeps others away"


def test_a_worker_takes_no_documents(postgres: PostgresServer) -> None:
    with Server("--database", postgres.fresh(), "--worker") as worker:
        assert worker.get("/readyz").status_code == 200
        assert worker.put("/v1/topics/t").status_code == 404


def test_one_is_killed_and_one_is_cut_off(postgres: PostgresServer) -> None:
    import psycopg

    address = postgres.fresh()
    with contextlib.ExitStack() as running:
        receiver = running.enter_context(Receiver())
        servers = [running.enter_context(Server("--database", address, *OPTIONS)) for _ in range(2)]
        running.enter_context(Server("--database", address, "--worker", *OPTIONS))

        def harm(turn: int) -> None:
            if turn % 2:
                servers[0].kill()
                servers[0].start()
                return
            with psycopg.connect(postgres.address(), autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = %s AND random() < 0.7",
                    [address.rpartition("/")[2]],
                )

        survives(servers, receiver, harm)


@pytest.mark.parametrize(("given", "look"), [("the-same", "by_digest"), (None, "any_operator")])
def test_processes_that_start_together_make_one_first_key(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, given: str | None, look: str
) -> None:
    looking = getattr(keys, look)
    both = threading.Barrier(2)

    def looked(*arguments: Any) -> Any:
        found = looking(*arguments)
        with contextlib.suppress(threading.BrokenBarrierError):  # only one of them looks at a time
            both.wait(1.0)
        return found

    monkeypatch.setattr(keys, look, looked)
    settings = Settings(database=postgres.fresh(), admin_key=given)
    services = [Service(settings) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        shown = [secret for secret in pool.map(Service.open, services) if secret is not None]
    assert len(shown) == (given is None)
    for service in services:
        service.database.close()
