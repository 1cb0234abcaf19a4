"""Deliveries: which document goes to which subscription, read in order by a cursor."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Text, cast, func, insert, select

from pathcast.service.store import tables

v = tables.deliveries
d = tables.documents


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


def add(connection: Connection, rows: Sequence[tuple[int, str, int]]) -> None:
    """Store deliveries given as (topic, subscription, document)."""
    if connection.dialect.name == "sqlite":
        # Past the expression language: ten rows a document make this the hottest statement of all.
        connection.exec_driver_sql(
            "INSERT INTO deliveries (topic, subscription, document) VALUES (?, ?, ?)", list(rows)
        )
        return
    names = ("topic", "subscription", "document")
    connection.execute(insert(v), [dict(zip(names, row, strict=True)) for row in rows])


def after(connection: Connection, topic: int, subscription: str, cursor: int, limit: int) -> list[Delivery]:
    """The next deliveries of a subscription after a document number."""
    query = (
        select(d.c.number, d.c.id, d.c.received, d.c.content_type, d.c.trace, d.c.size)
        .select_from(v.join(d, d.c.number == v.c.document))
        .where(v.c.topic == topic, v.c.subscription == subscription, v.c.document > cursor)
        .order_by(v.c.document)
        .limit(limit)
    )
    return [Delivery(*row) for row in connection.execute(query)]


def bodies(connection: Connection, numbers: Sequence[int]) -> dict[int, bytes]:
    """The bytes of these documents."""
    query = select(d.c.number, d.c.body).where(d.c.number.in_(list(numbers)))
    return {row.number: row.body for row in connection.execute(query)}


def of_document(connection: Connection, number: int, after: str, limit: int) -> list[str]:
    """The subscriptions that a document is delivered to, in order of their ids."""
    query = select(v.c.subscription).where(v.c.document == number, v.c.subscription > after)
    return list(connection.scalars(query.order_by(v.c.subscription).limit(limit)))


def pending(connection: Connection, tenant: str, most: int) -> int:
    """How many deliveries of a tenant nobody has taken, counted up to `most`."""
    s, t, p = tables.subscriptions, tables.topics, tables.pushes
    pulled = (
        select(v.c.document)
        .select_from(
            s.join(t, t.c.number == s.c.topic).join(
                v, (v.c.topic == s.c.topic) & (v.c.subscription == s.c.id) & (v.c.document > s.c.acked)
            )
        )
        .where(t.c.tenant == tenant, func.coalesce(cast(s.c.delivery, Text), "null") == "null")
        .limit(most)
    )
    pushed = select(p.c.number).where(p.c.tenant == tenant, p.c.state == "waiting").limit(most)
    total = 0
    for query in (pulled, pushed):
        total += connection.scalar(select(func.count()).select_from(query.subquery())) or 0
    return min(total, most)


def hot(connection: Connection, topic: int, documents: int, limit: int) -> list[dict[str, Any]]:
    """The subscriptions that most of the last documents went to."""
    recent = select(d.c.number).where(d.c.topic == topic).order_by(d.c.number.desc()).limit(documents)
    first = connection.scalar(select(func.min(recent.subquery().c.number)))
    if first is None:
        return []
    n = func.count().label("deliveries")
    query = (
        select(v.c.subscription, n)
        .where(v.c.document >= first, v.c.topic == topic)
        .group_by(v.c.subscription)
        .order_by(n.desc(), v.c.subscription)
        .limit(limit)
    )
    return [
        {"subscription": row.subscription, "deliveries": row.deliveries} for row in connection.execute(query)
    ]


def never(connection: Connection, topic: int, limit: int) -> list[str]:
    """Subscriptions that no document went to which is still kept."""
    s = tables.subscriptions
    some = select(v.c.document).where(v.c.topic == s.c.topic, v.c.subscription == s.c.id).exists()
    query = select(s.c.id).where(s.c.topic == topic, ~some).order_by(s.c.number).limit(limit)
    return list(connection.scalars(query))
