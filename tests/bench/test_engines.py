"""The side-by-side benchmark: a row for every engine, an error for a wrong answer, a word for a cut one."""

from __future__ import annotations

import math
from random import Random

import pytest

pytest.importorskip("pyarrow")

import pathcast
from bench import engines, workloads
from bench.workloads import shipped
from pathcast.schema import Schema

SCHEMA = Schema.from_text("<!ELEMENT a (b*)> <!ELEMENT b (c?)> <!ELEMENT c EMPTY>")


@pytest.fixture
def small() -> engines.Set:
    random = Random(1)
    documents = [f"<a>{'<b><c/></b>' * random.randint(0, 2)}<b/></a>".encode() for _ in range(20)]
    return engines.Set("small", documents, ["/a/b", "//c", "/*/b/*", "/a/c", "//b[c]"], SCHEMA)


def test_every_engine_has_a_row_and_all_agree(small: engines.Set) -> None:
    rows = list(engines.side_by_side(small))
    labels = [row.subject for row in rows]
    for engine in pathcast.engines():
        assert any(label in (f"small: {engine}", f"small: {engine} (pruned)") for label in labels), engine
    assert "small: yfilter (pruned)" in labels
    for row in rows:
        assert row.values["documents"] == 20
        assert row.values["× bare reader"] > 0
        assert row.values["bytes / distinct"] > 0
    assert len({row.values["matches / document"] for row in rows}) == 1


def test_a_wrong_answer_ends_the_run(small: engines.Set, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = engines._index

    def forgetful(schema: Schema | None, engine: str, pruned: bool) -> pathcast.Index:
        index = honest(schema, engine, pruned)
        if engine == "lazy-dfa":
            monkeypatch.setattr(index, "add_many", lambda rows: pathcast.Index.add_many(index, rows[:2]))
        return index

    monkeypatch.setattr(engines, "_index", forgetful)
    with pytest.raises(AssertionError, match="lazy-dfa and auto differ on document"):
        list(engines.side_by_side(small))


def test_an_engine_without_time_is_cut_off_and_said_so(
    small: engines.Set, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "SECONDS", 0)
    row = next(engines.side_by_side(small))
    assert row.subject == "small: auto, cut after 0 s building"
    assert math.isnan(row.values["× bare reader"])


def test_the_sets_without_a_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "corpus", lambda: None)
    monkeypatch.setattr(engines, "LARGEST", 10_000)
    names = [each.name for each in engines.sets(shipped(documents=2, queries=10))]
    assert names == ["shipped distinct", "wire 10,000 distinct"]
