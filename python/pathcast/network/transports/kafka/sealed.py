"""Documents that are stored once for several clients, sealed so that only who got a delivery can read one.

Clients of a broker have outboxes that nobody else reads. A document for many of them would be copied into
each. Instead it is stored once where all of them may read, encrypted and authenticated with
ChaCha20-Poly1305 under a key of its own, and the key is in the deliveries.

>>> key = new_key()
>>> opened(sealed(b"<news/>", key), key)
b'<news/>'
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from pathcast.errors import PathcastError

TAG = 16
"""Bytes by which a sealed document is longer."""
_NONCE = bytes(12)
"""A key seals one document and is never used again, so this need not differ."""


class SealError(PathcastError, ValueError):
    """A stored document that is not the one which a delivery speaks of."""


def new_key() -> bytes:
    """A key for one document."""
    return ChaCha20Poly1305.generate_key()


def sealed(body: bytes, key: bytes) -> bytes:
    """A document that only who has the key can read."""
    return ChaCha20Poly1305(key).encrypt(_NONCE, body, None)


def opened(data: bytes, key: bytes) -> bytes:
    """The document again; `SealError` for another key or other bytes."""
    try:
        return ChaCha20Poly1305(key).decrypt(_NONCE, data, None)
    except (InvalidTag, ValueError):
        raise SealError("a stored document is damaged, or the key is that of another one") from None
