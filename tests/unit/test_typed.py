"""Variables, nodes that matched, expressions as written, and the limits on deciding."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import pathcast
from pathcast import EvaluationError, Index, Limits, XPath, XPathError, reference

DOCUMENT = "<r><type>y</type><a t='x'/><a t='y'>2</a></r>"


@pytest.mark.parametrize(
    ("xpath", "variables"),
    [
        ("//a[@t = $t]", {"t": "x"}),
        ("//a[@t = $t]", {"t": XPath("/*/type")}),
        ("//a[$n]/@t = 'y'", {"n": 2}),
        ("//a[. = $n]", {"n": 2.0}),
        ("$b", {"b": False}),
        ("$n > 1000000", {"n": math.inf}),
        ("$n = $n", {"n": math.nan}),
        ("$nodes/../a[2]", {"nodes": XPath("//a[1]")}),
        ("$c = 2", {"all": XPath("//a"), "c": XPath("count($all)")}),
        ("contains($both, '\"')", {"both": 'it\'s "both"'}),
        ("$r", {"r": XPath("r/type")}),
        ("$r", {"r": XPath("type")}),
    ],
)
def test_variables_mean_what_the_reference_says(xpath: str, variables: dict[str, str]) -> None:
    expected = reference.matches(xpath, DOCUMENT, variables=variables)
    assert pathcast.matches(xpath, DOCUMENT, variables=variables) == expected


def test_an_unbound_variable_is_refused_by_name() -> None:
    with pytest.raises(XPathError, match=r"\$t.* is not bound"):
        Index().add(1, "//a[@t = $t]", variables={"u": "x"})
    with pytest.raises(XPathError, match=r"in the expression of \$t"):
        Index().add(1, "//a[@t = $t]", variables={"t": XPath("//a[")})
    with pytest.raises(TypeError, match=r"the variable"):
        Index().add(1, "//a[@t = $t]", variables={"t": [1]})  # type: ignore[dict-item]


def test_expressions_are_kept_as_written(tmp_path: Path) -> None:
    index = Index()
    index.add("s1", " //a[ @t  = $t ]", variables={"t": "x", "e": XPath("/*/type")})
    index.add("s2", "//a/..")
    index.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index")
    for each in (index, loaded):
        assert each.xpath("s1") == " //a[ @t  = $t ]"
        assert dict(each.items()) == {"s1": " //a[ @t  = $t ]", "s2": "//a/.."}
        assert each.match(DOCUMENT) == ["s1", "s2"]
        with pytest.raises(KeyError):
            each.xpath("s3")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_spans_are_in_the_bytes_given(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?>\r\n<r>\r\n<ä x='é'>ö<b/></ä><!--c--></r>"
    document = text.encode(encoding)
    index = Index()
    index.add_many([(1, "//ä"), (2, "//@x"), (3, "//ä/text()"), (4, "//comment()"), (5, "//b"), (6, "1 = 1")])
    found = index.select(document)
    shown = {id: [document[slice(*node.span)] for node in nodes] for id, nodes in found.items()}
    bare = encoding if encoding != "utf-16" else f"utf-16-{'le' if document[0] == 0xFF else 'be'}"
    pieces = {1: "<ä x='é'>ö<b/></ä>", 2: "x='é'", 3: "ö", 4: "<!--c-->", 5: "<b/>"}
    assert shown == {**{id: [piece.encode(bare)] for id, piece in pieces.items()}, 6: []}
    (node,) = found[2]
    assert (node.path, node.line, node.column, node.text) == ("/r[1]/ä[1]/@x", 3, 4, "é")


def test_a_pair_beyond_its_limit_is_neither_yes_nor_no() -> None:
    index = Index(limits=Limits(evaluation_steps=10_000))
    index.add("costly", "//*[count(preceding::*) > count(following::*)]")
    index.add("cheap", "//a")
    document = f"<r>{'<a/>' * 2_000}</r>"
    with pytest.raises(EvaluationError) as raised:
        index.match(document)
    assert (raised.value.matches, raised.value.failures) == (["cheap"], ["costly"])
    (result,) = index.match_many([document])
    assert not isinstance(result, pathcast.DocumentError)
    assert (list(result), result.failures) == (["cheap"], ["costly"])
    tight = Index(limits=Limits(work=1_000))
    tight.add("costly", "//*[count(preceding::*) > count(following::*)]")
    with pytest.raises(pathcast.DocumentLimitError, match="1000"):
        tight.match(document)


def test_explain_names_near_misses_and_values() -> None:
    explained = pathcast.explain("/r/A[@t = 'x']", DOCUMENT)
    assert not explained
    assert "`a` exists, in another case" in explained.paths[0].steps[-1].hints
    explained = pathcast.explain("//a[@t = 'z']", DOCUMENT)
    (predicate,) = explained.paths[0].steps[-1].predicates
    assert (predicate.kept, predicate.of, predicate.found) == (0, 2, ("'x'", "'y'"))
    assert explained.failure is not None
    assert "'x', 'y'" in explained.failure
    spaced = pathcast.explain("//e", "<e xmlns='urn:x'/>")
    assert "urn:x" in spaced.paths[0].steps[0].hints[0]
    assert pathcast.explain("//a[2] = 2", DOCUMENT).to_dict()["matched"]
