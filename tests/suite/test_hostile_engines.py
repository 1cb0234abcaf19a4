"""Sets and documents made to hurt an engine, with every engine: the right answer within bounds.

`PATHCAST_HOSTILE=1` takes the full sizes.
"""

from __future__ import annotations

import os

import pytest

pytest.importorskip("pathcast._core")

from tests.engines import ENGINES, index_with

FULL = bool(os.environ.get("PATHCAST_HOSTILE"))
PATTERNS = 100_000 if FULL else 10_000
EQUAL = 1_000_000 if FULL else 50_000
NAMES = 10_000

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def nested(names: list[str]) -> bytes:
    opened = "".join(f"<{name}>" for name in names)
    return (opened + "".join(f"</{name}>" for name in reversed(names))).encode()


def test_hostile_52_gaps_whose_states_multiply(engine: str) -> None:
    budget = 128 << 10
    index = index_with(engine, cache_bytes=budget)
    index.add_many((number, f"//a{number}//*//*//b{number}") for number in range(PATTERNS))
    for first in range(0, 4_800, 16):
        # Every document keeps sixteen other patterns half matched, so no two reach the same states.
        opened = [f"a{(first + place) * 7 % PATTERNS}" for place in range(16)]
        closed = [name.replace("a", "b") for name in opened]
        # Every b is sixteen levels below its a.
        assert index.match(nested([*opened, *closed])) == sorted(int(name[1:]) for name in opened)
        assert index.match(nested([opened[0], "x", closed[0]])) == []
        assert index.match(nested([opened[0], "x", "y", closed[0]])) == [int(opened[0][1:])]
    stats = index.stats()
    assert stats["distinct"] == PATTERNS
    assert stats["memory_bytes"] < 2_000 * PATTERNS
    # A cache is emptied between documents; one document may take it beyond its budget by what it built last.
    assert stats["cache_bytes"] < 4 * budget + 64 * PATTERNS
    if engine == "lazy-dfa":
        assert stats["cache_clears"] > 0
    if engine == "auto":
        assert stats["cache_rests"] > 0 or stats["cache_clears"] > 0


def test_one_name_a_thousand_deep(engine: str) -> None:
    index = index_with(engine)
    paths = ["//a//a//a//a//a", "/a" * 250, "//a" * 100, "//a//a//b", "/a//*//a//*", "//a//@x"]
    index.add_many(enumerate(paths))
    assert index.match(nested(["a"] * 1_000)) == [0, 1, 2, 4]
    assert index.match(nested(["a"] * 4)) == [4]


def test_hostile_63_the_same_over_and_over(engine: str) -> None:
    index = index_with(engine)
    index.add_many((number, "//a/b") for number in range(EQUAL))
    assert index.stats()["distinct"] == 1
    assert len(index.match(b"<a><b/></a>")) == EQUAL
    assert index.match(b"<b><a/></b>") == []
    assert index.stats()["memory_bytes"] < 200 * EQUAL


def test_many_names_that_nobody_asked_for(engine: str) -> None:
    index = index_with(engine)
    index.add_many(enumerate(["//n1/*", "//z", "/r/*/@k", "//*//n7777"]))
    before = index.stats()
    children = "".join(f"<n{number} k{number}=''><m{number}/></n{number}>" for number in range(NAMES))
    for _ in range(2):
        assert index.match(f"<r>{children}</r>") == [0, 3]
    after = index.stats()
    assert after["names"] == before["names"]
    assert after["cache_bytes"] < 1 << 20
