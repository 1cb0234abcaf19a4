"""Subscriptions: put one or many, look, list, pause, remove, and a test of the receiver."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from pathcast.service import subscribing
from pathcast.service.api import requests
from pathcast.service.api.mistakes import sentence
from pathcast.service.api.models import BulkLine, EnabledBody, SubscriptionBody, check_name
from pathcast.service.catalog import LiveTopic
from pathcast.service.core import Service
from pathcast.service.problems import Problem, unknown
from pathcast.service.pulling import iso
from pathcast.service.store import subscriptions
from pathcast.service.store.deliveries import delivery_id
from pathcast.service.store.documents import new_id
from pathcast.service.store.keys import Key
from pathcast.service.store.subscriptions import Subscription
from pathcast.service.webhooks import addresses
from pathcast.service.webhooks.sender import Letter

router = APIRouter(tags=["subscriptions"])
PATH = "/v1/topics/{topic}/subscriptions"

_CHUNK = 5_000  # lines of a bulk load that are stored in one transaction
_CHUNK_BYTES = 16 << 20
_MOST = 1_000_000  # lines of one load
_LINE = 1 << 20  # bytes of one line
_TEST = b"<pathcast-test/>"


def shown(each: Subscription, secret: bool = False) -> dict[str, Any]:
    """A subscription as it is answered; the secret of its receiver only when it was just put."""
    answer: dict[str, Any] = {"id": each.id, "xpath": each.xpath, "enabled": each.enabled}
    for name in ("namespaces", "variables", "ordered", "labels"):
        value = getattr(each, name)
        if value is not None:
            answer[name] = value
    webhook = each.webhook
    if webhook is not None and not secret:
        answer["delivery"] = {"webhook": {"url": webhook["url"]}}
    elif each.delivery is not None:
        answer["delivery"] = each.delivery
    if each.created:
        answer |= {"created": iso(each.created), "acked": str(each.acked)}
    return answer


def _checked(service: Service, live: LiveTopic, given: Subscription) -> Subscription:
    """The same, once its expression and its receiver were found sound."""
    subscribing.check(live.checker, given)
    if given.webhook is not None:
        try:
            addresses.check_url(given.webhook["url"], service.settings.webhook_networks)
        except ValueError as error:
            raise Problem(422, "webhook", "The receiver is refused", str(error)) from None
    if given.channel == "kafka":
        assert given.delivery is not None
        subscribing.check_kafka(service, live.tenant, given.delivery["kafka"]["topic"])
    return given


@router.put(PATH + "/{id}", summary="Put a subscription")
async def put(request: Request, topic: str, id: str, body: SubscriptionBody) -> Response:
    """201 when it is new, 200 when it replaces one. The next document sees it.

    An expression that is refused answers 422 with its column, and nothing changes.
    """
    service, key = await requests.allowed(request, "subscribe", topic=topic)
    live = await service.topic(key.tenant, topic)
    given = _checked(service, live, body.subscription(check_name("subscription", id)))
    [(done, new)] = await subscribing.put(service, live, key, [given])
    return requests.answer(shown(done, secret=True), 201 if new else 200)


@router.patch(PATH + "/{id}", summary="Pause a subscription, or go on")
async def pause(request: Request, topic: str, id: str, body: EnabledBody) -> Response:
    """While it is paused, documents pass it by; what was delivered before stays."""
    service, key = await requests.allowed(request, "subscribe", topic=topic)
    live = await service.topic(key.tenant, topic)
    return requests.answer(shown(await subscribing.pause(service, live, id, body.enabled)))


@router.get(PATH + "/{id}", summary="Look at a subscription")
async def get(request: Request, topic: str, id: str) -> Response:
    """As it was put, without the secret."""
    service, key = await requests.allowed(request, "read", "subscribe", topic=topic)
    return requests.answer(shown(await _find(service, await service.topic(key.tenant, topic), id)))


@router.delete(PATH + "/{id}", status_code=204, summary="Remove a subscription")
async def delete(request: Request, topic: str, id: str) -> Response:
    """With everything that waits for it."""
    service, key = await requests.allowed(request, "subscribe", topic=topic)
    await subscribing.remove(service, await service.topic(key.tenant, topic), id)
    return Response(status_code=204)


@router.get(PATH, summary="List subscriptions")
async def page(request: Request, topic: str, cursor: str = "", limit: int = 100, label: str = "") -> Response:
    """In order of their ids; `label=name:value` or `label=name` picks those with a label."""
    service, key = await requests.allowed(request, "read", "subscribe", topic=topic)
    live = await service.topic(key.tenant, topic)
    limit = requests.limited(limit)
    name, colon, value = label.partition(":")
    labels = {name: value if colon else None} if label else {}
    found = await service.read(lambda c: subscriptions.page(c, live.number, cursor, limit + 1, labels))
    items = [shown(each) for each in found[:limit]]
    after = items[-1]["id"] if len(found) > limit else None
    return requests.answer({"subscriptions": items, "cursor": after})


@router.post(
    PATH + ":bulk",
    summary="Put many subscriptions",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/x-ndjson": {
                    "schema": {"type": "string"},
                    "example": '{"id": "s1", "xpath": "//a"}\n{"id": "s2", "xpath": "//b[@c > 1]"}\n',
                }
            },
        }
    },
)
async def bulk(request: Request, topic: str) -> Response:
    """JSON lines, each with an `id`. The answer has a line for each: `status`, and why it was refused."""
    service, key = await requests.allowed(request, "subscribe", topic=topic)
    live = await service.topic(key.tenant, topic)
    answers: list[bytes] = []
    chunk: list[bytes] = []
    count = size = 0
    async for line in _lines(request):
        chunk.append(line)
        count += 1
        size += len(line)
        if count > _MOST:
            detail = f"at most {_MOST:,} lines; those before the last {len(chunk):,} are stored"
            raise Problem(413, "too-large", "The load is too large", detail)
        if len(chunk) == _CHUNK or size >= _CHUNK_BYTES:
            answers.append(await _load(service, live, key, chunk))
            chunk.clear()
            size = 0
    if chunk:
        answers.append(await _load(service, live, key, chunk))
    return Response(b"".join(answers), 200, None, requests.LINES)


async def _lines(request: Request) -> AsyncIterator[bytes]:
    """The lines of a body that need not fit into memory; empty ones are left out."""
    rest = b""
    async for piece in request.stream():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            if line.strip():
                yield line
        if len(rest) > _LINE:
            raise Problem(413, "too-large", "A line is too long", f"at most {_LINE:,} bytes")
    if rest.strip():
        yield rest


async def _load(service: Service, live: LiveTopic, key: Key, chunk: list[bytes]) -> bytes:
    """Store some lines; the answers as they are sent, because they wait until the last line has come."""
    answers, good = await asyncio.to_thread(_read, service, live, chunk)
    if good:
        try:
            put = await subscribing.put(service, live, key, list(good.values()))
        except Problem as problem:
            refused = problem.answer()
            answers = [{"id": each["id"], **refused} if each["status"] == 0 else each for each in answers]
        else:
            new = {each.id: new for each, new in put}
            for each in answers:
                if each["status"] == 0:
                    each["status"] = 201 if new[each["id"]] else 200
    return await asyncio.to_thread(requests.json_lines, answers)


def _read(
    service: Service, live: LiveTopic, chunk: list[bytes]
) -> tuple[list[dict[str, Any]], dict[str, Subscription]]:
    """The answers to lines, with the status 0 for those that are sound, and these."""
    answers: list[dict[str, Any]] = []
    good: dict[str, Subscription] = {}  # of one id in a chunk the last counts
    for line in chunk:
        id: str | None = None
        try:
            given = json.loads(line)
            id = given.get("id") if isinstance(given, dict) else None
            body = BulkLine.model_validate(given)
            good[body.id] = _checked(service, live, body.subscription(body.id))
            answers.append({"id": body.id, "status": 0})
        except Problem as problem:
            answers.append({"id": id, **problem.answer()})
        except ValidationError as error:
            told = sentence(error.errors(include_url=False)[0])
            refused = Problem(422, "request", "The line is not a subscription", told)
            answers.append({"id": id, **refused.answer()})
        except (ValueError, RecursionError) as error:
            refused = Problem(422, "request", "The line is not JSON", str(error))
            answers.append({"id": id, **refused.answer()})
    return answers, good


@router.post(PATH + "/{id}/test", summary="Send the receiver one test document")
async def test(request: Request, topic: str, id: str) -> Response:
    """The answer says how it went; nothing is stored or tried again. A tenant makes four at a time."""
    service, key = await requests.allowed(request, "subscribe", topic=topic)
    live = await service.topic(key.tenant, topic)
    one = await _find(service, live, id)
    if one.delivery is None:
        raise Problem(409, "no-webhook", "The subscription has no webhook", f"subscription {id!r}")
    document = new_id(service.settings.clock()).replace("doc_", "test_")
    letter = Letter(
        id=delivery_id(document, live.name, id),
        body=_TEST,
        content_type="application/xml",
        document=document,
        topic=live.name,
        subscription=id,
    )
    outcome = await service.dispatcher.test(live.tenant, one.delivery, letter)
    return requests.answer(
        {
            "delivered": outcome.ok,
            "id": letter.id,
            "status": outcome.status,
            "reason": outcome.reason,
            "seconds": round(outcome.seconds, 6),
        }
    )


async def _find(service: Service, live: LiveTopic, id: str) -> Subscription:
    one = await service.read(lambda connection: subscriptions.find(connection, live.number, id))
    if one is None:
        raise unknown("subscription", id)
    return one
