"""Tallies: how many deliveries of a topic wait to be pulled, as a ledger of changes.

Each change is a row of its own, so transactions that publish and acknowledge never wait for each other.
"""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Connection, delete, func, insert, select

from pathcast.service.store import tables

y = tables.tallies


def add(connection: Connection, topic: int, change: int) -> None:
    """So many more wait, or fewer."""
    if change:
        connection.execute(insert(y).values(topic=topic, change=change))


def waiting(connection: Connection, tenant: str) -> int:
    """How many wait in all topics of a tenant."""
    t = tables.topics
    query = select(func.sum(y.c.change)).select_from(y.join(t, t.c.number == y.c.topic))
    return int(connection.scalar(query.where(t.c.tenant == tenant)) or 0)


def fold(connection: Connection) -> None:
    """Replace the rows of each topic by their sum; those of topics that are gone by nothing."""
    sums: Counter[int] = Counter()
    for topic, change in connection.execute(delete(y).returning(y.c.topic, y.c.change)):
        sums[topic] += change
    known = set(connection.scalars(select(tables.topics.c.number).where(tables.topics.c.number.in_(sums))))
    for topic, change in sums.items():
        if topic in known:
            add(connection, topic, change)
