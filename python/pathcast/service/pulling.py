"""Pulling: the next deliveries of a subscription, now or when there are some. Events are that without end."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from pathcast.service.bell import rung
from pathcast.service.catalog import LiveTopic
from pathcast.service.problems import Problem, unknown
from pathcast.service.store import deliveries, subscriptions
from pathcast.service.store.deliveries import Delivery, delivery_id

if TYPE_CHECKING:
    from pathcast.service.core import Service

log = logging.getLogger("pathcast.service")

LONGEST = 60.0  # seconds that one request may wait
PAGE_BYTES = 8 << 20  # of bodies in one answer
_HEARTBEAT = 15.0  # seconds of silence after which a stream says that it is alive
_STREAM_PAGE = 50


@dataclass(frozen=True, slots=True)
class Page:
    """Some deliveries as they are answered, and the cursor after them."""

    items: list[dict[str, Any]]
    cursor: int


def iso(seconds: float) -> str:
    """A moment as people and machines read it.

    >>> iso(0)
    '1970-01-01T00:00:00.000Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_cursor(text: str | int | None) -> int | None:
    """The document number in a cursor; a `Problem` when it is none."""
    if text is None or text == "":
        return None
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number < 1 << 63:
        raise Problem(400, "cursor", "The cursor is not valid", repr(text))
    return number


async def pull(
    service: Service, live: LiveTopic, id: str, after: int | None, limit: int, wait: float, body: bool
) -> Page:
    """The deliveries after a cursor, or after what was acknowledged."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + min(wait, LONGEST)
    while True:
        waiter = service.bell.listen(live.number, id)
        try:
            page = await service.read(lambda connection: _page(connection, live, id, after, limit, body))
            left = deadline - loop.time()
            if page.items or left <= 0 or service.bell.closed:
                service.metrics.deliveries.labels("pull", "delivered").inc(len(page.items))
                return page
            await rung(waiter, left)
        finally:
            service.bell.leave(live.number, id, waiter)


def _page(
    connection: Connection, live: LiveTopic, id: str, after: int | None, limit: int, body: bool
) -> Page:
    at = subscriptions.place(connection, live.number, id)
    if at is None:
        raise unknown("subscription", id)
    start = at.acked if after is None else max(after, at.born)
    found = deliveries.after(connection, live.number, id, start, limit, at.filed)
    kept: list[Delivery] = []
    size = 0
    for each in found:
        size += each.size if body else 0
        if kept and size > PAGE_BYTES:
            break
        kept.append(each)
    bodies = deliveries.bodies(connection, [each.number for each in kept]) if body and kept else {}
    items = [_item(each, live, id, bodies.get(each.number)) for each in kept]
    return Page(items, kept[-1].number if kept else start)


def _item(each: Delivery, live: LiveTopic, id: str, body: bytes | None) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": delivery_id(each.document, live.name, id),
        "cursor": str(each.number),
        "document": each.document,
        "topic": live.name,
        "subscription": id,
        "received": iso(each.received),
        "content_type": each.content_type,
        "size": each.size,
    }
    if each.trace:
        item["traceparent"] = each.trace
    if body is not None:
        try:
            item["body"] = body.decode("utf-8")
        except UnicodeDecodeError:  # XML in another encoding
            item["body_base64"] = base64.b64encode(body).decode("ascii")
    return item


async def acknowledge(service: Service, live: LiveTopic, id: str, cursor: int) -> int:
    """Say that everything up to a cursor has arrived; the place that is now acknowledged."""

    def work(connection: Connection) -> int:
        acked = subscriptions.acknowledge(connection, live.number, id, cursor)
        if acked is None:
            raise unknown("subscription", id)
        return acked

    acked = await service.writer.run(live.tenant, work)
    service.pending.acknowledged(live.tenant)
    return acked


async def events(
    service: Service,
    live: LiveTopic,
    id: str,
    after: int | None,
    body: bool,
    allowed: Callable[[], Awaitable[None]],
) -> AsyncIterator[bytes]:
    """Deliveries as Server-Sent Events without end; the id of an event is the cursor to go on from.

    A stream outlives requests, so `allowed` asks again and again whether its key still counts.
    """
    service.metrics.streams.inc()
    try:
        yield b"retry: 1000\n\n"
        while True:
            waiter = service.bell.listen(live.number, id)
            try:
                await allowed()
                look = partial(_page, live=live, id=id, after=after, limit=_STREAM_PAGE, body=body)
                page = await service.read(look)
                after = page.cursor
                if page.items:
                    service.metrics.deliveries.labels("events", "delivered").inc(len(page.items))
                    yield b"".join(map(_event, page.items))
                elif service.bell.closed:
                    return
                elif not await rung(waiter, _HEARTBEAT):
                    yield b": still here\n\n"
            except SQLAlchemyError as error:  # the client comes back and goes on from its last event
                log.warning("a stream of events ends: %s", type(error).__name__)
                return
            except Problem:  # the subscription, its topic or the key was removed
                yield b"event: removed\ndata: {}\n\n"
                return
            finally:
                service.bell.leave(live.number, id, waiter)
    finally:
        service.metrics.streams.dec()


def _event(item: dict[str, Any]) -> bytes:
    data = json.dumps(item, ensure_ascii=False, separators=(",", ":"))  # JSON holds no line ends
    return f"id: {item['cursor']}\ndata: {data}\n\n".encode()
