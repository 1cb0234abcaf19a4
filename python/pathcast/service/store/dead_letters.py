"""Dead letters: documents that were refused and deliveries that failed for good."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from pathcast.service.store import tables

dl = tables.dead_letters
_HEAD = [column for column in dl.c if column.name != "body"]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One dead letter, without its body."""

    number: int
    id: str
    tenant: str
    topic: str
    kind: str
    reason: str
    line: int | None
    column: int | None
    document: str | None
    subscription: str | None
    push: int | None
    content_type: str | None
    size: int
    created: float


def new_id() -> str:
    """An id that nobody guesses."""
    return f"dead_{secrets.token_hex(12)}"


def add(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Keep dead letters; every row names every column but the number."""
    empty: dict[str, Any] = {column.name: None for column in dl.c if column.name != "number"}
    connection.execute(insert(dl), [empty | row for row in rows])


def find(connection: Connection, tenant: str, id: str) -> DeadLetter | None:
    """The dead letter with this id."""
    row = connection.execute(select(*_HEAD).where(dl.c.id == id, dl.c.tenant == tenant)).first()
    return DeadLetter(**row._mapping) if row else None


def body(connection: Connection, number: int) -> bytes | None:
    """The bytes that were refused."""
    return connection.scalar(select(dl.c.body).where(dl.c.number == number))


def page(
    connection: Connection, tenant: str, before: int | None, limit: int, topic: str | None, kind: str | None
) -> list[DeadLetter]:
    """The newest dead letters of a tenant, newest first."""
    query = select(*_HEAD).where(dl.c.tenant == tenant).order_by(dl.c.number.desc()).limit(limit)
    for column, value in ((dl.c.topic, topic), (dl.c.kind, kind)):
        if value is not None:
            query = query.where(column == value)
    if before is not None:
        query = query.where(dl.c.number < before)
    return [DeadLetter(**row._mapping) for row in connection.execute(query)]


def remove(connection: Connection, number: int) -> bool:
    """Forget one; says whether it was there."""
    return bool(connection.execute(delete(dl).where(dl.c.number == number)).rowcount)


def expire(connection: Connection, before: float) -> int:
    """Forget those from before a moment."""
    return connection.execute(delete(dl).where(dl.c.created < before)).rowcount
