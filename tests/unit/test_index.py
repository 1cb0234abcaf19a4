"""`Index`: ids, adding, replacing, removing, and every way a document or a subscription may arrive."""

from __future__ import annotations

import gzip
import io
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import pathcast
from pathcast.types import Document

DOCUMENT = "<a><b x='1'>é</b></a>"


def index_of(*xpaths: str) -> pathcast.Index:
    """Expressions by position, from 0."""
    index = pathcast.Index()
    index.add_many(enumerate(xpaths))
    return index


class Broken(io.RawIOBase):
    """A file that fails after its first piece."""

    def __init__(self, error: BaseException, first: bytes = b"<a>") -> None:
        self._error = error
        self._pieces = [first]

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        if self._pieces:
            return self._pieces.pop()
        raise self._error


# Ids and order


def test_ids_are_strings_and_numbers_side_by_side() -> None:
    index = pathcast.Index()
    ids: list[str | int] = ["1", 1, "", -1, 0, "é\n", 2**63 - 1, -(2**63), "x" * 10_000, "\0"]
    for id in ids:
        index.add(id, "//a")
    assert index.ids() == ids
    assert index.match("<a/>") == ids
    assert [type(id) for id in index.match("<a/>")] == [type(id) for id in ids]
    assert all(id in index for id in ids)
    index.remove("1")
    assert 1 in index
    assert "1" not in index


def test_a_bool_is_no_id() -> None:
    index = pathcast.Index()
    index.add(1, "//a")
    with pytest.raises(TypeError, match="an id is a str or an int, not bool"):
        index.add(True, "//b")
    with pytest.raises(KeyError):
        index.remove(True)
    assert True not in index
    assert index.match("<a/>") == [1]


@pytest.mark.parametrize("id", [2**63, -(2**63) - 1, 10**100])
def test_a_number_beyond_64_bits_is_an_overflow(id: int) -> None:
    index = pathcast.Index()
    with pytest.raises(OverflowError, match="64 bits"):
        index.add(id, "//a")
    with pytest.raises(OverflowError, match="64 bits"):
        index.add_many([(1, "//a"), (id, "//a")])
    assert len(index) == 0
    assert id not in index
    with pytest.raises(KeyError):
        index.remove(id)


@pytest.mark.parametrize("id", [None, 1.0, b"s", ("s",), ["s"], object()])
def test_anything_else_is_no_id(id: Any) -> None:
    index = index_of("//a")
    with pytest.raises(TypeError, match="an id is a str or an int"):
        index.add(id, "//a")
    assert id not in index
    with pytest.raises(KeyError):
        index.remove(id)
    assert len(index) == 1


def test_an_id_with_a_lone_surrogate_is_refused() -> None:
    index = pathcast.Index()
    with pytest.raises(UnicodeEncodeError):
        index.add("\ud800", "//a")
    assert "\ud800" not in index
    assert len(index) == 0


def test_replacing_keeps_the_place() -> None:
    index = index_of("//a", "//a", "//a")
    index.add(1, "//b")
    assert index.match("<a/>") == [0, 2]
    assert index.match("<a><b/></a>") == [0, 1, 2]
    index.add(1, "//a")
    assert index.match("<a/>") == [0, 1, 2]
    assert index.ids() == [0, 1, 2]
    assert index.stats()["distinct"] == 1


def test_a_refused_replacement_changes_nothing() -> None:
    index = index_of("//a")
    with pytest.raises(pathcast.XPathError):
        index.add(0, "//a[")
    with pytest.raises(TypeError):
        index.add(0, b"//b")  # type: ignore[arg-type]
    assert index.match("<a/>") == [0]


def test_removing_an_unknown_id_names_it() -> None:
    index = index_of("//a")
    index.remove(0)
    for id in (0, "never"):
        with pytest.raises(KeyError) as caught:
            index.remove(id)
        assert caught.value.args == (id,)
    assert len(index) == 0
    assert index.ids() == []
    assert index.stats()["distinct"] == 0


