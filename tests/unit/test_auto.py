"""What `auto` chooses, and that it says so."""

from __future__ import annotations

import pytest

import pathcast

MUCH, NONE = 64 << 20, 0


@pytest.mark.parametrize(
    ("xpaths", "cache_bytes", "engine", "reason"),
    [
        ([], MUCH, "auto", "no subscription looks for a path"),
        (["not(/a/b)"], MUCH, "auto", "no subscription looks for a path"),
        (["/a/b", "/a/c/@x"], MUCH, "lazy-dfa", "no // and no *"),
        (["/a/b", "//c"], MUCH, "lazy-dfa", "few sets"),
        (["/a/b", "/a/*"], MUCH, "lazy-dfa", "few sets"),
        (["/a[b = 2]/c"], MUCH, "auto", "no subscription looks for a path"),
        (["/a/b", "//c"], NONE, "yfilter", "no room"),
        (["/a/b"], 2_000, "yfilter", "no room"),
    ],
)
def test_the_choice_for_a_set(xpaths: list[str], cache_bytes: int, engine: str, reason: str) -> None:
    index = pathcast.Index(cache_bytes=cache_bytes)
    index.add_many(enumerate(xpaths))
    stats = index.stats()
    assert (stats["engine"], stats["requested_engine"]) == (engine, "auto")
    assert reason in stats["reason"]


def test_the_set_is_counted_as_it_changes() -> None:
    index = pathcast.Index()
    index.add_many(enumerate(["/a/b", "//c", "/a/*", "//*/@x", "/a/b"]))

    def counts() -> tuple[int, ...]:
        stats = index.stats()
        return tuple(stats[f"{kind}paths"] for kind in ("", "descendant_", "wildcard_", "attribute_"))

    assert counts() == (4, 2, 1, 1)
    index.remove(3)
    index.remove(0)
    assert counts() == (3, 1, 1, 0)
    assert index.stats()["engine"] == "lazy-dfa"
    for number in (1, 2, 4):
        index.remove(number)
    assert (counts(), index.stats()["engine"]) == ((0, 0, 0, 0), "auto")


def test_a_cache_is_built_when_a_second_document_comes() -> None:
    index = pathcast.Index()
    index.add(1, "//b")
    for documents, expected in ((1, (0, 1)), (3, (3, 1))):
        for _ in range(documents):
            assert index.match("<a><b/></a>") == [1]
        stats = index.stats()
        assert (stats["cached_documents"], stats["uncached_documents"]) == expected
    for number in range(2, 10):
        index.add(number, f"//a/b{number}")
        assert index.match("<a><b/></a>") == [1]
    # A path more forgets only what was built from the states that it changed.
    assert index.stats()["cached_documents"] == 11


def test_a_cache_that_does_not_pay_is_left_alone_and_tried_again() -> None:
    index = pathcast.Index(cache_bytes=128 << 10)
    index.add_many((number, f"//n{number}//*//*//m{number}") for number in range(5_000))

    def document(first: int) -> str:
        names = [f"n{(first * 40 + step) % 5_000}" for step in range(40)]
        return "".join(f"<{name}>" for name in names) + "".join(f"</{name}>" for name in reversed(names))

    for first in range(400):  # no two documents share a set of states until there is no more room
        assert index.match(document(first)) == []
    stats = index.stats()
    assert stats["engine"] == "lazy-dfa"
    assert stats["cache_rests"] >= 1
    assert stats["uncached_documents"] > stats["cached_documents"]
    rests = stats["cache_rests"]
    for _ in range(300):
        index.match(document(0))
    stats = index.stats()
    assert stats["cache_rests"] == rests
    assert stats["cached_documents"] > 100
    assert index.match("<n3><a><b><m3/></b></a></n3>") == [3]


@pytest.mark.parametrize("engine", ["auto", "lazy-dfa"])
def test_states_that_multiply_stay_within_the_budget_and_the_give_up_shows(engine: str) -> None:
    """Every document keeps sixteen other patterns half matched."""
    patterns, budget = 10_000, 128 << 10
    index = pathcast.Index(engine, cache_bytes=budget)
    index.add_many((number, f"//a{number}//*//*//b{number}") for number in range(patterns))
    for first in range(0, 4_800, 16):
        numbers = [(first + place) * 7 % patterns for place in range(16)]
        names = [f"{kind}{number}" for kind in "ab" for number in numbers]
        opened = "".join(f"<{name}>" for name in names)
        closed = "".join(f"</{name}>" for name in reversed(names))
        assert index.match(opened + closed) == sorted(numbers)
    stats = index.stats()
    # It is emptied between documents; one document may take it beyond its budget by what it built last.
    assert stats["cache_bytes"] < 4 * budget
    if engine == "auto":
        assert stats["cache_rests"] > 0
    else:
        assert stats["cache_clears"] > 0
        assert stats["uncached_steps"] > 0


def test_twigs_that_look_down_keep_no_tree() -> None:
    index = pathcast.Index()
    index.add_many((number, f"/a/b[@x = '{number}']/c") for number in range(100))
    index.add_many((100 + number, f"//b[. > {number}][c]") for number in range(100))
    index.add("any", "//*[@x = '7']/c[. = 50]")
    index.add("not", "/a[b/@x != 3]/b/c")
    assert (index.stats()["twigs"], index.stats()["decided_on_tree"]) == (202, 0)
    found = index.match("<a><b x='7'><c>50</c></b><b x='x'>999</b></a>")
    assert found == [7, *range(100, 150), "any", "not"]
    assert index.match("<a><b x='7'/><b x='8'><c/></b></a>") == [8, "not"]
    index.add("back", "//b[preceding-sibling::b]")
    assert index.stats()["decided_on_tree"] == 1
    assert index.match("<a><b x='8'/><b x='8'><c/></b></a>") == [8, "not", "back"]
    for number in range(200):
        index.remove(number)
    assert index.match("<a><b x='7'><c>50.0</c></b></a>") == ["any", "not"]


def test_computed_values_are_looked_up_like_any_other() -> None:
    index = pathcast.Index()
    index.add_many((number, f"/a[normalize-space(b) = 'x {number}']") for number in range(100))
    index.add_many((100 + number, f"//b[lower-case(@n) = 'n{number}']") for number in range(100))
    index.add_many((200 + number, f"/a[count(b) > {number}]") for number in range(10))
    index.add("none", "/a[normalize-space(c) = '']")
    index.add("few", "/a[count(c) < 2]")
    index.add("long", "/a[string-length(b) >= 5]")
    index.add("part", "//b[contains(upper-case(.), 'X')][normalize-space() != 'x']")
    stats = index.stats()
    assert (stats["twigs"], stats["decided_on_tree"], stats["typed"]) == (213, 0, 0)
    found = index.match("<a><b n='N7'> x\n 42 </b><b>x 43</b><b/></a>")
    assert found == [42, 107, 200, 201, 202, "none", "few", "long", "part"]
    assert index.match("<a><c/><c>y</c></a>") == ["none"]
    assert index.match("<a><c>y</c></a>") == ["few"]
