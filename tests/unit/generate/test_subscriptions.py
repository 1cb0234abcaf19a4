"""Generated subscriptions: repeatable, distinct as the index counts them, satisfied by some document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import pathcast
from pathcast.errors import SchemaError
from pathcast.generate import DistinctError, Values, documents, subscriptions
from pathcast.generate.enumeration import linear_paths
from pathcast.generate.paths import key
from pathcast.generate.walk import Odds
from pathcast.schema import Schema

NEWS = Schema.from_dtd(Path(__file__).parents[3] / "examples/news/news.dtd")
SMALL = Schema.from_text(
    "<!ELEMENT a (b?, c?)> <!ELEMENT b (c?, d?)> <!ELEMENT c (d?)> <!ELEMENT d (b?)>", "a"
)


def counted(expressions: list[str], namespaces: Mapping[str, str] | None = None) -> int:
    index = pathcast.Index(namespaces=namespaces)
    index.add_many(enumerate(expressions))
    return int(index.stats()["distinct"])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"wildcard": 0.5, "descendant": 0.5, "relative": 0.3},
        {"branch": 0.5, "nested": 3, "wildcard": 0.4, "descendant": 0.4},
        {"branch": 0.3, "predicates": 2, "skew": 1.0},
        {"predicates": 1, "wildcard": 0.9, "descendant": 0.9},
    ],
)
def test_distinct_is_what_the_index_counts(parameters: dict[str, Any]) -> None:
    drawn = list(subscriptions(NEWS, 1_500, distinct=True, max_depth=6, **parameters))
    assert counted(drawn) == len(drawn) == 1_500
    repeated = list(subscriptions(NEWS, 3_000, max_depth=4, **parameters))
    assert counted(repeated) < 3_000 or parameters.get("predicates")


def test_repeatable() -> None:
    one = list(subscriptions(NEWS, 200, branch=0.2, predicates=1, seed=3))
    assert list(subscriptions(NEWS, 200, branch=0.2, predicates=1, seed=3)) == one
    assert list(subscriptions(NEWS, 200, branch=0.2, predicates=1, seed=4)) != one


def test_every_path_is_satisfied_by_some_valid_document() -> None:
    """Enough documents of a small schema show each of its expressions, branches and all."""
    drawn = list(dict.fromkeys(subscriptions(SMALL, 400, max_depth=4, branch=0.4, nested=2, wildcard=0.3)))
    index = pathcast.Index()
    index.add_many(enumerate(drawn))
    found: set[object] = set()
    for document in documents(SMALL, 3_000, max_levels=7, optional=0.7):
        found.update(index.match(document))
    assert [drawn[place] for place in range(len(drawn)) if place not in found] == []


def test_branches_that_exclude_each_other_are_not_drawn() -> None:
    schema = Schema.from_text("<!ELEMENT r (a | b)> <!ELEMENT a EMPTY> <!ELEMENT b EMPTY>")
    drawn = set(subscriptions(schema, 500, branch=1.0, wildcard=0, descendant=0))
    assert drawn == {"/r[a]", "/r[b]", "/r/a", "/r/b"}  # never /r[a]/b


@pytest.mark.parametrize(
    "odds",
    [
        (0.2, 0.2, 0.0),
        (0.0, 0.3, 0.3),
        (0.3, 0.0, 0.5),
        (0.5, 1.0, 0.0),
        (1.0, 0.5, 0.0),
        (0.3, 0.0, 1.0),
        (0.0, 0.0, 0.0),
    ],
)
def test_the_list_of_all_is_what_draws_reach(odds: tuple[float, float, float]) -> None:
    wildcard, descendant, relative = odds
    listed = [
        key(steps) for steps, _ in linear_paths(SMALL, Odds(4, wildcard, descendant, relative, 0, 0, 0, 0))
    ]
    assert len(set(listed)) == len(listed)
    with pytest.raises(DistinctError) as caught:
        list(
            subscriptions(
                SMALL,
                10**6,
                max_depth=4,
                wildcard=wildcard,
                descendant=descendant,
                relative=relative,
                distinct=True,
            )
        )
    assert (caught.value.found, caught.value.exact) == (len(listed), True)
    drawn = subscriptions(
        SMALL, 60_000, max_depth=4, wildcard=wildcard, descendant=descendant, relative=relative
    )
    assert counted(list(drawn)) <= len(listed)


def test_exactly_all_there_are() -> None:
    parameters: dict[str, Any] = {"max_depth": 4, "wildcard": 0.05, "descendant": 0.05, "distinct": True}
    with pytest.raises(DistinctError) as caught:
        list(subscriptions(SMALL, 10**6, **parameters))
    everything = list(subscriptions(SMALL, caught.value.found, **parameters))
    assert counted(everything) == len(everything) == caught.value.found


def test_predicates_are_counted_and_meet_the_values() -> None:
    drawn = list(subscriptions(NEWS, 300, predicates=2))
    assert all(len(re.findall(r"\[[^\[\]]* (=|!=|<|<=|>|>=) [^\[\]]*\]", one)) == 2 for one in drawn)
    index = pathcast.Index()
    index.add_many(enumerate(drawn))
    matched = {found for document in documents(NEWS, 300) for found in index.match(document)}
    assert len(matched) > 100
    operators = {operator for one in drawn for operator in re.findall(r" (=|!=|<|<=|>|>=) ", one)}
    assert operators == {"=", "!=", "<", "<=", ">", ">="}


def test_values_with_quotes() -> None:
    schema = Schema.from_text("<!ELEMENT a (#PCDATA)>")
    values = Values(words=("it's", '"so"'), numbers=0)
    assert counted(list(subscriptions(schema, 50, predicates=1, values=values, wildcard=0))) > 1


def test_no_room_for_predicates_is_refused() -> None:
    with pytest.raises(SchemaError, match="had no room for the value predicates"):
        list(subscriptions(SMALL, 1, predicates=1))


def test_skew_prefers_first_children() -> None:
    drawn = list(subscriptions(NEWS, 2_000, skew=3, wildcard=0, descendant=0, max_depth=3))
    assert drawn.count("/news/item/category") > 10 * drawn.count("/news/item/body")


def test_progress_is_told() -> None:
    told: list[int] = []
    list(subscriptions(NEWS, 2_500, progress=told.append))
    assert told == [1_000, 2_000, 2_500]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"wildcard": -0.1}, "wildcard is a probability"),
        ({"max_depth": 0}, "max_depth"),
        ({"skew": -1}, "skew"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        subscriptions(NEWS, 1, **parameters)


def test_even_depth_averages_half_of_the_levels() -> None:
    """Depth counts levels; where a schema ends sooner than that, so do its expressions."""
    recursive = Schema.from_text(
        "<!ELEMENT a (b?, c?, d?, e?)> <!ELEMENT b (c?, d?, e?)> <!ELEMENT c (b?, d?, e?)>"
        " <!ELEMENT d EMPTY> <!ELEMENT e EMPTY>",
        "a",
    )
    drawn = list(subscriptions(recursive, 4_000, max_depth=20, descendant=0, even_depth=True))
    depths = [expression.count("/") for expression in drawn]
    assert set(depths) == set(range(1, 21))
    assert 10 < sum(depths) / len(depths) < 11
    plain = list(subscriptions(recursive, 4_000, max_depth=20, descendant=0))
    assert sum(expression.count("/") for expression in plain) / len(plain) < 5
    flat = Schema.from_text("<!ELEMENT a (b, c)> <!ELEMENT b (c)> <!ELEMENT c EMPTY>", "a")
    assert "/a/b/c" in set(subscriptions(flat, 50, max_depth=9, wildcard=0, descendant=0, even_depth=True))


def test_even_depth_draws_what_valid_documents_show() -> None:
    drawn = list(dict.fromkeys(subscriptions(SMALL, 300, max_depth=5, branch=0.3, even_depth=True)))
    index = pathcast.Index()
    index.add_many(enumerate(drawn))
    found: set[object] = set()
    for document in documents(SMALL, 6_000, max_levels=7, optional=0.8, seed=2):
        found.update(index.match(document))
    assert found == set(range(len(drawn))), [drawn[at] for at in range(len(drawn)) if at not in found][:5]
