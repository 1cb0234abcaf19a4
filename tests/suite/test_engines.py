"""Every engine gives the verdicts of `testdata/`, however the document arrives."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

import pathcast
from pathcast.types import Document
from tests.engines import ENGINES, index_with
from tests.suite.cases import (
    Case,
    RefusedDocument,
    RefusedExpression,
    cases,
    refused_documents,
    refused_expressions,
)

GROUPS = [tuple(group) for _, group in groupby(cases(), key=lambda case: (case.topic, case.name))]


class OneByteAtATime(io.RawIOBase):
    """A binary file that gives one byte a read, whatever it is asked for."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        piece = self._data[self._position : self._position + 1]
        self._position += len(piece)
        return piece

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        piece = self.read(1)
        view[: len(piece)] = piece
        return len(piece)


def arrivals(document: bytes) -> Iterator[tuple[str, Document]]:
    """The same document in one piece, as text, and byte by byte."""
    yield "bytes", document
    yield "one byte a read", OneByteAtATime(document)
    try:
        yield "str", document.decode("utf-8")
    except UnicodeDecodeError:
        return


def index_of(group: tuple[Case, ...], engine: str) -> pathcast.Index:
    """One index with every expression of a group; the ids are their positions."""
    first = group[0]
    index = index_with(engine, namespaces=first.namespaces or None, ignore_namespaces=first.ignore_namespaces)
    for number, case in enumerate(group):
        index.add(number, case.xpath, ordered=case.ordered, variables=case.variables or None)
    return index


def group_name(group: tuple[Case, ...]) -> str:
    return f"{group[0].topic}: {group[0].name}"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("group", GROUPS, ids=group_name)
def test_the_engine_gives_the_verdicts(engine: str, group: tuple[Case, ...]) -> None:
    index = index_of(group, engine)
    expected = [number for number, case in enumerate(group) if case.expected]
    for arrival, document in arrivals(group[0].document):
        found = [int(number) for number in index.match(document)]
        wrong = {group[number].xpath: number in found for number in set(found) ^ set(expected)}
        assert not wrong, f"{arrival}: these are wrong on {group[0].document!r}: {wrong}"
        assert found == expected, f"{arrival}: not in order of registration"


@pytest.mark.parametrize("group", GROUPS, ids=group_name)
def test_an_image_gives_the_verdicts(tmp_path: Path, group: tuple[Case, ...]) -> None:
    index = index_of(group, "auto")
    assert index.save_image(tmp_path / "image")
    opened = pathcast.Index.load_image(tmp_path / "image")
    expected = [number for number, case in enumerate(group) if case.expected]
    assert opened.match(group[0].document) == expected
    index.save(tmp_path / "one")
    opened.save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    for number in range(len(group)):
        opened.remove(number)
    assert opened.match(group[0].document) == []
    assert opened.stats()["distinct"] == 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("group", GROUPS, ids=group_name)
def test_an_expression_alone_gives_the_verdict(engine: str, group: tuple[Case, ...]) -> None:
    for case in group:
        index = index_of((case,), engine)
        assert (list(index.match(case.document)) == [0]) is case.expected, case.xpath


@pytest.mark.parametrize("engine", ENGINES)
def test_all_cases_in_one_index(engine: str) -> None:
    """What subscriptions share must not make them answer for one another."""
    index = index_with(engine)
    plain = [case for case in cases() if not case.ignore_namespaces and "" not in case.namespaces]
    for number, case in enumerate(plain):
        namespaces, variables = case.namespaces or None, case.variables or None
        index.add(number, case.xpath, ordered=case.ordered, namespaces=namespaces, variables=variables)
    found = {document: set(index.match(document)) for document in {case.document for case in plain}}
    wrong = [
        f"{case}: {case.document!r}"
        for number, case in enumerate(plain)
        if (number in found[case.document]) is not case.expected
    ]
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("refused", refused_documents(), ids=str)
def test_a_refused_document_is_an_error_and_leaves_no_trace(engine: str, refused: RefusedDocument) -> None:
    index = index_with(engine)
    index.add("any", "//*")
    index.add("none", "not(//*)")
    for arrival, document in arrivals(refused.document):
        if arrival == "str" and refused.is_encoding:
            continue  # a str has been decoded already: what its declaration names does not count
        with pytest.raises(pathcast.DocumentError) as caught:
            index.match(document)
        error = caught.value
        assert error.line >= 1, arrival
        assert error.column >= 1, arrival
        assert refused.reason.lower() in error.reason.lower(), arrival
        assert list(index.match(b"<a/>")) == ["any"], arrival


@pytest.mark.parametrize("refused", refused_expressions(), ids=str)
def test_a_refused_expression_names_the_construct_and_its_column(refused: RefusedExpression) -> None:
    index = pathcast.Index()
    with pytest.raises(pathcast.XPathError) as caught:
        index.add("s", refused.xpath, ordered=refused.ordered, namespaces=refused.namespaces or None)
    error = caught.value
    assert error.expression == refused.xpath
    assert 1 <= error.column <= len(refused.xpath) + 1
    if refused.column:
        assert error.column == refused.column, str(error)
    assert refused.message.lower() in str(error).lower()
    assert len(index) == 0
    assert "s" not in index
