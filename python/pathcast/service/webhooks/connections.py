"""Connections to receivers, kept for a while for the next call.

A certificate is checked when a connection is opened, for one name. So a connection is used again only for the
same name, and only for the same port at the address that was judged for this call. A client holds one
connection and makes one call at a time: at most `KEPT` connections are open beside those of running calls,
and none longer than `IDLE` seconds after its last call.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator

import httpx

from pathcast.service.webhooks.addresses import Place, Target

KEPT = 64
IDLE = 4.0  # many servers close after 5 seconds: a call should not meet that


class Connections:
    """All of one process; used by one event loop."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._kept = KEPT
        self._context = ssl.create_default_context()
        self._idle: dict[httpx.AsyncClient, tuple[Place, asyncio.TimerHandle]] = {}  # in order of use
        self._closing: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def lent(self, target: Target) -> AsyncIterator[httpx.AsyncClient]:
        """A client for one call of a target; it is kept when the call ends well."""
        client = self._take(target.place) or self._new()
        try:
            yield client
        except BaseException:
            await client.aclose()
            raise
        self._keep(target.place, client)

    def _take(self, place: Place) -> httpx.AsyncClient | None:
        for client, (kept, timer) in reversed(self._idle.items()):
            if kept == place:
                del self._idle[client]
                timer.cancel()
                return client
        return None

    def _new(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            follow_redirects=False,
            trust_env=False,  # no proxy: it would resolve the name again
            timeout=httpx.Timeout(self._timeout),
            limits=httpx.Limits(max_connections=1, keepalive_expiry=None),
            verify=self._context,
        )

    def _keep(self, place: Place, client: httpx.AsyncClient) -> None:
        timer = asyncio.get_running_loop().call_later(IDLE, self._drop, client)
        self._idle[client] = place, timer
        if len(self._idle) > self._kept:
            self._drop(next(iter(self._idle)))

    def _drop(self, client: httpx.AsyncClient) -> None:
        _, timer = self._idle.pop(client)
        timer.cancel()
        task = asyncio.create_task(client.aclose())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close what is kept, and keep nothing from now on."""
        self._kept = 0
        while self._idle:
            self._drop(next(iter(self._idle)))
        if self._closing:
            await asyncio.wait(self._closing)
