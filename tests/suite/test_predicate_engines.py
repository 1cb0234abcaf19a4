"""The predicate engines: both ways to decide filters, and sets that make a naive one grow without bound."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Literal

import pytest

pytest.importorskip("lxml")

import pathcast
from tests.property.agreement import batch_of, disagreements, verdicts

ENGINES = ("predicate", "predicate-pc", "predicate-pc-ap")
WAYS: tuple[Literal["inline", "postponed"], ...] = ("inline", "postponed")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("way", WAYS)
def test_both_ways_agree_with_the_reference(engine: str, way: Literal["inline", "postponed"]) -> None:
    for number in range(15):
        batch = batch_of(35, number)
        wrong = disagreements(batch, verdicts(batch), engine, f"35:{number}", attribute_filters=way)
        assert not [str(each) for each in wrong]


def test_an_unknown_way_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="'inline' or 'postponed', not 'later'"):
        pathcast.Index(attribute_filters="later")  # type: ignore[arg-type]


@pytest.mark.parametrize("way", WAYS)
def test_a_file_keeps_the_way_and_the_answer(way: Literal["inline", "postponed"], tmp_path: Path) -> None:
    index = pathcast.Index("predicate-pc", attribute_filters=way)
    index.add_many([(1, "//a[@x = 1]/b"), (2, "//a[@x = 2]/b"), (3, "//a[b]/@x")])
    index.save(tmp_path / "index")
    loaded = pathcast.Index.load(tmp_path / "index")
    assert loaded.stats()["distinct"] == 3
    for each in (index, loaded):
        assert each.match("<r><a x='1'/><a x='2'><b/></a></r>") == [2, 3]
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "index").read_bytes()


@pytest.mark.parametrize("engine", ENGINES)
def test_filters_on_attributes_need_no_tree(engine: str) -> None:
    index = pathcast.Index(engine)
    index.add_many([(number, f"//item[@id = 'n{number}']/title") for number in range(1_000)])
    stats = index.stats()
    assert (stats["linear"], stats["twigs"]) == (1_000, 0)
    assert index.match("<items><item id='n7'><title/></item><item id='n8'/></items>") == [7]


@pytest.mark.parametrize("engine", ENGINES)
def test_many_expressions_of_gaps_with_different_names(engine: str) -> None:
    count = 100_000
    index = pathcast.Index(engine)
    index.add_many([(number, f"//a{number}//*//*//b{number}") for number in range(count)])
    assert index.stats()["memory_bytes"] < 1_000 * count
    deep = "<a7><a8><c><d><b7/><b8/></d></c></a8></a7>"
    assert index.match(f"<r>{deep}</r>") == [7, 8]
    assert index.match("<r><a7><c><b7/></c></a7></r>") == []
    for number in range(count):
        index.remove(number)
    assert index.stats()["distinct"] == 0
    assert index.match(f"<r>{deep}</r>") == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_thousand_levels_of_one_name(engine: str) -> None:
    index = pathcast.Index(engine)
    steps = "/a" * 200
    queries = ["//a//a//a//a//a", f"/{steps}", "//a" * 200 + "/b", "/a" * 10 + "//b", "//b//a", "//a/*/a/@x"]
    index.add_many(list(enumerate(queries)))
    assert index.match("<a>" * 1_000 + "</a>" * 1_000) == [0, 1]
    comb = "<a><b/>" * 999 + "</a>" * 999  # a leaf at every level
    assert index.match(comb) == [0, 1, 2, 3]


def test_a_million_equal_subscriptions() -> None:
    index = pathcast.Index("predicate-pc-ap")
    index.add_many([(number, "//a[@x = 1]//b/*") for number in range(1_000_000)])
    assert index.stats()["distinct"] == 1
    (matches,) = index.match_many(["<a x='1'><c><b><d/></b></c></a>"])
    assert not isinstance(matches, pathcast.DocumentError)
    assert len(matches) == 1_000_000


@pytest.mark.parametrize("engine", ENGINES)
def test_ten_thousand_names_that_nobody_asked_for(engine: str) -> None:
    index = pathcast.Index(engine)
    index.add_many([(1, "//a/*/*"), (2, "/r/*//b"), (3, "//*/*/*/*"), (4, "//c")])
    unknown = "".join(f"<u{number} v{number}='1'><w{number}/></u{number}>" for number in range(10_000))
    assert index.match(f"<r>{unknown}<u><b/></u></r>") == [2]
    deep = "".join(f"<u{number}>" for number in range(500))
    closed = "".join(f"</u{number}>" for number in reversed(range(500)))
    assert index.match(f"<r>{deep}<c/>{closed}</r>") == [3, 4]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("way", WAYS)
def test_many_attributes_lead_to_one_filter_once(engine: str, way: Literal["inline", "postponed"]) -> None:
    index = pathcast.Index(engine, attribute_filters=way)
    index.add_many([(n, f"//a[@* > {n + 5}][@* != {n}]/b") for n in range(100)])
    attributes = " ".join(f"k{n}='5'" for n in range(5_000))
    assert index.match(f"<a {attributes}><b/></a>") == []
    assert index.match(f"<a {attributes} last='6'><b/></a>") == [0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("way", WAYS)
def test_filters_that_all_pass_are_bounded(engine: str, way: Literal["inline", "postponed"]) -> None:
    """Every element is one of a thousand variables; their pairs must not all be tried."""
    index = pathcast.Index(engine, attribute_filters=way)
    count = 1_000
    index.add_many([(n, f"//a[@x != 'v{n}']/b[@y != 'v{n}']/c[@z = 'v{n}']") for n in range(count)])
    random = Random(5)
    wanted = sorted(random.sample(range(count), 20))
    leaves = "".join(f"<c z='v{n}'/>" for n in wanted)
    assert index.match(f"<a x='u'><b y='u'>{leaves}</b></a>") == wanted
