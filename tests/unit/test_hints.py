"""Every hint in a refusal means what the refused expression means where it is allowed."""

from __future__ import annotations

import pytest

pytest.importorskip("lxml")

from lxml import etree

from pathcast import Index, XPathError, matches

DOCUMENTS = [
    "<r><a x='1'><b/><c/></a><p:a xmlns:p='urn:p'><b/></p:a></r>",
    "<a xmlns='urn:p'><b xmlns=''/></a>",
    "<r><b/><a><c/></a></r>",
    "<r><x><a/></x></r>",
    "<r n='1000'/>",
]


def refusal(xpath: str) -> str:
    with pytest.raises(XPathError) as caught:
        Index().check(xpath)
    return caught.value.message


def test_a_name_in_any_namespace() -> None:
    assert "write *[local-name() = 'name']" in refusal("//*:a")
    for document in DOCUMENTS:
        meant = etree.fromstring(document).getroottree().iter("{*}a")
        assert matches("//*[local-name() = 'a']", document) is any(True for _ in meant), document


def test_a_choice_of_steps() -> None:
    assert "as in a/b | a/c for a/(b | c)" in refusal("a/(b | c)")
    for document in DOCUMENTS:
        meant = [
            child for a in etree.fromstring(document).iter("a") for child in a if child.tag in ("b", "c")
        ]
        assert matches("a/b | a/c", document) is bool(meant), document


@pytest.mark.parametrize(
    ("refused", "hint", "written"),
    [
        ("//a[.[@x]]", "write self::node()[…]", "//a[self::node()[@x]]"),
        ("//b[..[@x]]", "write parent::node()[…]", "//b[parent::node()[@x]]"),
    ],
)
def test_a_predicate_after_a_dot(refused: str, hint: str, written: str) -> None:
    assert hint in refusal(refused)
    for document in DOCUMENTS:
        elements = etree.fromstring(document).iter("a" if ".." not in refused else "b")
        nodes = [each if ".." not in refused else each.getparent() for each in elements]
        meant = any(node is not None and "x" in node.attrib for node in nodes)
        assert matches(written, document) is meant, document


def test_an_exponent_written_out() -> None:
    assert "write its digits out" in refusal("//r[@n = 1e3]")
    for document in DOCUMENTS:
        meant = any(float(each.get("n", "nan")) == 1e3 for each in etree.fromstring(document).iter("r"))
        assert matches("//r[@n = 1000]", document) is meant, document


@pytest.mark.parametrize(
    "xpath",
    [
        "current()",
        "//a[b eq 1]",
        "for $x in //a return $x",
        "if (//a) then 1 else 2",
        "//a/string()",
    ],
)
def test_where_nothing_means_the_same_there_is_no_hint(xpath: str) -> None:
    assert "write" not in refusal(xpath)
