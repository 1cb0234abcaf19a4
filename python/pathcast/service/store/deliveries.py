"""Deliveries: which document goes to which subscription, read in order by a cursor."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from pathcast.service.store import postings, tables, tallies

d = tables.documents
m = tables.matches
_HEAD = (d.c.number, d.c.id, d.c.received, d.c.content_type, d.c.trace, d.c.size)
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Delivery:
    """One document on its way to one subscription."""

    number: int
    document: str
    received: float
    content_type: str | None
    trace: str | None
    size: int


def delivery_id(document: str, topic: str, subscription: str) -> str:
    """The same for the same delivery, however often it is made and by whom.

    >>> delivery_id("doc_1", "news", "s1") == delivery_id("doc_1", "news", "s1")
    True
    """
    digest = hashlib.sha256(f"{document}/{topic}/{subscription}".encode()).hexdigest()
    return f"dlv_{digest[:32]}"


def after(
    connection: Connection, topic: int, subscription: str, cursor: int, limit: int, mark: int
) -> list[Delivery]:
    """The next deliveries of a subscription after a document number; `mark` is what was filed before."""
    found: list[Delivery] = []
    numbers = postings.documents(connection, topic, subscription, cursor, mark)
    while len(found) < limit and (some := list(islice(numbers, min(limit, _CHUNK)))):
        found += _heads(connection, select(*_HEAD).where(d.c.number.in_(some)).order_by(d.c.number))
    if len(found) < limit:
        new = select(*_HEAD).select_from(m.join(d, d.c.number == m.c.document))
        new = new.where(*_unfiled(connection, topic, subscription, max(cursor, mark)))
        found += _heads(connection, new.order_by(m.c.document).limit(limit - len(found)))
    return found[:limit]


def _heads(connection: Connection, query: Select[Any]) -> list[Delivery]:
    return [Delivery(*row) for row in connection.execute(query)]


def _unfiled(
    connection: Connection, topic: int, subscription: str, after: int
) -> tuple[ColumnElement[bool], ...]:
    """Which matches after a document name a subscription."""
    named = postings.holds(connection, m.c.receivers, f"\n{subscription}\n")
    return m.c.topic == topic, m.c.document > after, named


def count(connection: Connection, topic: int, subscription: str, after: int, through: int, mark: int) -> int:
    """How many deliveries a subscription has after one document and up to another."""
    numbers = postings.documents(connection, topic, subscription, after, mark)
    old = takewhile(lambda number: number <= through, numbers)
    total = 0
    n = func.count()
    while some := list(islice(old, _CHUNK)):
        kept = select(n).where(m.c.topic == topic, m.c.document.in_(some))
        total += connection.scalar(kept) or 0
    new = select(n).where(*_unfiled(connection, topic, subscription, max(after, mark)))
    return total + (connection.scalar(new.where(m.c.document <= through)) or 0)


def bodies(connection: Connection, numbers: Sequence[int]) -> dict[int, bytes]:
    """The bytes of these documents."""
    query = select(d.c.number, d.c.body).where(d.c.number.in_(list(numbers)))
    return {row.number: row.body for row in connection.execute(query)}


def pending(connection: Connection, tenant: str, most: int) -> int:
    """How many deliveries of a tenant nobody has taken, counted up to `most`."""
    p = tables.pushes
    pushed = select(p.c.number).where(p.c.tenant == tenant, p.c.state == "waiting").limit(most)
    total = connection.scalar(select(func.count()).select_from(pushed.subquery())) or 0
    return min(total + tallies.waiting(connection, tenant), most)
