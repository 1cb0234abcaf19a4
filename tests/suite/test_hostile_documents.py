"""Hostile documents at real sizes; small ones are in `testdata/`."""

from __future__ import annotations

import base64
import gzip
import io
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import pathcast
from pathcast import Limits
from tests.suite.hostile import EVERYTHING, HIGH, error_of, index_of, made, nested, within

# Well-formedness and text


def test_truncated_at_every_byte() -> None:
    document = (
        "<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE a [<!ATTLIST a z CDATA 'd'>]><!--c-->"
        "<a x='1' xmlns:p='urn:p'><p:b>é&lt;</p:b><![CDATA[]]]]><?p d?><c/></a>"
    ).encode()
    index = index_of("//c", "//@z")
    assert index.match(document) == [0, 1]
    answers = index.match_many(document[:length] for length in range(len(document)))
    assert all(isinstance(answer, pathcast.DocumentError) for answer in answers)
    answers = index.match_many(io.BytesIO(document[:length]) for length in range(len(document)))
    assert all(isinstance(answer, pathcast.DocumentError) for answer in answers)


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (b"<?xml version='1.0' encoding='UTF-16'?><a/>", "encoding"),
        ("<?xml version='1.0' encoding='UTF-8'?><a/>".encode("utf-16"), "encoding"),
        ("<?xml version='1.0' encoding='UTF-8'?><a>é</a>".encode("latin-1"), "encoding"),
        ("<?xml version='1.0' encoding='US-ASCII'?><a>é</a>".encode(), "encoding"),
        (b"<?xml version='1.0' encoding='UTF-7'?><a>+AOk-</a>", "encoding"),
        ("<?xml version='1.0' encoding='cp037'?><a/>".encode("cp037"), None),
        (b"<?xml version='1.0' encoding='EBCDIC-CP-US'?><a/>", "encoding"),
        (b"<?xml version='1.0' encoding='no-such'?><a/>", "encoding"),
        (b"<a>\xc0\xaf</a>", "encoding"),
        (b"<a>\xed\xa0\x80</a>", "encoding"),
        (b"<a>\xf4\x90\x80\x80</a>", "encoding"),
    ],
)  # fmt: skip
def test_encoding_lies(document: bytes, kind: str | None) -> None:
    error = error_of(document)
    assert kind in (None, error.kind)
    streamed = error_of(io.BytesIO(document))
    assert repr(streamed) == repr(error)


@pytest.mark.parametrize(
    "document",
    [
        gzip.compress(b"<a/>", mtime=0),
        b"PK\x03\x04" + bytes(1_000),
        b"<!doctype html><html><br></html>",
        b'{"a": "<a/>"}',
        bytes(range(256)) * 1_000,
        bytes(1_000_000),
        b"\xff" * 1_000_000,
        b"<" * 1_000_000,
        b"&" * 1_000_000,
        b"<!" * 500_000,
        b"<a " * 500_000,
        b"<![CDATA[" * 100_000,
        b"<a>" + b"]]" * 500_000,
        b"<!DOCTYPE a [" + b"<!--" * 200_000,
        base64.b64encode(bytes(100_000)),
    ],
)  # fmt: skip
def test_no_xml_at_all(document: bytes) -> None:
    with within(5):
        assert error_of(document).kind in ("malformed", "encoding", "limit")


# Size and shape


def test_depth() -> None:
    index = index_of(*EVERYTHING)
    assert index.match(nested(1_023)) == index.match(nested(1_024)) == [0, 1]
    for depth in (1_025, 1_000_000):
        error = error_of(nested(depth))
        assert isinstance(error, pathcast.DocumentLimitError)
        assert "limit of 1024" in error.reason


def test_depth_of_a_million_when_allowed() -> None:
    with within(20):
        index = index_of(*EVERYTHING, "/a/a//a", "//a[not(a)]", "//a[.//b]", limits=HIGH)
        assert index.match(nested(1_000_000)) == [0, 1, 6, 7]
        assert pathcast.explain("/a/a/b", nested(100_000), limits=HIGH).matched is False


def test_attributes() -> None:
    wide = b"<a" + b"".join(b" a%d='%d'" % (n, n) for n in range(100_000)) + b"/>"
    error = error_of(wide)
    assert isinstance(error, pathcast.DocumentLimitError)
    assert "attributes" in error.reason
    assert "limit of 10000" in error.reason
    with within(5):
        index = index_of("//@a99999 = 99999", "//a[@a5 = 6]", "/a[@* = 77777]", "//@b", limits=HIGH)
        assert index.match(wide) == [0, 2]
    assert "a5" in error_of(wide[:-2] + b" a5=''/>", limits=HIGH).reason


