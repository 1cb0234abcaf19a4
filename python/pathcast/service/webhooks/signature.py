"""Signatures as Standard Webhooks define them: HMAC-SHA256 over the id, the time and the body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

PREFIX = "whsec_"
_SHORTEST, _LONGEST = 24, 64  # bytes of a secret


def new_secret() -> str:
    """A secret of 32 random bytes."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode("ascii")


def secret_bytes(secret: str) -> bytes:
    """The key in a secret; `ValueError` with a sentence when it is none.

    >>> secret_bytes("whsec_" + "QUFB" * 8)
    b'AAAAAAAAAAAAAAAAAAAAAAAA'
    >>> secret_bytes("hush")
    Traceback (most recent call last):
    ValueError: a secret is whsec_ and then 24 to 64 bytes in base64
    """
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or not _SHORTEST <= len(key) <= _LONGEST:
        raise ValueError("a secret is whsec_ and then 24 to 64 bytes in base64")
    return key


def sign(secret: str, id: str, timestamp: int, body: bytes) -> str:
    """The value of the header ``webhook-signature``.

    >>> sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
    ...      b'{"test": 2432232314}')
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    signed = f"{id}.{timestamp}.".encode("ascii") + body
    digest = hmac.new(secret_bytes(secret), signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode("ascii")
