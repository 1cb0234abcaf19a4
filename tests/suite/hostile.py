"""What tests of hostile input share: limits out of the way, bounds on time, files that are made while read.

Each case ends in the correct answer or in a named error, and soon: the bounds on time are ten times what a
slow machine needs, so they catch what grows faster than its input and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pathcast
from pathcast import Limits
from pathcast.types import Document

HIGH = Limits(depth=1 << 40, attributes=1 << 40, name_bytes=1 << 40, document_bytes=1 << 40)
WIDE = Limits(expression_bytes=1 << 40, steps=1_024, nesting=256, expansion=1 << 40)

# Nothing linear, twigs, text, attributes, order: what each part of a document costs is paid.
EVERYTHING = ["//*", "not(//none)", "//a[b][c]", "//*[. = 'none']", "//@none", "//b/following-sibling::c"]


def index_of(*xpaths: str, limits: Limits | None = None) -> pathcast.Index:
    index = pathcast.Index(limits=limits)
    for number, xpath in enumerate(xpaths):
        index.add(number, xpath)
    return index


def error_of(document: Document, *, limits: Limits | None = None) -> pathcast.DocumentError:
    """The error of a refused document; its neighbours must not notice."""
    index = index_of(*EVERYTHING, limits=limits)
    before, error, after = index.match_many([b"<a/>", document, b"<a/>"])
    assert before == after == [0, 1]
    assert isinstance(error, pathcast.DocumentError)
    return error


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds, f"took {took:.1f} s, more than {seconds} s"


class Made:
    """A binary file that is made while it is read: a head, one piece again and again, a tail."""

    def __init__(self, head: bytes, piece: bytes, times: int, tail: bytes, chunk: int = 64 << 10) -> None:
        self._parts = [(tail, 1), (piece, times), (head, 1)]
        self._chunk = chunk
        self._rest = b""

    def read(self, size: int) -> bytes:
        size = min(size, self._chunk)
        while len(self._rest) < size and self._parts:
            part, times = self._parts.pop()
            now = min(times, size // max(len(part), 1) + 1)
            self._rest += part * now
            if times > now:
                self._parts.append((part, times - now))
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


def made(*parts: object) -> Document:
    return Made(*parts)  # type: ignore[arg-type, return-value]


def nested(depth: int) -> bytes:
    return b"<a>" * depth + b"</a>" * depth
