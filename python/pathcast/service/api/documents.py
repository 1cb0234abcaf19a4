"""Documents: publish one or a batch, look at what became of them."""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection

from pathcast.errors import PathcastError
from pathcast.service.access import sees
from pathcast.service.api import batches, requests
from pathcast.service.api.batches import Part
from pathcast.service.api.explaining import explained
from pathcast.service.catalog import LiveTopic
from pathcast.service.core import Service
from pathcast.service.problems import MEDIA_TYPE, Problem, unknown
from pathcast.service.publishing import Publication
from pathcast.service.pulling import iso, read_cursor
from pathcast.service.store import documents, matches, pushes, subscriptions
from pathcast.service.store.deliveries import delivery_id
from pathcast.service.store.documents import Document
from pathcast.service.store.keys import Key
from pathcast.service.store.subscriptions import Subscription

router = APIRouter(tags=["documents"])

_KEY = 255  # characters of an idempotency key
_TOGETHER = 1_000  # of a batch that are queued at a time
_EXPLAINED = 20  # subscriptions for which one answer says why


async def _send(service: Service, live: LiveTopic, part: Part, trace: str | None) -> Publication:
    """Publish one document; returns when it is durable."""
    began = time.perf_counter()
    body, key = part.body, part.key
    if key is not None and (not 0 < len(key) <= _KEY or "\0" in key):
        detail = f"1 to {_KEY} characters, none of them U+0000"
        raise Problem(400, "idempotency-key", "The Idempotency-Key is not valid", detail)
    digest = hashlib.sha256(body).hexdigest() if key is not None else ""
    publication = Publication(live, body, digest, part.content_type, key, trace, refused=part.refused)
    done = await service.publish(publication)
    service.metrics.published(time.perf_counter() - began)
    return done


async def _within_quota(service: Service, key: Key, count: int, size: int) -> None:
    if not key.quota:
        return
    pending = key.quota.get("pending_deliveries")
    if pending is not None:
        await service.pending.check(key.tenant, pending)
    service.meter.spend(key.id, key.quota, count, size)


@router.post(
    "/v1/topics/{topic}/documents",
    status_code=202,
    summary="Publish a document",
    openapi_extra=requests.xml_body("The document; with `Content-Encoding: gzip` also compressed."),
)
async def publish(request: Request, topic: str) -> Response:
    """202 once it is durable: `document` is its id, `matched` says how many subscriptions get it.

    With `Idempotency-Key` the same key again gives the same answer and no second delivery. A document that is
    not well-formed answers 400 with line and column, and is kept as a dead letter.
    """
    service, key = await requests.allowed(request, "publish", topic=topic)
    live = await service.topic(key.tenant, topic)
    limit = service.settings.document_bytes
    body = await requests.read_body(request, limit)
    headers = request.headers
    if requests.is_packed(headers.get("content-encoding"), headers.get("content-type")):
        part = await asyncio.to_thread(batches.part, body, headers, limit)
    else:
        part = batches.part(body, headers, limit)
    await _within_quota(service, key, 1, len(part.body))
    done = await _send(service, live, part, requests.trace(request))
    response = requests.answer(done.answer, done.status)
    if done.status != 202:
        response.headers["content-type"] = MEDIA_TYPE
    return response


@router.post(
    "/v1/topics/{topic}/documents:batch",
    summary="Publish many documents",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "multipart/mixed": {
                    "schema": {"type": "string", "format": "binary"},
                    "example": "--b\r\nContent-Type: application/xml\r\n\r\n<a/>\r\n--b--\r\n",
                },
                "application/x-ndjson": {
                    "schema": {"type": "string"},
                    "example": '{"document": "PGEvPg==", "idempotency_key": "k1"}\n',
                },
            },
        }
    },
)
async def batch(request: Request, topic: str) -> Response:
    """`multipart/mixed` with a document in each part, or JSON lines with the bytes in base64 as `document`.

    The answer is JSON lines, one for each document in order: `status`, and what a single one would answer.
    """
    service, key = await requests.allowed(request, "publish", topic=topic)
    live = await service.topic(key.tenant, topic)
    limit = service.settings.document_bytes
    body = await requests.read_body(request, batches.TOGETHER * limit)
    encoding, kind = request.headers.get("content-encoding"), request.headers.get("content-type", "")
    given = await asyncio.to_thread(batches.read, body, encoding, kind, limit)
    good = [part for part in given if part.problem is None]
    await _within_quota(service, key, len(good), sum(len(part.body) for part in good))
    trace = requests.trace(request)
    answers: list[dict[str, Any]] = []
    for start in range(0, len(given), _TOGETHER):  # fewer than the queue of a tenant takes
        some = given[start : start + _TOGETHER]
        answers += await asyncio.gather(*(_one(service, live, part, trace) for part in some))
    return requests.lines(answers)


