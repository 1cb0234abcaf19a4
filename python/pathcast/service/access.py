"""Who calls, and whether the key may do it."""

from __future__ import annotations

import asyncio
import fnmatch
import ipaddress
import math
from dataclasses import dataclass
from functools import lru_cache

from starlette.requests import Request

from pathcast.service.problems import forbidden, unauthorized
from pathcast.service.settings import Settings
from pathcast.service.store import Database, keys
from pathcast.service.store.keys import Key

TENANT = "default"
"""The tenant of the first administrator."""

_FRESH = 1.0  # seconds that a key is believed without asking a store that other processes change


@dataclass(slots=True)
class _Known:
    key: Key | None
    checked: float


class Access:
    """Keys by what clients send, remembered for a second."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._known: dict[str, _Known] = {}
        self._fresh = _FRESH if database.shared else math.inf
        self._changes = 0
        self._asking: dict[str, asyncio.Task[Key | None]] = {}

    def forget(self) -> None:
        """Ask the store again: a key was changed. Looks that are under way may have seen it as it was."""
        self._changes += 1
        self._known.clear()
        self._asking.clear()

    async def identify(self, request: Request) -> Key:
        """The key that a request carries; a `Problem` without one that counts."""
        secret = _secret(request)
        now = self._settings.clock()
        known = self._known.get(secret)
        if known is None or not 0 <= now - known.checked < self._fresh:
            if len(self._known) > 10_000:  # somebody is guessing
                self._known.clear()
            changes = self._changes
            known = _Known(await self._asked(secret, now), now)
            if changes == self._changes:
                self._known[secret] = known
        key = known.key
        if key is None or (key.expires is not None and key.expires <= now):
            raise unauthorized("the key is unknown, revoked or expired")
        return key

    async def _asked(self, secret: str, now: float) -> Key | None:
        """What the store says; requests that ask at the same time share one look."""
        asking = self._asking.get(secret)
        if asking is None:
            asking = asyncio.create_task(asyncio.to_thread(self._look_up, secret, now))
            self._asking[secret] = asking
            asking.add_done_callback(lambda _: self._asking.pop(secret, None))
        return await asyncio.shield(asking)

    def _look_up(self, secret: str, now: float) -> Key | None:
        with self._database.reading() as connection:
            return keys.by_digest(connection, keys.digest(secret), now)


def _secret(request: Request) -> str:
    header = request.headers.get("authorization")
    if header is None:
        # A browser's EventSource cannot send a header, so streams of events take the key in the address.
        token = request.query_params.get("access_token") if request.url.path.endswith("/events") else None
        if token:
            return token
        raise unauthorized("send Authorization: Bearer KEY")
    scheme, _, secret = header.partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret:
        raise unauthorized("the header must read Authorization: Bearer KEY")
    return secret


def require(key: Key, scopes: tuple[str, ...], topic: str | None = None) -> None:
    """A `Problem` unless the key has one of the scopes and sees the topic; `admin` stands for every scope."""
    if "admin" not in key.scopes and not set(scopes) & set(key.scopes):
        raise forbidden(f"the key does not have the scope {' or '.join(map(repr, scopes))}")
    if topic is not None and not sees(key, topic):
        raise forbidden(f"the key is not for the topic {topic!r}")


def sees(key: Key, topic: str) -> bool:
    """Whether a key is for a topic."""
    return _named(key.topics, topic)


@lru_cache(4096)
def _named(patterns: tuple[str, ...], topic: str) -> bool:
    return any(fnmatch.fnmatchcase(topic, pattern) for pattern in patterns)


def from_this_machine(request: Request) -> bool:
    """Whether a request comes over loopback and no proxy passed it on."""
    if request.client is None or "forwarded" in request.headers or "x-forwarded-for" in request.headers:
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
