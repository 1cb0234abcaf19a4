"""Keys: stored as digests. A key is 32 random bytes, so a plain digest of it cannot be turned back."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, insert, or_, select, update

from pathcast.service.store import tables

k = tables.keys
SCOPES = ("publish", "subscribe", "read", "admin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """Who may do what."""

    number: int
    id: str
    tenant: str
    operator: bool
    scopes: tuple[str, ...]
    topics: tuple[str, ...]
    quota: dict[str, float] = field(default_factory=dict)
    labels: dict[str, str] | None = None
    created: float = 0.0
    expires: float | None = None


def new_secret() -> str:
    """What a client sends as its bearer token."""
    return f"pck_{secrets.token_urlsafe(32)}"


def digest(secret: str) -> str:
    """What is stored of it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _key(row: Row[Any]) -> Key:
    return Key(
        number=row.number,
        id=row.id,
        tenant=row.tenant,
        operator=row.operator,
        scopes=tuple(row.scopes),
        topics=tuple(row.topics),
        quota=row.quota,
        labels=row.labels,
        created=row.created,
        expires=row.expires,
    )


def create(
    connection: Connection,
    secret: str,
    *,
    tenant: str,
    scopes: tuple[str, ...],
    topics: tuple[str, ...],
    quota: dict[str, float],
    now: float,
    operator: bool = False,
    labels: dict[str, str] | None = None,
    expires: float | None = None,
) -> Key:
    """A new key for this secret."""
    values: dict[str, Any] = {
        "id": f"key_{secrets.token_hex(8)}",
        "tenant": tenant,
        "operator": operator,
        "scopes": list(scopes),
        "topics": list(topics),
        "quota": quota,
        "labels": labels,
        "created": now,
        "expires": expires,
    }
    done = connection.execute(insert(k).values(**values, digest=digest(secret)))
    assert done.inserted_primary_key is not None
    return Key(**values | {"number": done.inserted_primary_key[0], "scopes": scopes, "topics": topics})


def by_digest(connection: Connection, found: str, now: float) -> Key | None:
    """The key with this digest that has not expired."""
    alive = or_(k.c.expires.is_(None), k.c.expires > now)
    row = connection.execute(select(k).where(k.c.digest == found, alive)).first()
    return _key(row) if row else None


def find(connection: Connection, id: str) -> Key | None:
    """The key with this id, expired or not."""
    row = connection.execute(select(k).where(k.c.id == id)).first()
    return _key(row) if row else None


def known(connection: Connection, found: str) -> bool:
    """Whether there was ever a key with this digest."""
    return connection.scalar(select(k.c.number).where(k.c.digest == found)) is not None


def page(connection: Connection, tenant: str | None, after: int, limit: int) -> list[Key]:
    """The next keys of one tenant or of all, oldest first."""
    query = select(k).where(k.c.number > after).order_by(k.c.number).limit(limit)
    if tenant is not None:
        query = query.where(k.c.tenant == tenant)
    return [_key(row) for row in connection.execute(query)]


def expire(connection: Connection, id: str, when: float) -> None:
    """End a key at a moment, or earlier if it ends earlier."""
    sooner = or_(k.c.expires.is_(None), k.c.expires > when)
    connection.execute(update(k).where(k.c.id == id, sooner).values(expires=when))


def revoke(connection: Connection, id: str) -> None:
    """End a key for good: also if the clock, here or at another process, goes back."""
    expire(connection, id, 0.0)


def any_operator(connection: Connection, now: float) -> bool:
    """Whether somebody can administer the store."""
    alive = or_(k.c.expires.is_(None), k.c.expires > now)
    return connection.execute(select(k.c.number).where(k.c.operator, alive).limit(1)).first() is not None
