"""Twigs that hurt whoever decides them, on the default engine; answers are known by construction."""

from __future__ import annotations

import pathcast

MANY = 10_000


def test_every_test_passes_in_every_document() -> None:
    index = pathcast.Index()
    index.add_many((n, f"//a[not(. = 'x{n}')][@k != 'y{n}'][contains(@k, 'k')]") for n in range(MANY))
    before = index.stats()["memory_bytes"]
    for number in range(3):
        assert index.match("<r>" + f"<a k='k{number}'>t</a>" * 20 + "</r>") == list(range(MANY))
    assert index.match("<r><a k='K'>t</a></r>") == []
    assert index.stats()["memory_bytes"] < before + (8 << 20)


def test_a_document_that_satisfies_half_of_everything() -> None:
    index = pathcast.Index()
    index.add_many((n, f"//a[@k > {n}][not(b = {n})]/c") for n in range(MANY))
    half = MANY // 2
    without = "<a k='1'/>" * 50
    document = f"<r>{without}<a k='{half}'><b>{half - 1}</b><c/></a></r>"
    assert index.match(document) == list(range(half - 1))


def test_branches_below_branches_in_a_deep_document() -> None:
    index = pathcast.Index()
    index.add_many((n, "//*" + "[.//*" * n + "[.//b]" + "]" * n) for n in range(60))
    index.add_many((100 + n, "//*" + "[.//*" * n + "[@x = '1']" + "]" * n) for n in range(60))
    deep = "<a>" * 40 + "<b x='1'/>" + "</a>" * 40
    for _ in range(2):
        assert index.match(deep) == [*range(40), *range(100, 141)]
