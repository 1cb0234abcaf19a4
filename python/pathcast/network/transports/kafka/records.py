"""What follows from a message, as records of topics: for neighbours, clients and the quarantine.

A document that is for several clients is one record, and their deliveries refer to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from pathcast.network.message import Delivery
from pathcast.network.outcome import Outcome
from pathcast.network.transports.kafka.documents import Stored
from pathcast.network.transports.kafka.envelope import (
    NOTICE,
    Header,
    Place,
    Sender,
    deliveries,
    quarantine,
)
from pathcast.network.transports.settings import BrokerSettings
from pathcast.network.wire import encode, encode_notice

SMALL = 512
"""Bytes up to which a copy costs no more than the way to a stored document."""


class Written(NamedTuple):
    """One record to be written."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[Header]
    stored: Stored | None = None
    """The document that this is, or that a delivery refers to."""
    is_delivery: bool = False
    """Whether it goes to an outbox, behind everything else."""

    def with_reference(self) -> list[Header]:
        """The headers; those of a delivery say where its document is."""
        if self.stored is None or not self.is_delivery:
            return self.headers
        return [*self.headers, self.stored.header()]


def records(outcome: Outcome, settings: BrokerSettings, place: Place | None) -> list[Written]:
    """Everything of an outcome that goes to topics, the state apart; `place` is that of the message."""
    return [
        *_messages(outcome, settings),
        *_deliveries(outcome, settings),
        *_refused(outcome, settings, place),
    ]


def _messages(outcome: Outcome, settings: BrokerSettings) -> list[Written]:
    own = [Sender("broker", settings.name).header()]
    key = settings.name.encode()
    return [
        Written(settings.neighbours[neighbour].sent_to, key, encode(message), own)
        for neighbour, message in outcome.messages
        if neighbour in settings.neighbours
    ]


def _deliveries(outcome: Outcome, settings: BrokerSettings) -> list[Written]:
    once = _shared(outcome.deliveries)
    kept: dict[str, Stored] = {}
    written: list[Written] = []
    for delivery in outcome.deliveries:
        if delivery.document in once and delivery.document not in kept:
            stored = kept[delivery.document] = Stored(delivery.body)
            written.append(Written(settings.documents, None, stored.data, [], stored))
        referred = kept.get(delivery.document)
        carried = delivery if referred is None else delivery._replace(body=b"")
        target = _outbox(settings, delivery.client)
        written.extend(
            Written(target, delivery.client.encode(), data, [], referred, is_delivery=True)
            for data in deliveries(carried, settings.max_message_bytes)
        )
    for notice in outcome.notices:
        target, headers = _outbox(settings, notice.client), [(NOTICE, notice.kind.encode())]
        data = encode_notice(notice)
        written.append(Written(target, notice.client.encode(), data, headers, is_delivery=True))
    return written


def _shared(deliveries: Iterable[Delivery]) -> set[str]:
    """The documents that are for several clients and large enough to be stored once."""
    clients = Counter(each.document for each in deliveries if len(each.body) > SMALL)
    return {document for document, number in clients.items() if number > 1}


def _outbox(settings: BrokerSettings, client: str) -> str:
    known = settings.clients.get(client)
    return settings.outbox if known is None else known.sent_to


def _refused(outcome: Outcome, settings: BrokerSettings, place: Place | None) -> list[Written]:
    found = [quarantine(refused, place, settings.max_message_bytes) for refused in outcome.quarantined]
    return [Written(settings.quarantine, None, data, headers) for data, headers in found]
