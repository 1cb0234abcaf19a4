"""Entities: given, of a schema, declared; bounded, never fetched, with the answers of lxml."""

from __future__ import annotations

from random import Random

import pytest
from lxml import etree

import pathcast
from pathcast.schema import Schema

ALLOWED = pathcast.Limits(entity_expansion=1 << 20)


def matching(document: str | bytes, *expressions: str, **settings: object) -> list[str | int]:
    index = pathcast.Index(**settings)  # type: ignore[arg-type]
    index.add_many(enumerate(expressions))
    return index.match(document)


def refusal(document: str | bytes, **settings: object) -> pathcast.DocumentError:
    with pytest.raises(pathcast.DocumentError) as caught:
        matching(document, "//a", **settings)
    return caught.value


def test_entities_of_html() -> None:
    document = "<p t='&eacute;'>&nbsp;&lt;&euro;</p>"
    assert matching(document, "/p[@t = 'é']", "/p[. = '\xa0<€']", entities="html") == [0, 1]
    error = refusal("<p>\n&nbsp;</p>")
    assert (error.kind, error.line, error.column) == ("entity", 2, 1)
    assert 'entities="html"' in error.reason


def test_entities_of_ones_own_may_hold_markup() -> None:
    document = "<r>&sign;</r>"
    assert matching(document, "/r/by[@who = 'us']", entities={"sign": "<by who='us'/>"}) == [0]


def test_entities_of_a_schema() -> None:
    schema = Schema.from_text("<!ELEMENT a (#PCDATA)> <!ENTITY co 'ACME &amp; sons'>")
    assert matching("<a>&co;</a>", "/a[. = 'ACME & sons']", schema=schema) == [0]
    assert matching("<a>&co;</a>", "/a[. = 'ACME & sons']", schema=schema.portable) == [0]


def test_declarations_need_a_limit() -> None:
    document = "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>"
    error = refusal(document)
    assert error.kind == "entity"
    assert "Limits.entity_expansion" in error.reason
    assert matching(document, "/a[. = 'y']", limits=ALLOWED) == [0]


