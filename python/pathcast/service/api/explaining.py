"""Explanations as JSON, and the call that checks an expression without storing anything."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

import pathcast
from pathcast.errors import DocumentError, LimitError, XPathError
from pathcast.service.access import from_this_machine
from pathcast.service.api import requests
from pathcast.service.api.models import CheckBody
from pathcast.service.catalog import values
from pathcast.service.core import Service
from pathcast.service.problems import Problem, bad_expression
from pathcast.service.store.subscriptions import Subscription

router = APIRouter(tags=["expressions"])

_SHOWN = 1_000  # nodes in one answer
_TEXT = 200  # characters of a node's text


@router.post("/v1/check", summary="Check an expression, perhaps on a document")
async def check(request: Request, body: CheckBody) -> Response:
    """Whether it is sound; with a document also why it matches or not, step by step. Nothing is stored."""
    service: Service | None = getattr(request.app.state, "service", None)
    tenant = ""
    if service is not None and not from_this_machine(request):
        _, key = await requests.allowed(request, "read")
        tenant = key.tenant
    try:
        if service is None:
            return requests.answer(await asyncio.to_thread(_checked, body))
        return requests.answer(await service.matching.apart(tenant, lambda: _checked(body)))
    except XPathError as error:
        raise bad_expression(error, ok=False, message=error.message) from None
    except DocumentError:
        raise
    except LimitError as error:
        raise Problem(422, "limit", "The expression costs too much on this document", str(error)) from None


def _checked(body: CheckBody) -> dict[str, Any]:
    try:
        variables = values(body.variables)
    except ValueError as error:
        raise Problem(422, "variables", "The variables are refused", str(error)) from None
    index = pathcast.Index(ordered=body.ordered, ignore_namespaces=body.ignore_namespaces)
    normal_form = index.check(body.xpath, namespaces=body.namespaces, variables=variables)
    answer: dict[str, Any] = {"ok": True, "xpath": body.xpath, "normal_form": normal_form}
    if body.document is None:
        return answer
    explanation = pathcast.explain(
        body.xpath,
        body.document,
        ordered=body.ordered,
        namespaces=body.namespaces,
        ignore_namespaces=body.ignore_namespaces,
        variables=variables,
    )
    answer |= {"matched": explanation.matched, "explanation": as_json(explanation)}
    index.add("it", body.xpath, namespaces=body.namespaces, variables=variables)
    nodes = index.select(body.document).get("it", [])
    return answer | {"selected": len(nodes), "nodes": [shown(node) for node in nodes[:_SHOWN]]}


def explained(subscription: Subscription, settings: dict[str, Any], document: bytes) -> dict[str, Any]:
    """Why a document satisfies a subscription of a topic with these settings, or why not."""
    namespaces = {**(settings.get("namespaces") or {}), **(subscription.namespaces or {})}
    explanation = pathcast.explain(
        subscription.xpath,
        document,
        ordered=bool(subscription.ordered),
        namespaces=namespaces or None,
        ignore_namespaces=bool(settings.get("ignore_namespaces")),
        variables=values(subscription.variables),
    )
    return as_json(explanation)


def shown(node: pathcast.Node) -> dict[str, Any]:
    """A node as clients get it; the span is in the bytes of the document, in UTF-8 for one given as text."""
    return {
        "path": node.path,
        "line": node.line,
        "column": node.column,
        "span": list(node.span),
        "text": node.text[:_TEXT],
    }


def as_json(explanation: pathcast.Explanation) -> dict[str, Any]:
    """The explanation as clients get it."""
    return {**explanation.to_dict(), "text": str(explanation)}