def test_adding_again_after_removing_goes_to_the_end() -> None:
    index = index_of("//a", "//a")
    index.remove(0)
    index.add(0, "//a")
    assert index.ids() == [1, 0]


def test_many_removals_close_the_gaps_and_keep_the_order() -> None:
    index = pathcast.Index()
    index.add_many((number, f"//a[@x = {number % 7}]") for number in range(5_000))
    for number in range(5_000):
        if number % 10:
            index.remove(number)
    index.add(5_000, "//a")
    assert index.ids() == [*range(0, 5_000, 10), 5_000]
    assert index.match("<a x='3'/>") == [*(n for n in range(0, 5_000, 10) if n % 7 == 3), 5_000]


def test_stats_has_what_is_promised() -> None:
    index = index_of("//a", "/descendant::a", "//a[b][c]", "not(//d)")
    stats = index.stats()
    assert stats["subscriptions"] == 4
    assert stats["distinct"] == 3
    assert stats["engine"] in pathcast.engines()
    assert stats["memory_bytes"] > 0
    assert repr(index) == f"<Index of 4 subscriptions, engine {stats['engine']}>"


def test_an_unknown_engine_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no engine 'fast'; there are auto"):
        pathcast.Index(engine="fast")


def test_check_raises_what_add_would_and_adds_nothing() -> None:
    index = pathcast.Index(ordered=True)
    index.check("/a[b][c]")
    index.check("/a[b or c]", ordered=False)
    with pytest.raises(pathcast.XPathError, match="ordered"):
        index.check("/a[b or c]")
    with pytest.raises(pathcast.XPathError, match="prefix"):
        index.check("/p:a")
    assert len(index) == 0


@pytest.mark.parametrize(
    "namespaces", [{"p": "urn:x"}, MappingProxyType({"p": "urn:x"}), {"p": "urn:x", "q": "urn:q"}]
)
def test_namespaces_are_any_mapping(namespaces: Any) -> None:
    index = pathcast.Index()
    index.add("own", "//p:b", namespaces=namespaces)
    assert index.match("<b xmlns='urn:x'/>") == ["own"]
    assert index.match("<b/>") == []
    assert pathcast.Index(namespaces=namespaces).check("//p:b") == "//p:b"


@pytest.mark.parametrize("namespaces", ["p", [("p", "urn:x")], {"p": 1}, {1: "urn:x"}, {"p": None}])
def test_anything_else_is_no_mapping(namespaces: Any) -> None:
    with pytest.raises(TypeError):
        pathcast.Index().add("s", "//p:b", namespaces=namespaces)


def test_an_own_prefix_goes_before_that_of_the_set() -> None:
    index = pathcast.Index(namespaces={"p": "urn:set", "": "urn:default"})
    index.add("set", "//p:b")
    index.add("own", "//p:b", namespaces={"p": "urn:own"})
    index.add("default", "//b")
    index.add("none", "//b", namespaces={"": ""})
    assert index.match("<b xmlns='urn:set'/>") == ["set"]
    assert index.match("<b xmlns='urn:own'/>") == ["own"]
    assert index.match("<b xmlns='urn:default'/>") == ["default"]
    assert index.match("<b/>") == ["none"]


# Documents


def arrivals() -> Iterator[Any]:
    data = DOCUMENT.encode()
    yield pytest.param(data, id="bytes")
    yield pytest.param(bytearray(data), id="bytearray")
    yield pytest.param(memoryview(data), id="memoryview")
    yield pytest.param(memoryview(b"?" + data + b"?")[1:-1], id="memoryview with an offset")
    yield pytest.param(
        memoryview(b"".join(bytes([each, 0]) for each in data))[::2], id="memoryview with gaps"
    )
    yield pytest.param(DOCUMENT, id="str")
    yield pytest.param("\ufeff" + DOCUMENT, id="str with a byte order mark")
    yield pytest.param(io.BytesIO(data), id="BytesIO")
    yield pytest.param(io.BufferedReader(io.BytesIO(data)), id="BufferedReader")
    yield pytest.param(gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(data))), id="gzip")


