"""What a stranger may send at most: bodies, heads, members of gzip files, lines, parts."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pathcast.errors import DocumentError
from pathcast.service.api import requests, subscriptions
from pathcast.service.app import create_server
from pathcast.service.core import Service
from pathcast.service.problems import Problem
from pathcast.service.settings import Settings
from tests.service.server import ADMIN, Server

MB = 1 << 20
LINES = {"Content-Type": "application/x-ndjson"}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server; what is bounded here does not reach the store."""
    with Server("--data", str(tmp_path_factory.mktemp("data"))) as server:
        yield server


def _connected(server: Server) -> socket.socket:
    host, port = server.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def _resident(server: Server) -> int:
    pages = Path(f"/proc/{server.process.pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("key", ["", "Authorization: Bearer nobody\r\n"])
def test_nobody_is_read_who_has_no_key(alone: Server, key: str) -> None:
    before = _resident(alone)
    with _connected(alone) as connection:
        head = f"PUT /v1/topics/t HTTP/1.1\r\nHost: x\r\n{key}Transfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head.encode())
        for _ in range(200):
            connection.sendall(b"%x\r\n" % MB + b"[" * MB + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 401 ")
    assert _resident(alone) - before < 100 * MB


def test_a_body_of_json_has_a_bound(alone: Server) -> None:
    long = b'{"labels": "' + b"x" * (5 * MB) + b'"}'
    for path in ("/v1/topics/t", "/v1/topics/t/subscriptions/match"):
        for content in (long, iter([long[: 3 * MB], long[3 * MB :]])):
            refused = alone.put(path, content=content)
            assert (refused.status_code, refused.json()["status"]) == (413, 413)
            assert "at most 4,194,304 bytes" in refused.json()["detail"]
    document = "<a>" + "x" * (5 * MB) + "</a>"
    assert alone.post("/v1/check", json={"xpath": "//a", "document": document}).json()["matched"]


def test_a_head_has_a_bound(alone: Server) -> None:
    with _connected(alone) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ")
        with contextlib.suppress(ConnectionError):  # what comes after the end is not read
            for _ in range(64):
                connection.sendall(b"x" * MB)
            pytest.fail("it reads 64 MB of a head")
    with _connected(alone) as connection:  # many pieces, but not too long
        for piece in (b"GET /healthz HTTP/1.1\r\n", b"Host: x\r\n", b"X-Long: ", b"x" * 20_000, b"\r\n\r\n"):
            connection.sendall(piece)
            time.sleep(0.01)
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")


def test_members_of_a_gzip_file() -> None:
    member = gzip.compress(b"")
    packed = b"".join(gzip.compress(bytes([letter])) for letter in b"<a/>")
    assert requests.unpacked(packed, "gzip", None, 100) == b"<a/>"
    assert requests.unpacked(gzip.compress(b"<a/>" * 100_000), "gzip", None, MB) == b"<a/>" * 100_000
    noise = os.urandom(3 * MB)
    assert requests.unpacked(gzip.compress(noise) + member, "gzip", None, 4 * MB) == noise
    for damaged in (packed[:-1], packed + b"\0", gzip.compress(noise)[:-100_000], b"x"):
        with pytest.raises(DocumentError, match="damaged"):
            requests.unpacked(damaged, "gzip", None, 4 * MB)
    began = time.process_time()
    with pytest.raises(DocumentError, match="more than 10,000 members"):
        requests.unpacked(member * 1_000_000, "gzip", None, 100)
    assert time.process_time() - began < 5
    with pytest.raises(Problem, match="at most 100 bytes"):
        requests.unpacked(gzip.compress(b"x" * 101), "gzip", None, 100)


def test_a_batch_has_a_bound(alone: Server) -> None:
    path = alone.topic("batches")
    before = _resident(alone)
    packed = {**LINES, "Content-Encoding": "gzip"}
    many = gzip.compress(b"{}\n" * (20 * MB))
    refused = alone.post(f"{path}/documents:batch", content=many, headers=packed)
    assert (refused.status_code, refused.json()["detail"]) == (413, "at most 10,000 documents")
    parts = b"--b\n" * (5 * MB) + b"--b--"
    multipart = {"Content-Type": "multipart/mixed; boundary=b"}
    refused = alone.post(f"{path}/documents:batch", content=parts, headers=multipart)
    assert (refused.status_code, refused.json()["detail"]) == (413, "at most 10,000 documents")
    bomb = gzip.compress(b"<a>" + b" " * (31 * MB) + b"</a>", 9)
    parts = (b"--b\nContent-Encoding: gzip\n\n" + bomb + b"\n") * 20 + b"--b--"
    refused = alone.post(f"{path}/documents:batch", content=parts, headers=multipart)
    assert (refused.status_code, refused.json()["detail"]) == (413, "at most 134,217,728 bytes")
    assert _resident(alone) - before < 800 * MB
    assert alone.get("/v1/documents").json()["documents"] == []


def test_a_bulk_load_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "_MOST", 10)
    monkeypatch.setattr(subscriptions, "_CHUNK", 4)
    service = Service(Settings(data=tmp_path, admin_key=ADMIN))
    service.open()

    async def load() -> tuple[httpx.Response, httpx.Response]:
        await service.start()
        transport = httpx.ASGITransport(create_server(service))
        headers = {"Authorization": f"Bearer {ADMIN}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
            await client.put("/v1/topics/t")
            lines = [json.dumps({"id": f"s{n}", "xpath": "//a"}) + "\n" for n in range(11)]
            answers = [
                await client.post("/v1/topics/t/subscriptions:bulk", content="".join(lines[:count]))
                for count in (11, 10)
            ]
        await service.stop()
        return answers[0], answers[1]

    refused, loaded = asyncio.run(load())
    assert refused.status_code == 413
    assert "at most 10 lines" in refused.json()["detail"]
    statuses = [json.loads(line)["status"] for line in loaded.text.splitlines()]
    assert statuses == [200] * 8 + [201] * 2, "two chunks were stored before"
