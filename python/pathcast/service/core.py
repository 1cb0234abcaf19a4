"""The service without HTTP: its parts, how they start and stop, and what they do in the background."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

import pathcast
from pathcast.errors import Cancelled, DocumentError
from pathcast.service import maintenance
from pathcast.service.access import TENANT, Access
from pathcast.service.bell import Bell
from pathcast.service.catalog import Catalog, LiveTopic
from pathcast.service.filing import Filing
from pathcast.service.matching import LARGE, Matching
from pathcast.service.metrics import Metrics
from pathcast.service.problems import unavailable, unknown
from pathcast.service.publishing import Publication, Publisher
from pathcast.service.quota import Meter
from pathcast.service.settings import Settings
from pathcast.service.store import Database, StoreError, keys, pushes, topics
from pathcast.service.store.keys import SCOPES
from pathcast.service.webhooks.dispatcher import Dispatcher
from pathcast.service.writer import Writer

if TYPE_CHECKING:
    from pathcast.service.kafka.source import Sources

T = TypeVar("T")

log = logging.getLogger("pathcast.service")

_TRIES = 8  # to match a document before the subscriptions change
_FOLLOW = 1.0  # seconds between two looks at a store that others change


class Service:
    """Everything that one process holds."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database = Database(settings.url)
        self.catalog = Catalog()
        self.metrics = Metrics()
        self.bell = Bell()
        self.access = Access(self.database, settings)
        self.meter = Meter(settings.clock)
        publisher = Publisher(self.catalog, settings.clock, self.metrics.matched)
        self.writer = Writer(self.database, publisher.publish)
        self.matching = Matching()
        self.dispatcher = Dispatcher(self)
        self.ready = False
        self.pending = maintenance.Pending(self)
        self.filing = Filing(self)
        self._sources: Sources | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = threading.Event()

    def open(self) -> str | None:
        """Bring the store up to date; the secret of the first administrator key, when one was made."""
        self.database.migrate()
        now = self.settings.clock()
        given = self.settings.admin_key
        with self.database.starting() as connection:
            if not self.database.shared:  # whoever held a lease on this store is gone
                pushes.release_all(connection, now)
            if given:
                digest = keys.digest(given)
                if keys.by_digest(connection, digest, now) is not None:
                    return None
                if keys.known(connection, digest):  # a start does not bring it back
                    if not keys.any_operator(connection, now):
                        raise StoreError("the key in PATHCAST_ADMIN_KEY was revoked: set another one")
                    log.warning("the key in PATHCAST_ADMIN_KEY was revoked and counts no more")
                    return None
            elif keys.any_operator(connection, now):
                return None
            secret = given or keys.new_secret()
            keys.create(
                connection,
                secret,
                tenant=TENANT,
                scopes=SCOPES,
                topics=("*",),
                quota={},
                now=now,
                operator=True,
                labels={"name": "first administrator"},
            )
        return None if given else secret

    async def start(self) -> None:
        """Begin to work; `ready` is true when the indexes are loaded."""
        self.writer.start()
        self._tasks.append(asyncio.create_task(self._load()))

    async def _load(self) -> None:
        while True:
            try:
                await self.read(self.catalog.load)
                break
            except SQLAlchemyError as error:
                log.error("the store cannot be read, trying again: %s", type(error).__name__)
                await asyncio.sleep(_FOLLOW)
        gc.freeze()  # what was loaded stays: no collection walks through it again
        self.ready = True
        log.info("ready: %d topics", sum(1 for _ in self.catalog.topics()))
        for work in (maintenance.sample, maintenance.expire, self.filing.run):
            self._tasks.append(asyncio.create_task(work(self)))
        self._tasks.append(asyncio.create_task(self.dispatcher.run()))
        if self.settings.kafka is not None and not self.settings.worker:
            from pathcast.service.kafka.source import Sources

            self._sources = Sources(self)
            self._tasks.append(asyncio.create_task(self._sources.run()))
        if self.database.shared:
            self._tasks.append(asyncio.create_task(self._follow()))

    async def _follow(self) -> None:
        """See what other processes changed and published."""
        from pathcast.service.store.listening import listen

        loop = asyncio.get_running_loop()
        ring = self._rung_elsewhere
        listening = threading.Thread(
            target=listen,
            args=(self.database, self._stopping, lambda topic: loop.call_soon_threadsafe(ring, topic)),
            daemon=True,
        )
        listening.start()
        while True:
            await asyncio.sleep(_FOLLOW)
            try:
                await self.read(self.catalog.load)
            except SQLAlchemyError as error:
                log.warning("the store cannot be read: %s", type(error).__name__)

    def _rung_elsewhere(self, topic: int) -> None:
        self.bell.ring(topic)
        self.dispatcher.wake()

    async def stop(self) -> None:
        """Answer who waits, finish what is queued, close the store."""
        self._stopping.set()
        for live in self.catalog.topics():  # who asked for it has gone, or has waited long enough
            live.interrupt()
        self.bell.close()
        await self.dispatcher.stop()
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if self._sources is not None:
            await self._sources.stop()
        await asyncio.to_thread(self.writer.close)
        self.matching.close()
        self.database.close()

    async def read(self, look: Callable[[Connection], T]) -> T:
        """Read from the store in a thread."""

        def work() -> T:
            with self.database.reading() as connection:
                return look(connection)

        return await asyncio.to_thread(work)

    async def topic(self, tenant: str, name: str) -> LiveTopic:
        """The topic of this name; a `Problem` when there is none."""
        live = self.catalog.get(tenant, name)
        if live is not None and not self.database.shared:
            return live
        if not self.ready:
            raise unavailable("the indexes are being loaded")

        def follow(connection: Connection) -> LiveTopic:
            row = topics.find(connection, tenant, name)
            if row is None:
                raise unknown("topic", name)
            if not self.database.shared:
                raise unavailable(f"the index of the topic {name!r} is not loaded")
            return self.catalog.follow(connection, row)

        return await self.read(follow)

    async def publish(self, publication: Publication) -> Publication:
        """Publish a document; returns when it is durable, or raises a `Problem`."""
        for _ in range(_TRIES):
            live = self.catalog.by_number(publication.topic.number) or publication.topic
            if publication.refused is None and (live.costly or len(publication.body) >= LARGE):
                publication.version, publication.matches = await self.matched(live, publication.body)
            waiter = self.writer.publish(publication.topic.tenant, publication)
            waiter.add_done_callback(self._published)
            done = await waiter
            if not done.stale:
                break
        if done.status == 503:
            raise unavailable(done.answer["detail"])
        return done

    async def matched(self, live: LiveTopic, document: bytes) -> tuple[int, Sequence[Any] | DocumentError]:
        """What a document matches, or why it is refused, at a version of the topic; in a thread."""

        def work(cancellation: pathcast.Cancellation) -> tuple[int, Sequence[Any] | DocumentError]:
            version = live.version
            [found] = live.index.match_many([document], cancellation=cancellation)
            return version, found

        return await self.look(live, work)

    async def look(self, live: LiveTopic, work: Callable[[pathcast.Cancellation], T]) -> T:
        """Do something with an index that may take long; in a thread, and again if the index changes."""
        for _ in range(_TRIES):
            if self._stopping.is_set():
                raise unavailable("the server is stopping")
            with contextlib.suppress(Cancelled):
                return await self.matching.apart(live.tenant, lambda: live.look(work))
        raise unavailable("the subscriptions change faster than the document is matched")

    def _published(self, waiter: asyncio.Future[Publication]) -> None:
        if waiter.cancelled() or waiter.exception() is not None:
            return
        done = waiter.result()
        if done.status == 503:
            return
        outcome = "repeated" if done.repeated else "accepted" if done.status == 202 else "refused"
        self.metrics.outcomes[outcome].inc()
        self.metrics.bytes.inc(len(done.body))
        if outcome == "refused":
            topic, letter = done.topic, done.answer.get("dead_letter")
            about = {"tenant": topic.tenant, "topic": topic.name, "dead_letter": letter}
            log.info("a document was refused", extra={"about": about | {"traceparent": done.trace}})
        if outcome != "accepted":
            return
        self.pending.published(done.topic.tenant, len(done.receivers))
        self.filing.published(done.topic.number, len(done.receivers))
        self.bell.ring(done.topic.number, done.receivers)
        if done.topic.channels:
            self.dispatcher.wake()