@pytest.mark.parametrize("document", [*arrivals()])
def test_a_document_arrives_in_any_form(document: Document) -> None:
    index = index_of("//b[@x = 1]", "//b = 'é'", "//c")
    assert index.match(document) == [0, 1]


@pytest.mark.parametrize("document", [*arrivals()])
def test_a_document_of_many_arrives_in_any_form(document: Document) -> None:
    if hasattr(document, "seek"):
        document.seek(0)
    index = index_of("//b[@x = 1]", "//b = 'é'", "//c")
    assert [list(each) for each in index.match_many([document, b"<c/>"])] == [[0, 1], [2]]  # type: ignore[arg-type]


def test_a_document_arrives_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "é ü.xml"
    path.write_bytes(DOCUMENT.encode("utf-16"))
    index = index_of("//b = 'é'")
    assert index.match(path) == [0]
    with path.open("rb") as file:
        assert index.match(file) == [0]
        assert index.match_many([path])[0] == [0]
    with path.open("rb", buffering=0) as raw:
        assert index.match(raw) == [0]
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert index.match(mapped) == [0]  # type: ignore[arg-type]
    with os.scandir(tmp_path) as entries:
        assert index.match(next(entries)) == [0]
    with tempfile.SpooledTemporaryFile() as spooled:
        spooled.write(DOCUMENT.encode())
        spooled.seek(0)
        assert index.match(spooled) == [0]  # type: ignore[arg-type]


def test_a_str_is_a_document_and_never_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a/>")
    with pytest.raises(pathcast.DocumentError) as caught:
        index_of("//a").match(str(path))
    assert caught.value.kind == "malformed"


@pytest.mark.parametrize("document", [1, 1.5, ["<a/>"], {"a": 1}, object()])
def test_anything_else_is_no_document(document: Any) -> None:
    index = index_of("//a")
    with pytest.raises(TypeError, match="a document is bytes, str, a path"):
        index.match(document)
    with pytest.raises(TypeError, match="a document is bytes, str, a path"):
        index.match_many(["<a/>", document])
    with pytest.raises(TypeError, match="a document is bytes, str, a path"):
        pathcast.explain("//a", document)


def test_a_text_file_is_a_type_error_that_says_what_to_do() -> None:
    index = index_of("//a")
    with pytest.raises(TypeError, match="open it in binary mode"):
        index.match(io.StringIO("<a/>"))  # type: ignore[arg-type]
    (answer,) = index.match_many([io.StringIO("<a/>")])  # type: ignore[list-item]
    assert isinstance(answer, pathcast.DocumentError)
    assert answer.kind == "io"
    assert "open it in binary mode" in answer.reason


def test_an_exception_of_a_file_comes_out_of_match_as_it_is() -> None:
    index = index_of("//a")
    error = ConnectionResetError("the publisher is gone")
    with pytest.raises(ConnectionResetError) as caught:
        index.match(Broken(error))
    assert caught.value is error
    with pytest.raises(ConnectionResetError):
        pathcast.explain("//a", Broken(error))
    assert index.match("<a/>") == [0]


@pytest.mark.parametrize("threads", [1, 4])
def test_an_exception_of_one_file_of_many_is_an_error_in_its_place(threads: int) -> None:
    index = index_of("//a")
    broken = Broken(ConnectionResetError("the publisher is gone"))
    before, answer, after = index.match_many(["<a/>", broken, "<a/>"], threads=threads)
    assert before == after == [0]
    assert isinstance(answer, pathcast.DocumentError)
    assert answer.kind == "io"
    assert "the publisher is gone" in answer.reason


