"""What the OpenAPI document says beyond the calls: the key, the shape of errors, and answers as examples."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

PROBLEM = {
    "type": "object",
    "description": "What went wrong, as RFC 9457 says.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "example": "urn:pathcast:expression"},
        "title": {"type": "string", "example": "The expression was refused"},
        "status": {"type": "integer", "example": 422},
        "detail": {"type": "string", "example": "expected a step, found the end"},
        "line": {"type": "integer", "description": "In a bad document or expression."},
        "column": {"type": "integer", "description": "In a bad document or expression."},
    },
}
_DELIVERY = {
    "id": "dlv_9a51217e43ec655a9841ec87b29c02ee",
    "cursor": "17",
    "document": "doc_01a1e25191f76620af66d6e2543a",
    "topic": "news",
    "subscription": "english",
    "received": "2026-01-17T06:15:00.000Z",
    "content_type": "application/xml",
    "size": 30,
    "body": '<news><item lang="en"/></news>',
}
ANSWERS: dict[tuple[str, str], Any] = {
    ("post", "/v1/check"): {"ok": True, "xpath": "/a/b", "matched": True, "nodes": [{"path": "/a/b"}]},
    ("post", "/v1/topics/{topic}/match"): {"matches": ["english", "storms"]},
    ("post", "/v1/topics/{topic}/documents"): {"document": _DELIVERY["document"], "matched": 2},
    ("put", "/v1/topics/{topic}/subscriptions/{id}"): {"id": "s1", "xpath": "//a", "enabled": True},
    ("get", "/v1/topics/{topic}/subscriptions/{id}/deliveries"): {"deliveries": [_DELIVERY], "cursor": "17"},
    ("post", "/v1/topics/{topic}/subscriptions/{id}/ack"): {"cursor": "17"},
    ("post", "/v1/keys"): {"id": "key_01bf9282bc3f54bf", "tenant": "newsroom", "key": "pck_…"},
}
_OPEN = ("/healthz", "/readyz")


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
    components = schema.setdefault("components", {})
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            responses = operation["responses"]
            responses["default"] = {"description": "A problem.", "content": problem}
            responses.pop("422", None)  # it is a problem like the others
            if path not in _OPEN:
                operation["security"] = [{"key": []}]
            example = ANSWERS.get((method, path))
            if example is not None:
                good = next(status for status in responses if status.startswith("2"))
                responses[good]["content"] = {"application/json": {"example": example}}
    return schema