async def _one(service: Service, live: LiveTopic, part: Part, trace: str | None) -> dict[str, Any]:
    try:
        if part.problem is not None:
            raise part.problem
        done = await _send(service, live, part, trace)
        return {"status": done.status, **done.answer}
    except Problem as problem:
        return problem.answer()


@router.get("/v1/documents", summary="List documents, newest first")
async def page(
    request: Request, topic: str | None = None, cursor: str | None = None, limit: int = 100
) -> Response:
    """Without their bodies."""
    service, key = await requests.allowed(request, "read", topic=topic)
    limit = requests.limited(limit)
    number = (await service.topic(key.tenant, topic)).number if topic else None
    before = read_cursor(cursor)
    found = await service.read(lambda c: documents.page(c, key.tenant, before, limit + 1, number))
    visible = [each for each in found[:limit] if _visible(service, key, each)]
    after = str(found[limit - 1].number) if len(found) > limit else None
    return requests.answer({"documents": [_head(service, each) for each in visible], "cursor": after})


def _topic_name(service: Service, document: Document) -> str | None:
    live = service.catalog.by_number(document.topic)
    return live.name if live else None


def _visible(service: Service, key: Key, document: Document) -> bool:
    name = _topic_name(service, document)
    return sees(key, name) if name is not None else "*" in key.topics


def _head(service: Service, document: Document) -> dict[str, Any]:
    return {
        "document": document.id,
        "topic": _topic_name(service, document),
        "received": iso(document.received),
        "content_type": document.content_type,
        "size": document.size,
        "matched": document.matched,
    }


async def _find(request: Request, id: str) -> tuple[Service, Key, Document]:
    service, key = await requests.allowed(request, "read")
    found = await service.read(lambda connection: documents.find(connection, key.tenant, id))
    if found is None or not _visible(service, key, found):
        raise unknown("document", id)
    return service, key, found


@router.get("/v1/documents/{id}", summary="Who got a document, and why")
async def get(
    request: Request, id: str, cursor: str = "", limit: int = 100, explain: bool = True
) -> Response:
    """Its deliveries in order of the subscriptions' ids; for the first 20 of a page also why they matched."""
    service, _, document = await _find(request, id)
    limit = requests.limited(limit)
    name = _topic_name(service, document) or ""

    def look(connection: Connection) -> tuple[list[str], list[dict[str, Any]], list[Subscription], bytes]:
        found = matches.of_document(connection, document.topic, document.number, cursor, limit + 1)
        ids = found[:limit]
        known = subscriptions.named(connection, document.topic, ids)
        pushed = pushes.of_document(connection, document.number, ids)
        body = documents.body(connection, document.number) or b""
        items: list[dict[str, Any]] = []
        for id in ids:
            item: dict[str, Any] = {"id": delivery_id(document.id, name, id), "subscription": id}
            one = known.get(id)
            if one is not None:
                item |= {"xpath": one.xpath, "channel": one.channel}
                item["state"] = "acknowledged" if one.acked >= document.number else "pending"
            if id in pushed:
                push = pushed[id]
                item |= {"state": push["state"], "attempts": push["attempts"], "reason": push["reason"]}
            items.append(item)
        explaining = [known[id] for id in ids[:_EXPLAINED] if id in known] if explain else []
        return found, items, explaining, body

    found, items, explaining, content = await service.read(look)
    live = service.catalog.by_number(document.topic)
    if live is not None and explaining:
        settings = live.settings
        reasons = await service.matching.apart(
            live.tenant, lambda: {each.id: _why(each, settings, content) for each in explaining}
        )
        items = [_with_why(item, reasons) for item in items]
    after = found[limit - 1] if len(found) > limit else None
    return requests.answer({**_head(service, document), "deliveries": items, "cursor": after})


def _with_why(item: dict[str, Any], reasons: dict[str, Any]) -> dict[str, Any]:
    id = item["subscription"]
    return {**item, "why": reasons[id]} if id in reasons else item


def _why(one: Subscription, settings: dict[str, Any], body: bytes) -> dict[str, Any] | None:
    try:
        return explained(one, settings, body)
    except PathcastError:  # the expression has changed since
        return None


@router.get("/v1/documents/{id}/body", summary="The bytes of a document as they came")
async def body(request: Request, id: str) -> Response:
    """With the Content-Type that they came with."""
    service, _, document = await _find(request, id)
    found = await service.read(lambda connection: documents.body(connection, document.number))
    # Sent as a download: a page must never run as if it were ours.
    headers = {"Content-Disposition": f'attachment; filename="{document.id}.xml"'}
    return Response(found or b"", 200, headers, document.content_type or "application/xml")
