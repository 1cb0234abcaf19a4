"""What strangers send: text that is not Unicode, places that do not exist, keys that see too little."""

from __future__ import annotations

import asyncio
import gzip
import json

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pathcast.service.app import handle_errors
from pathcast.service.headers import Headers
from tests.service.receiver import Receiver
from tests.service.server import Server

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "field", [rb""" "xpath": "//a[. = '\ud800']" """, rb'"xpath": "//a", "labels": {"a": "\udfff"}']
)
def test_half_a_character_is_refused(server: Server, name: str, field: bytes) -> None:
    path = server.topic(name)
    put = server.put(f"{path}/subscriptions/s", content=b"{" + field + b"}", headers=JSON)
    assert put.status_code == 422
    assert "is half a character" in put.json()["detail"]
    assert server.post("/v1/check", content=b"{" + field + b"}", headers=JSON).status_code == 422
    line = rb'{"id": "\ud800", "xpath": "//a"}'
    [answer] = server.post(f"{path}/subscriptions:bulk", content=line).text.splitlines()
    assert r'"id":"\ud800"' in answer
    assert server.get(f"{path}/subscriptions").json()["subscriptions"] == []


@pytest.mark.parametrize("given", [{"labels": {"a": "\0"}}, {"namespaces": {"p": "\0"}}])
def test_what_postgresql_cannot_keep_is_refused(server: Server, name: str, given: dict[str, object]) -> None:
    path = server.topic(name)
    put = server.put(f"{path}/subscriptions/s", json={"xpath": "//a", **given})
    assert put.status_code == 422
    assert server.get(f"{path}/subscriptions?label=a:b").json()["subscriptions"] == []


@pytest.mark.parametrize("place", ["/v1/topics/a%00b", "/v1/topics?cursor=%00", "/v1/documents/%00"])
def test_nul_in_the_address(server: Server, place: str) -> None:
    assert server.get(place).status_code == 400


def test_settings_that_are_none(server: Server, name: str) -> None:
    path = f"/v1/topics/{name}"
    for given, named in (({"limits": {"deep": 1}}, "'deep'"), ({"namespaces": {"1x": "u"}}, "'1x'")):
        put = server.put(path, json=given)
        assert put.status_code == 422
        assert named in put.json()["detail"]
    assert server.get(path).status_code == 404


