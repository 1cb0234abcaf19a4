"""Pictures of an XTrie: what they show is what the engine holds."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import pathcast
from pathcast.draw import xtrie

# Example 4.1 of "Efficient filtering of XML documents with XPath expressions".
EXAMPLE = ("//a/a/b/c/*/a/b", "/a/b[c/e]/*/b/c/d", "/a/b[c/*/d]//b/c", "//c/b//c/d/*/*/d")


def test_example_4_1() -> None:
    structure = xtrie(EXAMPLE, ordered=True)
    rows = [
        (row.expression, row.substring, row.parent, row.levels, row.rank, row.children, row.next)
        for row in structure.rows
    ]
    assert rows == [
        ("p1", "aabc", 0, "[4, ∞]", 1, 1, 0),
        ("p1", "ab", 1, "[3, 3]", 1, 0, 3),
        ("p2", "ab", 0, "[2, 2]", 1, 2, 6),
        ("p2", "abce", 3, "[2, 2]", 1, 0, 0),
        ("p2", "bcd", 3, "[4, 4]", 2, 0, 0),
        ("p3", "ab", 0, "[2, 2]", 1, 2, 0),
        ("p3", "abc", 6, "[1, 1]", 1, 1, 0),
        ("p3", "d", 7, "[2, 2]", 1, 0, 12),
        ("p3", "bc", 6, "[2, ∞]", 2, 0, 0),
        ("p4", "cb", 0, "[2, ∞]", 1, 1, 0),
        ("p4", "cd", 10, "[2, ∞]", 1, 1, 0),
        ("p4", "d", 11, "[3, 3]", 1, 0, 0),
    ]
    assert len(structure.nodes) == 15
    assert structure.declined == ()


def test_the_svg_has_every_node_row_and_pointer() -> None:
    structure = xtrie(EXAMPLE, ordered=True)
    tree = ElementTree.fromstring(structure.svg())
    name = "{http://www.w3.org/2000/svg}"
    assert len(tree.findall(f".//{name}circle")) == len(structure.nodes)
    pointers = [path for path in tree.iter(f"{name}path") if path.get("class") == "pointer"]
    assert len(pointers) == sum(node.max_suffix > 1 for node in structure.nodes)
    texts = [text.text for text in tree.iter(f"{name}text")]
    assert texts.count("aabc") == 1
    assert texts.count("[2, ∞]") == 3


def test_the_dot_text_names_what_it_uses() -> None:
    text = xtrie(["/a[b = 'x' or @y]//n", "//*[@id]/text()"]).dot()
    declared = set(re.findall(r"^  (\w+) \[", text, re.MULTILINE))
    used = set(re.findall(r"(\w+) -> (\w+)", text))
    assert {name for pair in used for name in pair} <= declared
    assert text.count("{") == text.count("}")


def test_dummies_wildcards_and_what_is_declined() -> None:
    structure = xtrie(["/a[b or c][not(d)]", "contains(/a/b, 'x')"])
    assert [row.mode for row in structure.rows if not row.substring] == ["any"]
    assert "none" in {row.mode for row in structure.rows}
    assert structure.declined == ("contains(/a/b, 'x')",)
    assert "decided on a tree" in structure.svg()


def test_text_of_strangers_is_escaped() -> None:
    svg = xtrie(["/a[@x = '<script>&']/b"]).svg()
    ElementTree.fromstring(svg)
    assert "<script>" not in svg


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(pathcast.XPathError):
        xtrie(["/a["])
    with pytest.raises(ValueError, match="500 rows"):
        xtrie(f"/a{number}//b" for number in range(300))


def test_namespaces_and_the_lazy_variant() -> None:
    structure = xtrie(["/n:a/n:*/n:b", "//n:a//n:b"], namespaces={"n": "urn:x"}, lazy=True)
    assert {node.name for node in structure.nodes if not node.parent} == {"", "{urn:x}*"}
    # Only leaves are chained.
    chained = {node.substring for node in structure.nodes if node.substring}
    assert all(structure.rows[row - 1].children == 0 for row in chained)
