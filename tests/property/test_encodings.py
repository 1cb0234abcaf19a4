"""The same document gives the same answers in every encoding that can write it."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator

from hypothesis import example, given, settings
from hypothesis import strategies as st

import pathcast

# Letters of each repertoire: ASCII, Latin-1, windows-1252 only, the rest of the first plane, and beyond it.
LETTERS = "ab <&>'\"]\t\n" + "é\u00a0ÿß" + "€œ\u2019Ž" + "λ日\u2028\ufffd" + "😀\U0010ffff"
TEXTS = st.text(st.sampled_from(LETTERS), max_size=8)
LEAVES = st.one_of(TEXTS.map(lambda text: escaped(text)), st.sampled_from(["<b/>", "<!--c-->", "<?p d?>"]))


def escaped(text: str) -> str:
    """Text as it stands in content and in attribute values."""
    marked = {character: f"&#{ord(character)};" for character in "<&>'\"]\t\n\r"}
    return "".join(marked.get(character, character) for character in text)


def elements(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def write(name: str, value: str, content: list[str]) -> str:
        return f"<{name} x='{escaped(value)}'>{''.join(content)}</{name}>"

    return st.builds(write, st.sampled_from("abc"), TEXTS, st.lists(children, max_size=4))


ROOTS = elements(st.recursive(LEAVES, elements, max_leaves=8))


def arrivals(root: str) -> Iterator[tuple[str, bytes]]:
    """The document in every encoding, with and without what names it."""

    def declared(encoding: str) -> str:
        return f"<?xml version='1.0' encoding='{encoding}'?>{root}"

    yield "UTF-8", root.encode()
    yield "UTF-8, declared", declared("utf-8").encode()
    yield "UTF-8 with a mark", codecs.BOM_UTF8 + declared("UTF-8").encode()
    for encoding, mark in (("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)):
        yield f"{encoding} with a mark", mark + root.encode(encoding)
        yield f"{encoding} with a mark, declared", mark + declared("UTF-16").encode(encoding)
    for encoding, mark in (("utf-32-le", codecs.BOM_UTF32_LE), ("utf-32-be", codecs.BOM_UTF32_BE)):
        yield f"{encoding} with a mark", mark + root.encode(encoding)
        yield f"{encoding}, declared", declared("UTF-32").encode(encoding)
    # what an encoding cannot write is a character reference
    for name, encoding in (
        ("ISO-8859-1", "latin-1"),
        ("iso-8859-1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("US-ASCII", "ascii"),
        ("UTF-8", "ascii"),
        ("ISO-8859-15", "iso8859-15"),
        ("KOI8-R", "koi8-r"),
        ("EUC-JP", "euc-jp"),
        ("gb18030", "gb18030"),
    ):
        yield f"{name} as {encoding}", declared(name).encode(encoding, "xmlcharrefreplace")
    yield "UTF-8, nothing but ASCII", root.encode("ascii", "xmlcharrefreplace")


def subscriptions(values: list[str]) -> Iterator[str]:
    yield from (
        "//b",
        "/a/b",
        "//a[b][c]",
        "//@x",
        "//*[not(*)]",
        "//comment()",
        "//processing-instruction('p')",
    )
    for value in values:
        quoted = f"'{value}'" if "'" not in value else f'"{value}"'
        if "'" in value and '"' in value:
            continue
        yield from (f"//* = {quoted}", f"//@x = {quoted}", f"//*[contains(., {quoted})]")
        yield from (f"//*[starts-with(@x, {quoted})]", f"//text() = {quoted}", f"//b != {quoted}")


@settings(max_examples=150, deadline=None)
@given(root=ROOTS, values=st.lists(TEXTS, max_size=3))
@example(root="<a x='é€😀'>é€😀\u0085</a>", values=["é€😀", "é", "é€😀\u0085"])
def test_every_encoding_gives_the_same_answers(root: str, values: list[str]) -> None:
    index = pathcast.Index()
    index.add_many(enumerate(subscriptions(values)))
    expected = index.match(root)
    for encoding, document in arrivals(root):
        assert index.match(document) == expected, f"{encoding}: {document!r}"
        assert index.match(io.BytesIO(document)) == expected, f"{encoding}, as a file: {document!r}"
