"""Topics: rows of a tenant, each with settings and the version of its subscriptions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, text, update

from pathcast.service.store import tables

t = tables.topics
_LOCKS = 0x7061  # the family of advisory locks: one for each topic
_OWNED = (
    tables.subscriptions,
    tables.removals,
    tables.matches,
    tables.postings,
    tables.tallies,
    tables.idempotency,
)


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic as the store has it."""

    number: int
    tenant: str
    name: str
    settings: dict[str, Any]
    version: int
    rebuilt: int
    floor: int
    created: float


def _topic(row: Row[Any]) -> Topic:
    return Topic(
        row.number, row.tenant, row.name, row.settings, row.version, row.rebuilt, row.floor, row.created
    )


def find(connection: Connection, tenant: str, name: str, *, lock: bool = False) -> Topic | None:
    """The topic of this name; with `lock` nobody else changes it or its subscriptions in this transaction."""
    query = select(t).where(t.c.tenant == tenant, t.c.name == name)
    if lock and connection.dialect.name == "postgresql":
        query = query.with_for_update()
    row = connection.execute(query).first()
    return _topic(row) if row else None


def everything(connection: Connection) -> list[Topic]:
    """All topics of all tenants."""
    return [_topic(row) for row in connection.execute(select(t).order_by(t.c.number))]


def page(connection: Connection, tenant: str, after: str, limit: int) -> list[Topic]:
    """The next topics of a tenant in order of their names."""
    query = select(t).where(t.c.tenant == tenant, t.c.name > after).order_by(t.c.name).limit(limit)
    return [_topic(row) for row in connection.execute(query)]


def versions(connection: Connection, numbers: Iterable[int]) -> dict[int, int]:
    """The current version of each of these topics that still exists."""
    query = select(t.c.number, t.c.version).where(t.c.number.in_(list(numbers)))
    return {row.number: row.version for row in connection.execute(query)}


def create(connection: Connection, tenant: str, name: str, settings: dict[str, Any], now: float) -> Topic:
    """A new topic without subscriptions."""
    values = {"tenant": tenant, "name": name, "settings": settings, "created": now}
    done = connection.execute(insert(t).values(**values, version=0, rebuilt=0, floor=0))
    assert done.inserted_primary_key is not None
    return Topic(done.inserted_primary_key[0], tenant, name, settings, 0, 0, 0, now)


def advance(connection: Connection, number: int) -> Topic | None:
    """The topic at its next version. Until the transaction ends, no other process changes it."""
    query = update(t).where(t.c.number == number).values(version=t.c.version + 1).returning(t)
    row = connection.execute(query).first()
    return _topic(row) if row else None


def hold(connection: Connection, number: int) -> None:
    """Until the transaction ends, no other process publishes to the topic, or changes who waits for what."""
    if connection.dialect.name == "postgresql":
        lock = {"family": _LOCKS, "topic": number % (1 << 31)}
        connection.execute(text("SELECT pg_advisory_xact_lock(:family, :topic)"), lock)


def set_settings(connection: Connection, number: int, settings: dict[str, Any]) -> None:
    """Other settings: every process builds its index of this topic anew."""
    query = update(t).where(t.c.number == number)
    connection.execute(query.values(settings=settings, version=t.c.version + 1, rebuilt=t.c.version + 1))


def remove(connection: Connection, number: int) -> None:
    """The topic, its subscriptions, and what waits for them. Documents go when their time is over."""
    connection.execute(delete(t).where(t.c.number == number))
    for table in _OWNED:
        connection.execute(delete(table).where(table.c.topic == number))
    waiting = (tables.pushes.c.topic == number) & (tables.pushes.c.state == "waiting")
    connection.execute(update(tables.pushes).where(waiting).values(state="dropped", lease=None))


def counts(connection: Connection, tenant: str) -> dict[int, int]:
    """How many subscriptions each topic of a tenant has."""
    s = tables.subscriptions
    query = (
        select(s.c.topic, func.count())
        .select_from(s.join(t, t.c.number == s.c.topic))
        .where(t.c.tenant == tenant)
        .group_by(s.c.topic)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def by_number(connection: Connection, number: int) -> Topic | None:
    """The topic with this number."""
    row = connection.execute(select(t).where(t.c.number == number)).first()
    return _topic(row) if row else None
