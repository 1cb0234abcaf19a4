"""Accidents on the way, and what a bad actor sends: documents that become dead letters and hurt nobody."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["ATTACKS", "DAMAGE"]

Damage: TypeAlias = Callable[[bytes], bytes | None]


def _torn(document: bytes) -> bytes:
    return document[: len(document) * 2 // 3]


def _crossed(document: bytes) -> bytes:
    return document.replace(b"</category>", b"</categroy>", 1)


def _entity(document: bytes) -> bytes:
    return document.replace(b"</headline>", b"&nbsp;</headline>", 1)


def _bytes(document: bytes) -> bytes:
    return document.replace(b"<headline>", b"<headline>\xe9t\xe9 ", 1)


def _twice(document: bytes) -> bytes:
    return document.replace(b"<item lang=", b'<item lang="en" lang=', 1)


def _empty(document: bytes) -> bytes:
    return b""


def _missing(document: bytes) -> None:
    return None


DAMAGE: tuple[Damage, ...] = (_torn, _crossed, _entity, _bytes, _twice, _empty, _missing)
"""Accidents, which happen in turn."""


def _laughs() -> bytes:
    """Ten entities, each ten times the one before: two billion letters from one kilobyte."""
    declared = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(10))
    return f"<!DOCTYPE news [{declared}]><news>&e9;</news>".encode()


ATTACKS: dict[str, bytes] = {
    "an entity that grows to two billion letters": _laughs(),
    "a file of the server as an entity": b'<!DOCTYPE news [<!ENTITY f SYSTEM "file:///etc/passwd">]><news>&f;</news>',
    "a hundred thousand open elements": b"<news>" * 100_000,
    "a hundred thousand attributes": b"<news " + b" ".join(b'a%d=""' % n for n in range(100_000)) + b"/>",
    "a name of a million letters": b"<" + b"n" * 1_000_000 + b"/>",
    "a tag that is never finished": b"<news " + b"\n" * 1_000_000,
    "a zero byte in the text": b"<news>\x00</news>",
}
"""What is sent on purpose, by what it tries."""