@pytest.mark.parametrize("threads", [1, 4])
def test_an_interrupt_is_never_an_answer(threads: int) -> None:
    index = index_of("//a")
    with pytest.raises(KeyboardInterrupt):
        index.match_many(["<a/>", Broken(KeyboardInterrupt()), "<a/>"], threads=threads)


def test_a_malformed_document_before_the_exception_is_malformed() -> None:
    with pytest.raises(pathcast.DocumentError) as caught:
        index_of("//a").match(Broken(OSError("not reached"), b"<a></b>" + b" " * 100_000))
    assert caught.value.kind == "malformed"


@pytest.mark.parametrize("name", ["none.xml", "folder"])
def test_a_path_that_cannot_be_read_is_an_io_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    index = index_of("//a")
    with pytest.raises(pathcast.DocumentError) as caught:
        index.match(tmp_path / name)
    assert caught.value.kind == "io"
    bad, good = index.match_many([tmp_path / name, "<a/>"])
    assert isinstance(bad, pathcast.DocumentError)
    assert bad.kind == "io"
    assert good == [0]


def test_a_str_with_a_lone_surrogate_is_an_encoding_error() -> None:
    index = index_of("//a")
    with pytest.raises(pathcast.DocumentError) as caught:
        index.match("<a>\ud800</a>")
    assert caught.value.kind == "encoding"
    answers = index.match_many(["<a/>", "<a>\udfff</a>", "<b/>", "\ud800", "<a/>"], threads=2)
    kinds = [
        answer.kind if isinstance(answer, pathcast.DocumentError) else list(answer) for answer in answers
    ]
    assert kinds == [[0], "encoding", [], "encoding", [0]]


def test_a_file_that_gives_more_than_asked_for_is_read_whole() -> None:
    class Generous:
        def __init__(self) -> None:
            self.pieces = [b"</a>", b"<b>" + b"x" * 300_000 + b"</b>", b"<a>"]

        def read(self, size: int) -> bytes:
            return self.pieces.pop() if self.pieces else b""

    assert index_of("/a/b").match(Generous()) == [0]  # type: ignore[arg-type]


@pytest.mark.parametrize("call", ["match", "match_many", "add", "remove", "len", "save"])
def test_an_index_called_from_the_read_of_its_document_says_so(call: str, tmp_path: Path) -> None:
    """It would wait for itself."""
    index = index_of("//a")

    class Nested:
        def read(self, size: int) -> bytes:
            calls: dict[str, Callable[[], object]] = {
                "match": lambda: index.match("<a/>"),
                "match_many": lambda: index.match_many(["<a/>"]),
                "add": lambda: index.add(1, "//b"),
                "remove": lambda: index.remove(0),
                "len": lambda: len(index),
                "save": lambda: index.save(tmp_path / "index"),
            }
            calls[call]()
            return b""

    with pytest.raises(RuntimeError, match=r"read\(\)"):
        index.match(Nested())  # type: ignore[arg-type]
    (answer,) = index.match_many([Nested()], threads=2)  # type: ignore[list-item]
    assert isinstance(answer, pathcast.DocumentError)
    assert answer.kind == "io"
    assert index.match("<a/>") == [0]


# One-off


def test_matches_takes_what_an_index_takes() -> None:
    assert pathcast.matches("/p:a", b"<a xmlns='urn:x'/>", namespaces={"p": "urn:x"})
    assert pathcast.matches("/a", "<p:a xmlns:p='urn:x'/>", ignore_namespaces=True)
    assert not pathcast.matches("/a[c][b]", "<a><b/><c/></a>", ordered=True)
    assert pathcast.matches("/a[c][b]", io.BytesIO(b"<a><b/><c/></a>"))
    with pytest.raises(pathcast.XPathError):
        pathcast.matches("/a[", "<a/>")
    with pytest.raises(pathcast.DocumentError):
        pathcast.matches("/a", "<a>")
