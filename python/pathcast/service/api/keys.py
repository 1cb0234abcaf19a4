"""Keys: make, list, revoke, rotate. A secret is answered once, when it is made."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection

from pathcast.service.access import sees
from pathcast.service.api import requests
from pathcast.service.api.models import KeyBody, RotateBody
from pathcast.service.core import Service
from pathcast.service.problems import Problem, forbidden, unknown
from pathcast.service.pulling import iso, read_cursor
from pathcast.service.store import keys
from pathcast.service.store.keys import Key

router = APIRouter(tags=["keys"])
log = logging.getLogger("pathcast.service")


def _shown(key: Key, secret: str | None = None) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "id": key.id,
        "tenant": key.tenant,
        "scopes": list(key.scopes),
        "topics": list(key.topics),
        "quota": key.quota,
        "labels": key.labels or {},
        "created": iso(key.created),
        "expires": iso(key.expires) if key.expires is not None else None,
    }
    return answer | {"key": secret} if secret else answer


def _log(what: str, key: Key, by: Key) -> None:
    about = {"key": key.id, "tenant": key.tenant, "scopes": list(key.scopes), "by": by.id}
    log.info("a key was %s", what, extra={"about": about})


@router.post("/v1/keys", status_code=201, summary="Make a key")
async def create(request: Request, body: KeyBody) -> Response:
    """The answer's `key` is shown this once. Only the first administrator makes keys for other tenants."""
    service, own = await requests.allowed(request, "admin")
    if body.tenant != own.tenant and not own.operator:
        raise forbidden(f"the key is not for the tenant {body.tenant!r}")
    _within(own, tuple(body.topics))
    secret = keys.new_secret()

    def work(connection: Connection) -> Key:
        return keys.create(
            connection,
            secret,
            tenant=body.tenant,
            scopes=tuple(body.scopes),
            topics=tuple(body.topics),
            quota=body.quota.model_dump(exclude_none=True),
            now=service.settings.clock(),
            labels=body.labels,
        )

    made = await service.writer.run(own.tenant, work)
    _log("made", made, own)
    return requests.answer(_shown(made, secret), 201)


@router.get("/v1/keys", summary="List keys")
async def page(request: Request, cursor: str | None = None, limit: int = 100) -> Response:
    """Of the own tenant; the first administrator sees those of all. Never the secrets."""
    service, own = await requests.allowed(request, "admin")
    limit = requests.limited(limit)
    tenant = None if own.operator else own.tenant
    after = read_cursor(cursor) or 0
    found = await service.read(lambda connection: keys.page(connection, tenant, after, limit + 1))
    more = str(found[limit - 1].number) if len(found) > limit else None
    return requests.answer({"keys": [_shown(each) for each in found[:limit]], "cursor": more})


async def _find(request: Request, id: str) -> tuple[Service, Key, Key]:
    service, own = await requests.allowed(request, "admin")
    found = await service.read(lambda connection: keys.find(connection, id))
    if found is None or (found.tenant != own.tenant and not own.operator):
        raise unknown("key", id)
    if found.operator and not own.operator:
        raise forbidden("the key belongs to the first administrator")
    _within(own, found.topics)
    return service, own, found


def _within(own: Key, topics: tuple[str, ...]) -> None:
    """A `Problem` unless a key sees all that another one sees, or is to see."""
    for pattern in topics:
        if not sees(own, pattern):  # a `*` in it is a letter that only a `*` stands for
            raise forbidden(f"the key is not for the topics {pattern!r}")


@router.delete("/v1/keys/{id}", status_code=204, summary="Revoke a key")
async def revoke(request: Request, id: str) -> Response:
    """At once in this process, and in others on the same database within a second."""
    service, own, found = await _find(request, id)
    await service.writer.run(own.tenant, lambda connection: keys.revoke(connection, found.id))
    service.access.forget()
    _log("revoked", found, own)
    return Response(status_code=204)


@router.post("/v1/keys/{id}/rotate", status_code=201, summary="Give a key a new secret")
@router.post("/v1/keys/{id}:rotate", status_code=201, include_in_schema=False)
async def rotate(request: Request, id: str, body: RotateBody | None = None) -> Response:
    """A new key with the same rights; the old one counts for `grace` seconds more."""
    service, own, found = await _find(request, id)
    if found.expires is not None and found.expires <= service.settings.clock():
        raise Problem(409, "expired", "The key has ended", f"key {id!r} was revoked, or its grace is over")
    secret = keys.new_secret()
    grace = (body or RotateBody()).grace

    def work(connection: Connection) -> Key:
        now = service.settings.clock()
        if grace:
            keys.expire(connection, found.id, now + grace)
        else:
            keys.revoke(connection, found.id)
        return keys.create(
            connection,
            secret,
            tenant=found.tenant,
            scopes=found.scopes,
            topics=found.topics,
            quota=found.quota,
            now=now,
            operator=found.operator,
            labels=found.labels,
        )

    made = await service.writer.run(own.tenant, work)
    service.access.forget()
    _log("rotated", found, own)
    return requests.answer(_shown(made, secret), 201)


@router.get("/v1/keys/self", summary="What the own key may do")
async def own(request: Request) -> Response:
    """For pages that show only what works."""
    service = requests.service_of(request)
    return requests.answer(_shown(await service.access.identify(request)))
