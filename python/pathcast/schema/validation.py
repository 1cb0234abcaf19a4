"""Validates documents against a DTD with lxml; the only file of this room that needs it.

libxml2 is given the flat text of the declarations, so it has nothing to load, and documents are read without
their own DTDs, entities or network.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pathcast.errors import SchemaError
from pathcast.types import Document

MAX_NAMES = 20_000
"""Names in one content model that libxml2 is given: its time is quadratic, 1.9 s at 10,000."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a document; line 0 says that there is no position."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


class Validator:
    """A DTD as libxml2 holds it."""

    def __init__(self, text: str, root: str, fixed: Mapping[str, Mapping[str, str]]) -> None:
        """The flat text of the declarations, the root, and the fixed values that the text leaves open."""
        try:
            from lxml import etree
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "validation needs lxml: pip install 'pathcast[schema]'", name=error.name
            ) from None
        self._etree: Any = etree
        self._root = root
        self._fixed = fixed
        try:
            self._dtd: Any = etree.DTD(io.BytesIO(text.encode()))
        except etree.DTDParseError as error:
            raise SchemaError(f"libxml2 refuses the DTD: {error}") from None

    def problems(self, document: Document) -> list[Problem]:
        """What is wrong with a document; one that is not well-formed has that one problem."""
        etree = self._etree
        parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)
        try:
            tree = etree.parse(_opened(document), parser)
        except etree.XMLSyntaxError as error:
            return [Problem(error.lineno or 0, str(error.msg))]
        found = []
        name = self._name(tree.getroot())
        if name != self._root:
            found.append(Problem(1, f"The root element is {name}, not {self._root}"))
        # Each call needs a log of its own: lxml hands the log of the last call over with the object.
        if not self._dtd.validate(tree):
            found += [
                Problem(max(entry.line, 0), entry.message)
                for entry in self._dtd.error_log.filter_from_errors()
            ]
        return found + self._not_fixed(tree) if self._fixed else found

    def _not_fixed(self, tree: Any) -> list[Problem]:
        """The attributes that do not have their fixed value, of those that libxml2 was not told."""
        return [
            Problem(node.sourceline or 0, f"Value for attribute {attribute} of {name} is not the fixed one")
            for node in tree.iter(self._etree.Element)
            for name in [self._name(node)]
            for attribute, value in self._fixed.get(name, {}).items()
            if node.get(attribute, value) != value
        ]

    def _name(self, node: Any) -> str:
        name = str(self._etree.QName(node).localname)
        return f"{node.prefix}:{name}" if node.prefix else name


def _opened(document: Document) -> Any:
    if isinstance(document, str):
        return io.BytesIO(document.encode())
    if isinstance(document, (bytes, bytearray, memoryview)):
        return io.BytesIO(bytes(document))
    if isinstance(document, os.PathLike):
        with open(document, "rb") as file:
            return io.BytesIO(file.read())
    return document