def test_namespace_declarations() -> None:
    declared = b"".join(b" xmlns:p%d='urn:%d'" % (n, n) for n in range(100_000))
    assert isinstance(error_of(b"<a" + declared + b"/>"), pathcast.DocumentLimitError)
    used = b"".join(b"<p%d:b p%d:x=''/>" % (n, n) for n in range(0, 100_000, 10))
    with within(5):
        index = pathcast.Index(limits=HIGH, namespaces={"q": "urn:99990"})
        index.add_many([(0, "/a/q:b"), (1, "//@q:x"), (2, "//q:c"), (3, "//q:b/preceding-sibling::*")])
        assert index.match(b"<a" + declared + b">" + used + b"</a>") == [0, 1, 3]


def test_a_namespace_redeclared_at_every_level() -> None:
    levels = b"".join(b"<p:a xmlns:p='u%d' xmlns='v%d'>" % (n, n) for n in range(10_000))
    index = pathcast.Index(limits=HIGH, namespaces={"first": "u0", "last": "u9999", "none": "v9999"})
    index.add_many([(0, "/first:a//last:a"), (1, "//last:a//first:a"), (2, "//none:a")])
    with within(5):
        assert index.match(levels + b"</p:a>" * 10_000) == [0]


def test_a_large_text_node() -> None:
    index = index_of("/a[starts-with(., 'xy')]", "/a[contains(., 'z')]", "/a/b")
    with within(10):
        assert index.match(made(b"<a>", b"xy", 25_000_000, b"z<b/></a>")) == [0, 1, 2]


@pytest.mark.parametrize(("size", "chunk"), [(100_000_000, 4_096), (200_000, 1)])
def test_a_large_attribute_in_small_chunks(size: int, chunk: int) -> None:
    index = index_of("/a[contains(@x, 'z')]", "/a/@y", "//@x = 'x'")
    with within(20):
        assert index.match(made(b"<a x='", b"y", size, b"z' y=''/>", chunk)) == [0, 1]


def test_names_of_a_megabyte() -> None:
    name = "n" * (1 << 20)
    for document in (
        f"<{name}/>",
        f"<a {name}=''/>",
        f"<a xmlns:{name}='u'/>",
        f"<?{name}?><a/>",
        f"<a></{name}>",
    ):
        error = error_of(document)
        assert error.kind in ("limit", "malformed")
        assert len(str(error)) < 10_000
    with within(5):
        assert index_of(f"/{name}", limits=Limits(name_bytes=1 << 21, expression_bytes=1 << 21)).match(
            f"<{name}/>"
        ) == [0]


def test_a_million_siblings() -> None:
    xpaths = [*EVERYTHING, "/a/b[. = 'x']", "//b[following-sibling::c]", "//c[preceding-sibling::b]", "//b/b"]
    index = index_of(*xpaths)
    with within(20):
        assert index.match(made(b"<a>", b"<b/>", 1_000_000, b"<c/></a>")) == [0, 1, 2, 5, 7, 8]


def test_many_names() -> None:
    names = b"".join(b"<n%d/>" % n for n in range(300_000))
    index = index_of(*EVERYTHING, "//n299999", "//n300000")
    before = index.stats()["memory_bytes"]
    with within(10):
        assert index.match(b"<a>" + names + b"</a>") == [0, 1, 6]
    assert index.stats()["memory_bytes"] == before, "names of documents are not kept"


def test_a_hundred_megabytes_streamed_in_little_memory() -> None:
    # 34, on a small scale
    index = index_of("/a/b/@c", "//d", "/a/b/e")
    with within(20):
        assert index.match(made(b"<a>", b"<b c='d'>0123456789</b>\n", 4_000_000, b"<b><e/></b></a>")) == [
            0,
            2,
        ]


def test_every_split_point() -> None:
    document = "<a x='é&amp;'>t<![CDATA[]]]]>&#xE9;<b>\r\n</b><!--c--><p:q xmlns:p='u'/></a>".encode()
    index = index_of(
        "/a[@x = 'é&']", "/a = 't]]é\n'", "//b = '\n'", "/a/comment() = 'c'", "//*[not(self::b)]", "//c"
    )

    class Split:
        def __init__(self, at: int) -> None:
            self.pieces = [piece for piece in (document[at:], document[:at]) if piece]

        def read(self, size: int) -> bytes:
            return self.pieces.pop() if self.pieces else b""

    expected = index.match(document)
    assert expected == [0, 1, 2, 3, 4]
    for at in range(len(document) + 1):
        assert index.match(Split(at)) == expected  # type: ignore[arg-type]


# DTD and entities


