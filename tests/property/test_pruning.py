"""Pruned expressions answer as the originals do, and a document that breaks the schema is told."""

from __future__ import annotations

import os
from copy import copy
from pathlib import Path

import pytest

import pathcast
from pathcast.errors import SchemaWarning
from pathcast.schema import Pruning, Schema
from tests.property.pruning import run

NEWS = """
<!ELEMENT news (item*)> <!ELEMENT item (title, body?)> <!ATTLIST item lang (en | fr) #IMPLIED>
<!ELEMENT title (#PCDATA)> <!ELEMENT body (p | note)*> <!ELEMENT p (#PCDATA)> <!ELEMENT note (p*)>
"""


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.from_text(NEWS)


def test_pruned_and_original_agree() -> None:
    assert run(int(os.environ.get("PATHCAST_PAIRS", "20000")) * 5, seed=3, quiet=True) == []


@pytest.mark.parametrize(
    ("xpath", "pruned"),
    [
        ("//title", ["/news/item/title"]),
        ("/*/*", ["/news/item"]),
        ("/news//p", ["/news/item/body/note/p", "/news/item/body/p"]),
        ("/news/title", []),
        ("//p/@lang", []),
        ("//*/@lang", ["/news/item/@lang"]),
    ],
)
def test_wildcards_become_what_the_schema_allows(schema: Schema, xpath: str, pruned: list[str]) -> None:
    index = pathcast.Index(schema=schema, prune=True, impossible="ignore")
    assert sorted(index.pruned(xpath)) == pruned


def test_bounds_keep_the_gap(schema: Schema) -> None:
    index = pathcast.Index(schema=schema, prune=Pruning(singleton=True))
    assert index.pruned("/news//p") == ["/news//p"]


def test_a_wildcard_goes_under_a_single_parent_also_from_a_file(tmp_path: Path) -> None:
    """The paper's polynomial rule; an index that is saved keeps it."""
    schema = Schema.from_text("<!ELEMENT a (b | c)*> <!ELEMENT b (d?)> <!ELEMENT c (d?)> <!ELEMENT d EMPTY>")
    index = pathcast.Index(schema=schema, prune=Pruning(singleton=True, single_parent=True))
    assert index.pruned("/a/*") == ["/a/b", "/a/c"]
    assert index.pruned("/a/*/*") == ["/a/b/d", "/a/c/d"]  # `d` has two parents and no children
    assert index.pruned("/a//d") == ["/a//d"]
    assert pathcast.Index(schema=schema, prune=Pruning(singleton=True)).pruned("/a/*") == ["/a/*"]
    index.save(tmp_path / "index")
    assert pathcast.Index.load(tmp_path / "index").pruned("/a/*") == ["/a/b", "/a/c"]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("<news><title/></news>", "no 'title' inside 'news'"),
        ("<item/>", "no 'item' as the root"),
        ("<news><other/></news>", "no element 'other'"),
        ("<news><item id='1'/></news>", "no attribute 'id'"),
        ("<news><item lang='de'/></news>", "this value of the attribute 'lang'"),
        ("<news>text</news>", "no text here"),
    ],
)
def test_a_document_that_breaks_the_schema_is_told(schema: Schema, document: str, reason: str) -> None:
    index = pathcast.Index(schema=schema, prune=True)
    index.add(1, "//title")
    with pytest.raises(pathcast.DocumentError) as caught:
        index.match(document)
    assert caught.value.kind == "invalid"
    assert reason in caught.value.reason
    # Without pruning nothing is lost, so nothing is refused unless that is asked for.
    assert pathcast.Index(schema=schema).match(document) == []


