"""Reads `testdata/`, so that every test of semantics runs on the same cases."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from pathcast.subscriptions import variables_from
from pathcast.types import Variables

TESTDATA = Path(__file__).parents[2] / "testdata"


@dataclass(frozen=True)
class Case:
    """One document, one expression, one verdict."""

    topic: str
    name: str
    document: bytes
    xpath: str
    expected: bool
    ordered: bool = False
    namespaces: dict[str, str] = field(default_factory=dict)
    ignore_namespaces: bool = False
    variables: Variables = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.topic}: {self.name}: {self.xpath[:60]}"


@dataclass(frozen=True)
class RefusedDocument:
    """A document that is an error and matches nothing."""

    name: str
    document: bytes
    reason: str
    reference_accepts: bool
    is_encoding: bool
    """Whether it is wrong as bytes only."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class RefusedExpression:
    """An expression that is an error when it is registered; column 0 when the file gives none."""

    name: str
    xpath: str
    column: int
    message: str
    ordered: bool
    namespaces: dict[str, str]

    def __str__(self) -> str:
        return self.name


@cache
def cases() -> tuple[Case, ...]:
    """Every verdict of every topic."""
    return tuple(
        case
        for topic, tables in _files()
        for table in tables.get("case", [])
        for case in _cases(topic, table)
    )


@cache
def refused_documents() -> tuple[RefusedDocument, ...]:
    """Every document that must be refused."""
    return tuple(
        RefusedDocument(
            name=table["name"],
            document=_document(table),
            reason=table.get("reason", ""),
            reference_accepts=table.get("reference") == "accepts",
            is_encoding=table.get("encoding", False),
        )
        for _, tables in _files()
        for table in tables.get("document", [])
    )


@cache
def refused_expressions() -> tuple[RefusedExpression, ...]:
    """Every expression that must be refused."""
    return tuple(
        RefusedExpression(
            name=table["name"],
            xpath=table["xpath"],
            column=table.get("column", 0),
            message=table.get("message", ""),
            ordered=table.get("ordered", False),
            namespaces=table.get("namespaces", {}),
        )
        for _, tables in _files()
        for table in tables.get("expression", [])
    )


def _files() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(TESTDATA.glob("*.toml")):
        yield path.stem, tomllib.loads(path.read_text(encoding="utf-8"))


def _cases(topic: str, table: dict[str, Any]) -> Iterator[Case]:
    document = _document(table)
    for key, expected in (("matches", True), ("misses", False)):
        for xpath in table.get(key, []):
            yield Case(
                topic=topic,
                name=table["name"],
                document=document,
                xpath=xpath,
                expected=expected,
                ordered=table.get("ordered", False),
                namespaces=table.get("namespaces", {}),
                ignore_namespaces=table.get("ignore_namespaces", False),
                variables=variables_from(table.get("variables", {})) or {},
            )


def _document(table: dict[str, Any]) -> bytes:
    if "document_base64" in table:
        return base64.b64decode(table["document_base64"], validate=True)
    text: str = table["document"]
    return text.encode("utf-8")
