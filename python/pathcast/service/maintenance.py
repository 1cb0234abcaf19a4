"""What the server does beside requests: take samples for the charts, forget what is old, count what waits."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, func, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from pathcast.service.catalog import LiveTopic
from pathcast.service.problems import Problem, too_much
from pathcast.service.store import dead_letters, deliveries, documents, tables, tallies

if TYPE_CHECKING:
    from pathcast.service.core import Service

log = logging.getLogger("pathcast.service")

TENANT = "#maintenance"
"""The queue of the writer that this work waits in; no tenant has such a name."""

EVERY = 30.0
_CHUNK = 1_000  # documents forgotten in one transaction
_ANSWERS = 86_400.0  # seconds that the answer to an idempotency key is kept
_REMOVALS = 3_600.0  # seconds that a removal stays in the change log
_COUNTED = 1_000_000  # pending deliveries are counted up to here
_BELIEVED = 5.0  # seconds that a count of pending deliveries is believed


@dataclass(slots=True)
class _Count:
    waiting: int
    when: float
    most: int
    """How far it was counted: keys of a tenant may have different quotas."""


class Pending:
    """How many deliveries of a tenant wait: counted in the store, and carried on here for some seconds."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._counts: dict[str, _Count] = {}

    def published(self, tenant: str, matched: int) -> None:
        """More wait."""
        if tenant in self._counts:
            self._counts[tenant].waiting += matched

    def acknowledged(self, tenant: str) -> None:
        """Fewer wait: count again."""
        self._counts.pop(tenant, None)

    async def check(self, tenant: str, quota: float) -> None:
        """A `Problem` when a tenant has as many waiting as its quota allows."""
        now = self._service.settings.clock()
        count = self._counts.get(tenant)
        most = int(quota) + 1
        if count is None or not 0 <= now - count.when <= _BELIEVED or count.waiting >= count.most < most:
            waiting = await self._service.read(lambda c: deliveries.pending(c, tenant, most))
            count = self._counts[tenant] = _Count(waiting, now, most)
        if count.waiting >= quota:
            raise too_much("pending deliveries", quota, 5)


async def sample(service: Service) -> None:
    """Once a second: the figures that the overview draws; now and then, those that cost a query."""
    ticks = 0
    while True:
        if ticks % 5 == 0:
            try:
                await service.read(lambda connection: _count(service, connection))
            except SQLAlchemyError as error:
                log.warning("pending deliveries could not be counted: %s", type(error).__name__)
        live = list(service.catalog.topics())
        service.metrics.subscriptions.set(sum(len(topic.index) for topic in live))
        if ticks % 5 == 0:
            service.metrics.index_bytes.set(await asyncio.to_thread(_memory, live))
        service.metrics.sample(
            lambda: {
                "queue": float(service.writer.waiting),
                "pending": service.metrics.pending._value.get(),
                "subscriptions": service.metrics.subscriptions._value.get(),
                "index_bytes": service.metrics.index_bytes._value.get(),
            }
        )
        ticks += 1
        await asyncio.sleep(1.0)


def _memory(live: list[LiveTopic]) -> int:
    return sum(int(topic.index.stats()["memory_bytes"]) for topic in live)


def _count(service: Service, connection: Connection) -> None:
    p, d = tables.pushes, tables.documents
    first = select(func.min(p.c.document)).where(p.c.state == "waiting").scalar_subquery()
    oldest = connection.scalar(select(d.c.received).where(d.c.number == first))
    now = service.settings.clock()
    service.metrics.oldest.set(max(0.0, now - oldest) if oldest is not None else 0.0)
    tenants = {topic.tenant for topic in service.catalog.topics()}
    total = sum(deliveries.pending(connection, tenant, _COUNTED) for tenant in tenants)
    service.metrics.pending.set(total)
    letters = connection.scalar(select(func.count()).select_from(tables.dead_letters))
    service.metrics.dead_letters.set(letters or 0)


async def expire(service: Service) -> None:
    """Now and then: forget documents, dead letters and answers whose time is over."""
    while True:
        try:
            while await service.writer.run(
                TENANT, lambda connection: _expire(service, connection), alone=True
            ):
                pass
        except Problem as problem:
            log.warning("old documents could not be removed: %s", problem.detail)
        await asyncio.sleep(EVERY)


def _expire(service: Service, connection: Connection) -> bool:
    """A chunk of what is old; true when there may be more."""
    now = service.settings.clock()
    if service.database.shared:  # who acknowledges goes first; what is old can wait
        connection.execute(text("SET LOCAL lock_timeout = '500ms'"))
    more = documents.expire(connection, None, now, _CHUNK) == _CHUNK
    longest = service.settings.retention
    for topic in service.catalog.topics():
        kept = topic.retention or service.settings.retention
        longest = max(longest, kept)
        more |= documents.expire(connection, topic.number, now - kept, _CHUNK) == _CHUNK
    dead_letters.expire(connection, now - longest)
    i, r, t = tables.idempotency, tables.removals, tables.topics
    connection.execute(delete(i).where(i.c.created < now - _ANSWERS))
    old = r.c.removed < now - _REMOVALS
    floors = connection.execute(select(r.c.topic, func.max(r.c.version)).where(old).group_by(r.c.topic)).all()
    for topic_number, version in floors:
        connection.execute(update(t).where(t.c.number == topic_number).values(floor=version))
    if floors:
        connection.execute(delete(r).where(old))
    tallies.fold(connection)
    return more
