"""Documents that are stored once for several clients, sealed so that only who got a delivery can read one.

Clients of a broker have outboxes that nobody else reads. A document for many of them would be copied into
each. Instead it is stored once where all of them may read, as noise: its bytes are combined with a stream
drawn from a key of its own (SHAKE-256), and the key is in the deliveries. A key is drawn for each document
and never used again. A tag in front (keyed BLAKE2b) tells a wrong key or a damaged document.

>>> key = bytes(32)
>>> opened(sealed(b"<news/>", key), key)
b'<news/>'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b, shake_256
from hmac import compare_digest

from pathcast.errors import PathcastError
from pathcast.network.message import Delivery

KEY = 32
"""Bytes of a key."""
TAG = 16
SMALL = 512
"""Bytes up to which a copy costs no more than the way to a stored document."""


class SealError(PathcastError, ValueError):
    """A stored document that is not the one which a delivery speaks of."""


def sealed(body: bytes, key: bytes) -> bytes:
    """A document that only who has the key can read."""
    hidden = _combined(body, key)
    return _tag(hidden, key) + hidden


def opened(data: bytes, key: bytes) -> bytes:
    """The document again; `SealError` for another key or other bytes."""
    tag, hidden = data[:TAG], data[TAG:]
    if not compare_digest(tag, _tag(hidden, key)):
        raise SealError("a stored document is damaged, or the key is that of another one")
    return _combined(hidden, key)


def shared(deliveries: Iterable[Delivery], small: int = SMALL) -> set[str]:
    """The documents that are for several clients and large enough to be stored once.

    >>> large = b"<a>" + bytes(600) + b"</a>"
    >>> shared([Delivery("ann", "1", ("s",), large), Delivery("bob", "1", ("s",), large),
    ...         Delivery("ann", "2", ("s",), large)])
    {'1'}
    """
    clients = Counter(each.document for each in deliveries if len(each.body) > small)
    return {document for document, number in clients.items() if number > 1}


def _combined(body: bytes, key: bytes) -> bytes:
    stream = shake_256(b"stream" + key).digest(len(body))
    mixed = int.from_bytes(body, "little") ^ int.from_bytes(stream, "little")
    return mixed.to_bytes(len(body), "little")


def _tag(hidden: bytes, key: bytes) -> bytes:
    return blake2b(hidden, digest_size=TAG, key=key, person=b"pathcast").digest()
