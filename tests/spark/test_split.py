"""The splitter: the same records however the file is cut, and the records that lxml finds."""

from __future__ import annotations

import io
from random import Random
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

import pathcast
from pathcast.spark.worker.split import split

NESTED = b"""<?xml version="1.0"?>
<!DOCTYPE r [<!ELEMENT e (#PCDATA)><!-- ]> <e> --><?p ]>?><!ATTLIST zz a CDATA "]>">]>
<!-- <e>no</e> --><?go <e>?>
<r xmlns="urn:d" xmlns:p='urn:p' xmlns:u="urn:u" t="<e>" title=' xmlns:fake="no" >'>
 <x xmlns=""><e>plain</e></x><y xmlns:p="urn:other"><p:e p:a="1"/></y>
 <![CDATA[<e>no</e>]]>
 <e a="/>" b='>'><e>inner</e><!-- </e> --><![CDATA[</e>]]><?i </e>?><ee/><e/></e>
 <e xmlns="urn:own" xmlns:n="urn:n"><n:z/></e><e/><e
   a = "x"
 /><e></e ></r>
<!-- after <e/> -->""".replace(b't="<e>"', b't="&lt;e>"')


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def outermost(data: bytes, local: str) -> list[bytes]:
    """What lxml finds, in canonical form."""
    root = etree.parse(io.BytesIO(data)).getroot()
    path = f"//*[local-name() = '{local}'][not(ancestor::*[local-name() = '{local}'])]"
    found = cast("list[etree._Element]", root.xpath(path))
    return [canonical(etree.tostring(element, with_tail=False)) for element in found]


def canonical(document: bytes) -> bytes:
    return etree.tostring(etree.fromstring(document), method="c14n", exclusive=True)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "iso-8859-1", "shift_jis"])
def test_every_chunk_size_gives_the_records_of_lxml(encoding: str) -> None:
    text = NESTED.decode()
    if encoding in ("iso-8859-1", "shift_jis"):
        text = text.replace("plain", "é" if encoding == "iso-8859-1" else "日本")
        text = text.replace("?>", f' encoding="{encoding}"?>', 1)
    data = text.encode(encoding)
    expected = outermost(data, "e")
    assert len(expected) == 7
    for size in [*range(1, 40), 1 << 20]:
        assert [canonical(record) for record in split(pieces(data, size), "e")] == expected, size


def test_every_split_point_gives_the_same_records() -> None:
    whole = list(split([NESTED], "e"))
    for at in range(len(NESTED)):
        assert list(split([NESTED[:at], NESTED[at:]], "e")) == whole, at


def test_a_namespace_can_be_asked_for() -> None:
    assert [canonical(record) for record in split([NESTED], "{urn:other}e")] == [
        b'<p:e xmlns:p="urn:other" p:a="1"></p:e>'
    ]
    assert len(list(split([NESTED], "{urn:d}e"))) == 4
    assert len(list(split([NESTED], "{}e"))) == 1


@pytest.mark.parametrize("record", ["", "p:e", "{urn:x}", "x}e", "a b", "<a>", "1x", "{urn:x}a/b"])
def test_a_name_that_cannot_be_one_is_refused(record: str) -> None:
    with pytest.raises(ValueError, match="record"):
        list(split([], record))


@pytest.mark.parametrize(
    ("data", "good", "bad"),
    [
        (b"<r><e>1</e><e>2", 1, b"<e>2"),
        (b"<r><e>1</e><f", 1, b"not a document: the file ends within"),
        (b"<r><e>1</e>", 1, b"not a document: the file ends within"),
        (b"<r><e>1</e><e><!-- </e></r>", 1, b"<e><!-- </e></r>"),
        (b"<r><e>1</e><e a='></e></r>", 1, b"not a document: the file ends within"),
        (b'<?xml version="1.0" encoding="utf-16"?><r><e/></r>', 0, b"not a document: "),
        (b'<?xml version="1.0" encoding="klingon"?><r><e/></r>', 0, b"not a document: "),
        (b"\xff\xfe<\x00r\x00>\x00<\x00e\x00/\x00>\x00<", 1, b"not a document: "),
    ],
)
def test_what_is_cut_off_or_broken_is_refused_later_and_not_lost(data: bytes, good: int, bad: bytes) -> None:
    for size in (1, 3, 1000):
        records = list(split(pieces(data, size), "e"))
        assert len(records) == good + 1
        assert records[-1].startswith(bad)
        with pytest.raises(pathcast.DocumentError):
            pathcast.Index().match(records[-1])


def test_no_file_has_no_records() -> None:
    assert list(split([], "e")) == list(split([b""], "e")) == []


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_a_record_beyond_the_limit_is_named_and_the_next_one_is_found(size: int) -> None:
    data = b"<r><e>1</e><e>" + b"x" * 500 + b"</e><e>3</e></r>"
    first, long, third = split(pieces(data, size), "e", max_bytes=100)
    assert (first, third) == (b"<e>1</e>", b"<e>3</e>")
    assert long == b"not a document: record 2 has 507 bytes, more than the 100 allowed"


