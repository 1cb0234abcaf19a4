"""The types that calls take and give."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from io import RawIOBase
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeAlias

Id: TypeAlias = str | int
"""What names a subscription: a string, or an integer of up to 64 bits."""

Document: TypeAlias = "bytes | bytearray | memoryview | str | os.PathLike[str] | BinaryIO | RawIOBase"
"""XML as bytes, as text, in a file, or from a file that is open in binary mode."""

Namespaces: TypeAlias = "Mapping[str, str]"
"""Prefixes to namespace URIs; the prefix ``""`` is the namespace of element names without one."""


@dataclass(frozen=True, slots=True)
class XPath:
    """An expression as the value of a variable, read from the document node.

    It may use the variables before it.

    >>> XPath("/*/type/text()").expression
    '/*/type/text()'
    """

    expression: str


Variables: TypeAlias = "Mapping[str, str | int | float | bool | XPath]"
"""Names without ``$`` to what they are bound to when a subscription is registered."""

Subscription: TypeAlias = (
    "tuple[Id, str]"
    " | tuple[Id, str, bool | None, Namespaces | None]"
    " | tuple[Id, str, bool | None, Namespaces | None, Variables | None]"
)
"""An id and an expression, perhaps with its mode, its namespaces and its variables."""


class ArrowArray(Protocol):
    """An array of any Arrow library."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """A table or a chunked array of any Arrow library."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class Groups(NamedTuple):
    """What many documents matched, by groups: subscriptions to the same expression are named once.

    A popular expression has thousands of subscriptions, which match together. Where a document matches
    170,000 subscriptions it matches some 2,000 groups, so this takes a small part of the time and the memory
    of lists of ids. Both are `pyarrow.ListArray`. A group is a place in `members` of the same result.

    >>> from pathcast import Index
    >>> index = Index()
    >>> index.add_many([("ann", "//goal"), ("bob", "//item"), ("eve", "//goal")])
    >>> documents, members = index.match_many(["<goal/>", "<item><goal/></item>", "<bad>"]).to_groups()
    >>> documents.to_pylist(), members.to_pylist()
    ([[0], [0, 1], None], [['ann', 'eve'], ['bob']])
    """

    documents: Any
    """For each document the groups that it matched, in no order; null for a bad one."""
    members: Any
    """For each group that some document matched its ids, in order of registration."""