def test_documents_are_held_to_the_schema_once_something_is_pruned(schema: Schema) -> None:
    broken = "<news><title/></news>"
    index = pathcast.Index(schema=schema, prune=True, impossible="ignore")
    index.add(1, "/news/title")
    index.add(2, "/news/item/title")
    index.pruned("//title"), index.check("//title")
    assert index.match(broken) == copy(index).match(broken) == [1]
    assert "leaves every expression as it is" in index.stats()["pruning"]
    index.add(3, "//title")
    for each in (index, copy(index)):
        assert "held to the schema" in each.stats()["pruning"]
        with pytest.raises(pathcast.DocumentError, match="inside 'news'"):
            each.match(broken)
    index.clear()
    index.add(1, "/news/title")
    assert index.match(broken) == [1]
    strict = pathcast.Index(schema=schema, prune=True, validate=True)
    with pytest.raises(pathcast.DocumentError, match="inside 'news'"):
        strict.match(broken)
    assert "pruning" not in pathcast.Index(schema=schema).stats()


def test_the_place_of_the_breach(schema: Schema) -> None:
    index = pathcast.Index(schema=schema, validate=True)
    with pytest.raises(pathcast.DocumentError) as caught:
        index.match("<news>\n  <item><title/></item>\n  <oops/>\n</news>")
    assert (caught.value.line, caught.value.column) == (3, 4)


def test_what_can_never_match_is_a_warning_or_an_error(schema: Schema) -> None:
    with pytest.warns(SchemaWarning, match="can never match"):
        pathcast.Index(schema=schema).add(1, "/news/title")
    with pytest.raises(pathcast.XPathError, match="can never match"):
        pathcast.Index(schema=schema, impossible="error").add(1, "/news/title")
    index = pathcast.Index(schema=schema)
    with pytest.warns(SchemaWarning) as told:
        index.add_many((number, "/news/title") for number in range(15))
    assert len(told) == 11
    assert str(told[-1].message) == "5 more can never match"
    # It is kept all the same: a document that breaks the schema may match it.
    assert len(index.match("<news><title/></news>")) == 15


def test_a_saved_index_keeps_its_schema(schema: Schema, tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "saved")
    index = pathcast.Index(schema=schema, prune=True)
    index.add(1, "//title")
    index.save(path)
    loaded = pathcast.Index.load(path)
    assert loaded.match("<news><item><title/></item></news>") == [1]
    loaded.add(2, "/*/item")
    assert loaded.pruned("/*/item") == ["/news/item"]
    with pytest.raises(pathcast.DocumentError, match="inside 'news'"):
        loaded.match("<news><title/></news>")


@pytest.mark.parametrize("engine", ["pma", "pma-updating"])
def test_the_engine_for_pruned_subscriptions_needs_a_schema(schema: Schema, engine: str) -> None:
    with pytest.raises(pathcast.SchemaError, match="needs a schema to prune wildcards"):
        pathcast.Index(engine)
    index = pathcast.Index(engine, schema=schema)
    index.add(1, "/*//p")
    assert sorted(index.pruned("/*//p")) == ["/news/item/body/note/p", "/news/item/body/p"]
    assert index.match("<news><item><title/><body><p/></body></item></news>") == [1]
    unpruned = pathcast.Index(engine, prune=False)
    unpruned.add(1, "/*//p")
    assert unpruned.match("<news><p/></news>") == [1]


def test_prune_needs_a_schema() -> None:
    with pytest.raises(ValueError, match="need a schema"):
        pathcast.Index(prune=True)


@pytest.mark.parametrize("ignore_namespaces", [False, True])
def test_a_declared_attribute_of_xml_is_no_fault(ignore_namespaces: bool) -> None:
    schema = Schema.from_text("<!ELEMENT a EMPTY> <!ATTLIST a xml:lang CDATA #IMPLIED>")
    index = pathcast.Index(schema=schema, validate=True, ignore_namespaces=ignore_namespaces)
    index.add("english", "/a[@xml:lang = 'en']")
    assert index.match("<a xml:lang='en'/>") == ["english"]
    with pytest.raises(pathcast.DocumentError, match="no attribute 'space' here"):
        index.match("<a xml:space='default'/>")
