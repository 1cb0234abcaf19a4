"""The bell: who waits for the next delivery of a subscription is woken when it is committed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable


class Bell:
    """Waiters by topic and subscription. Everything here happens in the event loop.

    A waiter asks for its future before it looks into the store, so what is committed in between wakes it.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, dict[str, set[asyncio.Future[None]]]] = {}
        self.closed = False

    def listen(self, topic: int, subscription: str) -> asyncio.Future[None]:
        """A future that is done at the next delivery, or when the server stops."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.closed:
            waiter.set_result(None)
            return waiter
        self._waiting.setdefault(topic, {}).setdefault(subscription, set()).add(waiter)
        return waiter

    def leave(self, topic: int, subscription: str, waiter: asyncio.Future[None]) -> None:
        """Stop waiting."""
        mine = self._waiting.get(topic, {})
        waiters = mine.get(subscription)
        if waiters is None:
            return
        waiters.discard(waiter)
        if not waiters:
            del mine[subscription]
            if not mine:
                del self._waiting[topic]

    def ring(self, topic: int, subscriptions: Iterable[str] | None = None) -> None:
        """Wake who waits for these subscriptions, or for any of the topic."""
        mine = self._waiting.get(topic)
        if not mine:
            return
        for subscription in list(mine) if subscriptions is None else subscriptions:
            for waiter in mine.get(subscription, ()):
                if not waiter.done():
                    waiter.set_result(None)

    def close(self) -> None:
        """Wake everybody: the server stops."""
        self.closed = True
        for topic in list(self._waiting):
            self.ring(topic)

    def __len__(self) -> int:
        return sum(len(waiters) for mine in self._waiting.values() for waiters in mine.values())


async def rung(waiter: asyncio.Future[None], seconds: float) -> bool:
    """Whether the bell rang within that time."""
    done, _ = await asyncio.wait({waiter}, timeout=max(0.0, seconds))
    return bool(done)
