"""The reference gives the verdicts of `testdata/`."""

from __future__ import annotations

import pytest

from tests.suite.cases import Case, RefusedDocument, cases, refused_documents

reference = pytest.importorskip("pathcast.reference", reason="the reference needs lxml")


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_reference_gives_the_verdict(case: Case) -> None:
    verdict = reference.matches(
        case.xpath,
        case.document,
        ordered=case.ordered,
        namespaces=case.namespaces,
        ignore_namespaces=case.ignore_namespaces,
    )
    assert verdict is case.expected, f"{case.xpath} on {case.document!r}"


@pytest.mark.parametrize("refused", refused_documents(), ids=str)
def test_the_reference_refuses_the_document(refused: RefusedDocument) -> None:
    if refused.reference_accepts:
        pytest.skip("libxml2 lets this one through")
    with pytest.raises(ValueError, match=r"."):
        reference.parse(refused.document)


def test_there_are_enough_verdicts_of_both_kinds() -> None:
    true = sum(case.expected for case in cases())
    assert true >= 300
    assert len(cases()) - true >= 300


def test_case_names_are_unique_within_a_topic() -> None:
    seen: dict[tuple[str, str], bytes] = {}
    for case in cases():
        assert seen.setdefault((case.topic, case.name), case.document) == case.document
