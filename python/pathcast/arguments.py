"""Checks of arguments: an error names the argument and says what it should have been."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html.entities import name2codepoint
from types import UnionType


def expect(argument: str, value: object, kind: type | UnionType, what: str) -> None:
    """Raises `TypeError` unless the value is of a kind; a bool is no int here.

    >>> expect("cache_bytes", "1 MB", int | None, "an int")
    Traceback (most recent call last):
    TypeError: cache_bytes must be an int, not str
    """
    if not isinstance(value, kind) or (isinstance(value, bool) and not _takes_bool(kind)):
        raise TypeError(f"{argument} must be {what}, not {type(value).__name__}")


def _takes_bool(kind: type | UnionType) -> bool:
    return kind is bool or bool in getattr(kind, "__args__", ())


def expect_many(argument: str, value: object, what: str) -> None:
    """Raises `TypeError` unless the value can be iterated or is of an Arrow library; one is not many.

    >>> expect_many("documents", "<a/>", "documents")
    Traceback (most recent call last):
    TypeError: documents must be an iterable of documents, not one str: put it into a list
    """
    single = isinstance(value, str | bytes | bytearray | memoryview | os.PathLike) or hasattr(value, "read")
    if single:
        kind = type(value).__name__
        raise TypeError(f"{argument} must be an iterable of {what}, not one {kind}: put it into a list")
    arrow = hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__")
    if not arrow and not hasattr(value, "__iter__") and not hasattr(value, "__getitem__"):
        raise TypeError(
            f"{argument} must be an iterable of {what} or an Arrow object, not {type(value).__name__}"
        )


def thread_count(threads: int | None) -> int:
    """How many threads to use; `None` is one for each core that this process may use.

    >>> thread_count(3), thread_count(None) >= 1
    (3, True)
    """
    expect("threads", threads, int | None, "an int or None")
    if threads is None:
        usable = getattr(os, "sched_getaffinity", None)
        return len(usable(0)) if usable else os.cpu_count() or 1
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return threads


def known_entities(entities: str | Mapping[str, str] | None) -> dict[str, str]:
    """Names with the texts that they stand for; ``"html"`` are those of HTML 4.

    >>> known_entities("html")["nbsp"], known_entities({"me": "us"}), known_entities(None)
    ('\\xa0', {'me': 'us'}, {})
    """
    if entities is None:
        return {}
    if entities == "html":
        return {name: chr(code) for name, code in name2codepoint.items() if chr(code) not in "<&"}
    if not isinstance(entities, Mapping) or not all(
        isinstance(text, str) for pair in entities.items() for text in pair
    ):
        raise TypeError(f"entities must be 'html' or a mapping of names to texts, not {entities!r}")
    return dict(entities)
