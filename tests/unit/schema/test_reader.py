"""DTDs as they come: entities, sections, files, mistakes, and hostile ones (group C)."""

from __future__ import annotations

import io
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pathcast.errors import SchemaError
from pathcast.schema import Schema
from pathcast.schema.model import MAX_NESTING, names


def refused(text: str, root: str | None = None) -> str:
    with pytest.raises(SchemaError) as caught:
        Schema.from_text(text, root)
    return str(caught.value)


def test_parameter_entities_nest() -> None:
    schema = Schema.from_text("""
        <!ENTITY % list "ul">  <!ENTITY % list "never: the first holds">
        <!ENTITY % block "p | %list;">  <!ENTITY % inline "#PCDATA | em">  <!ENTITY % content "(%block;)*">
        <!ELEMENT doc %content;>
        <!ELEMENT p (%inline;)*>  <!ELEMENT ul EMPTY>  <!ELEMENT em (#PCDATA)>
    """)
    assert str(schema.elements["doc"].model) == "(p|ul)*"
    assert schema.children("p") == ("em",)


def test_a_value_replaces_entities_when_it_is_declared() -> None:
    schema = Schema.from_text("""
        <!ENTITY % name "a"> <!ENTITY % model "(%name;, &#98;)">
        <!ELEMENT r %model;> <!ELEMENT a EMPTY> <!ELEMENT b EMPTY>
    """)
    assert schema.children("r") == ("a", "b")


def test_conditional_sections() -> None:
    schema = Schema.from_text("""
        <!ENTITY % draft "IGNORE"> <!ENTITY % final "INCLUDE">
        <![%draft;[ <!ELEMENT r (lost)> <![INCLUDE[ <!ELEMENT lost EMPTY> ]]> ]]>
        <![ %final; [ <!ELEMENT r (kept)> <![IGNORE[ % < nonsense ]]> <!ELEMENT kept EMPTY> ]]>
    """)
    assert schema.children("r") == ("kept",)
    assert "lost" not in schema.elements


def test_files_are_found_next_to_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "main.dtd").write_bytes(
        b'<!ENTITY % module SYSTEM "modules/one.mod">\r<!ELEMENT r (a)>\r%module;\r'
    )
    (tmp_path / "modules/one.mod").write_bytes(
        b"<?xml version='1.0' encoding='iso-8859-1'?><!-- \xe9 --><!ENTITY % two SYSTEM 'two.mod'>%two;"
    )
    (tmp_path / "modules/two.mod").write_bytes(
        "<!ELEMENT a (\u00fc?)><!ELEMENT \u00fc EMPTY>".encode("utf-16")
    )
    schema = Schema.from_dtd(tmp_path / "main.dtd")
    assert schema.children("a") == ("\u00fc",)
    assert schema.elements["a"].file == str(tmp_path / "modules/two.mod")


def test_an_external_entity_inside_a_declaration(tmp_path: Path) -> None:
    (tmp_path / "m.dtd").write_text('<!ENTITY % c SYSTEM "c.txt"><!ELEMENT r %c;><!ELEMENT a EMPTY>')
    (tmp_path / "c.txt").write_text("(a)")
    assert Schema.from_dtd(tmp_path / "m.dtd").children("r") == ("a",)


def test_a_missing_file_is_skipped_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "m.dtd").write_text('<!ENTITY % c SYSTEM "c.ent">\n%c;<!ELEMENT r EMPTY>')
    schema = Schema.from_dtd(tmp_path / "m.dtd")
    assert schema.warnings == (f"{tmp_path / 'm.dtd'}:2: %c; was skipped: there is no file 'c.ent'",)