def laughs(levels: int, width: int = 10) -> str:
    declarations = "".join(
        f'<!ENTITY l{level} "{f"&l{level - 1};" * width}">' for level in range(1, levels + 1)
    )
    return f'<!DOCTYPE a [<!ENTITY l0 "lol">{declarations}]><a>&l{levels};</a>'


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(laughs(5), id="five levels"),
        pytest.param(laughs(10), id="ten levels"),
        pytest.param(laughs(2, 2), id="harmless"),
        pytest.param(f'<!DOCTYPE a [<!ENTITY e "{"x" * 100_000}">]><a>{"&e;" * 10_000}</a>', id="quadratic"),
        pytest.param(laughs(100_000, 1), id="chain"),
        pytest.param("<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><a>&e;</a>", id="loop"),
        pytest.param("<!DOCTYPE a [<!ENTITY e '&e;'>]><a b='&e;'/>", id="loop in an attribute"),
        pytest.param("<!DOCTYPE a [<!ENTITY % p '%p;'>%p;]><a/>", id="parameter loop"),
        pytest.param("<a>&undeclared;</a>", id="undeclared"),
        pytest.param("<!DOCTYPE a SYSTEM 'x.dtd'><a>&undeclared;</a>", id="undeclared, perhaps outside"),
        pytest.param(
            "<!DOCTYPE a [<!NOTATION n SYSTEM 'x'><!ENTITY e SYSTEM 'x' NDATA n>]><a/>", id="unparsed"
        ),
    ],
)
def test_entities_are_refused(document: str) -> None:
    with within(5):
        error = error_of(document)
    assert error.kind == "entity"
    assert "entit" in error.reason


@pytest.mark.parametrize(
    "scheme", ["file://{}", "{}", "http://localhost:9{}", "ftp://localhost:9{}", "jar:file://{}!/x"]
)
def test_nothing_external_is_read(tmp_path: Path, scheme: str) -> None:
    canary = tmp_path / "canary.xml"
    canary.write_text("<!ELEMENT a ANY><!ATTLIST a canary CDATA 'sings'>")
    address = scheme.format(canary)
    for declaration in (f"<!ENTITY e SYSTEM '{address}'>", f"<!ENTITY % e SYSTEM '{address}'>%e;"):
        error = error_of(f"<!DOCTYPE a [{declaration}]><a>&e;</a>")
        assert error.kind == "entity"
        assert "sings" not in error.reason
    index = index_of("//@canary", "contains(/, 'sings')", "/a")
    schema = "http://www.w3.org/2001/XMLSchema-instance"
    for document in (
        f"<!DOCTYPE a SYSTEM '{address}'><a/>",
        f"<!DOCTYPE a PUBLIC 'p' '{address}' [<!ELEMENT a ANY>]><a/>",
        f"<?xml-stylesheet href='{address}'?><a/>",
        f"<a xmlns:i='http://www.w3.org/2001/XInclude'><i:include href='{address}' parse='text'/></a>",
        f"<a xmlns:i='{schema}' i:noNamespaceSchemaLocation='{address}'/>",
    ):
        assert index.match(document) == [2]


def test_many_attribute_declarations() -> None:
    lists = "".join(f"<!ATTLIST a x{n} CDATA 'd{n}'>" for n in range(100_000))
    document = f"<!DOCTYPE a [{lists}]><a/>"
    with within(10):
        (answer,) = index_of("//@x5").match_many([document])
        assert isinstance(answer, pathcast.DocumentLimitError) or answer == [0]
        assert index_of("//@x99999 = 'd99999'", "//@x100000", limits=HIGH).match(document) == [0]


@pytest.mark.parametrize(
    ("model", "good"),
    [
        ("(" * 300_000 + "b" + ")" * 300_000, None),
        ("(" * 300_000, False),
        ("(" + "|".join(f"b{n}" for n in range(100_000)) + ")*", True),
        ("(" + "b,b|" * 50_000 + "b)", False),
        ("(#PCDATA" + "|b" * 100_000 + ")*", None),
    ],
)
def test_content_models(model: str, good: bool | None) -> None:
    with within(10):
        (answer,) = index_of("/a/b").match_many([f"<!DOCTYPE a [<!ELEMENT a {model}>]><a><b/></a>"])
    refused = isinstance(answer, pathcast.DocumentError)
    assert good in (None, not refused)
    assert refused or answer == [0]


@pytest.mark.parametrize(
    "grow",
    [
        pytest.param(lambda n: b"<a>" * n + b"</a>" * n, id="depth"),
        pytest.param(lambda n: b"<a>" + b"<b>x</b><c/>" * n + b"</a>", id="siblings"),
        pytest.param(lambda n: b"<a" + b"".join(b" x%d=''" % i for i in range(n)) + b"/>", id="attributes"),
        pytest.param(lambda n: b"<a>" + b"x<!---->" * n + b"</a>", id="text nodes"),
        pytest.param(lambda n: b"<a>" + b"&#65;" * n + b"</a>", id="references"),
    ],
)
def test_time_grows_with_the_document(grow: Callable[[int], bytes]) -> None:
    """Sixteen times the document takes 16 to 45 times as long, as caches fill; the square would be 256."""
    index = index_of(*EVERYTHING, "//a[b][.//c]", "//*[@x]", "//a//a[b]", "//b[following::c]", limits=HIGH)

    def best(document: bytes) -> float:
        times = []
        for _ in range(5):
            began = time.perf_counter()
            index.match(document)
            times.append(time.perf_counter() - began)
        return min(times)

    small, large = grow(10_000), grow(160_000)
    ratio = best(large) / best(small)
    assert ratio < 120, f"{ratio:.1f} times as long"
