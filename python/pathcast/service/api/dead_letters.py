"""Dead letters: look at what was refused or failed, and try it again."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection

from pathcast.errors import DocumentError
from pathcast.service.access import sees
from pathcast.service.api import requests
from pathcast.service.core import Service
from pathcast.service.problems import Problem, bad_document, unknown
from pathcast.service.publishing import Publication
from pathcast.service.pulling import iso, read_cursor
from pathcast.service.store import dead_letters, pushes
from pathcast.service.store.dead_letters import DeadLetter
from pathcast.service.store.keys import Key

router = APIRouter(tags=["dead letters"])


def _shown(letter: DeadLetter) -> dict[str, Any]:
    names = ("id", "kind", "topic", "reason", "line", "column", "document", "subscription", "size")
    found = {name: getattr(letter, name) for name in names}
    return {name: value for name, value in found.items() if value is not None} | {
        "created": iso(letter.created)
    }


@router.get("/v1/dead-letters", summary="List dead letters, newest first")
async def page(
    request: Request,
    topic: str | None = None,
    kind: str | None = None,
    cursor: str | None = None,
    limit: int = 100,
) -> Response:
    """`kind` is `document` for what was refused, `delivery` for what failed."""
    service, key = await requests.allowed(request, "read", topic=topic)
    limit = requests.limited(limit)
    before = read_cursor(cursor)
    found = await service.read(lambda c: dead_letters.page(c, key.tenant, before, limit + 1, topic, kind))
    after = str(found[limit - 1].number) if len(found) > limit else None
    items = [_shown(each) for each in found[:limit] if sees(key, each.topic)]
    return requests.answer({"dead_letters": items, "cursor": after})


async def _find(request: Request, id: str, scope: str) -> tuple[Service, Key, DeadLetter]:
    service, key = await requests.allowed(request, scope)
    letter = await service.read(lambda connection: dead_letters.find(connection, key.tenant, id))
    if letter is None or not sees(key, letter.topic):
        raise unknown("dead letter", id)
    return service, key, letter


@router.get("/v1/dead-letters/{id}", summary="Look at a dead letter")
async def get(request: Request, id: str) -> Response:
    """What it is and why it is here."""
    _, _, letter = await _find(request, id, "read")
    return requests.answer(_shown(letter))


@router.get("/v1/dead-letters/{id}/body", summary="The bytes that were refused")
async def body(request: Request, id: str) -> Response:
    """As they came."""
    service, _, letter = await _find(request, id, "read")
    found = await service.read(lambda connection: dead_letters.body(connection, letter.number))
    if found is None:
        raise Problem(
            404, "no-body", "The document is kept elsewhere", f"/v1/documents/{letter.document}/body"
        )
    headers = {"Content-Disposition": f'attachment; filename="{letter.id}.xml"'}
    return Response(found, 200, headers, letter.content_type or "application/xml")


@router.post("/v1/dead-letters/{id}:redrive", status_code=202, summary="Try a dead letter again")
async def redrive(request: Request, id: str) -> Response:
    """A document is published again; a delivery begins again with its first attempt and its old id.

    A document that is still refused stays the dead letter that it is.
    """
    service, _, letter = await _find(request, id, "publish")
    if letter.kind == "delivery":
        return await _deliver_again(service, letter)
    live = await service.topic(letter.tenant, letter.topic)
    found = await service.read(lambda connection: dead_letters.body(connection, letter.number))
    if found is None:
        raise unknown("dead letter", id)
    _, matched = await service.matched(live, found)
    if isinstance(matched, DocumentError):
        raise bad_document(matched, dead_letter=letter.id)
    # The key keeps a second call, or one after a crash, from publishing it twice.
    done = await service.publish(Publication(live, found, "", letter.content_type, f"redrive {letter.id}"))
    await service.writer.run(letter.tenant, lambda connection: dead_letters.remove(connection, letter.number))
    return requests.answer(done.answer, done.status)


async def _deliver_again(service: Service, letter: DeadLetter) -> Response:
    def work(connection: Connection) -> None:
        if letter.push is None or not pushes.revive(connection, letter.push, service.settings.clock()):
            raise Problem(409, "gone", "The delivery is gone", "its document or subscription was removed")
        dead_letters.remove(connection, letter.number)

    await service.writer.run(letter.tenant, work)
    service.dispatcher.wake()
    return requests.answer({"document": letter.document, "subscription": letter.subscription}, 202)


@router.delete("/v1/dead-letters/{id}", status_code=204, summary="Forget a dead letter")
async def delete(request: Request, id: str) -> Response:
    """For good."""
    service, _, letter = await _find(request, id, "admin")
    await service.writer.run(letter.tenant, lambda connection: dead_letters.remove(connection, letter.number))
    return Response(status_code=204)
