"""Subscriptions: who wants what, how it is delivered, and how far it was acknowledged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from pathcast.service.store import deliveries, documents, tables, tallies, topics

s = tables.subscriptions
_CHUNK = 500  # ids in one IN (...): below what every SQLite takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """One subscription as the store has it."""

    id: str
    xpath: str
    namespaces: dict[str, str] | None = None
    variables: dict[str, Any] | None = None
    ordered: bool | None = None
    delivery: dict[str, Any] | None = None
    enabled: bool = True
    labels: dict[str, str] | None = None
    created: float = 0.0
    version: int = 0
    acked: int = 0
    born: int = 0

    @property
    def webhook(self) -> dict[str, Any] | None:
        """Where to call, for a subscription that is delivered by webhook."""
        return (self.delivery or {}).get("webhook")

    @property
    def channel(self) -> str:
        """How it is delivered: `webhook`, `kafka`, or `pull`, which events are too."""
        return next(iter(self.delivery or {}), "pull")


def _subscription(row: Row[Any]) -> Subscription:
    return Subscription(
        id=row.id,
        xpath=row.xpath,
        namespaces=row.namespaces,
        variables=row.variables,
        ordered=row.ordered,
        delivery=row.delivery,
        enabled=row.enabled,
        labels=row.labels,
        created=row.created,
        version=row.version,
        acked=row.acked,
        born=row.born,
    )


def find(connection: Connection, topic: int, id: str) -> Subscription | None:
    """The subscription with this id."""
    row = connection.execute(select(s).where(s.c.topic == topic, s.c.id == id)).first()
    return _subscription(row) if row else None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a subscription stands among the documents of its topic."""

    acked: int
    born: int
    """The last document before it."""
    pulled: bool
    filed: int
    """The last document of the topic that is filed."""


def place(connection: Connection, topic: int, id: str, *, lock: bool = False) -> Place | None:
    """How far a subscription was acknowledged; with `lock` nobody else moves it in this transaction."""
    t = tables.topics
    query = (
        select(s.c.acked, s.c.born, tables.pulled(), t.c.filed)
        .select_from(s.join(t, t.c.number == s.c.topic))
        .where(s.c.topic == topic, s.c.id == id)
    )
    if lock and connection.dialect.name == "postgresql":
        query = query.with_for_update(of=s)
    row = connection.execute(query).first()
    return Place(*row) if row else None


def named(connection: Connection, topic: int, ids: Sequence[str]) -> dict[str, Subscription]:
    """The subscriptions with these ids, as far as they exist."""
    found: dict[str, Subscription] = {}
    for start in range(0, len(ids), _CHUNK):
        query = select(s).where(s.c.topic == topic, s.c.id.in_(ids[start : start + _CHUNK]))
        found.update((row.id, _subscription(row)) for row in connection.execute(query))
    return found


def page(
    connection: Connection, topic: int, after: str, limit: int, labels: dict[str, str | None] | None = None
) -> list[Subscription]:
    """The next subscriptions in order of their ids; with these labels, of any value where it is not said."""
    query = select(s).where(s.c.topic == topic, s.c.id > after).order_by(s.c.id).limit(limit)
    for name, value in (labels or {}).items():
        label = s.c.labels[name].as_string()
        query = query.where(label.is_not(None) if value is None else label == value)
    return [_subscription(row) for row in connection.execute(query)]


def everything(connection: Connection, topic: int) -> Iterator[Subscription]:
    """All subscriptions of a topic in order of registration, without holding them all at once."""
    yield from _streamed(connection, select(s).where(s.c.topic == topic).order_by(s.c.number))


def changed(connection: Connection, topic: int, since: int) -> Iterator[Subscription]:
    """Those that were put after a version, in the order of the changes."""
    query = select(s).where(s.c.topic == topic, s.c.version > since).order_by(s.c.version, s.c.number)
    yield from _streamed(connection, query)


def _streamed(connection: Connection, query: Select[Any]) -> Iterator[Subscription]:
    # For this statement alone: options of the connection would stay with it.
    for row in connection.execute(query, execution_options={"yield_per": 10_000}):
        yield _subscription(row)


