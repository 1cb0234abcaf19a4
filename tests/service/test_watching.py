"""What operators see: metrics that begin at zero, and logs without what documents hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.service.receiver import Receiver
from tests.service.server import Server

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Server]:
    options = ("--data", str(tmp_path), "--allow-webhooks-to", "127.0.0.0/8", "--log-requests")
    with Server(*options) as server:
        yield server


def logged(server: Server) -> list[dict[str, Any]]:
    return [json.loads(line) for line in server.logged]


def broken(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(500)
    handler.end_headers()


def test_logs_and_metrics(watched: Server) -> None:
    text = watched.get("/metrics").text
    for series in (
        'documents_total{outcome="accepted"}',
        'deliveries_total{channel="webhook",outcome="failed"}',
        'deliveries_total{channel="pull",outcome="delivered"}',
        "pending_deliveries",
        "oldest_pending_seconds",
        "dead_letters",
        "subscriptions",
        "index_bytes",
        'match_duration_seconds_bucket{le="1e-05"}',
    ):
        assert f"pathcast_{series} 0.0" in text, series
    assert "pathcast_build_info{version=" in text
    path = watched.topic("t")
    with Receiver(broken) as receiver:
        body = {"xpath": "//a", "delivery": {"webhook": {"url": receiver.url}}}
        assert watched.put(f"{path}/subscriptions/s", json=body).status_code == 201
        document = watched.post(
            f"{path}/documents", content="<a>hush</a>", headers={"traceparent": TRACE}
        ).json()["document"]
        receiver.wait(lambda got: len(got) == 1)
        letter = watched.post(f"{path}/documents", content="<hush></a>").json()["dead_letter"]
        key = watched.post("/v1/keys", json={"scopes": ["read"]}).json()
        watched.delete(f"/v1/keys/{key['id']}")
        watched.get("/healthz", params={"access_token": "hush"})
    assert watched.stop() == 0
    lines = logged(watched)
    [failed] = [line for line in lines if line["message"].startswith("a delivery failed")]
    assert (failed["document"], failed["attempt"], failed["status"]) == (document, 1, 500)
    assert failed["traceparent"] == TRACE
    [refused] = [line for line in lines if line["message"] == "a document was refused"]
    assert (refused["topic"], refused["dead_letter"]) == ("t", letter)
    assert [line["message"] for line in lines if line.get("key") == key["id"]] == [
        "a key was made",
        "a key was revoked",
    ]
    requests = [line for line in lines if line["message"] == "a request"]
    assert {"method": "POST", "path": f"{path}/documents", "status": 202}.items() <= next(
        line for line in requests if line.get("traceparent") == TRACE
    ).items()
    assert "hush" not in "".join(watched.logged)
    assert key["key"] not in "".join(watched.logged)
