"""Documents: what was published, kept with its deliveries until its time is over."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from pathcast.service.store import matches, postings, tables, tallies

d = tables.documents
_HEAD = [column for column in d.c if column.name != "body"]
_GIVEN = [column.name for column in d.c if column.name != "number"]
_INSERT = f"INSERT INTO documents (number, {', '.join(_GIVEN)}) VALUES ({', '.join('?' for _ in d.c)})"


@dataclass(frozen=True, slots=True)
class Document:
    """One document as the store has it, without its body."""

    number: int
    id: str
    tenant: str
    topic: int
    received: float
    content_type: str | None
    trace: str | None
    size: int
    matched: int


def new_id(now: float) -> str:
    """An id that sorts by time, as far as a clock can be trusted, and that nobody guesses."""
    return new_ids(now, 1)[0]


def new_ids(now: float, count: int) -> list[str]:
    """Many of them; the system is asked for chance once."""
    chance = secrets.token_hex(8 * count)
    moment = f"doc_{int(now * 1000):012x}"
    return [moment + chance[at : at + 16] for at in range(0, len(chance), 16)]


def newest(connection: Connection, topic: int) -> int:
    """The number of the last document of a topic."""
    return connection.scalar(select(func.max(d.c.number)).where(d.c.topic == topic)) or 0


def last(connection: Connection) -> int:
    """The number of the last document of all."""
    return connection.scalar(select(func.max(d.c.number))) or 0


def add(connection: Connection, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Store documents; their numbers, which rise in the order given."""
    if connection.dialect.name == "sqlite":
        # The only writer: numbers are given here, so that all rows go in one call.
        first = _highest(connection) + 1
        # Past the expression language: this is hot.
        written = [(at, *(row[name] for name in _GIVEN)) for at, row in enumerate(rows, first)]
        connection.exec_driver_sql(_INSERT, written)
        return list(range(first, first + len(rows)))
    done = connection.execute(insert(d).returning(d.c.number, sort_by_parameter_order=True), list(rows))
    return list(done.scalars())


def _highest(connection: Connection) -> int:
    found = connection.exec_driver_sql("SELECT seq FROM sqlite_sequence WHERE name = 'documents'").scalar()
    return max(int(found or 0), last(connection))


def find(connection: Connection, tenant: str, id: str) -> Document | None:
    """The document with this id."""
    row = connection.execute(select(*_HEAD).where(d.c.id == id, d.c.tenant == tenant)).first()
    return Document(**row._mapping) if row else None


def body(connection: Connection, number: int) -> bytes | None:
    """The bytes as they came."""
    return connection.scalar(select(d.c.body).where(d.c.number == number))


def page(
    connection: Connection, tenant: str, before: int | None, limit: int, topic: int | None = None
) -> list[Document]:
    """The newest documents of a tenant, newest first."""
    query = select(*_HEAD).where(d.c.tenant == tenant).order_by(d.c.number.desc()).limit(limit)
    if before is not None:
        query = query.where(d.c.number < before)
    if topic is not None:
        query = query.where(d.c.topic == topic)
    return [Document(**row._mapping) for row in connection.execute(query)]


def remembered(connection: Connection, topic: int, keys: Sequence[str]) -> dict[str, tuple[str, int, Any]]:
    """What was answered to these idempotency keys: digest, status, answer."""
    i = tables.idempotency
    query = select(i).where(i.c.topic == topic, i.c.key.in_(list(keys)))
    return {row.key: (row.digest, row.status, row.answer) for row in connection.execute(query)}


def remember(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Keep the answers to idempotency keys."""
    connection.execute(insert(tables.idempotency), list(rows))


def expire(connection: Connection, topic: int | None, before: float, limit: int) -> int:
    """Remove documents received before a moment, with all that hangs on them; says how many there were.

    Without a topic: those of topics that are gone.
    """
    old = select(d.c.topic, d.c.number).where(d.c.received < before).order_by(d.c.number).limit(limit)
    if topic is not None:
        old = old.where(d.c.topic == topic)
    else:
        old = old.where(d.c.topic.not_in(select(tables.topics.c.number)))
    found = connection.execute(old).all()
    for start in range(0, len(found), 500):
        some = found[start : start + 500]
        numbers = [number for _, number in some]
        for one in {number for number, _ in some}:
            tallies.add(connection, one, -matches.forget(connection, one, numbers))
        connection.execute(delete(tables.pushes).where(tables.pushes.c.document.in_(numbers)))
        connection.execute(delete(d).where(d.c.number.in_(numbers)))
    for one in {number for number, _ in found}:
        postings.expire(connection, one)
    return len(found)