def test_a_trace_that_is_none_is_left_out(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    headers = {"traceparent": "x" * 200}
    assert server.post(f"{path}/documents", content="<a/>", headers=headers).status_code == 202
    [delivery] = server.get(f"{path}/subscriptions/s/deliveries").json()["deliveries"]
    assert "traceparent" not in delivery


def test_what_was_not_published_cannot_be_acknowledged(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    server.post(f"{path}/documents", content="<a/>")
    assert server.post(f"{path}/subscriptions/s/ack", json={"cursor": 1 << 60}).status_code == 200
    document = server.post(f"{path}/documents", content="<a/>").json()["document"]
    [delivery] = server.get(f"{path}/subscriptions/s/deliveries").json()["deliveries"]
    assert delivery["document"] == document


def test_a_damaged_gzip_stream_is_a_dead_letter(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    damaged = gzip.compress(b"<a/>")[:-6]
    refused = server.post(f"{path}/documents", content=damaged, headers={"Content-Encoding": "gzip"})
    assert (refused.status_code, refused.json()["line"], refused.json()["column"]) == (400, 1, 1)
    letter = refused.json()["dead_letter"]
    assert server.get(f"/v1/dead-letters/{letter}/body").content == damaged
    batch = b"--b\nContent-Encoding: gzip\n\n" + damaged + b"\n--b\n\n<a/>\n--b--\n"
    kind = {"Content-Type": "multipart/mixed; boundary=b"}
    answers = server.post(f"{path}/documents:batch", content=batch, headers=kind).text.splitlines()
    assert ['"dead_letter"' in each for each in answers] == [True, False], answers
    whole = {**kind, "Content-Encoding": "gzip"}
    assert server.post(f"{path}/documents:batch", content=damaged, headers=whole).status_code == 400


def test_a_batch_longer_than_the_queue(server: Server, name: str) -> None:
    path = server.topic(name)
    lines = '{"document": "PGEvPg=="}\n' * 5_000
    headers = {"Content-Type": "application/x-ndjson"}
    answers = server.post(f"{path}/documents:batch", content=lines, headers=headers).text.splitlines()
    assert len(answers) == 5_000
    assert all(answer.startswith('{"status":202') for answer in answers)


def test_a_key_sees_only_its_topics(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    server.topic(f"{name}-other")
    client = server.key(tenant="default", scopes=["subscribe"], topics=[name])
    assert client.get(f"{path}/subscriptions/s").status_code == 200, "who may put it may look at it"
    assert client.get(f"/v1/topics/{name}-other").status_code == 403
    reader = server.key(tenant="default", scopes=["read"], topics=[name])
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = reader.get("/v1/topics", params={"cursor": cursor, "limit": 1}).json()
        seen += [each["topic"] for each in page["topics"]]
        cursor = page["cursor"]
    assert seen == [name]


def test_a_page_has_a_largest_size(server: Server) -> None:
    assert server.get("/v1/topics", params={"limit": 10**9}).status_code == 200
    assert server.get("/v1/topics", params={"limit": 0}).status_code == 422


def test_a_webhook_that_becomes_a_pull(server: Server, name: str) -> None:
    path = server.topic(name)
    place = f"{path}/subscriptions/s"
    client = server.key(tenant="default", scopes=["publish"], quota={"pending_deliveries": 1_000})
    with Receiver() as receiver:
        server.put(place, json={"xpath": "//a", "delivery": {"webhook": {"url": receiver.url}}})
        assert client.post(f"{path}/documents", content="<a/>").status_code == 202
        receiver.wait(bool)
    document = server.post(f"{path}/documents", content="<a/>").json()["document"]  # nobody is there
    assert server.put(place, json={"xpath": "//a"}).status_code == 200
    found = server.get(f"{place}/deliveries").json()["deliveries"]
    assert document in [each["document"] for each in found]


def test_a_stream_for_browsers_ends_with_its_key(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    made = server.post("/v1/keys", json={"tenant": "default", "scopes": ["subscribe"]}).json()
    address = f"{server.address}{path}/subscriptions/s/events"
    with httpx.stream("GET", address, params={"access_token": made["key"]}, timeout=60) as response:
        assert response.status_code == 200
        lines = response.iter_lines()
        next(lines)
        assert server.delete(f"/v1/keys/{made['id']}").status_code == 204
        server.post(f"{path}/documents", content="<a/>")
        assert "event: removed" in list(lines)
    assert httpx.get(f"{server.address}{path}", params={"access_token": made["key"]}).status_code == 401


def test_the_type_of_a_body(server: Server, name: str) -> None:
    """Without a type JSON is understood; with another one the answer says which is wanted."""
    path = server.topic(name)
    bare = server.client.build_request("PUT", f"{path}/subscriptions/s", content=b'{"xpath": "//a"}')
    assert "content-type" not in bare.headers
    assert server.client.send(bare).status_code == 201
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    refused = server.put(f"{path}/subscriptions/s", content=b'{"xpath": "//b"}', headers=form)
    assert refused.status_code == 415
    assert "send application/json" in refused.json()["detail"]
    assert server.get(f"{path}/subscriptions/s").json()["xpath"] == "//a"


def test_receivers_are_told_the_type_of_the_document(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    for body, kind in (
        (gzip.compress(b"<a/>"), "application/gzip"),
        (b"<a/>", "application/x-www-form-urlencoded"),
        (b"<a/>", "application/atom+xml; charset=utf-8"),
    ):
        sent = server.post(f"{path}/documents", content=body, headers={"Content-Type": kind})
        assert sent.status_code == 202
    pulled = server.get(f"{path}/subscriptions/s/deliveries").json()["deliveries"]
    told = [each["content_type"] for each in pulled]
    assert told == ["application/xml", "application/xml", "application/atom+xml; charset=utf-8"]
    back = server.get(f"/v1/documents/{pulled[0]['document']}/body")
    assert (back.content, back.headers["content-type"]) == (b"<a/>", "application/xml")


def test_one_mistake_is_told_once(server: Server, name: str) -> None:
    path = server.topic(name)
    webhook = {"url": "https://example.org/", "secret": "abc"}
    given = {"xpath": "//a", "delivery": {"webhook": webhook}}
    refused = server.put(f"{path}/subscriptions/s", json=given).json()
    assert [each["where"] for each in refused["errors"]] == ["delivery.webhook.secret"]
    deliveries: list[object] = ["pull", "events", {"pull": {}}]
    for delivery in deliveries:
        put = server.put(f"{path}/subscriptions/s", json={"xpath": "//a", "delivery": delivery})
        assert put.status_code in (200, 201), put.text


@pytest.mark.parametrize(
    "kind", ["text/x\r\nX-Mine: 1\r\n\r\n<b/>/xml", "text/\u20ac+xml", "a\0/xml", "text/\xe9+xml"]
)
def test_a_type_that_is_no_header(server: Server, name: str, kind: str) -> None:
    """It is not passed on: it would end the connection, or be refused by each call of a receiver."""
    path = server.topic(name, s="//a")
    line = json.dumps({"document": "PGEvPg==", "content_type": kind})
    headers = {"Content-Type": "application/x-ndjson"}
    [answer] = server.post(f"{path}/documents:batch", content=line, headers=headers).text.splitlines()
    body = server.get(f"/v1/documents/{json.loads(answer)['document']}/body")
    assert (body.status_code, body.headers["content-type"]) == (200, "application/xml")
    assert "x-mine" not in body.headers
    [delivery] = server.get(f"{path}/subscriptions/s/deliveries").json()["deliveries"]
    assert delivery["content_type"] == "application/xml"


def test_a_key_that_postgresql_cannot_keep(server: Server, name: str) -> None:
    path = server.topic(name)
    lines = "\n".join(json.dumps({"document": "PGEvPg==", "idempotency_key": key}) for key in ("a\0", "a"))
    headers = {"Content-Type": "application/x-ndjson"}
    answers = server.post(f"{path}/documents:batch", content=lines, headers=headers).text.splitlines()
    assert [json.loads(answer)["status"] for answer in answers] == [400, 202]


def test_numbers_that_json_cannot_hold(server: Server, name: str) -> None:
    path = server.topic(name)
    infinite = b'{"xpath": "//a[. = $x]", "variables": {"x": 1e999}}'
    assert server.put(f"{path}/subscriptions/s", content=infinite).status_code == 422
    assert server.put(path, content=b'{"retention": 1e999}').status_code == 422
    assert (
        server.post("/v1/keys", content=b'{"scopes": ["read"], "quota": {"bytes": 1e999}}').status_code == 422
    )
    line = infinite.replace(b"1e999", b"NaN").replace(b"{", b'{"id": "s", ', 1)
    [answer] = server.post(f"{path}/subscriptions:bulk", content=line).text.splitlines()
    assert json.loads(answer)["status"] == 422


def test_a_line_that_is_nested_too_deeply(server: Server, name: str) -> None:
    path = server.topic(name)
    lines = ['{"id": "s", "xpath": "//a"}', "[" * 200_000, '{"id": "t", "xpath": "//a"}']
    answers = server.post(f"{path}/subscriptions:bulk", content="\n".join(lines)).text.splitlines()
    assert [json.loads(answer)["status"] for answer in answers] == [201, 422, 201]


def test_a_quota_of_almost_nothing(server: Server, name: str) -> None:
    path = server.topic(name)
    client = server.key(scopes=["publish"], quota={"documents_per_second": 5e-324})
    answers = [client.post(f"{path}/documents", content="<a/>") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 429]
    assert int(answers[1].headers["retry-after"]) <= 86_401


def test_what_nobody_foresaw_is_a_problem_too() -> None:
    app = FastAPI()
    handle_errors(app)

    async def fails(request: Request) -> Response:
        raise LookupError("a mistake of ours")

    app.router.routes.insert(0, Route("/fails", fails))

    async def get() -> httpx.Response:
        transport = httpx.ASGITransport(Headers(app), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.get("/fails")

    answer = asyncio.run(get())
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "a mistake of ours" not in answer.text
    assert "content-security-policy" in answer.headers