BAD = {
    "a loop": ("<!ENTITY a '&b;'><!ENTITY b '&a;'>", "&a;", "malformed"),
    "a loop in an attribute": ("<!ENTITY a '&b;'><!ENTITY b '&a;'>", "<x y='&a;'/>", "malformed"),
    "an element that does not end": ("<!ENTITY a '<x>'>", "&a;</x>", "malformed"),
    "an end tag alone": ("<!ENTITY a '</r><r>'>", "&a;", "malformed"),
    "half a tag": ("<!ENTITY a '<x '>", "&a;", "malformed"),
    "markup in an attribute": ("<!ENTITY a '&#60;x/>'>", "<x y='&a;'/>", "malformed"),
    "a file": ("<!ENTITY a SYSTEM 'file:///etc/passwd'>", "&a;", "entity"),
    "an address": ("<!ENTITY a PUBLIC 'x' 'http://127.0.0.1:9/'>", "&a;", "entity"),
    "a picture": ("<!NOTATION g SYSTEM 'g'><!ENTITY a SYSTEM 'x.gif' NDATA g>", "&a;", "malformed"),
    "a parameter entity": ("<!ENTITY % a 'x'>", "", "entity"),
    "a reference into a declaration": ("<!ENTITY a '%b;'>", "&a;", "malformed"),
    "an unknown one": ("<!ENTITY a 'x'>", "&b;", "entity"),
    "an unknown one inside": ("<!ENTITY a '&b;'>", "&a;", "entity"),
    "no name": ("<!ENTITY 'x'>", "", "malformed"),
    "a long chain": (
        "<!ENTITY a0 'x'>" + "".join(f"<!ENTITY a{n} '&a{n - 1};'>" for n in range(1, 99)),
        "&a98;",
        "limit",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(case: str) -> None:
    subset, content, kind = BAD[case]
    assert refusal(f"<!DOCTYPE r [{subset}]><r>{content}</r>", limits=ALLOWED).kind == kind


@pytest.mark.parametrize("levels", [5, 7, 10])
@pytest.mark.parametrize("content", ["&l{};", "<x y='&l{};'/>"])
def test_a_billion_laughs(levels: int, content: str) -> None:
    """Case 37."""
    subset = "<!ENTITY l0 'ha'>" + "".join(
        f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, levels + 1)
    )
    document = f"<!DOCTYPE r [{subset}]><r>{content.format(levels)}</r>"
    assert refusal(document, limits=pathcast.Limits(entity_expansion=100_000)).kind == "limit"


def test_much_of_a_given_text_is_amplification() -> None:
    """Cases 38 and 37: also without declarations."""
    index = pathcast.Index(entities={"big": "x" * 100_000})
    index.add(0, "//r")
    assert index.match("<r>" + "&big;" * 50 + "</r>") == [0]
    with pytest.raises(pathcast.DocumentLimitError, match="outgrow"):
        index.match("<r>" + "&big;" * 100_000 + "</r>")


def test_positions_are_in_the_bytes_given() -> None:
    index = pathcast.Index(limits=ALLOWED)
    index.add(0, "//b")
    index.add(1, "//b/@c")
    document = "<!DOCTYPE r [<!ENTITY e '<b c=\"1\"/>'>]>\n<r>é&e;<b c='2'/></r>".encode()
    first, second = index.select(document)[0]
    assert document[slice(*first.span)] == b"&e;"
    assert (first.line, first.column) == (2, 5)
    assert document[slice(*second.span)] == b"<b c='2'/>"
    inside, plain = index.select(document)[1]
    assert (document[slice(*inside.span)], inside.text) == (b"&e;", "1")
    assert document[slice(*plain.span)] == b"c='2'"


def test_answers_are_those_of_lxml() -> None:
    """Random documents with entities in content and attributes, against libxml2 with its own resolution."""
    random = Random(20)
    print("seed 20")
    index = pathcast.Index(limits=ALLOWED)
    expressions = [
        "//a",
        "//a/b",
        "//a[. = 'xy']",
        "//b[@k = 'x']",
        "//*[@k = ' y ']",
        "//a[b]/text()",
        "string-length(/*) > 9",
    ]
    expressions += [
        "count(//a) > 2",
        "//b[not(@k)]",
        "//a[text() = 'x']",
        "//*[@k = 'xy']",
        "//text()[. = 'yy']",
    ]
    index.add_many(enumerate(expressions))
    evaluators = [etree.XPath(f"boolean({each})") for each in expressions]
    answered = 0
    for _ in range(3000):
        subset = ""
        for number in range(4):
            below = [f"&e{each};" for each in range(number)]
            parts = [
                *below,
                *below,
                "x",
                "y",
                " ",
                "&#10;",
                "&#38;lt;",
                "<b/>",
                "<a k='x'>",
                "</a>",
                "<b k='&e0;'/>",
            ]
            chosen = "".join(random.choice(parts) for _ in range(random.randint(0, 4)))
            subset += f'<!ENTITY e{number} "{chosen}">'
        pieces = [
            "x",
            "<a>",
            "</a>",
            "&e0;",
            "&e1;",
            "&e2;",
            "&e3;",
            "<b k='&e1;'/>",
            "<b k='x&e0;'/>",
            "&amp;",
        ]
        inner = "".join(random.choice(pieces) for _ in range(random.randint(1, 8)))
        document = f"<!DOCTYPE r [{subset}]><r>{inner}</r>".encode()
        parser = etree.XMLParser(resolve_entities=True, no_network=True, load_dtd=False)
        try:
            tree = etree.fromstring(document, parser)
        except etree.XMLSyntaxError:
            with pytest.raises(pathcast.DocumentError):
                index.match(document)
            continue
        answered += 1
        expected = [number for number, evaluate in enumerate(evaluators) if evaluate(tree)]
        assert index.match(document) == expected, document
    assert answered > 300
