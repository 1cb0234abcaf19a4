"""Documents that are stored once: only the right key opens them, and nothing of them shows."""

from __future__ import annotations

from random import Random

import pytest

pytest.importorskip("cryptography")

from pathcast.network.transports.kafka.sealed import TAG, SealError, new_key, opened, sealed

KEY = len(new_key())


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 1_000, 100_000])
def test_the_right_key_opens_and_others_do_not(size: int) -> None:
    random = Random(size)
    body, key = random.randbytes(size), random.randbytes(KEY)
    data = sealed(body, key)
    assert len(data) == size + TAG
    assert opened(data, key) == body
    for other in (random.randbytes(KEY), bytes(KEY)):
        with pytest.raises(SealError):
            opened(data, other)


def test_every_changed_byte_is_noticed() -> None:
    key = bytes(range(KEY))
    data = sealed(b"<news>rain</news>", key)
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with pytest.raises(SealError):
            opened(bytes(damaged), key)
    for short in range(len(data)):
        with pytest.raises(SealError):
            opened(data[:short], key)


def test_equal_documents_do_not_look_alike() -> None:
    random = Random(1)
    body = b"<a/>" * 100
    one, other = (sealed(body, random.randbytes(KEY)) for _ in range(2))
    assert sum(a == b for a, b in zip(one, other, strict=True)) < 20
    assert b"<a/>" not in one
