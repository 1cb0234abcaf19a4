"""Generated documents: valid, repeatable, within their levels; every type of attribute."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from pathcast.errors import SchemaError
from pathcast.generate import Values, documents
from pathcast.schema import Schema

etree = pytest.importorskip("lxml.etree")
NEWS = Schema.from_dtd(Path(__file__).parents[3] / "examples/news/news.dtd")

KINDS = """
    <!NOTATION gif SYSTEM "gif"> <!ENTITY pic SYSTEM "pic" NDATA gif> <!ENTITY pic2 SYSTEM "pic2" NDATA gif>
    <!ELEMENT r (a+, b?, c*)>
    <!ATTLIST r xmlns:x CDATA #FIXED "urn:x">
    <!ELEMENT a ANY> <!ELEMENT b (#PCDATA | a | x:d)*> <!ELEMENT c (b, (a | c)?)> <!ELEMENT x:d EMPTY>
    <!ATTLIST a id ID #IMPLIED ref IDREF #REQUIRED refs IDREFS #IMPLIED fix CDATA #FIXED "a &lt; 'b'"
        t NMTOKEN #REQUIRED ts NMTOKENS #IMPLIED e ENTITY #REQUIRED es ENTITIES #IMPLIED
        n NOTATION (gif) #IMPLIED l (one | two) "one" xml:lang NMTOKEN #IMPLIED x:y CDATA #REQUIRED>
"""


@pytest.mark.parametrize("optional", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("attributes", [0.0, 0.5, 1.0])
def test_every_kind_of_attribute_and_content_is_valid(optional: float, attributes: float) -> None:
    schema = Schema.from_text(KINDS, "r")
    drawn = list(documents(schema, 40, optional=optional, attributes=attributes, max_levels=5))
    assert [problem for document in drawn for problem in schema.validate(document)] == []


def test_the_same_seed_gives_the_same_bytes_at_the_same_place() -> None:
    few, many = list(documents(NEWS, 5, seed=7)), list(documents(NEWS, 20, seed=7))
    assert many[:5] == few
    assert list(documents(NEWS, 5, seed=8)) != few
    assert len(set(many)) > 15


@pytest.mark.parametrize("levels", [4, 5, 8, 30])
def test_levels(levels: int) -> None:
    def depth(document: bytes) -> int:
        return max(
            sum(1 for _ in element.iterancestors()) + 1 for element in etree.fromstring(document).iter()
        )

    drawn = list(documents(NEWS, 100, max_levels=levels, optional=0.7))
    assert max(map(depth, drawn)) == levels if levels < 20 else max(map(depth, drawn)) > 8
    assert not any(NEWS.validate(document) for document in drawn)


def test_too_few_levels_are_refused() -> None:
    with pytest.raises(SchemaError, match="the shallowest valid news has 4 levels, and max_levels is 3"):
        documents(NEWS, 1, max_levels=3)


def test_a_very_deep_document() -> None:
    schema = Schema.from_text("<!ELEMENT a (a)?>")
    (document,) = documents(schema, 1, max_levels=5_000, optional=1.0)
    assert document.count(b"<a") == 5_000


def test_another_root() -> None:
    (document,) = documents(NEWS, 1, root="section")
    assert document.startswith(b"<section>")


@pytest.mark.parametrize("size", [2_000, 20_000])
def test_target_size(size: int) -> None:
    sizes = [len(document) for document in documents(NEWS, 30, target_size=size)]
    assert size * 0.5 < sum(sizes) / 30 < size * 1.7


def test_values_come_from_the_given_source() -> None:
    schema = Schema.from_text("<!ELEMENT r (v*)> <!ELEMENT v (#PCDATA)>")
    values = Values(low=5, high=6, words=("a<b&c",), numbers=0.5)
    drawn = b"".join(documents(schema, 50, values=values))
    assert set(re.findall(rb"<v>(.*?)</v>", drawn)) == {b"5", b"6", b"a&lt;b&amp;c"}


def test_skew_prefers_the_first_values() -> None:
    schema = Schema.from_text("<!ELEMENT v (#PCDATA)>")
    drawn = Counter(documents(schema, 1_000, values=Values(numbers=1.0, skew=1.5)))
    assert drawn[b"<v>1</v>"] > 3 * drawn[b"<v>3</v>"] > 0


def test_a_document_that_must_be_huge_is_refused() -> None:
    double = "".join(f"<!ELEMENT e{level} (e{level + 1}, e{level + 1})>" for level in range(40))
    schema = Schema.from_text(double + "<!ELEMENT e40 EMPTY>")
    with pytest.raises(SchemaError, match="has more than 1,000,000 elements"):
        list(documents(schema, 1, max_levels=50, target_size=10_000))


def test_content_that_multiplies_stays_small() -> None:
    nested = "(" * 100 + "a" + ")+" * 100
    schema = Schema.from_text(f"<!ELEMENT r {nested}> <!ELEMENT a EMPTY>")
    (document,) = documents(schema, 1)
    assert schema.validate(document) == []
    assert len(document) < 1_000_000


def test_references_without_identifiers_are_refused() -> None:
    with pytest.raises(SchemaError, match="required references"):
        list(documents(Schema.from_text("<!ELEMENT a EMPTY> <!ATTLIST a r IDREF #REQUIRED>"), 1))
    optional = Schema.from_text("<!ELEMENT a EMPTY> <!ATTLIST a r IDREF #IMPLIED>")
    assert set(documents(optional, 9)) == {b"<a/>"}


def test_a_prefix_that_nothing_binds_is_refused() -> None:
    with pytest.raises(SchemaError, match="x:a has a prefix that no xmlns attribute binds"):
        documents(Schema.from_text("<!ELEMENT x:a EMPTY>"), 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"optional": 1.5}, "optional is a probability"),
        ({"max_repeats": 0}, "max_repeats must be at least 1"),
        ({"target_size": 0}, "target_size must be at least 1"),
    ],
)
def test_wrong_parameters(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        documents(NEWS, 1, **parameters)  # type: ignore[arg-type]