def test_memory_stays_at_one_record() -> None:
    from pathcast.spark.worker.split import Splitter

    splitter = Splitter("e")
    for _ in range(200):
        assert len(list(splitter.feed(b"<e>" + b"x" * 100 + b"</e>" + b"<!--" + b"y" * 1000 + b"-->"))) == 1
        assert len(splitter._buffer) < 200


class Writer:
    """Draws documents that try to fool a splitter; tiny alphabets, so that records nest and repeat."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def text(self) -> str:
        return self.random.choice(
            [
                "",
                " ",
                "t",
                "]]",
                "&lt;e>",
                "<!--<e>-->",
                "<!-- </e> -->",
                "<![CDATA[</e><e>]]>",
                "<?p </e>?>",
                ">",
            ]
        )

    def element(self, depth: int) -> str:
        random = self.random
        scope = random.choice(["", "", ' xmlns="urn:a"', " xmlns=''", ' xmlns:p="urn:b"', " xmlns:q='urn:c'"])
        name = random.choice(["e", "e", "ee", "f", "p:e", "p:f"])
        attribute = random.choice(["", "", " a='>'", ' a="/>"', " a='&lt;e xmlns=\"no\">'", ' b = "\'" '])
        if random.random() < 0.2 or depth > 4:
            return f"<{name}{scope}{attribute}/>"
        inside = "".join(self.text() + self.element(depth + 1) for _ in range(random.randint(0, 3)))
        return f"<{name}{scope}{attribute}>{inside}{self.text()}</{name}{random.choice(['', ' '])}>"

    def document(self) -> bytes:
        return f'<r xmlns:p="urn:p">{self.element(0)}{self.element(0)}{self.text()}</r>'.replace(
            "]]>>", "]]>"
        ).encode()


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 1 << 40), size=st.integers(1, 50))
def test_any_document_gives_the_records_of_lxml(seed: int, size: int) -> None:
    data = Writer(Random(seed)).document()
    records = list(split(pieces(data, size), "e"))
    assert records == list(split([data], "e"))
    assert [canonical(record) for record in records] == outermost(data, "e")


def test_a_record_gets_only_the_namespaces_it_uses() -> None:
    many = b" ".join(b"xmlns:p%d='urn:%d'" % (number, number) for number in range(20))
    file = b"<r xmlns='urn:d' " + many + b"><e/><e p3:x='1'/><e><p7:y z='p5:q'/></e><e xmlns='urn:own'/></r>"
    assert list(split([file], "e")) == [
        b"<e xmlns='urn:d'/>",
        b"<e xmlns='urn:d' xmlns:p3='urn:3' p3:x='1'/>",
        b"<e xmlns='urn:d' xmlns:p5='urn:5' xmlns:p7='urn:7'><p7:y z='p5:q'/></e>",
        b"<e xmlns='urn:own'/>",
    ]


def test_inner_declarations_end_with_their_element() -> None:
    file = b"<r xmlns:p='urn:1'><s xmlns:p='urn:2' xmlns:q='urn:q'><p:e/></s><p:e q:x=''/></r>"
    assert list(split([file], "e")) == [b"<p:e xmlns:p='urn:2'/>", b"<p:e xmlns:p='urn:1' q:x=''/>"]


@pytest.mark.parametrize(
    "file",
    [
        b"<r " + b" ".join(b"xmlns:p%d='urn:%d'" % (at, at) for at in range(6000)) + b">" + b"<e/>" * 6000,
        b"<r xmlns='urn:" + b"x" * 60_000 + b"'>" + b"<e/>" * 6000,
        b"<r xmlns:p='urn:" + b"x" * 60_000 + b"'>" + b"<p:e/>" * 6000,
        b"".join(b"<r xmlns:p%d='urn:%d'>" % (at, at) for at in range(6000)) + b"<e/>",
    ],
)
def test_records_are_no_more_than_a_few_times_the_file(file: bytes) -> None:
    records = list(split([file + b"</r>"], "e"))
    assert len(records) >= file.count(b"<e/>") + file.count(b"<p:e/>")
    assert sum(map(len, records)) < (2 << 20) + 32 * len(file) + 200 * len(records)


@pytest.mark.parametrize(
    "encoding",
    ["zlib", "bz2", "hex", "base64", "uu", "quopri", "rot13", "idna", "punycode", "unicode_escape", "nope"],
)
def test_what_is_no_encoding_of_text_is_a_dead_letter(encoding: str) -> None:
    file = f"<?xml version='1.0' encoding='{encoding}'?><r><e/></r>".encode()
    (letter,) = split([file], "e")
    assert letter.startswith(b"not a document: the bytes behind record 0 cannot be decoded")
