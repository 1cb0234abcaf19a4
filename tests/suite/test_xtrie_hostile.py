"""What XTrie keeps while a document runs: bounded, however often a prefix of a pattern is found.

A state or a note belongs to a row, or to what rows share, and to an open element. So the bound is the table's
size times the document's depth, and never the document's length. After a document that made it large it is
given back. Numbers name the cases of the project's list.
"""

from __future__ import annotations

import pytest

from tests.engines import index_with

ENGINES = ("xtrie", "xtrie-lazy")
A_ROW = 256  # bytes a row may take, at most, and for each open element besides
AN_ELEMENT = 64


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_prefixes_that_match_thousands_of_times_and_never_complete(engine: str, ordered: bool) -> None:
    # twenty thousand times in a hundred open elements of one name
    count, depth = 1_000, 100
    index = index_with(engine, ordered=ordered)
    index.add_many((n, f"//a[.//b]//a[.//c]//a[b]//z{n}") for n in range(count))
    index.add_many((count + n, f"//a[b][.//c]//a[.//b][z{n}]") for n in range(count))
    inside = "<b/><c/>" * 200
    kept = 0
    for width in (1, 100):
        document = f"{'<a>' * depth}{inside * width}{'</a>' * depth}"
        assert index.match(document) == []
        stats = index.stats()
        assert stats["native"] == 2 * count
        rows = 2 * count * 8
        assert stats["cache_bytes"] < rows * (A_ROW + depth * AN_ELEMENT), f"{width} times"
        kept = kept or stats["cache_bytes"]
        assert stats["cache_bytes"] <= 1.5 * kept + (1 << 20), "the document's length does not count"
    deep = f"{'<a>' * depth}<b/><c/><z7/>{'</a>' * depth}"
    # In order, no two branches may lie under one child, and a chain has no other.
    assert index.match(deep) == ([] if ordered else [7])


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_many_patterns_of_sixty_branches(engine: str, ordered: bool) -> None:
    # all but the last branch are found in every document
    count, branches = 300, 60
    index = index_with(engine, ordered=ordered)
    shared = "".join(f"[x{n}/y]" for n in range(branches - 1))
    index.add_many((n, f"/r{shared}[x{branches}/y{n}]") for n in range(count))
    assert index.stats()["native"] == count
    found = "".join(f"<x{n}><y/></x{n}>" for n in range(branches - 1))
    assert index.match(f"<r>{found * 20}</r>") == []
    assert index.match(f"<r>{found}<x{branches}><y7/></x{branches}></r>") == [7]
    missing = found.replace("<x30>", "<x31>").replace("</x30>", "</x31>")
    assert index.match(f"<r>{missing}<x{branches}><y7/></x{branches}></r>") == []
    assert index.stats()["cache_bytes"] < count * (branches + 1) * (A_ROW + 4 * AN_ELEMENT)


@pytest.mark.parametrize("engine", ENGINES)
def test_siblings_that_share_all_substrings(engine: str) -> None:
    branches = 60
    ordered, unordered = index_with(engine, ordered=True), index_with(engine)
    for index in (ordered, unordered):
        index.add_many((n, f"/r/s{n}" + "[a/b]" * branches) for n in range(200))
    pairs = "<a><b/></a>"
    for n, times, expected in ((7, branches, [7]), (8, branches - 1, []), (9, 20_000, [9])):
        document = f"<r><s{n}>{pairs * times}</s{n}></r>"
        assert ordered.match(document) == expected
        assert unordered.match(document) == [n]  # one element serves all branches


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_deep_document_made_large_is_given_back(engine: str) -> None:
    index = index_with(engine, ordered=True, cache_bytes=1 << 20)
    index.add_many((n, f"//a[.//b][.//z{n}]//a[b][z]") for n in range(2_000))
    small = "<a><b/></a>"
    assert index.match(small) == []
    before = index.stats()["cache_bytes"]
    assert index.match("<a>" * 600 + "<b/>" * 3 + "</a>" * 600) == []
    index.match(small)
    assert index.stats()["cache_bytes"] <= before + (2 << 20)
