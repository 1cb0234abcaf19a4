"""Validates documents against an XSD with ``xmlschema``; nothing that a document names is fetched."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from pathcast.schema.validation import Problem
from pathcast.types import Document


class XsdValidator:
    """An XSD as ``xmlschema`` holds it."""

    def __init__(self, schema: Any, root: str, namespaces: Mapping[str, str]) -> None:
        prefix, _, local = root.partition("#")[0].rpartition(":")
        uri = namespaces.get(prefix, "") if prefix else ""
        self._schema = schema
        self._root = f"{{{uri}}}{local}" if uri else local

    def problems(self, document: Document) -> list[Problem]:
        """What is wrong with a document; one that is not well-formed has that one problem."""
        from xml.etree.ElementTree import ParseError

        import xmlschema

        try:
            resource = xmlschema.XMLResource(_bytes(document), allow="none", defuse="always")
            errors = list(self._schema.iter_errors(resource, use_location_hints=False))
        except ParseError as error:
            place = re.search(r"line (\d+)", str(error))
            return [Problem(int(place[1]) if place else 0, str(error))]
        except xmlschema.XMLSchemaException as error:
            return [Problem(0, " ".join(str(error).split()))]
        found = [
            Problem(getattr(each, "sourceline", None) or 0, str(each.reason or each.message))
            for each in errors
        ]
        if resource.root.tag != self._root:
            found.insert(0, Problem(1, f"The root element is {resource.root.tag}, not {self._root}"))
        return found


def _bytes(document: Document) -> bytes:
    if isinstance(document, str):
        return document.encode()
    if isinstance(document, os.PathLike):
        with open(document, "rb") as file:
            return file.read()
    if isinstance(document, bytes | bytearray | memoryview):
        return bytes(document)
    return document.read() or b""
