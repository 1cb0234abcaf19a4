"""The dispatcher: takes pushes that are due, makes them by webhook or Kafka, and writes down how it ended.

A receiver that hangs holds a few calls of its own subscription and no more: each subscription has at most
`WEBHOOK` calls at a time, only one while it fails, and a tenant at most half of all. What fails is tried
again after the times in the settings, then it is a dead letter. A process that dies leaves its leases, which
run out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from pathcast.service.problems import Problem, too_much
from pathcast.service.store import dead_letters, pushes
from pathcast.service.store.deliveries import delivery_id
from pathcast.service.store.pushes import Push
from pathcast.service.webhooks.sender import Letter, Outcome, Sender

if TYPE_CHECKING:
    from pathcast.service.core import Service
    from pathcast.service.kafka.sink import Sink

K = TypeVar("K")

log = logging.getLogger("pathcast.service")

ALL = 256  # calls of one process at a time
WEBHOOK = 4  # of one subscription
TESTS = 4  # of one tenant
KAFKA = 64  # messages of one subscription: they go over one connection
_IDLE = 1.0  # seconds between two looks at the store when nothing wakes the dispatcher
_PULLED = "the subscription is pulled now, and the document with it"
_GRACE = 5.0  # seconds that a lease lasts beyond the longest call


class Dispatcher:
    """Runs in the event loop; the store is asked through the writer."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.worker = f"worker_{secrets.token_hex(8)}"
        settings = service.settings
        self._sender = Sender(settings.webhook_networks, settings.webhook_timeout)
        self._sink: Sink | None = None
        if settings.kafka is not None:
            from pathcast.service.kafka.sink import Sink

            self._sink = Sink(settings.kafka, settings.webhook_timeout)
        self._awake = asyncio.Event()
        self._calls: set[asyncio.Task[None]] = set()
        self._busy: Counter[tuple[int, str]] = Counter()
        self._tenants: Counter[str] = Counter()
        self._failing: set[tuple[int, str]] = set()
        self._tests: Counter[str] = Counter()
        self._stopping = False

    def wake(self) -> None:
        """Something is due."""
        self._awake.set()

    async def run(self) -> None:
        """Until the server stops."""
        while not self._stopping:
            self._awake.clear()
            try:
                more = await self.turn()
            except (Problem, SQLAlchemyError) as error:
                log.warning("webhooks wait for the store: %s", error)
                more = False
            if not more:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._awake.wait(), _IDLE)

    async def turn(self) -> bool:
        """Take what is due and begin to call; true when there may be more at once."""
        room = ALL - len(self._calls)
        if room <= 0:
            return False
        now = self._service.settings.clock()
        until = now + self._service.settings.webhook_timeout + _GRACE
        full = [at for at, calls in self._busy.items() if calls >= self._most(at)]
        tenants = [tenant for tenant, calls in self._tenants.items() if calls >= ALL // 2]

        def work(connection: Connection) -> list[Push]:
            return pushes.lease(connection, self.worker, now, until, min(room, 64), full, tenants)

        leased = await self._service.writer.run("#webhooks", work)
        back: list[int] = []
        changed: list[int] = []
        for push in leased:
            at = (push.topic, push.subscription)
            if not push.delivery:
                changed.append(push.number)
            elif self._busy[at] >= self._most(at):
                back.append(push.number)
            else:
                self._begin(push)

        def unused(connection: Connection) -> None:
            pushes.release(connection, back, self.worker, now)
            for number in changed:
                pushes.settle(connection, number, self.worker, now, state="dropped", reason=_PULLED)

        if back or changed:
            await self._service.writer.run("#webhooks", unused)
        return len(leased) > len(back)

    def _most(self, at: tuple[int, str]) -> int:
        """How many calls a subscription may have at a time."""
        if at in self._failing:
            return 1
        live = self._service.catalog.by_number(at[0])
        return KAFKA if live is not None and live.channels.get(at[1]) == "kafka" else WEBHOOK

    def _begin(self, push: Push) -> None:
        self._busy[push.topic, push.subscription] += 1
        self._tenants[push.tenant] += 1
        task = asyncio.create_task(self._attempt(push))
        self._calls.add(task)
        task.add_done_callback(lambda done: self._ended(done, push))

    def _ended(self, task: asyncio.Task[None], push: Push) -> None:
        self._calls.discard(task)
        _less(self._busy, (push.topic, push.subscription))
        _less(self._tenants, push.tenant)
        self.wake()

    async def _attempt(self, push: Push) -> None:
        delivery = push.delivery or {}
        outcome = await self.deliver(delivery, letter_of(push))
        at = (push.topic, push.subscription)
        if outcome.ok:
            self._failing.discard(at)
        else:
            self._failing.add(at)
        last = push.attempts >= len(self._service.settings.retries)
        result = "delivered" if outcome.ok else "dead" if last else "failed"
        channel = next(iter(delivery), "webhook")
        self._service.metrics.deliveries.labels(channel, result).inc()
        if not outcome.ok:
            _log_failure(push, channel, outcome, last)
        with contextlib.suppress(Problem, SQLAlchemyError):  # the lease runs out and it is tried again
            await self._service.writer.run(
                "#webhooks", lambda connection: self._settle(connection, push, outcome)
            )

    async def deliver(self, delivery: Mapping[str, Any], letter: Letter) -> Outcome:
        """Make one delivery as a subscription says."""
        if "kafka" not in delivery:
            return await self._sender.call(delivery["webhook"], letter, self._service.settings.clock())
        if self._sink is None:
            return Outcome(False, 0.0, reason="this process was started without --kafka")
        return await self._sink.send(delivery["kafka"]["topic"], letter)

    async def test(self, tenant: str, delivery: Mapping[str, Any], letter: Letter) -> Outcome:
        """Make a delivery that somebody asked for; a `Problem` when a tenant has too many at a time."""
        if self._tests[tenant] >= TESTS:
            raise too_much("test calls at a time", TESTS, self._service.settings.webhook_timeout)
        self._tests[tenant] += 1
        try:
            return await self.deliver(delivery, letter)
        finally:
            _less(self._tests, tenant)

    def _settle(self, connection: Connection, push: Push, outcome: Outcome) -> None:
        now = self._service.settings.clock()
        attempts = push.attempts + 1
        retries = self._service.settings.retries
        values = {
            "attempts": attempts,
            "status": outcome.status,
            "reason": outcome.reason,
            "seconds": outcome.seconds,
        }
        if outcome.ok:
            pushes.settle(connection, push.number, self.worker, now, state="delivered", **values)
        elif attempts <= len(retries):
            due = now + retries[attempts - 1]
            pushes.settle(connection, push.number, self.worker, now, due=due, **values)
        elif pushes.settle(connection, push.number, self.worker, now, state="dead", **values):
            dead_letters.add(connection, [_dead(push, outcome, now)])

    async def stop(self) -> None:
        """Let calls finish for a moment, then give up on them: their leases run out."""
        self._stopping = True
        self.wake()
        if self._calls:
            await asyncio.wait(self._calls, timeout=2.0)
        for task in self._calls:
            task.cancel()
        await self._sender.close()
        if self._sink is not None:
            await asyncio.to_thread(self._sink.close)


def _log_failure(push: Push, channel: str, outcome: Outcome, last: bool) -> None:
    about = {
        "delivery": delivery_id(push.document, push.topic_name, push.subscription),
        "channel": channel,
        "tenant": push.tenant,
        "topic": push.topic_name,
        "subscription": push.subscription,
        "document": push.document,
        "attempt": push.attempts + 1,
        "status": outcome.status,
        "reason": outcome.reason,
        "traceparent": push.trace,
    }
    log.warning("a delivery failed%s", " for good" if last else "", extra={"about": about})


def _less(counter: Counter[K], at: K) -> None:
    counter[at] -= 1
    if not counter[at]:
        del counter[at]


def letter_of(push: Push) -> Letter:
    """What the receiver of a push gets."""
    return Letter(
        id=delivery_id(push.document, push.topic_name, push.subscription),
        body=push.body,
        content_type=push.content_type,
        document=push.document,
        topic=push.topic_name,
        subscription=push.subscription,
        trace=push.trace,
    )


def _dead(push: Push, outcome: Outcome, now: float) -> dict[str, object]:
    return {
        "id": dead_letters.new_id(),
        "tenant": push.tenant,
        "topic": push.topic_name,
        "kind": "delivery",
        "reason": outcome.reason or "failed",
        "document": push.document,
        "subscription": push.subscription,
        "push": push.number,
        "content_type": push.content_type,
        "size": len(push.body),
        "created": now,
    }
