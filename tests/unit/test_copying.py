"""Copies of an index: independent, with everything that was set."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

import pathcast
from pathcast.schema import Schema

Copy = Callable[[pathcast.Index], pathcast.Index]
COPIES: dict[str, Copy] = {
    "pickle": lambda index: pickle.loads(pickle.dumps(index)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.fixture(params=COPIES, ids=list(COPIES))
def copied(request: pytest.FixtureRequest) -> Copy:
    return COPIES[request.param]


def test_a_copy_is_independent(copied: Copy) -> None:
    index = pathcast.Index()
    index.add_many({"s1": "//a[ @x > 1 ]", 2: "//b"})
    other = copied(index)
    other.add("s3", "//c")
    other.remove(2)
    index.add("s1", "//z")
    assert dict(index.items()) == {"s1": "//z", 2: "//b"}
    assert dict(other.items()) == {"s1": "//a[ @x > 1 ]", "s3": "//c"}
    assert other.match("<a x='2'><c/></a>") == ["s1", "s3"]


def test_settings_are_copied(copied: Copy) -> None:
    schema = Schema.from_text("<!ELEMENT a (b*)> <!ELEMENT b EMPTY> <!ENTITY me 'us'>")
    index = pathcast.Index(
        "yfilter",
        limits=pathcast.Limits(depth=3),
        namespaces={"n": "urn:x"},
        schema=schema,
        impossible="ignore",
        entities="html",
    )
    other = copied(index)
    other.add(1, "/b")  # impossible, and not told
    other.add(2, "//n:c")
    assert other.stats()["requested_engine"] == "yfilter"
    assert other.match("<a>&nbsp;&me;</a>") == []
    with pytest.raises(pathcast.DocumentLimitError):
        other.match("<a><b><c><d/></c></b></a>")


def test_iteration_and_clearing() -> None:
    index = pathcast.Index(limits=pathcast.Limits(depth=2))
    index.add_many({"b": "//b", "a": "//a", 1: "//c"})
    assert list(index) == ["b", "a", 1]
    for id in index:  # what is iterated is what was there
        index.remove(id)
    index.add("x", "//x")
    index.clear()
    assert (len(index), list(index), index.match("<x/>")) == (0, [], [])
    index.add("b", "//b")
    assert index.match("<a><b/></a>") == ["b"]
    index.clear()
    index.add("other", "//b")  # in the place that "b" had
    assert index.match("<a><b/></a>") == ["other"]
    with pytest.raises(pathcast.DocumentLimitError):
        index.match("<a><b><c/></b></a>")
