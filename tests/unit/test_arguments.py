"""Errors about arguments name the argument."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pathcast

CALLS: dict[str, Callable[[pathcast.Index], Any]] = {
    "engine": lambda index: pathcast.Index(5),  # type: ignore[arg-type]
    "limits": lambda index: pathcast.Index(limits={"depth": 5}),  # type: ignore[arg-type]
    "ordered": lambda index: pathcast.Index(ordered="yes"),  # type: ignore[arg-type]
    "ignore_namespaces": lambda index: pathcast.Index(ignore_namespaces=1),  # type: ignore[arg-type]
    "cache_bytes": lambda index: pathcast.Index(cache_bytes="1 MB"),  # type: ignore[arg-type]
    "schema": lambda index: pathcast.Index(schema="news.dtd"),  # type: ignore[arg-type]
    "prune": lambda index: pathcast.Index(prune=3),  # type: ignore[arg-type]
    "validate": lambda index: pathcast.Index(validate="yes"),  # type: ignore[arg-type]
    "entities": lambda index: pathcast.Index(entities="xhtml"),  # type: ignore[arg-type]
    "depth": lambda index: pathcast.Limits(depth="deep"),  # type: ignore[arg-type]
    "xpath": lambda index: index.add(1, 5),  # type: ignore[arg-type]
    "namespaces": lambda index: index.add(1, "//a", namespaces={"n": 5}),  # type: ignore[dict-item]
    "variables": lambda index: index.add(1, "//a", variables={5: "x"}),  # type: ignore[dict-item]
    "subscriptions": lambda index: index.add_many(5),  # type: ignore[arg-type]
    "documents": lambda index: index.match_many(5),  # type: ignore[arg-type]
    "threads": lambda index: index.match_many([], threads="all"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("argument", CALLS)
def test_a_wrong_type_names_the_argument(argument: str) -> None:
    with pytest.raises(TypeError, match=rf"\b{argument}\b"):
        CALLS[argument](pathcast.Index())


@pytest.mark.parametrize("single", ["<a/>", b"<a/>", bytearray(b"<a/>"), Path("a.xml")])
def test_one_document_is_not_many(single: Any) -> None:
    with pytest.raises(TypeError, match="documents must be an iterable of documents, not one"):
        pathcast.Index().match_many(single)
    with pytest.raises(TypeError, match="put it into a list"):
        pathcast.Index().match_stream(single)


def test_an_open_file_is_one_document(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<a/>")
    with open(tmp_path / "a.xml", "rb") as file, pytest.raises(TypeError, match="documents"):
        pathcast.Index().match_many(file)


def test_nothing_in_the_place_of_a_document() -> None:
    index = pathcast.Index()
    index.add("s1", "//a")
    first, second, third = index.match_many(["<a/>", None, "<a/>"], threads=None)
    assert isinstance(second, pathcast.DocumentError)
    assert (list(first), list(third)) == (["s1"], ["s1"])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        index.match(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["news.xml", "documents/2026 10/news.xml"])
def test_the_name_of_a_file_is_no_document(name: str) -> None:
    with pytest.raises(pathcast.DocumentError, match=r"give a file as pathlib\.Path") as caught:
        pathcast.Index().match(name)
    assert (caught.value.kind, caught.value.line, caught.value.column) == ("malformed", 1, 1)
    (answer,) = pathcast.Index().match_many([name])
    assert isinstance(answer, pathcast.DocumentError)
    with pytest.raises(pathcast.DocumentError, match="pathlib"):
        pathcast.explain("/news", name)


def test_an_unknown_engine_names_those_that_are_public() -> None:
    with pytest.raises(ValueError, match="there is no engine 'fast'; there are ") as caught:
        pathcast.Index("fast")
    assert str(caught.value).split("there are ")[1].split(", ") == list(pathcast.engines())


@pytest.mark.parametrize("threads", [0, -1])
def test_too_few_threads(threads: int) -> None:
    with pytest.raises(ValueError, match=f"threads must be at least 1, not {threads}"):
        pathcast.Index().match_many([], threads=threads)
