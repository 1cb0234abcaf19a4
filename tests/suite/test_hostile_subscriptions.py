"""Hostile subscriptions at real sizes; small ones are in `testdata/`."""

from __future__ import annotations

import gc

import pytest

import pathcast
from pathcast import Limits
from tests.suite.hostile import WIDE, error_of, index_of, nested, within

# Subscriptions


@pytest.mark.parametrize(
    ("xpath", "matches"),
    [("/", True), (".", True), ("//*", True), ("/*", True), ("*//*//*", True), ("//*[*]", True),
     ("*//*//*//*", False), ("//" + "/".join("*" * 256), False)],
)  # fmt: skip
def test_wildcards(xpath: str, matches: bool) -> None:
    assert pathcast.matches(xpath, "<a><b><c/></b></a>") is matches


def test_sixty_four_descendant_wildcards() -> None:
    with within(5):
        index = index_of("//*" * 64, "//*" * 65, "//*" * 64 + "[b]", "//a" * 64, "//a//*" * 32, "/*" * 64)
        assert index.match(nested(63)) == []
        assert index.match(nested(64)) == [0, 3, 4, 5]
        assert index.match(nested(1_000)) == [0, 1, 3, 4, 5]


def test_many_patterns_with_gaps_in_the_middle() -> None:
    count = 100_000
    index = pathcast.Index()
    with within(20):
        index.add_many((n, f"//a{n}//*//*//b{n}") for n in range(count))
    assert index.stats()["memory_bytes"] < count * 1_024
    opened = "".join(f"<a{n}>" for n in range(500))
    closed = "".join(f"</a{n}>" for n in reversed(range(500)))
    inner = "".join(f"<b{n}/>" for n in range(0, 1_000, 2))
    with within(20):
        found = index.match(f"{opened}<x>{inner}</x>{closed}")
    # two elements between: a498 has only a499 and x below it, and a499 only x
    assert found == [n for n in range(0, 500, 2) if n <= 498]
    assert index.stats()["memory_bytes"] < count * 1_024, "matching leaves nothing behind"


def test_many_equal_gaps() -> None:
    # all gaps are open at once at every level of the document
    index = pathcast.Index()
    index.add_many((n, f"//a//*//*//b{n}") for n in range(100_000))
    document = b"<a>" * 500 + b"<b7/><b99999/>" + b"</a>" * 500
    with within(10):
        assert index.match(document) == [7, 99_999]


def test_a_thousand_predicates() -> None:
    xpath = "//a" + "".join(f"[b{n}//c][d{n}//e]" for n in range(500))
    with pytest.raises(pathcast.XPathLimitError):
        index_of(xpath)
    limits = Limits(expression_bytes=1 << 20, steps=1_024)
    xpath = "//a" + "".join(f"[b{n}]" for n in range(1_000))
    index = index_of(xpath, xpath + "[none]", limits=limits)
    with within(5):
        assert index.match(f"<r><a>{''.join(f'<b{n}/>' for n in range(1_000))}</a></r>") == [0]
        assert index.match(f"<r>{'<a><b1/></a>' * 10_000}</r>") == []


@pytest.mark.parametrize(
    "xpath",
    [
        pytest.param("(" * 20_000 + "a" + ")" * 20_000, id="parentheses"),
        pytest.param("(" * 20_000, id="open parentheses"),
        pytest.param("a" + "[a" * 20_000 + "]" * 20_000, id="predicates"),
        pytest.param("not(" * 20_000 + "a" + ")" * 20_000, id="not"),
        pytest.param(" or ".join(["a"] * 20_000), id="or of equal terms"),
        pytest.param(" or ".join(f"a{n}" for n in range(20_000)), id="or of different terms"),
        pytest.param(" and ".join(f"a{n}" for n in range(20_000)), id="and"),
        pytest.param(" | ".join(f"a{n}" for n in range(20_000)), id="union"),
        pytest.param("+".join(["1"] * 40_000), id="plus"),
        pytest.param("-" * 40_000 + "1", id="minus"),
        pytest.param("/".join(["a"] * 20_000), id="steps"),
        pytest.param("a" + "[b]" * 20_000, id="many predicates"),
        pytest.param("(a or b) and " * 10_000 + "c", id="expansion"),
    ],
)
def test_long_expressions(xpath: str) -> None:
    with within(5):
        with pytest.raises(pathcast.XPathLimitError):
            index_of(xpath)
        with pytest.raises(pathcast.XPathLimitError):
            pathcast.explain(xpath, "<a/>")
    index = pathcast.Index(limits=WIDE)
    with within(20):
        try:
            index.add(0, xpath)
        except pathcast.XPathError:
            assert len(index) == 0
        else:
            index.match("<a><b/></a>")
            index.remove(0)
            assert index.stats()["distinct"] == 0


