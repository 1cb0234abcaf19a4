"""Laws that need no expected answer.

Each takes bytes, raises where it is broken, and says whether they were accepted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pathcast.errors import SubscriptionFileError
from pathcast.network.wire import WireError, decode, decode_delivery, encode, encode_delivery
from pathcast.spark.worker.split import split
from pathcast.subscriptions import Subscription, read_subscriptions

T = TypeVar("T")

SUFFIXES = (".txt", ".csv", ".tsv", ".jsonl")


def messages(data: bytes) -> bool:
    """A message or a delivery is refused with a reason, or can be passed on with the same meaning."""
    made = _read(decode, data)
    if made is not None:
        assert decode(encode(made)) == made, data
    delivery = _read(decode_delivery, data)
    if delivery is not None:
        assert decode_delivery(encode_delivery(delivery)) == delivery, data
    return made is not None or delivery is not None


def _read(read: Callable[[bytes], T], data: bytes) -> T | None:
    try:
        return read(data)
    except WireError:
        return None


def records(data: bytes) -> bool:
    """Records are the same however the bytes arrive, and no more than a bound comes out."""
    record = "e" if len(data) % 2 else "{urn:x}e"
    whole = list(split([data], record))
    assert list(split((data[at : at + 1] for at in range(len(data))), record)) == whole, data
    assert list(split((data[at : at + 7] for at in range(0, len(data), 7)), record)) == whole, data
    assert sum(map(len, whole)) <= 64 * len(data) + (2 << 20), data
    return any(not each.startswith(b"not a document") for each in whole)


def subscriptions(data: bytes) -> bool:
    """Rows come out, or the file is refused with the lines that are wrong; the first byte names the form."""
    if not data:
        return False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "subscriptions" + SUFFIXES[data[0] % len(SUFFIXES)])
        path.write_bytes(data[1:])
        found: list[Subscription] = []
        try:
            for row in read_subscriptions(path):
                assert isinstance(row.xpath, str), data
                found.append(row)
        except SubscriptionFileError:
            pass
    return bool(found)


LAWS: dict[str, Callable[[bytes], bool]] = {
    "messages": messages,
    "records": records,
    "subscriptions": subscriptions,
}
