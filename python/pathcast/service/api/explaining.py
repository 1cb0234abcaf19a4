"""Explanations as JSON, and the call that checks an expression without storing anything."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

import pathcast
from pathcast.errors import DocumentError, XPathError
from pathcast.service.access import from_this_machine
from pathcast.service.api import requests
from pathcast.service.api.models import CheckBody
from pathcast.service.problems import Problem, bad_document, bad_expression
from pathcast.service.store.subscriptions import Subscription

router = APIRouter(tags=["expressions"])


@router.post("/v1/check", summary="Check an expression, perhaps on a document")
async def check(request: Request, body: CheckBody) -> Response:
    """Whether it is sound; with a document also why it matches or not, step by step. Nothing is stored."""
    playground = getattr(request.app.state, "service", None) is None
    if not playground and not from_this_machine(request):
        await requests.allowed(request, "read")
    try:
        return requests.answer(await asyncio.to_thread(_checked, body))
    except XPathError as error:
        raise bad_expression(error, ok=False, message=error.message) from None
    except DocumentError as error:
        raise bad_document(error) from None


def _checked(body: CheckBody) -> dict[str, Any]:
    if body.variables:
        raise Problem(422, "variables", "Variables are not supported yet")
    index = pathcast.Index(ordered=body.ordered, ignore_namespaces=body.ignore_namespaces)
    index.check(body.xpath, namespaces=body.namespaces)
    answer: dict[str, Any] = {"ok": True, "xpath": body.xpath}
    if body.document is not None:
        explanation = pathcast.explain(
            body.xpath,
            body.document,
            ordered=body.ordered,
            namespaces=body.namespaces,
            ignore_namespaces=body.ignore_namespaces,
        )
        answer |= {"matched": explanation.matched, "explanation": as_json(explanation)}
        answer["nodes"] = [
            {"path": node}
            for path in explanation.paths
            if path.matched
            for step in path.steps[-1:]  # an expression such as count(//a) = 2 may have no step
            for node in step.nodes
        ]
    return answer


def explained(subscription: Subscription, settings: dict[str, Any], document: bytes) -> dict[str, Any]:
    """Why a document satisfies a subscription of a topic with these settings, or why not."""
    namespaces = {**(settings.get("namespaces") or {}), **(subscription.namespaces or {})}
    explanation = pathcast.explain(
        subscription.xpath,
        document,
        ordered=bool(subscription.ordered),
        namespaces=namespaces or None,
        ignore_namespaces=bool(settings.get("ignore_namespaces")),
    )
    return as_json(explanation)


def as_json(explanation: pathcast.Explanation) -> dict[str, Any]:
    """The explanation as clients get it."""
    return {
        "xpath": explanation.xpath,
        "matched": explanation.matched,
        "text": str(explanation),
        "paths": [
            {
                "text": path.text,
                "matched": path.matched,
                "steps": [
                    {"text": step.text, "count": step.count, "nodes": list(step.nodes)} for step in path.steps
                ],
            }
            for path in explanation.paths
        ],
    }