def test_long_literals() -> None:
    text = "é" * 50_000
    with pytest.raises(pathcast.XPathLimitError):
        index_of(f"//a = '{text}'")
    index = index_of(
        f"//a = '{text}'",
        f'//a[contains(., "{text}")]',
        f"//@x != '{text}'",
        f"'{text}'",
        "//b = '😀'",
        limits=WIDE,
    )
    assert index.match(f"<a x='{text}'>{text}</a>") == [0, 1, 3]
    assert index.match(f"<a x=''>{text}é<b>😀</b></a>") == [1, 2, 3, 4]
    with pytest.raises(pathcast.XPathError):
        index_of("//a = '\0'")
    with pytest.raises(pathcast.XPathError):
        index_of(f"//a = '{text}\"", limits=WIDE)


@pytest.mark.parametrize("needle", ["(a+)+$", "%_%_%_", "a" * 1_000 + "b"])
def test_needles_that_are_bombs_elsewhere(needle: str) -> None:
    index = index_of(f"contains(/a, '{needle}')", f"//a[starts-with(., '{needle}')]")
    with within(5):
        assert index.match(f"<a>{'a' * 1_000_000}</a>") == []
        assert index.match(f"<a>{'a' * 100_000}{needle}</a>") == [0]


def test_what_decides_comes_last() -> None:
    index = index_of("/r/a[b = 'x']/c", "/r/a[b = 'y']/c", "//c[following-sibling::b = 'x']", "//c")
    filler = "<c/>" * 100_000
    assert index.match(f"<r><a>{filler}<b>x</b></a></r>") == [0, 2, 3]
    assert index.match(f"<r><a>{filler}<b>y</b></a></r>") == [1, 3]
    assert index.match(f"<r><a>{filler}</a><a><b>x</b></a></r>") == [3]
    error = error_of(f"<r><a>{filler}<b>x</b></a></q>")
    assert error.kind == "malformed"


def test_a_million_equal_subscriptions() -> None:
    count = 1_000_000
    index = pathcast.Index()
    with within(30):
        index.add_many((n, "//a[b = 'x']/c") for n in range(count))
    assert index.stats()["distinct"] == 1
    (matches,) = index.match_many(["<a><c/><b>x</b></a>"])
    assert len(matches) == count  # type: ignore[arg-type]
    with within(30):
        for n in range(count):
            index.remove(n)
    assert len(index) == index.stats()["distinct"] == 0
    assert index.match("<a><c/><b>x</b></a>") == []
    assert len(matches) == count  # type: ignore[arg-type]


def test_ids_chosen_to_collide() -> None:
    # multiples of the inverse of a well-known multiplier fall into one bucket of a table that uses it
    inverse = pow(0xF1357AEA2E62A9C5, -1, 1 << 64)
    ids = [(number * inverse + (1 << 63)) % (1 << 64) - (1 << 63) for number in range(100_000)]
    index = pathcast.Index()
    with within(5):
        index.add_many((id, "//a") for id in ids)
        assert all(id in index for id in ids)
        for id in ids:
            index.remove(id)


def test_many_different_subscriptions() -> None:
    count = 300_000
    index = pathcast.Index()
    with within(30):
        index.add_many((n, f"/a/b{n % 1_000}/c{n}[@x > {n}]") for n in range(count))
    stats = index.stats()
    assert stats["distinct"] == count
    assert stats["memory_bytes"] < count * 1_024
    with within(5):
        assert index.match("<a><b7><c7 x='8'/><c1007 x='1'/></b7></a>") == [7]
    with within(30):
        for n in range(count):
            index.remove(n)
    assert index.stats()["distinct"] == 0
    assert index.match("<a><b7><c7 x='8'/></b7></a>") == []


def test_all_match_everything() -> None:
    count = 200_000
    index = pathcast.Index()
    index.add_many((n, f"//*[not(none{n})]" if n % 100 == 0 else "//*") for n in range(count))
    objects = len(gc.get_objects())
    with within(20):
        batch = index.match_many(["<a/>"] * 100, threads=2)
    assert len(gc.get_objects()) - objects < 1_000, "no id is built until asked"
    assert [len(matches) for matches in batch] == [count] * 100  # type: ignore[arg-type]
    last = batch[99]
    assert isinstance(last, pathcast.Matches)
    assert last[-1] == count - 1
    assert list(last) == list(range(count))
