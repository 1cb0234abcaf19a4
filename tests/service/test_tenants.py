"""Tenants beside each other: what one makes expensive, the others do not wait for."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.service.server import Server

COSTLY = "//b[count(preceding::b[. > {0}][count(following::b[contains(., '{0}')]) > 3]) = 50000]"
SMALL = "<r>" + "".join(f"<a><b>{n}</b><b>{n * 7 % 1000}</b></a>" for n in range(2_300)) + "</r>"


def _slow(server: Server, name: str) -> tuple[httpx.Client, str]:
    """A tenant with subscriptions that take seconds on a document of 63 KB."""
    client = server.key(tenant=f"{name[:80]}-slow", scopes=["publish", "subscribe", "read"])
    path = "/v1/topics/t"
    client.put(path)
    lines = [json.dumps({"id": f"s{n}", "xpath": COSTLY.format(n)}) for n in range(2)]
    client.post(f"{path}/subscriptions:bulk", content="\n".join(lines))
    return client, path


def _ticks(server: Server) -> int:
    """Processor time of the server in hundredths of a second."""
    return int(Path(f"/proc/{server.process.pid}/stat").read_text(encoding="ascii").split()[13])


@pytest.mark.parametrize("call", ["match", "documents"])
def test_a_costly_document_of_another(server: Server, name: str, call: str) -> None:
    slow, path = _slow(server, name)
    other = server.topic(f"{name}", s="//a")
    ended = threading.Event()

    def expensive() -> httpx.Response:
        try:
            return slow.post(f"{path}/{call}", content=SMALL)
        finally:
            ended.set()

    count = 0
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(expensive) for _ in range(2)]
        while not ended.is_set():
            assert server.post(f"{other}/documents", content="<a/>").status_code == 202
            assert server.get("/healthz").status_code == 200
            count += 1
            if count == 10:  # its own subscriptions may change meanwhile
                assert slow.put(f"{path}/subscriptions/new", json={"xpath": "//a"}).status_code in (200, 201)
        assert {each.result().status_code for each in waiting} <= {200, 202}
    assert count > 20, "the others have waited"


def test_limits_are_raised_by_the_first_administrator_alone(server: Server, name: str) -> None:
    """They bound what a document of one tenant costs all."""
    own = server.key(tenant=f"{name[:80]}-own", scopes=["admin"])
    for limit in ("evaluation_steps", "entity_expansion", "document_bytes", "depth"):
        refused = own.put("/v1/topics/t", json={"limits": {limit: 1 << 40}})
        assert (refused.status_code, limit in refused.json()["detail"]) == (403, True)
    lower = {"limits": {"depth": 10, "entity_expansion": 1_000}}
    assert own.put("/v1/topics/t", json=lower).status_code == 201
    assert own.put("/v1/topics/t", json={"limits": {"deep": 1}}).status_code == 422
    assert server.put(f"/v1/topics/{name}", json={"limits": {"depth": 100_000}}).status_code == 201


def test_what_is_being_matched_does_not_keep_the_server_from_ending(tmp_path: Path) -> None:
    with Server("--data", str(tmp_path)) as server:
        path = "/v1/topics/t"
        server.put(path, json={"limits": {"evaluation_steps": 1 << 60, "work": 1 << 60}})
        lines = [json.dumps({"id": f"s{n}", "xpath": COSTLY.format(n)}) for n in range(100)]
        assert server.post(f"{path}/subscriptions:bulk", content="\n".join(lines)).status_code == 200
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(server.post, f"{path}/match", content=SMALL)
            used = _ticks(server)
            while _ticks(server) < used + 50:  # it is being matched
                assert server.get("/healthz").status_code == 200
            assert server.stop() == 0
            assert waiting.exception() is not None or waiting.result().status_code >= 500