def test_a_file_outside_the_folder_is_not_read(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "outer.mod").write_text("<!ELEMENT a EMPTY>")
    (inner / "m.dtd").write_text('<!ENTITY % o SYSTEM "../outer.mod">%o;<!ELEMENT r (a?)>')
    assert "outside the folder" in Schema.from_dtd(inner / "m.dtd").warnings[0]
    assert Schema.from_dtd(inner / "m.dtd", within=tmp_path).children("r") == ("a",)


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:9/x.dtd", "ftp://h/x", "file:///etc/passwd", "jar:file:x!/y", "//h/x", "\\\\h\\x"],
)
def test_nothing_is_fetched(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", forbidden)
    (tmp_path / "m.dtd").write_text(f"<!ELEMENT r EMPTY>\n<!ENTITY % x SYSTEM '{address}'>\n%x;")
    with pytest.raises(SchemaError, match="is not fetched") as caught:
        Schema.from_dtd(tmp_path / "m.dtd")
    assert f"{tmp_path / 'm.dtd'}:3: " in str(caught.value)
    # Declared and never named, it does no harm: DocBook has such.
    (tmp_path / "n.dtd").write_text(f"<!ELEMENT r EMPTY><!ENTITY % x SYSTEM '{address}'>")
    Schema.from_dtd(tmp_path / "n.dtd")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "declares no element"),
        ("\n\n<!ELEMENT a (b>", "<text>:3: the content model of a: a ) is missing"),
        ("<!ELEMENT a (b,c|d)>", "mixes commas and |"),
        ("<!ELEMENT a (b,)>", "a name is missing"),
        ("<!ELEMENT a ()>", "a group is empty"),
        ("<!ELEMENT a (b ?)>", "is expected, not '?'"),
        ("<!ELEMENT a (b)) >", "after its end"),
        ("<!ELEMENT a (b|#PCDATA)*>", "#PCDATA may only come first"),
        ("<!ELEMENT a (#PCDATA|b)>", "(#PCDATA|a|b)*"),
        ("<!ELEMENT 1a EMPTY>", "must be followed by a name"),
        ("<!ELEMENT", "unexpected '<!ELEMENT'"),
        ("<!ELEMENT a EMPTY", "the declaration has no end"),
        ("<!-- ", "the comment has no end"),
        ("<![INCLUDE[ ", "has no end"),
        ("<![IGNORE[ ", "has no end"),
        ("<!ELEMENT a EMPTY><!ATTLIST a x>", "the attribute x of a: its type is missing"),
        ("<!ELEMENT a EMPTY><!ATTLIST a x (p|q) 'r'>", "not among its values"),
        ("<!ELEMENT a EMPTY><!ATTLIST a x CDATA 'r>", "has no end"),
        ("<!ELEMENT a EMPTY><!ATTLIST a x CDATA '&lost;'>", "&lost;"),
        ("<!ELEMENT a %lost;>", "%lost; is not declared"),
        ("<!ENTITY % a '%b;'>%a;", "%b; is not declared"),
        ("<html>", "unexpected '<html>'"),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, message: str) -> None:
    assert message in refused(text)


def test_not_text(tmp_path: Path) -> None:
    (tmp_path / "m.dtd").write_bytes(b"<!ELEMENT a EMPTY>\n\xff\xff")
    with pytest.raises(SchemaError, match=r"m\.dtd:2: is not utf-8"):
        Schema.from_dtd(tmp_path / "m.dtd")
    with pytest.raises(SchemaError, match=r"none\.dtd: cannot be read"):
        Schema.from_dtd(tmp_path / "none.dtd")


def test_prefixes_stay_apart() -> None:
    """lxml's content models drop prefixes, so `mml:sec` and `sec` become one there."""
    schema = Schema.from_text(
        "<!ELEMENT a (mml:sec, sec)> <!ELEMENT mml:sec EMPTY> <!ELEMENT sec (b)> <!ELEMENT b ANY>"
    )
    assert schema.children("a") == ("mml:sec", "sec")
    assert schema.children("mml:sec") == ()


def test_duplicates() -> None:
    schema = Schema.from_text(
        "<!ELEMENT a (b)><!ELEMENT b EMPTY>\n<!ELEMENT a ANY><!ATTLIST b x CDATA '1'>"
        "<!ATTLIST b x CDATA '2' y CDATA #IMPLIED>"
    )
    assert schema.children("a") == ("b",)
    assert schema.warnings == ("<text>:2: the element a is declared again; <text>:1 holds",)
    assert [(attribute.name, attribute.value) for attribute in schema.attributes("b")] == [
        ("x", "1"),
        ("y", None),
    ]


def test_notations_and_unparsed_entities() -> None:
    schema = Schema.from_text("""
        <!NOTATION gif PUBLIC "-//gif"> <!NOTATION png SYSTEM "png">
        <!ENTITY pic SYSTEM "http://nowhere/pic.gif" NDATA gif> <!ENTITY text "some &lt; text">
        <!ELEMENT a EMPTY>
        <!ATTLIST a src ENTITY #REQUIRED kind NOTATION (gif|png) #IMPLIED t CDATA "&text;!">
    """)
    assert schema.notations == ("gif", "png")
    assert dict(schema.unparsed_entities) == {"pic": "gif"}
    assert schema.attributes("a")[2].value == "some < text!"
    assert schema.validate('<a src="pic" kind="png"/>') == []
    assert schema.validate('<a src="text"/>') != []


# entities that explode, chain or loop.
def test_entities_that_double_are_refused() -> None:
    lines = ['<!ENTITY % e0 "x,x">']
    lines += [f'<!ENTITY % e{level} "%e{level - 1};,%e{level - 1};">' for level in range(1, 40)]
    assert "expand to more than" in refused("\n".join([*lines, "<!ELEMENT a (%e39;)>"]))
    late = [f"<!ENTITY % l{level} '&#37;l{level + 1};&#37;l{level + 1};'>" for level in range(40)]
    late.append("<!ENTITY % l40 'x,'>")
    assert "expand to more than" in refused("\n".join([*late, "<!ELEMENT a (%l0; y)>"]))


