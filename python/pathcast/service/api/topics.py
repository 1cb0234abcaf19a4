"""Topics: create, look, list, remove, match without storing, and what goes on in one."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

import pathcast
from pathcast.errors import EvaluationError
from pathcast.service import subscribing
from pathcast.service.access import sees
from pathcast.service.api import requests
from pathcast.service.api.explaining import explained, shown
from pathcast.service.api.models import TopicBody, check_name
from pathcast.service.problems import unknown
from pathcast.service.pulling import iso
from pathcast.service.store import matches, pushes, subscriptions, topics

router = APIRouter(tags=["topics"])

_RECENT = 1_000  # documents that "hot" looks at
_INLINE = 64 << 10  # bytes: a smaller document is matched faster than a thread is woken


@router.put("/v1/topics/{topic}", summary="Create a topic or change its settings")
async def put(request: Request, topic: str, body: TopicBody | None = None) -> Response:
    """A topic is an index of its own. Settings that its subscriptions do not suit are refused."""
    service, key = await requests.allowed(request, "subscribe", topic=check_name("topic", topic))
    settings = (body or TopicBody()).settings()
    subscribing.check_limits(service, key, settings.get("limits") or {})
    created = await subscribing.put_topic(service, key.tenant, topic, settings)
    return requests.answer({"topic": topic, **settings}, 201 if created else 200)


@router.get("/v1/topics", summary="List topics")
async def page(request: Request, cursor: str = "", limit: int = 100) -> Response:
    """In order of their names; `cursor` of one answer gives the next page."""
    service, key = await requests.allowed(request, "read")
    limit = requests.limited(limit)
    found = await service.read(lambda connection: topics.page(connection, key.tenant, cursor, limit + 1))
    counts = await service.read(lambda connection: topics.counts(connection, key.tenant))
    items = [
        {
            "topic": each.name,
            "subscriptions": counts.get(each.number, 0),
            "created": iso(each.created),
            **each.settings,
        }
        for each in found[:limit]
        if sees(key, each.name)
    ]
    return requests.answer({"topics": items, "cursor": found[limit - 1].name if len(found) > limit else None})


@router.get("/v1/topics/{topic}", summary="Look at a topic")
async def get(request: Request, topic: str) -> Response:
    """Its settings and the figures of its index."""
    service, key = await requests.allowed(request, "read", "subscribe", topic=topic)
    live = await service.topic(key.tenant, topic)
    stats = await asyncio.to_thread(live.index.stats)
    kept = ("subscriptions", "distinct", "engine", "memory_bytes")
    figures = {name: stats[name] for name in kept if name in stats}
    counts = await service.read(lambda connection: topics.counts(connection, key.tenant))
    return requests.answer(
        {
            "topic": topic,
            "subscriptions": counts.get(live.number, 0),
            **live.settings,
            "index": figures,
            "version": live.version,
        }
    )


@router.delete("/v1/topics/{topic}", status_code=204, summary="Remove a topic")
async def delete(request: Request, topic: str) -> Response:
    """With its subscriptions and everything that waits for them."""
    service, key = await requests.allowed(request, "admin", topic=topic)
    await subscribing.remove_topic(service, await service.topic(key.tenant, topic))
    return Response(status_code=204)


@router.post(
    "/v1/topics/{topic}/match",
    summary="Match a document and store nothing",
    openapi_extra=requests.xml_body("The document."),
)
async def match(request: Request, topic: str, nodes: bool = False, explain: str | None = None) -> Response:
    """Which subscriptions it satisfies; with `nodes` what they select, with `explain=ID` why, or why not."""
    service, key = await requests.allowed(request, "read", topic=topic)
    live = await service.topic(key.tenant, topic)
    document = await requests.read_document(request, service.settings.document_bytes)
    try:
        if len(document) <= _INLINE and not (live.trees or live.costly):
            found = live.index.match(document)
        else:
            found = await service.look(live, lambda c: live.index.match(document, cancellation=c))
        answer: dict[str, Any] = {"matches": found}
        if nodes:
            answer["nodes"] = await service.look(live, lambda c: _nodes(live.index, document, c))
        if explain is not None:
            one = await service.read(lambda connection: subscriptions.find(connection, live.number, explain))
            if one is None:
                raise unknown("subscription", explain)
            sound = one  # for the type checker: it is not None in a closure either
            answer["explanation"] = await service.matching.apart(
                live.tenant, lambda: explained(sound, live.settings, document)
            )
    except EvaluationError as error:
        answer = {"matches": error.matches, "undecided": error.failures}
    return requests.answer(answer)


def _nodes(index: pathcast.Index, document: bytes, cancellation: pathcast.Cancellation) -> dict[str, Any]:
    found = index.select(document, cancellation=cancellation)
    return {str(id): [shown(node) for node in nodes] for id, nodes in found.items()}


@router.get("/v1/topics/{topic}/activity", summary="Which subscriptions are hot, slow, or never matched")
async def activity(request: Request, topic: str, limit: int = 20) -> Response:
    """Hot: most of the last 1,000 documents. Slow: receivers that fail or take long. Never: nothing kept."""
    service, key = await requests.allowed(request, "read", topic=topic)
    live = await service.topic(key.tenant, topic)
    limit = requests.limited(limit)
    since = service.settings.clock() - 86_400
    hot = await service.read(lambda connection: matches.hot(connection, live.number, _RECENT, limit))
    slow = await service.read(lambda connection: pushes.slow(connection, live.number, since, limit))
    never = await service.read(lambda connection: matches.never(connection, live.number, limit))
    return requests.answer({"hot": hot, "slow": slow, "never": never})
