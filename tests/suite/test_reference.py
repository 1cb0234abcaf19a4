"""The reference gives the verdicts of `testdata/`."""

from __future__ import annotations

import pytest

from tests.suite.cases import (
    Case,
    RefusedDocument,
    RefusedExpression,
    cases,
    refused_documents,
    refused_expressions,
)

reference = pytest.importorskip("pathcast.reference", reason="the reference needs lxml")


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_reference_gives_the_verdict(case: Case) -> None:
    verdict = reference.matches(
        case.xpath,
        case.document,
        ordered=case.ordered,
        namespaces=case.namespaces,
        ignore_namespaces=case.ignore_namespaces,
        variables=case.variables,
    )
    assert verdict is case.expected, f"{case.xpath} on {case.document!r}"


@pytest.mark.parametrize("refused", refused_documents(), ids=str)
def test_the_reference_refuses_the_document(refused: RefusedDocument) -> None:
    if refused.reference_accepts:
        pytest.skip("libxml2 lets this one through")
    with pytest.raises(ValueError, match=r"."):
        reference.parse(refused.document)


@pytest.mark.parametrize("refused", [r for r in refused_expressions() if r.ordered], ids=str)
def test_the_reference_refuses_what_ordered_mode_has_not(refused: RefusedExpression) -> None:
    with pytest.raises(ValueError, match=r"ordered mode"):
        reference.Expression(refused.xpath, ordered=True)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a/b", "//a/b"),
        ("/a/b", "/a/b"),
        ("not(a)", "not(//a)"),
        ("@x", "//@x"),
        (".", "//."),
        ("contains(a, 'x')", "contains(//a, 'x')"),
        ("following-sibling::b", "//following-sibling::b"),
        ("a[b] | c", "//a[b] | //c"),
        ("a or b and not(c = 1)", "//a or //b and not(//c = 1)"),
        ("1 < a", "1 < //a"),
        ("(a)", "(//a)"),
        ("text() = 'x'", "//text() = 'x'"),
        ("processing-instruction('p')", "//processing-instruction('p')"),
        ("a[b[c]/d][e]/f", "//a[b[c]/d][e]/f"),
        ("and and or", "//and and //or"),
        ("*[*]", "//*[*]"),
        ("a[']'] or b", "//a[']'] or //b"),
    ],
)
def test_relative_paths_at_the_top_are_read_from_anywhere(written: str, meant: str) -> None:
    tokens = pytest.importorskip("pathcast.reference.tokens")
    assert tokens.text_of(tokens.anywhere(tokens.tokenise(written))) == tokens.text_of(tokens.tokenise(meant))


def test_a_str_is_read_whatever_its_declaration_says() -> None:
    document = "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>"
    assert reference.matches("/a = 'é'", document)


def test_there_are_enough_verdicts_of_both_kinds() -> None:
    true = sum(case.expected for case in cases())
    assert true >= 300
    assert len(cases()) - true >= 300


def test_case_names_are_unique_within_a_topic() -> None:
    seen: dict[tuple[str, str], bytes] = {}
    for case in cases():
        assert seen.setdefault((case.topic, case.name), case.document) == case.document