def test_a_chain_of_entities_is_refused() -> None:
    chain = "\n".join(f"<!ENTITY % e{link} '&#37;e{link + 1};'>" for link in range(100_000))
    assert "parameter entities are nested" in refused(chain + "<!ELEMENT a (%e0;)>")
    assert "parameter entities are nested" in refused(chain + "%e0;")


@pytest.mark.parametrize("use", ["%a;", "<!ELEMENT x %a;>", "<![%a;[ ]]>"])
def test_a_loop_of_entities_is_refused(use: str) -> None:
    assert "refers to itself" in refused(f"<!ENTITY % a '&#37;b;'><!ENTITY % b '&#37;a;'>{use}")


def test_general_entities_that_double_are_refused() -> None:
    lines = ["<!ENTITY g0 'xxxxxxxxxx'>"]
    lines += [f"<!ENTITY g{level} '&g{level - 1};&g{level - 1};'>" for level in range(1, 40)]
    assert "expands to more than" in refused("".join(lines) + "<!ATTLIST a x CDATA '&g39;'>")
    assert "refers to itself" in refused("<!ENTITY g '&g;'><!ATTLIST a x CDATA '&g;'>")


# wide and deep.
def test_a_deeply_nested_model_is_refused() -> None:
    deep = "(" * 300_000 + "b" + ")" * 300_000
    assert "nested deeper than 128" in refused(f"\n<!ELEMENT a {deep}>")
    assert refused(f"\n<!ELEMENT a {deep}>").startswith("<text>:2: the content model of a")
    hidden = f"<!ENTITY % half '{deep[:150_000]}'>"
    assert "nested deeper than 128" in refused(f"{hidden}<!ELEMENT a (%half;%half;b>")


def test_the_deepest_model_that_is_read_also_validates() -> None:
    starred = "(" * MAX_NESTING + "b" + ")*" * MAX_NESTING
    schema = Schema.from_text(f"<!ELEMENT a {starred}><!ELEMENT b EMPTY>")
    assert schema.validate("<a><b/><b/></a>") == []


def test_an_ambiguous_model_is_read_and_validation_names_it() -> None:
    schema = Schema.from_text("<!ELEMENT a (b?, b)><!ELEMENT b EMPTY>")
    assert schema.children("a") == ("b",)
    assert "not deterministic" in str(schema.validate("<a><b/></a>")[0])


def test_a_hundred_thousand_alternatives_and_attributes() -> None:
    many = [f"e{place}" for place in range(100_000)]
    text = f"<!ELEMENT a ({'|'.join(many)})*>" + "".join(f"<!ELEMENT {name} EMPTY>" for name in many)
    text += f"<!ATTLIST a {' '.join(f'x{place} CDATA #IMPLIED' for place in range(100_000))}>"
    start = time.perf_counter()
    schema = Schema.from_text(text)
    assert len(schema.children("a")) == len(schema.attributes("a")) == 100_000
    assert schema.depth == 2
    with pytest.raises(SchemaError, match="too many to validate"):
        schema.validate("<a/>")
    assert time.perf_counter() - start < 60


def test_a_chain_of_a_hundred_thousand_elements() -> None:
    chain = (
        "".join(f"<!ELEMENT e{place} (e{place + 1})>" for place in range(99_999)) + "<!ELEMENT e99999 EMPTY>"
    )
    schema = Schema.from_text(chain)
    assert schema.depth == schema.height("e0") == 100_000
    assert schema.path_count() == 100_000


@pytest.mark.parametrize("model", ["(a*)", "ANY"])
def test_recursion(model: str) -> None:
    schema = Schema.from_text(f"<!ELEMENT a {model}>")
    assert schema.is_recursive
    assert schema.depth is None
    assert schema.path_count() == 2**63 - 1
    assert schema.path_count(7) == 7


def test_a_parser_in_another_process_survives_too(tmp_path: Path) -> None:
    """A crash would take the test run with it, so the hostile file is read once where that shows."""
    (tmp_path / "m.dtd").write_text("<!ELEMENT a " + "(" * 300_000 + "b" + ")" * 300_000 + ">")
    program = f"from pathcast.schema import Schema\nSchema.from_dtd({str(tmp_path / 'm.dtd')!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "SchemaError" in done.stderr


def test_agrees_with_lxml_on_what_is_declared() -> None:
    etree = pytest.importorskip("lxml.etree")
    text = (Path(__file__).parents[3] / "examples/news/news.dtd").read_bytes()
    ours = Schema.from_text(text.decode())
    theirs = {element.name: element for element in etree.DTD(io.BytesIO(text)).iterelements()}
    assert set(ours.elements) == set(theirs)
    for name, element in ours.elements.items():
        assert {attribute.name for attribute in element.attributes} == {
            attribute.name for attribute in theirs[name].iterattributes()
        }
    assert list(names(ours.elements["item"].model)) == ["category", "headline", "byline", "body"]
