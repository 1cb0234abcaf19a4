"""OpenAPI: every call, parameter and field is described, and the examples look like what a server answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pathcast.service.api.answers import ANSWERS, S, T
from tests.service.receiver import Receiver
from tests.service.server import Server


@pytest.fixture(scope="module")
def described(server: Server) -> dict[str, Any]:
    answer: dict[str, Any] = server.get("/openapi.json").json()
    return answer


def test_every_call_is_described(described: dict[str, Any]) -> None:
    calls = {(method, path) for path, methods in described["paths"].items() for method in methods}
    assert calls == ANSWERS.keys()
    assert described["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert described["webhooks"]
    for method, path in calls:
        operation = described["paths"][path][method]
        assert operation["summary"], path
        assert operation["description"], path
        for parameter in operation.get("parameters", ()):
            assert parameter["description"], (path, parameter["name"])
        for status, answer in operation["responses"].items():
            assert answer["description"], (path, status)
            if status.startswith("2") and status != "204":
                [content] = answer["content"].values()
                assert content["example"], path
                assert content["schema"], path
        for content in operation.get("requestBody", {"content": {"": {"example": ""}}})["content"].values():
            assert "example" in content or _examples(described, content["schema"]), path


def _examples(described: dict[str, Any], schema: dict[str, Any]) -> Any:
    """Those of the named type that a body is."""
    [name] = [each["$ref"] for each in schema.get("anyOf", [schema]) if "$ref" in each]
    return described["components"]["schemas"][name.rpartition("/")[2]]["examples"]


def test_every_field_is_described(described: dict[str, Any]) -> None:
    for name, schema in described["components"]["schemas"].items():
        for field, shape in schema["properties"].items():
            assert shape.get("description"), f"{name}.{field}"


def test_examples_look_like_answers(server: Server, name: str) -> None:
    with Receiver() as receiver:
        path = server.topic(name)
        document = "<news><item lang='en'/></news>"
        hook = {"xpath": "//item", "delivery": {"webhook": {"url": receiver.url}}}
        good = {
            ("put", T): server.put(path, json={"namespaces": {"n": "urn:n"}}),
            ("put", S): server.put(f"{path}/subscriptions/s", json={"xpath": "//item", "labels": {"a": "b"}}),
            ("post", T + "/documents"): server.post(f"{path}/documents", content=document),
            ("get", S): server.get(f"{path}/subscriptions/s"),
            ("get", T + "/subscriptions"): server.get(f"{path}/subscriptions"),
            ("get", T): server.get(path),
            ("get", "/v1/topics"): server.get("/v1/topics"),
            ("post", T + "/match"): server.post(f"{path}/match?nodes=true&explain=s", content=document),
            ("post", "/v1/check"): server.post("/v1/check", json={"xpath": "//item", "document": document}),
            ("get", S + "/deliveries"): server.get(f"{path}/subscriptions/s/deliveries"),
            ("get", "/v1/documents"): server.get("/v1/documents", params={"topic": name}),
            ("post", S + "/ack"): server.post(f"{path}/subscriptions/s/ack", json={"cursor": "1"}),
            ("get", "/v1/keys"): server.get("/v1/keys"),
            ("get", "/v1/keys/self"): server.get("/v1/keys/self"),
            ("post", "/v1/keys"): server.post("/v1/keys", json={"scopes": ["read"]}),
            ("get", "/healthz"): server.get("/healthz"),
            ("get", "/readyz"): server.get("/readyz"),
            ("get", "/v1/overview"): server.get("/v1/overview"),
        }
        assert server.put(f"{path}/subscriptions/hook", json=hook).status_code == 201
        good["post", S + "/test"] = server.post(f"{path}/subscriptions/hook/test")
        published = server.post(f"{path}/documents", content=document).json()["document"]
        good["get", "/v1/documents/{id}"] = server.get(f"/v1/documents/{published}")
        receiver.wait(lambda got: len(got) >= 2)
        good["get", "/v1/deliveries"] = server.get("/v1/deliveries")
        assert server.post(f"{path}/documents", content="<a>\n<b></a>").status_code == 400
        good["get", "/v1/dead-letters"] = server.get("/v1/dead-letters", params={"topic": name})
    for call, response in good.items():
        answer = ANSWERS[call]
        assert response.status_code in answer.good, (call, response.text)
        assert response.headers["content-type"] == answer.media
        assert _names(response.json()) == _names(answer.example), call


OPEN = ("labels", "namespaces", "nodes", "quota")
"""Objects whose names are the caller's."""


def _names(value: Any) -> Any:
    """The names in an answer, without its values."""
    if isinstance(value, dict):
        return {name: None if name in OPEN else _names(each) for name, each in value.items()}
    return _names(value[0]) if isinstance(value, list) and value else None


def test_lines_of_bulk_and_batch(server: Server, name: str) -> None:
    path = server.topic(name)
    for place, line in (
        ("subscriptions:bulk", {"id": "s1", "xpath": "//a"}),
        ("documents:batch", {"document": "PGEvPg=="}),
    ):
        headers = {"Content-Type": "application/x-ndjson"}
        done = server.post(f"{path}/{place}", content=json.dumps(line), headers=headers)
        example = ANSWERS["post", f"{T}/{place}"].example
        assert json.loads(done.text).keys() == example.keys()


def test_what_every_call_may_answer(described: dict[str, Any]) -> None:
    """A page that cannot be read, an address with U+0000, a body that is not JSON: each is described."""
    assert {"400", "422"} <= described["paths"]["/v1/keys"]["get"]["responses"].keys()
    ack = described["paths"]["/v1/topics/{topic}/subscriptions/{id}/ack"]["post"]
    assert {"413", "415"} <= ack["responses"].keys()
