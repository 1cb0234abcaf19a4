"""Expressions that are meant to hurt: an error that names the limit, or an answer in bounded work.

Work is counted in evaluation steps, never in time.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

import pathcast
from pathcast import EvaluationError, Index, Limits, XPathError, matches, reference

WIDE = Limits(expression_bytes=1 << 20, steps=1024, nesting=256)
FLAT = "<r>" + "<a>1</a>" * 2_000 + "</r>"


def nested(open: str, close: str, depth: int, inner: str = "b") -> str:
    return open * depth + inner + close * depth


@pytest.mark.parametrize(
    ("name", "xpath"),
    [
        ("predicates", "//a" + nested("[b", "]", 65, "")),
        ("parentheses", nested("(", ")", 65)),
        ("calls", nested("not(", ")", 65)),
        ("arithmetic", nested("1 + (", ")", 65, "1")),
        ("all at once", nested("//a[not((", "))]", 40)),
        ("far too deep", nested("(", ")", 5_000)),
    ],
)
def test_deep_nesting_names_the_limit(name: str, xpath: str) -> None:
    with pytest.raises(pathcast.LimitError, match=r"nested 6[0-9] deep, more than the limit of 64"):
        Index().check(xpath)


def test_signs_and_comparisons_in_a_row() -> None:
    assert matches("-" * 9_999 + "1 < 0", "<a/>")
    assert not matches("-" * 10_000 + "1 < 0", "<a/>")
    with pytest.raises(pathcast.LimitError, match="comparisons stand in a row, more than the limit of 64"):
        Index().check("1" + " = 1" * 65)


def test_ten_thousand_predicates() -> None:
    with pytest.raises(pathcast.LimitError, match="30003 bytes, more than the limit of 16384"):
        Index().check("//a" + "[b]" * 10_000)
    with pytest.raises(pathcast.LimitError, match="more than the limit of 1024"):
        Index(limits=WIDE).check("//a" + "[b]" * 10_000)
    index = Index(limits=WIDE)
    index.add("attributes and values", "//a" + "[. = 1 or . = 2]" * 12 + "[. > 0]" * 990)
    index.add("positions", "//a" + "[last() > 0]" * 1_000)
    assert index.match(FLAT) == ["attributes and values", "positions"]


def test_count_of_everything_in_a_thousand_predicates() -> None:
    predicates = "".join(f"[count(//*) > {number % 7 + 1}]" for number in range(1_000))
    index = Index(limits=Limits(expression_bytes=1 << 20, steps=1024, evaluation_steps=10_000_000))
    index.add("all", "//a" + predicates)
    index.add("none", "//a" + predicates + "[count(//*) > 2001]")
    assert index.match(FLAT) == ["all"]


def test_before_and_behind_every_node() -> None:
    xpath = "//*[count(preceding::*) > count(following::*)]"
    assert matches(xpath, FLAT)
    index = Index(limits=Limits(evaluation_steps=100_000))
    index.add("quadratic", xpath)
    index.add("plain", "//a[. = 1]")
    with pytest.raises(EvaluationError) as caught:
        index.match(FLAT)
    assert (caught.value.matches, caught.value.failures) == (["plain"], ["quadratic"])
    assert index.match("<r><a>1</a></r>") == ["plain"]


def test_translate_with_tables_of_16_kb() -> None:
    table = "".join(chr(0x4E00 + number) for number in range(2_500))
    document = f"<a>{table * 20}</a>"
    xpath = f"string-length(translate(//a, '{table}', '{table[::-1][:2_400]}')) = {20 * 2_400}"
    assert len(xpath.encode()) > 14_000
    index = Index(limits=Limits(evaluation_steps=1_000_000))
    index.add("translated", xpath)
    assert index.match(document) == ["translated"]
    assert reference.matches(xpath, document)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "^(a|a?)+$", "(.*)*x", "(a?){25}a{25}$"])
def test_regular_expressions_that_blow_up_elsewhere(pattern: str) -> None:
    index = Index(limits=Limits(evaluation_steps=1_000_000))
    index.add("bomb", f"matches(/a, '{pattern}')")
    assert index.match("<a>" + "a" * 50_000 + "b</a>") == []


def test_a_regular_expression_that_needs_a_new_state_for_every_byte() -> None:
    index = Index(limits=Limits(evaluation_steps=5_000_000))
    index.add("plain", "//a[matches(., 'ab{20}')]")
    index.add("slow", "matches(/a, '[ab]*a[ab]{2000}c')")
    noise = "".join(Random(1).choices("ab", k=1 << 20))
    with pytest.raises(EvaluationError) as raised:
        index.match(f"<a>{noise}{'b' * 20}</a>")
    assert raised.value.matches == ["plain"]


@pytest.mark.parametrize("pattern", ["(a{1000}){1000}", "((a{100}){100}){100}", r"(\p{L}{1,500}){1,500}"])
def test_regular_expressions_that_are_too_large(pattern: str) -> None:
    with pytest.raises(XPathError, match="takes more than the limit of 1048576 bytes"):
        Index().check(f"matches(., '{pattern}')")


@pytest.mark.parametrize(
    ("xpath", "expected"),
    [
        ("9" * 400 + " = 1 div 0", True),
        ("-" + "9" * 400 + " = -1 div 0", True),
        ("9" * 300 + " * " + "9" * 300 + " = 1 div 0", True),
        ("1 div 0 - 1 div 0 = 0", False),
        ("0 div 0 = 0 div 0", False),
        ("0 div 0 != 0 div 0", True),
        ("1 div (-0) < 0", True),
        ("5 mod 0 = 5 mod 0", False),
        ("5 mod (1 div 0) = 5", True),
        ("round(1 div 0) = 1 div 0", True),
        ("sum(//a) * " + "9" * 306 + " > " + "9" * 308, True),
        ("0." + "0" * 400 + "1 = 0", True),
    ],
)
def test_arithmetic_beyond_numbers(xpath: str, expected: bool) -> None:
    assert matches(xpath, FLAT) is expected
    assert reference.matches(xpath, FLAT) is expected


FAR = str(10**18)


@pytest.mark.parametrize(
    ("xpath", "expected"),
    [
        (f"//a[{FAR}]", False),
        (f"//a[position() = {FAR}]", False),
        (f"//a[position() < {FAR}]", True),
        (f"//a[-{FAR}]", False),
        (f"//a[last() - {FAR} < 0]", True),
        (f"(//a)[{FAR}0000]", False),
        (f"//a[{FAR} - {FAR} + 1]", True),
        (f"substring('abc', {FAR}) = ''", True),
        (f"substring('abcd', -{FAR}, {FAR} + {FAR}) = 'abcd'", True),
        (f"//a[1 div 0] or //a[{FAR} * {FAR}]", False),
    ],
)
def test_positions_of_ten_to_the_eighteenth(xpath: str, expected: bool) -> None:
    assert matches(xpath, FLAT) is expected
    assert reference.matches(xpath, FLAT) is expected


@pytest.mark.parametrize(
    "grown",
    [
        lambda size: "//a" + "[.//a" * size + "]" * size,
        lambda size: "//a[" + " and ".join(["count(.//a/ancestor::a) > 1"] * size) + "]",
        lambda size: "/" + "/descendant::a/ancestor::a" * size,
        lambda size: "//a" + "/following::a/preceding::a" * size,
        lambda size: "count(" + "(" * size + "//a" + ")/ancestor-or-self::*" * size + ") > 1",
    ],
)
def test_the_work_grows_with_the_expression_not_with_its_power(grown: Callable[[int], str]) -> None:
    """Ten times the expression may cost ten times the steps and some, on a chain of elements."""
    document = "<a>" * 60 + "<b/>" * 60 + "</a>" * 60
    for size, steps in ((2, 200_000), (20, 2_000_000)):
        index = Index(limits=Limits(evaluation_steps=steps))
        index.add("grown", grown(size))
        index.match(document)  # an EvaluationError would say that it took more
