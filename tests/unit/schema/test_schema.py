"""The graph of a schema: roots, what can occur, cycles, depth, counts, validation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pathcast.errors import SchemaError
from pathcast.schema import Schema
from pathcast.schema.drawing import draw

NEWS = Path(__file__).parents[3] / "examples/news"


def test_several_roots_are_listed() -> None:
    text = "<!ELEMENT a (c)> <!ELEMENT b (c)> <!ELEMENT c EMPTY>"
    with pytest.raises(SchemaError, match="any of a, b; say which with root="):
        Schema.from_text(text)
    assert Schema.from_text(text, "b").reachable == ("b", "c")
    with pytest.raises(SchemaError, match="the root 'd' is not declared"):
        Schema.from_text(text, "d")


def test_no_root() -> None:
    with pytest.raises(SchemaError, match="every element of the DTD is inside another one"):
        Schema.from_text("<!ELEMENT a (b?)> <!ELEMENT b (a?)>")


def test_any_does_not_hide_the_root() -> None:
    assert Schema.from_text("<!ELEMENT r (a)> <!ELEMENT a ANY>").root == "r"
    assert Schema.from_text("<!ELEMENT r ANY> <!ELEMENT a EMPTY> <!ELEMENT b EMPTY>").root == "r"
    assert Schema.from_text("<!ELEMENT r ANY> <!ELEMENT a EMPTY>").children("r") == ("r", "a")


def test_undeclared_elements_cannot_occur_nor_what_needs_them() -> None:
    schema = Schema.from_text(
        """
        <!ELEMENT r (a | b | (c, lost) | lost*)*> <!ELEMENT a (lost)> <!ELEMENT b (lost?, c?)>
        <!ELEMENT c EMPTY>        <!ELEMENT endless (endless)>
    """,
        "r",
    )
    assert schema.undeclared == ("lost",)
    assert schema.impossible == ("a", "endless")
    assert schema.children("r") == ("b",)
    assert schema.children("b") == ("c",)
    assert schema.children("a") == ()
    with pytest.raises(SchemaError, match="no document can be valid"):
        Schema.from_text("<!ELEMENT r (lost)>")


def test_components_and_depth() -> None:
    schema = Schema.from_text("""
        <!ELEMENT r (a, x)> <!ELEMENT a (b?)> <!ELEMENT b (a?, c?)> <!ELEMENT c (c*)> <!ELEMENT x EMPTY>
    """)
    assert {frozenset(names) for names in schema.components} == {frozenset("ab"), frozenset("c")}
    assert schema.recursive == frozenset("abc")
    assert schema.path_counts()["x"] == 1
    assert schema.path_counts()["c"] == 2**63 - 1
    assert schema.path_counts(4) == {"r": 1, "a": 2, "b": 1, "c": 1, "x": 1}


def test_recursion_that_the_root_does_not_reach() -> None:
    schema = Schema.from_text("<!ELEMENT r EMPTY> <!ELEMENT a (a?)>", "r")
    assert not schema.is_recursive
    assert (schema.depth, schema.recursive) == (1, frozenset("a"))


def test_the_example_documents_are_valid() -> None:
    schema = Schema.from_dtd(NEWS / "news.dtd")
    found = {path.name: schema.validate(path) for path in (NEWS / "documents").glob("*.xml")}
    assert {name for name, problems in found.items() if problems} == {"torn.xml"}


def test_validation_says_what_is_wrong() -> None:
    schema = Schema.from_dtd(NEWS / "news.dtd")
    assert str(schema.validate("<item lang='en' id='i'/>")[0]) == "line 1: The root element is item, not news"
    twice = "<item lang='en' id='i'><category/><headline/><body><para/></body></item>"
    assert "ID i already defined" in str(schema.validate(f"<news date='1'>{twice}{twice}</news>")[0])
    assert schema.validate(f"<news date='1'>{twice}</news>") == []
    assert schema.validate("") != []


def test_a_document_is_read_without_its_own_dtd() -> None:
    schema = Schema.from_text("<!ELEMENT a (#PCDATA)>")
    assert schema.validate("<!DOCTYPE a SYSTEM 'http://127.0.0.1:9/none.dtd'><a/>") == []


def test_namespaces_come_from_fixed_attributes() -> None:
    schema = Schema.from_text(
        "<!ELEMENT a EMPTY> <!ATTLIST a xmlns CDATA #FIXED 'urn:a' xmlns:x CDATA 'urn:x'>",
        namespaces={"y": "urn:y"},
    )
    assert dict(schema.namespaces) == {"": "urn:a", "x": "urn:x", "y": "urn:y"}


def test_the_drawing_shows_every_element_and_edge() -> None:
    schema = Schema.from_dtd(NEWS / "news.dtd")
    drawing = draw(schema)
    assert all(f">{name}</text>" in drawing for name in schema.elements)
    edges = sum(1 for _ in schema.edges())
    assert drawing.count("<path") == edges + 3  # and those of the legend
    assert drawing.count('<path class="back"') == 2 + 1  # section and em contain themselves


def test_a_drawing_of_a_name_that_is_markup_is_sound() -> None:
    etree = pytest.importorskip("lxml.etree")
    chain = (
        "".join(f"<!ELEMENT e{place} (e{place + 1})>" for place in range(2_000)) + "<!ELEMENT e2000 EMPTY>"
    )
    etree.fromstring(draw(Schema.from_text(chain)), etree.XMLParser(huge_tree=True))


def test_fixed_values_that_libxml2_compares_wrongly() -> None:
    """libxml2 2.14 keeps & and < of a fixed value escaped and finds every document different."""
    schema = Schema.from_text("<!ELEMENT a EMPTY> <!ATTLIST a f CDATA #FIXED 'p &amp; q &lt; r'>")
    assert schema.validate("<a f='p &amp; q &lt; r'/>") == schema.validate("<a/>") == []
    assert schema.validate("<a f='p'/>")[0].message == "Value for attribute f of a is not the fixed one"


def test_edges_of_a_drawing_do_not_run_behind_boxes() -> None:
    """Every curve is sampled: a point is in no box, except where it begins and ends."""
    texts = [
        "<!ELEMENT a (b?, c?, d?, e)> <!ELEMENT b (c, e?)> <!ELEMENT c (d, e?)> <!ELEMENT d (e?)>"
        " <!ELEMENT e EMPTY>",
        "<!ELEMENT a (b*, x?)> <!ELEMENT b (c?, e)> <!ELEMENT c (d?, b?)> <!ELEMENT d (a?, b?, d?)>"
        " <!ELEMENT e EMPTY> <!ELEMENT x (e?, b?)>",
    ]
    for text in texts:
        drawing = draw(Schema.from_text(text, "a"))
        body = drawing[drawing.index("</style>") :]
        found = re.findall(
            r'<g class="[^"]*"><rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="(\d+)"', body
        )
        boxes = [tuple(map(float, box)) for box in found]
        paths = [path for path in re.findall(r' d="(M[^"]+)"', body) if "C" in path]
        assert boxes
        assert paths
        for path in paths:
            for x, y in sampled(path):
                inside = [
                    box for box in boxes if box[0] < x < box[0] + box[2] and box[1] < y < box[1] + box[3]
                ]
                assert not inside, path


def sampled(path: str) -> Iterator[tuple[float, float]]:
    """Points of a path of curves and horizontal lines, without its two ends."""
    tokens = re.findall(r"[MCH]|-?[\d.]+", path)
    at, x, y = 0, 0.0, 0.0
    while at < len(tokens):
        command = tokens[at]
        count = {"M": 2, "C": 6, "H": 1}[command]
        numbers = [float(each) for each in tokens[at + 1 : at + 1 + count]]
        at += 1 + count
        for share in (step / 20 for step in range(1, 20)):
            rest = 1 - share
            if command == "C":
                x1, y1, x2, y2, x3, y3 = numbers
                yield (
                    rest**3 * x + 3 * rest**2 * share * x1 + 3 * rest * share**2 * x2 + share**3 * x3,
                    rest**3 * y + 3 * rest**2 * share * y1 + 3 * rest * share**2 * y2 + share**3 * y3,
                )
            elif command == "H":
                yield rest * x + share * numbers[0], y
        x, y = (numbers[-2], numbers[-1]) if command != "H" else (numbers[0], y)
