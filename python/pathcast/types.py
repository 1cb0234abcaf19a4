"""The types that calls take and give."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from io import RawIOBase
from typing import BinaryIO, Protocol, TypeAlias

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