def removed(connection: Connection, topic: int, since: int) -> list[str]:
    """The ids that were removed after a version and not put again."""
    r = tables.removals
    gone = select(r.c.id).where(r.c.topic == topic, r.c.version > since)
    alive = select(s.c.id).where(s.c.topic == topic, s.c.id == r.c.id).exists()
    return list(connection.scalars(gone.where(~alive)))


def put(
    connection: Connection, topic: int, given: Sequence[Subscription], version: int, now: float, newest: int
) -> list[bool]:
    """Insert or replace; says of each whether it is new. A new one begins after the `newest` document."""
    known = named(connection, topic, [each.id for each in given])
    _change_channels(connection, topic, given, known)
    fresh: dict[str, dict[str, Any]] = {}
    for each in given:
        values = {
            "xpath": each.xpath,
            "namespaces": each.namespaces,
            "variables": each.variables,
            "ordered": each.ordered,
            "delivery": each.delivery,
            "enabled": each.enabled,
            "labels": each.labels,
            "version": version,
        }
        if each.id in known:
            connection.execute(update(s).where(s.c.topic == topic, s.c.id == each.id).values(**values))
        else:
            fresh[each.id] = values | {"topic": topic, "id": each.id, "created": now}
            fresh[each.id] |= {"acked": newest, "born": newest}
    if fresh:
        connection.execute(insert(s), list(fresh.values()))
    return [each.id not in known for each in given]


def _change_channels(
    connection: Connection, topic: int, given: Sequence[Subscription], known: dict[str, Subscription]
) -> None:
    """What waits for a subscription waits to be pulled only while it is one that is pulled."""
    for each in given:
        old = known.get(each.id)
        if old is not None and (old.channel == "pull") != (each.channel == "pull"):
            waiting = _unacknowledged(connection, topic, each.id)
            tallies.add(connection, topic, waiting if each.channel == "pull" else -waiting)


def _unacknowledged(connection: Connection, topic: int, id: str) -> int:
    """How many deliveries a subscription has that it did not acknowledge; that stays so until the end."""
    topics.hold(connection, topic)
    at = place(connection, topic, id, lock=True)
    if at is None:
        return 0
    return deliveries.count(connection, topic, id, at.acked, documents.newest(connection, topic), at.filed)


def remove(connection: Connection, topic: int, ids: Iterable[str], version: int, now: float) -> int:
    """Take subscriptions away, with everything that waits for them; says how many there were."""
    count = 0
    r, p = tables.removals, tables.pushes
    for id in ids:
        one = find(connection, topic, id)
        if one is None:
            continue
        if one.channel == "pull":
            tallies.add(connection, topic, -_unacknowledged(connection, topic, id))
        connection.execute(delete(s).where(s.c.topic == topic, s.c.id == id))
        count += 1
        connection.execute(insert(r).values(topic=topic, version=version, id=id, removed=now))
        waiting = (p.c.topic == topic) & (p.c.subscription == id) & (p.c.state == "waiting")
        connection.execute(update(p).where(waiting).values(state="dropped", lease=None, changed=now))
    return count


def acknowledge(connection: Connection, topic: int, id: str, cursor: int) -> int | None:
    """Move the acknowledged place forward, never back; nothing when there is no such subscription.

    Nor beyond the last document: what has not been published cannot have arrived.
    """
    at = place(connection, topic, id, lock=True)
    if at is None:
        return None
    cursor = min(cursor, documents.newest(connection, topic))
    if cursor <= at.acked:
        return at.acked
    if at.pulled:
        taken = deliveries.count(connection, topic, id, at.acked, cursor, at.filed)
        tallies.add(connection, topic, -taken)
    connection.execute(update(s).where(s.c.topic == topic, s.c.id == id).values(acked=cursor))
    return cursor


def count(connection: Connection, tenant: str) -> int:
    """How many subscriptions a tenant has in all its topics."""
    t = tables.topics
    query = select(func.count()).select_from(s.join(t, t.c.number == s.c.topic)).where(t.c.tenant == tenant)
    return connection.scalar(query) or 0
