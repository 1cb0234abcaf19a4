"""Tenants beside each other: what one makes expensive, the others do not wait for."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

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
