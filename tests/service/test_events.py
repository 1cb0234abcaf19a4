"""Server-Sent Events: in order, resumed without a gap, ended when the server stops."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.service.server import ADMIN, Server


def events(response: httpx.Response) -> Iterator[dict[str, Any]]:
    """The events of a stream, as the standard reads them."""
    event: dict[str, Any] = {}
    for line in response.iter_lines():
        if not line:
            if "data" in event:
                yield event
            event = {}
        elif not line.startswith(":"):
            field, _, value = line.partition(":")
            event[field] = value.removeprefix(" ")


def test_events_resume_without_a_gap(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")

    def publish(count: int) -> list[str]:
        return [server.post(f"{path}/documents", content="<a/>").json()["document"] for _ in range(count)]

    sent = publish(3)
    stream = f"{path}/subscriptions/s/events"
    seen: list[str] = []
    with server.client.stream("GET", stream) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        found = events(response)
        first = [next(found) for _ in range(3)]
        sent += publish(1)
        first.append(next(found))
    seen += [json.loads(event["data"])["document"] for event in first]
    sent += publish(2)
    with server.client.stream("GET", stream, headers={"Last-Event-ID": first[-1]["id"]}) as response:
        found = events(response)
        seen += [json.loads(next(found)["data"])["document"] for _ in range(2)]
    assert seen == sent
    with server.client.stream("GET", stream) as response:
        left = json.loads(next(events(response))["data"])
        assert left["document"] == sent[4], "resuming acknowledged the first four"
    assert server.get(f"{path}/subscriptions/t/events").status_code == 404


def test_a_stream_ends_with_its_subscription_and_with_the_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with Server("--data", str(tmp_path_factory.mktemp("events"))) as server:
        path = server.topic("t", s="//a", u="//a")
        with server.client.stream("GET", f"{path}/subscriptions/s/events") as response:
            found = events(response)
            server.post(f"{path}/documents", content="<a/>")
            next(found)
            server.delete(f"{path}/subscriptions/s")
            assert next(found)["event"] == "removed"
            assert list(found) == []
        client = httpx.Client(
            base_url=server.address, headers={"Authorization": f"Bearer {ADMIN}"}, trust_env=False
        )
        with client, client.stream("GET", f"{path}/subscriptions/u/events") as response:
            found = events(response)
            next(found)
            assert server.stop() == 0, "an open stream does not hold it up"
            assert list(found) == []
