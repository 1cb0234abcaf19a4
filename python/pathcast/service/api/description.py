"""What the OpenAPI document says beyond the calls: keys, errors, parameters, answers, and webhooks."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from pathcast.service.api.answers import ANSWERS, DELIVERY, LINES, Answer

PROBLEM = {
    "type": "object",
    "description": "What went wrong, as RFC 9457 says.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "description": "Which kind of problem it is."},
        "title": {"type": "string", "description": "The kind in words."},
        "status": {"type": "integer", "description": "The status of the answer."},
        "detail": {"type": "string", "description": "What is wrong this time."},
        "line": {"type": "integer", "description": "In a bad document or expression."},
        "column": {"type": "integer", "description": "In a bad document or expression."},
    },
    "example": {
        "type": "urn:pathcast:expression",
        "title": "The expression was refused",
        "status": 422,
        "detail": "expected a step, found the end",
        "line": 1,
        "column": 6,
    },
}
_PROBLEMS = {
    400: "The document is not well-formed, or the address, a cursor, a key or the batch cannot be read.",
    401: "The key is missing, unknown, revoked or expired.",
    403: "The key may not do this.",
    404: "There is no such thing, or the key does not see it.",
    409: "It cannot be done any more, or not to this.",
    413: "The body is too large.",
    415: "The type or the encoding of the body is not known.",
    422: "The expression or the body is refused; nothing has changed.",
    429: "A quota is used up; `Retry-After` says for how long.",
    503: "The store or the indexes are not ready; nothing has changed.",
}
_OPEN = ("/healthz", "/readyz")
_PARAMETERS = {
    "topic": "The name of a topic.",
    "id": "Its id.",
    "cursor": "The `cursor` of the page before.",
    "limit": "How many at most; never more than 1,000.",
    "label": "`name:value` or `name`: only those with this label.",
    "since": "Only what came after this moment, in seconds since 1970.",
    "nodes": "Also say which nodes each of them selects.",
    "explain": "The id of a subscription: also say why it matches, or why not.",
    "after": "The cursor to go on from; without it, what was acknowledged.",
    "wait": "Seconds to wait for a delivery when there is none, up to 60.",
    "body": "Whether deliveries hold their document.",
    "state": "Only those that are `waiting`, `delivered`, `dead` or `dropped`.",
    "kind": "Only `document` or only `delivery`.",
}
_WHY = "Whether to say why the subscriptions matched."  # the other `explain`
_CALL = {
    "summary": "A delivery by webhook",
    "description": "Signed as Standard Webhooks say. A status from 200 to 299 within 15 seconds is success.",
    "parameters": [
        {"name": name, "in": "header", "required": True, "description": told, "schema": {"type": "string"}}
        for name, told in (
            ("webhook-id", "The id of the delivery; the same when it is tried again."),
            ("webhook-timestamp", "Seconds since 1970."),
            ("webhook-signature", "`v1,` and the signature in base64."),
            ("pathcast-document", "The id of the document."),
            ("pathcast-topic", "The name of the topic."),
            ("pathcast-subscription", "The id of the subscription."),
        )
    ],
    "requestBody": {
        "required": True,
        "description": "The document.",
        "content": {"application/xml": {"schema": {"type": "string"}, "example": DELIVERY["body"]}},
    },
    "responses": {"2XX": {"description": "It has arrived."}},
}


def describe(app: FastAPI) -> None:
    """Let the application describe itself completely."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _complete(
                get_openapi(
                    title=app.title, version=app.version, description=app.description, routes=app.routes
                )
            )
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _complete(schema: dict[str, Any]) -> dict[str, Any]:
    schema["webhooks"] = {"delivery": {"post": _CALL}}
    components = schema.setdefault("components", {})
    components["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "A key of `POST /v1/keys`."}
    }
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["Problem"] = PROBLEM
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            answer = ANSWERS[method, path]
            bad = set(answer.bad) if path in _OPEN else {*answer.bad, 400, 401, 403, 503}
            if any(each["in"] == "query" for each in operation.get("parameters", ())):
                bad.add(422)
            if "application/json" in operation.get("requestBody", {}).get("content", {}):
                bad |= {413, 415, 422}
            if path not in _OPEN:
                operation["security"] = [{"key": []}]
            problems = {str(status): _bad(told) for status, told in _PROBLEMS.items() if status in bad}
            operation["responses"] = _good(answer) | problems | {"default": _bad("Another problem.")}
            parameters = operation.get("parameters", [])
            for parameter in parameters:
                name = parameter["name"]
                boolean = parameter["schema"].get("type") == "boolean"
                parameter["description"] = _WHY if name == "explain" and boolean else _PARAMETERS[name]
            parameters += [
                {"name": name, "in": "header", "description": told, "schema": {"type": "string"}}
                for name, told in answer.headers.items()
            ]
            if parameters:
                operation["parameters"] = parameters
    return schema


def _good(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for status, told in answer.good.items():
        found[str(status)] = {"description": told}
        if answer.example is not None:
            shape = {"type": "string"} if answer.media == LINES else shape_of(answer.example)
            content = {"schema": shape, "example": answer.example}
            found[str(status)]["content"] = {answer.media: content}
    return found


def _bad(told: str) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": told, "content": content}


def shape_of(example: Any) -> dict[str, Any]:
    """The JSON schema of everything that looks like an example.

    >>> shape_of({"matches": ["s1"], "n": 1})["properties"]["matches"]
    {'type': 'array', 'items': {'type': 'string'}}
    """
    if isinstance(example, dict):
        return {"type": "object", "properties": {name: shape_of(each) for name, each in example.items()}}
    if isinstance(example, list):
        return {"type": "array", "items": shape_of(example[0]) if example else {}}
    kinds: tuple[tuple[type, str], ...] = ((bool, "boolean"), (int, "integer"), (float, "number"))
    for kind, name in kinds:
        if isinstance(example, kind):
            return {"type": name}
    return {"type": "string"} if isinstance(example, str) else {}
