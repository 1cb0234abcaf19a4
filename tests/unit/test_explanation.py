"""`explain`: the verdict of `matches`, and the step at which it was lost."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import pytest

import pathcast
from pathcast import explain
from tests.suite.cases import Case, cases

DOCUMENT = "<news><item lang='en'><title>x</title></item><item lang='de'/></news>"


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_verdict_is_that_of_the_suite(case: Case) -> None:
    explanation = explain(
        case.xpath,
        case.document,
        ordered=case.ordered,
        namespaces=case.namespaces or None,
        ignore_namespaces=case.ignore_namespaces,
        variables=case.variables or None,
    )
    assert explanation.matched is case.expected
    assert bool(explanation) is case.expected
    assert explanation.xpath == case.xpath
    for path in explanation.paths:
        assert all(step.count >= len(step.nodes) for step in path.steps)
    shown = str(explanation)
    assert shown.startswith("matches: " if case.expected else "does not match: ")
    assert case.expected or "finds nothing" in shown or "does not hold: " in shown, "what fails is shown"


def test_the_first_step_that_finds_nothing_is_the_last_shown() -> None:
    explanation = explain("/news/item[@lang = 'fr']/title/b", DOCUMENT)
    (path,) = explanation.paths
    assert [(step.text, step.count) for step in path.steps] == [("/news", 1), ("/item[@lang = 'fr']", 0)]
    assert not path.matched


def test_nodes_are_named_by_their_place() -> None:
    (path,) = explain("/news/item", DOCUMENT).paths
    assert path.steps[-1].count == 2
    assert path.steps[-1].nodes == ("/news/item[1]", "/news/item[2]")


def test_few_nodes_are_shown_of_many() -> None:
    explanation = explain("//b", f"<a>{'<b/>' * 10_000}</a>")
    (path,) = explanation.paths
    assert path.steps[-1].count == 10_000
    assert 1 <= len(path.steps[-1].nodes) <= 10
    assert ", …" in str(explanation)


@pytest.mark.parametrize(
    ("xpath", "failure"),
    [
        ("not(//none) and not(//title)", "not(//title)"),
        ("not(//none or //title)", "not(//none or //title)"),
        ("not(//title) or //none", "not(//title)"),
        ("//title and not(not(//none))", "not(not(//none))"),
        ("not(//none and //title) and /none", "/none: finds nothing"),
    ],
)
def test_under_not_what_fails_is_what_is_found(xpath: str, failure: str) -> None:
    explanation = explain(xpath, DOCUMENT)
    assert explanation.failure == failure
    assert f"does not hold: {failure.partition(':')[0]}" in str(explanation).splitlines()


def test_each_path_outside_predicates_is_a_part() -> None:
    explanation = explain("//title or //none", DOCUMENT)
    assert [path.matched for path in explanation.paths] == [True, False]
    assert "holds: " in str(explanation)
    assert "does not hold: " in str(explanation)


def test_text_of_strangers_is_escaped() -> None:
    explanation = explain("//a[. = '\u202e\n']", "<a/>")
    assert "\u202e" not in str(explanation)
    (step,) = explanation.paths[0].steps
    assert str(explanation).count("\n") == 1 + len(step.predicates)


def test_it_takes_any_document(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a><b/></a>")
    for document in (
        b"<a><b/></a>",
        "<a><b/></a>",
        path,
        io.BytesIO(b"<a><b/></a>"),
        bytearray(b"<a><b/></a>"),
    ):
        assert explain("/a/b", document).matched


def test_errors_are_those_of_an_index() -> None:
    with pytest.raises(pathcast.XPathError) as xpath:
        explain("/a[", "<a/>")
    assert xpath.value.expression == "/a["
    with pytest.raises(pathcast.DocumentError) as document:
        explain("/a", "<a>")
    assert document.value.line == 1
    with pytest.raises(pathcast.DocumentError) as encoding:
        explain("/a", "<a>\ud800</a>")
    assert encoding.value.kind == "encoding"
    with pytest.raises(pathcast.DocumentError) as missing:
        explain("/a", Path("/none/such.xml"))
    assert missing.value.kind == "io"


def test_explanations_are_values() -> None:
    first, second = explain("/news/item", DOCUMENT), explain("/news/item", DOCUMENT)
    assert first == second
    assert hash(first) == hash(second)
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.matched = False  # type: ignore[misc]
