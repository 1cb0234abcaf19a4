"""Deliveries: pull and acknowledge, events, and the calls that the server made."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from pathcast.service import pulling
from pathcast.service.access import sees
from pathcast.service.api import requests
from pathcast.service.api.models import AckBody
from pathcast.service.problems import Problem, unknown
from pathcast.service.pulling import iso, read_cursor
from pathcast.service.store import pushes, subscriptions
from pathcast.service.store.deliveries import delivery_id

router = APIRouter(tags=["deliveries"])
PATH = "/v1/topics/{topic}/subscriptions/{id}"


@router.get(PATH + "/deliveries", summary="Pull deliveries")
async def pull(
    request: Request,
    topic: str,
    id: str,
    after: str | None = None,
    wait: float = 0.0,
    limit: int = 100,
    body: bool = True,
) -> Response:
    """The deliveries after a cursor, or after what was acknowledged; waits up to `wait` seconds for one.

    `body` holds the document when it is UTF-8, `body_base64` otherwise. Go on with the answer's `cursor`.
    """
    service, key = await requests.allowed(request, "subscribe", topic=topic)
    live = await service.topic(key.tenant, topic)
    if not wait >= 0:
        raise Problem(422, "wait", "The wait is out of bounds", "wait is 0 or more seconds")
    limit = requests.limited(limit)
    page = await pulling.pull(service, live, id, read_cursor(after), limit, wait, body)
    return requests.answer({"deliveries": page.items, "cursor": str(page.cursor)})


@router.post(PATH + "/ack", summary="Acknowledge deliveries")
@router.post(PATH + "/deliveries/ack", include_in_schema=False)
async def ack(request: Request, topic: str, id: str, body: AckBody) -> Response:
    """Everything up to the cursor has arrived. The acknowledged place never moves back."""
    service, key = await requests.allowed(request, "subscribe", topic=topic)
    live = await service.topic(key.tenant, topic)
    cursor = read_cursor(body.cursor)
    if cursor is None:
        raise Problem(400, "cursor", "The cursor is not valid", "it is empty")
    acked = await pulling.acknowledge(service, live, id, cursor)
    return requests.answer({"cursor": str(acked)})


@router.get(PATH + "/events", summary="Deliveries as Server-Sent Events")
async def events(
    request: Request, topic: str, id: str, after: str | None = None, body: bool = True
) -> Response:
    """Without end. `Last-Event-ID` resumes without a gap, and acknowledges what came before it.

    A browser's `EventSource` sends no headers: it may give the key as `access_token` in the address.
    """
    service, key = await requests.allowed(request, "subscribe", topic=topic)
    live = await service.topic(key.tenant, topic)
    last = request.headers.get("last-event-id")
    cursor = read_cursor(last or after)
    if await service.read(lambda connection: subscriptions.find(connection, live.number, id)) is None:
        raise unknown("subscription", id)
    if last and cursor is not None:
        await pulling.acknowledge(service, live, id, cursor)
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}

    async def allowed() -> None:
        await requests.allowed(request, "subscribe", topic=topic)

    stream = pulling.events(service, live, id, cursor, body, allowed)
    return StreamingResponse(stream, 200, headers, "text/event-stream")


@router.get("/v1/deliveries", summary="List the calls of webhooks, newest first")
async def page(
    request: Request, state: str | None = None, cursor: str | None = None, limit: int = 100
) -> Response:
    """`state` is waiting, delivered, dead or dropped."""
    service, key = await requests.allowed(request, "read")
    limit = requests.limited(limit)
    before = read_cursor(cursor)
    found = await service.read(lambda c: pushes.page(c, key.tenant, before, limit + 1, state))
    items = [
        {
            "id": delivery_id(each["document_id"], each["topic_name"], each["subscription"]),
            "topic": each["topic_name"],
            "subscription": each["subscription"],
            "document": each["document_id"],
            "state": each["state"],
            "attempts": each["attempts"],
            "status": each["status"],
            "reason": each["reason"],
            "seconds": each["seconds"],
            "changed": iso(each["changed"]),
            "due": iso(each["due"]) if each["state"] == "waiting" else None,
        }
        for each in found[:limit]
        if sees(key, each["topic_name"])
    ]
    after = str(found[limit - 1]["number"]) if len(found) > limit else None
    return requests.answer({"deliveries": items, "cursor": after})
