"""What stands around a message in a topic: who sent it, in a header of the record.

A record of an inbox has the header ``pathcast-from`` with ``broker NAME`` or ``client NAME``. A record of a
quarantine has the bytes as they came, cut where they are too many, and headers that say who sent them, why
they were refused, and where they stood.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from confluent_kafka import Message

from pathcast.network.message import Delivery, Quarantined
from pathcast.network.transports.settings import RESERVED, BrokerSettings
from pathcast.network.wire import encode_delivery

FROM = "pathcast-from"
NOTICE = "pathcast-notice"
"""The header of what is in an outbox and not a delivery."""
LONGEST_NAME = 256
"""Bytes of a sender's name."""

Header = tuple[str, bytes]


class ForgedError(Exception):
    """A record that does not say who sent it, or says it wrongly."""


class Sender(NamedTuple):
    """Who sent a message."""

    kind: str
    name: str

    def header(self) -> Header:
        """As a header."""
        return (FROM, f"{self.kind} {self.name}".encode())


class Place(NamedTuple):
    """Where a record stands."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """A record that was read."""

    place: Place
    value: bytes | None
    headers: tuple[Header, ...]
    append_time: float | None
    """Kafka's own time of it, in seconds; None if the sender set the time."""

    def sender(self, settings: BrokerSettings) -> Sender:
        """Who sent it; `ForgedError` says why that cannot be believed."""
        given = [value for name, value in self.headers if name == FROM]
        if len(given) != 1:
            raise ForgedError(f"it has {len(given)} headers {FROM}, and must have one")
        try:
            kind, _, name = (given[0] or b"").decode("utf-8").partition(" ")
        except UnicodeDecodeError:
            raise ForgedError(f"its header {FROM} is not UTF-8 text") from None
        if kind not in ("broker", "client") or not name or len(given[0]) > LONGEST_NAME:
            raise ForgedError(f"its header {FROM} is neither 'broker NAME' nor 'client NAME', or too long")
        peer = (settings.neighbours if kind == "broker" else settings.clients).get(name)
        if kind == "client" and peer is None and not settings.open:
            raise ForgedError("it is not a client of this broker")
        expected = settings.inbox if peer is None or peer.speaks_on is None else peer.speaks_on
        if expected != self.place.topic:
            raise ForgedError(f"{kind} {name} speaks on another topic: it is forged")
        return Sender(kind, name)

    def claimed(self) -> str:
        """Who it says it is from, believed or not."""
        for name, value in self.headers:
            if name == FROM and value:
                return value[:LONGEST_NAME].decode("utf-8", "backslashreplace")
        return "nobody"


def arrival(message: Message) -> Arrival:
    """A record as it was read."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None
    assert partition is not None
    assert offset is not None
    kind, milliseconds = message.timestamp()
    stamped = kind == 2  # TIMESTAMP_LOG_APPEND_TIME
    return Arrival(
        Place(topic, partition, offset),
        message.value(),
        headers_of(message),
        milliseconds / 1000 if stamped else None,
    )


def headers_of(message: Message) -> tuple[Header, ...]:
    """The headers of a record."""
    headers = message.headers() or []
    pairs = headers.items() if isinstance(headers, dict) else headers
    return tuple((name, value.encode() if isinstance(value, str) else value or b"") for name, value in pairs)


def quarantine(refused: Quarantined, place: Place | None, largest: int) -> tuple[bytes, list[Header]]:
    """A refused message as the value and headers of a record."""
    headers: list[Header] = [
        ("pathcast-sender", refused.sender[:1000].encode("utf-8", "backslashreplace")),
        ("pathcast-reason", refused.reason[:1000].encode("utf-8", "backslashreplace")),
        ("pathcast-bytes", str(len(refused.data)).encode()),
    ]
    if place is not None:
        headers.append(("pathcast-place", f"{place.topic}/{place.partition}/{place.offset}".encode()))
    return refused.data[: largest - RESERVED], headers


def deliveries(delivery: Delivery, largest: int) -> Iterator[bytes]:
    """A delivery as bytes; as several, each with some of the ids, if one would be too large for a message."""
    data = encode_delivery(delivery)
    if len(data) <= largest:
        yield data
        return
    for ids in _split(delivery.ids, RESERVED // 4):
        yield encode_delivery(delivery._replace(ids=ids))


def _split(ids: Iterable[str], room: int) -> Iterator[tuple[str, ...]]:
    """Parts of at most so many bytes in JSON, an id that is larger alone; a character may be six bytes."""
    part: list[str] = []
    size = 0
    for id in ids:
        each = 6 * len(id) + 3
        if part and size + each > room:
            yield tuple(part)
            part, size = [], 0
        part.append(id)
        size += each
    if part:
        yield tuple(part)
