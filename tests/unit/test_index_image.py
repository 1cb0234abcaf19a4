"""`Index.save_image` and `Index.load_image`: the same index, or an error; `Index.load` reads no image."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pathcast
from pathcast.errors import IndexFormatError
from pathcast.index import IMAGE_LAYOUT
from pathcast.schema import Schema

DTD = "<!ELEMENT a (b*)><!ELEMENT b EMPTY>"


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return tmp_path / "image"


def test_what_is_opened_is_an_index_like_any_other(image: Path) -> None:
    index = pathcast.Index(ordered=True, namespaces={"n": "urn:n"}, entities={"eh": "é"})
    index.add_many((number, f"/n:a[b = {number % 7}]") for number in range(100))
    index.add("t", "/n:a[b = $v]/c", variables={"v": 3})
    assert index.save_image(image)
    opened = pathcast.Index.load_image(image)
    document = "<a xmlns='urn:n'><b xmlns=''>3</b><c xmlns=''>&eh;</c></a>"
    assert opened.match(document) == index.match(document) == [*range(3, 100, 7), "t"]
    assert dict(opened.items()) == dict(index.items())
    opened.add(3, "/n:a")
    opened.remove("t")
    assert opened.match(document) == list(range(3, 100, 7))
    assert index.match(document)[-1] == "t", "they share nothing"
    assert opened.stats()["memory_bytes"] <= 1.1 * index.stats()["memory_bytes"]


@pytest.mark.parametrize(
    "settings", [{"engine": "yfilter"}, {"schema": Schema.from_text(DTD, root="a")}], ids=str
)
def test_what_has_no_image_says_so(image: Path, settings: dict[str, Any]) -> None:
    index = pathcast.Index(**settings)
    index.add("s1", "/a/b")
    assert not index.save_image(image)
    assert not image.exists()


def test_an_image_that_is_none_or_damaged_is_an_error(image: Path) -> None:
    index = pathcast.Index()
    index.add("s1", "/a/b")
    index.save_image(image)
    contents = image.read_bytes()
    for wrong in (b"", contents[:-1], contents + b"x", contents[:60] + b"?" + contents[61:], contents[:20]):
        image.write_bytes(wrong)
        with pytest.raises(IndexFormatError, match=r"not an image of a Pathcast index|damaged"):
            pathcast.Index.load_image(image)
    other = IMAGE_LAYOUT.encode()[:-1] + b"x"
    image.write_bytes(contents.replace(IMAGE_LAYOUT.encode(), other, 1))
    with pytest.raises(IndexFormatError, match="open the index file that it was made from"):
        pathcast.Index.load_image(image)
    image.write_bytes(contents)
    with pytest.raises(IndexFormatError, match="not a Pathcast index"):
        pathcast.Index.load(image)
    index.save(image)
    with pytest.raises(IndexFormatError, match="not an image of a Pathcast index"):
        pathcast.Index.load_image(image)
    with pytest.raises(FileNotFoundError):
        pathcast.Index.load_image(image.with_name("none"))
    with pytest.raises(OSError, match="none"):
        index.save_image(image.with_name("none") / "image")


def test_equal_indexes_have_equal_images(image: Path) -> None:
    contents = []
    for _ in range(2):
        index = pathcast.Index()
        index.add_many(
            (number, f"//a[b = {number}][c >= {number % 9}]/d{number % 5}") for number in range(3_000)
        )
        index.save_image(image)
        contents.append(image.read_bytes())
    assert contents[0] == contents[1]
