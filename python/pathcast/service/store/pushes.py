"""Pushes: deliveries that the server makes itself, with attempts, a time when they are due, and a lease.

A worker takes due rows by writing its name and a time into them; while the lease holds, nobody else takes
them. A worker that dies leaves leases that run out. On PostgreSQL `SKIP LOCKED` keeps workers from waiting
for each other.

What is due longest is looked at first. When all of that belongs to subscriptions or tenants that are busy, a
walk in the index goes from one subscription to the next and sees the first due push of each: a lease costs
at most the number of subscriptions for which something waits, and not the number of pushes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, and_, func, insert, or_, select, tuple_, update

from pathcast.service.store import tables

p = tables.pushes
_FIRST = 512  # that are looked at in the order of time


@dataclass(frozen=True, slots=True)
class Push:
    """One delivery that a worker has leased, with all it needs to make it."""

    number: int
    tenant: str
    topic: int
    topic_name: str
    subscription: str
    delivery: dict[str, Any] | None
    """How its subscription is delivered now; nothing when it has been changed to be pulled."""
    document_number: int
    document: str
    received: float
    content_type: str | None
    trace: str | None
    body: bytes
    attempts: int


def add(connection: Connection, rows: Sequence[tuple[str, int, str, int]], now: float) -> None:
    """Store pushes given as (tenant, topic, subscription, document), due at once."""
    names = ("tenant", "topic", "subscription", "document")
    fixed = {"state": "waiting", "attempts": 0, "due": now, "changed": now}
    connection.execute(insert(p), [dict(zip(names, row, strict=True)) | fixed for row in rows])


def lease(
    connection: Connection,
    worker: str,
    now: float,
    until: float,
    limit: int,
    busy: Collection[tuple[int, str]] = (),
    busy_tenants: Collection[str] = (),
) -> list[Push]:
    """Take due pushes until a moment, but none of subscriptions or tenants that are busy."""
    found = _first(connection, now, busy, busy_tenants)
    if found is None:
        found = list(connection.scalars(_heads(now, busy, busy_tenants)))
    due = and_(p.c.number.in_(found), p.c.state == "waiting", p.c.due <= now)
    query = select(p.c.number).where(due).order_by(p.c.due).limit(limit)
    if connection.dialect.name == "postgresql":
        query = query.with_for_update(skip_locked=True)
    numbers = list(connection.scalars(query))
    if not numbers:
        return []
    # `due` is also the end of the lease: then the push is anybody's again.
    connection.execute(update(p).where(p.c.number.in_(numbers)).values(lease=worker, due=until))
    return _leased(connection, numbers)


def _first(
    connection: Connection, now: float, busy: Collection[tuple[int, str]], busy_tenants: Collection[str]
) -> list[int] | None:
    """Of those that are due longest, the ones that are free; nothing when none is and more may be due."""
    columns = (p.c.number, p.c.tenant, p.c.topic, p.c.subscription)
    query = select(*columns).where(p.c.state == "waiting", p.c.due <= now).order_by(p.c.due).limit(_FIRST)
    rows = connection.execute(query).all()
    full, tenants = set(busy), set(busy_tenants)
    free = [row[0] for row in rows if (row[2], row[3]) not in full and row[1] not in tenants]
    return free if free or len(rows) < _FIRST else None


def _heads(
    now: float, busy: Collection[tuple[int, str]], busy_tenants: Collection[str]
) -> Select[tuple[int]]:
    """The first due push of each subscription, by a step in the index from one subscription to the next."""
    t, other = tables.topics, p.alias()
    waiting = other.c.state == "waiting"
    least = func.min(other.c.subscription)
    begin = select(least).where(other.c.topic == t.c.number, waiting).scalar_subquery()
    topics = select(t.c.number.label("topic"), begin.label("subscription"))
    walk = topics.where(t.c.tenant.not_in(list(busy_tenants))).cte("walk", recursive=True)
    at = (other.c.topic == walk.c.topic, waiting)
    further = select(least).where(*at, other.c.subscription > walk.c.subscription).scalar_subquery()
    walk = walk.union_all(select(walk.c.topic, further).where(walk.c.subscription.is_not(None)))
    at = (other.c.topic == walk.c.topic, waiting)
    mine = select(other.c.number).where(*at, other.c.subscription == walk.c.subscription, other.c.due <= now)
    head = mine.order_by(other.c.due).limit(1).scalar_subquery().label("number")
    free = select(head).where(walk.c.subscription.is_not(None))
    if busy:
        free = free.where(tuple_(walk.c.topic, walk.c.subscription).not_in(list(busy)))
    heads = free.subquery()
    return select(heads.c.number).where(heads.c.number.is_not(None)).order_by(heads.c.number).limit(_FIRST)


def _leased(connection: Connection, numbers: list[int]) -> list[Push]:
    d, s, t = tables.documents, tables.subscriptions, tables.topics
    joined = (
        p.join(d, d.c.number == p.c.document)
        .join(t, t.c.number == p.c.topic)
        .join(s, and_(s.c.topic == p.c.topic, s.c.id == p.c.subscription))
    )
    query = (
        select(
            p.c.number,
            p.c.tenant,
            p.c.topic,
            t.c.name,
            p.c.subscription,
            s.c.delivery,
            p.c.document,
            d.c.id,
            d.c.received,
            d.c.content_type,
            d.c.trace,
            d.c.body,
            p.c.attempts,
        )
        .select_from(joined)
        .where(p.c.number.in_(numbers))
        .order_by(p.c.number)
    )
    return [Push(*tuple(row)) for row in connection.execute(query)]


def settle(connection: Connection, number: int, worker: str, now: float, **values: Any) -> bool:
    """Write down how an attempt ended; false when the lease was lost meanwhile."""
    mine = and_(p.c.number == number, p.c.lease == worker, p.c.state == "waiting")
    done = connection.execute(update(p).where(mine).values(lease=None, changed=now, **values))
    return bool(done.rowcount)


def release(connection: Connection, numbers: Sequence[int], worker: str, now: float) -> None:
    """Give back pushes that were leased and not tried."""
    mine = and_(p.c.number.in_(list(numbers)), p.c.lease == worker, p.c.state == "waiting")
    connection.execute(update(p).where(mine).values(lease=None, due=now))


def release_all(connection: Connection, now: float) -> None:
    """Give back everything that is leased: there is nobody but this process."""
    held = and_(p.c.lease.is_not(None), p.c.state == "waiting")
    connection.execute(update(p).where(held).values(lease=None, due=now))


def revive(connection: Connection, number: int, now: float) -> bool:
    """Begin a dead push again, from the first attempt; false when it or its subscription is gone."""
    s = tables.subscriptions
    same = and_(s.c.topic == p.c.topic, s.c.id == p.c.subscription, s.c.born < p.c.document)
    dead = and_(p.c.number == number, p.c.state == "dead", select(s.c.number).where(same).exists())
    values = {"state": "waiting", "attempts": 0, "due": now, "lease": None, "changed": now}
    return bool(connection.execute(update(p).where(dead).values(**values)).rowcount)


def of_document(
    connection: Connection, document: int, subscriptions: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """How the pushes of a document stand, by subscription."""
    columns = (p.c.subscription, p.c.state, p.c.attempts, p.c.status, p.c.reason, p.c.due, p.c.changed)
    query = select(*columns).where(p.c.document == document, p.c.subscription.in_(list(subscriptions)))
    return {row.subscription: dict(row._mapping) for row in connection.execute(query)}


def page(
    connection: Connection, tenant: str, before: int | None, limit: int, state: str | None
) -> list[dict[str, Any]]:
    """The newest pushes of a tenant, with the names of what they belong to."""
    d, t = tables.documents, tables.topics
    query = (
        select(p, t.c.name.label("topic_name"), d.c.id.label("document_id"))
        .select_from(p.join(d, d.c.number == p.c.document).join(t, t.c.number == p.c.topic))
        .where(p.c.tenant == tenant)
        .order_by(p.c.number.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(p.c.number < before)
    if state is not None:
        query = query.where(p.c.state == state)
    return [dict(row._mapping) for row in connection.execute(query)]


def slow(connection: Connection, topic: int, since: float, limit: int) -> list[dict[str, Any]]:
    """Subscriptions whose receivers took longest, or fail, since a moment."""
    mean, failed = func.avg(p.c.seconds), func.max(p.c.attempts)
    query = (
        select(p.c.subscription, mean.label("seconds"), failed.label("attempts"))
        .where(p.c.topic == topic, p.c.changed >= since, or_(p.c.seconds.is_not(None), p.c.attempts > 0))
        .group_by(p.c.subscription)
        .order_by(failed.desc(), mean.desc())
        .limit(limit)
    )
    return [dict(row._mapping) for row in connection.execute(query)]
