"""Schemas that others made: documents drawn from each are valid, subscriptions distinct and well-formed.

The corpus lies next to the checkout and is no part of it; without it these tests are skipped. With
``PATHCAST_FULL=1`` each schema gets 500 documents and 10,000 subscriptions, otherwise a few.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import pytest

import pathcast
from pathcast.generate import DistinctError, documents, subscriptions
from pathcast.schema import Schema
from pathcast.schema.model import names

etree = pytest.importorskip("lxml.etree")

FULL = bool(os.environ.get("PATHCAST_FULL"))
DOCUMENTS, SUBSCRIPTIONS = (500, 10_000) if FULL else (25, 500)
CORPUS = next(
    (found for parent in Path(__file__).parents if (found := parent / "shared/corpus").is_dir()), None
)


class Case(NamedTuple):
    """A DTD and what is known of it."""

    file: str
    root: str
    elements: int
    recursive: int


CASES = {
    "nitf": Case("nitf/nitf-2-5.dtd", "nitf", 123, 26),
    "blast": Case("blast/NCBI_BlastOutput.dtd", "BlastOutput", 67, 0),
    "xmark": Case("xmark/auction.dtd", "site", 77, 5),
    "sigmod": Case("sigmod/SigmodRecord.dtd", "SigmodRecord", 11, 0),
    "shakespeare": Case("shakespeare/play.dtd", "PLAY", 21, 0),
    "docbook": Case("dtds/docbook/4.5/docbookx.dtd", "book", 406, 298),
    "xhtml": Case("dtds/xhtml1-strict.dtd", "html", 77, 56),
    "svg": Case("dtds/svg10.dtd", "svg", 81, 16),
}


@pytest.fixture(params=CASES, scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    if CORPUS is None:
        pytest.skip("the corpus ../shared/corpus is not there")
    found = CASES[request.param]
    if not (CORPUS / found.file).is_file():
        pytest.skip(f"{found.file} is not in the corpus")
    return found


@pytest.fixture(scope="module")
def schema(case: Case) -> Schema:
    assert CORPUS
    return Schema.from_dtd(CORPUS / case.file, case.root)


def test_known_figures(case: Case, schema: Schema) -> None:
    assert (len(schema.elements), len(schema.recursive)) == (case.elements, case.recursive)
    assert not schema.undeclared
    assert not schema.impossible


def test_declares_what_lxml_reads(case: Case, schema: Schema) -> None:
    """lxml drops prefixes in content models; none of these has two elements with one local name."""
    assert CORPUS

    def full(node: object) -> str:
        prefix, name = node.prefix, node.name  # type: ignore[attr-defined]
        return f"{prefix}:{name}" if prefix else name

    def leaves(content: object) -> list[str]:
        found, pending = [], [content]
        while pending:
            node = pending.pop()
            if node is not None and node.type == "element":  # type: ignore[attr-defined]
                found.append(node.name)  # type: ignore[attr-defined]
            elif node is not None and node.type in ("seq", "or"):  # type: ignore[attr-defined]
                pending += [node.right, node.left]  # type: ignore[attr-defined]
        return found

    theirs = {full(element): element for element in etree.DTD(str(CORPUS / case.file)).iterelements()}
    assert set(theirs) == set(schema.elements)
    for name, element in schema.elements.items():
        assert list(names(element.model)) == leaves(theirs[name].content)
        assert {
            attribute.name: (attribute.type.lower(), attribute.value, attribute.values)
            for attribute in element.attributes
        } == {
            full(attribute): (attribute.type, attribute.default_value, tuple(attribute.values()))
            for attribute in theirs[name].iterattributes()
        }


def test_documents_are_valid(schema: Schema) -> None:
    size = 20_000 if len(schema.elements) > 400 else None  # DocBook would grow to a mebibyte
    bad = [
        (place, problems[0])
        for place, document in enumerate(
            documents(schema, DOCUMENTS, max_levels=10, target_size=size, seed=1)
        )
        if (problems := schema.validate(document))
    ]
    assert bad == []


@pytest.mark.parametrize(
    "parameters",
    [
        {"wildcard": 0.2, "descendant": 0.2},
        {"branch": 0.2, "nested": 2, "relative": 0.1},
        {"predicates": 1, "branch": 0.1},
    ],
    ids=["linear", "branches", "predicates"],
)
def test_subscriptions_are_distinct_and_parse(schema: Schema, parameters: dict[str, float]) -> None:
    try:
        drawn = list(subscriptions(schema, SUBSCRIPTIONS, distinct=True, seed=1, **parameters))  # type: ignore[arg-type]
    except DistinctError as error:
        drawn = list(subscriptions(schema, error.found // 2, distinct=True, seed=1, **parameters))  # type: ignore[arg-type]
    index = pathcast.Index(namespaces=dict(schema.namespaces))
    index.add_many(enumerate(drawn))
    assert index.stats()["distinct"] == len(drawn)


def test_subscriptions_and_documents_meet(schema: Schema) -> None:
    """Most linear subscriptions are satisfied by some drawn document; without namespaces none would be."""
    index = pathcast.Index(namespaces=dict(schema.namespaces))
    index.add_many(enumerate(subscriptions(schema, 200, max_depth=4, wildcard=0.2, descendant=0.2, seed=1)))
    drawn = documents(schema, 100, max_levels=10, target_size=5_000, seed=1)
    matched = {found for document in drawn for found in index.match(document)}
    assert len(matched) > 60
