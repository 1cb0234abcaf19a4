"""The side-by-side benchmark: a row for every engine, an error for a wrong answer, a word for a cut one."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

import pathcast
from bench import engines
from bench.harness.answers import WrongAnswerError
from bench.harness.columns import FORMS, NEEDED
from bench.harness.kept import Kept
from bench.plan import Plan
from bench.workloads import WORKLOADS

WIRE = WORKLOADS["wire"]
PLAN = Plan(seconds=1, other_seconds=1)


@pytest.fixture
def small() -> engines.Set:
    documents = list(islice(WIRE.documents(1), NEEDED + 10))
    return engines.Set(WIRE, WIRE.queries(40), documents[:-10], documents[-10:], PLAN)


def test_every_engine_has_a_row_with_every_column(small: engines.Set) -> None:
    rows = list(engines.side_by_side(small, engines.entries(WIRE)))
    assert [row.subject for row in rows] == [f"wire 40: {engine}" for engine in pathcast.engines()]
    for row in rows:
        for column in ("first", "unseen", "repeated"):
            assert all(row.values[f"{column} {form} µs"] > 0 for form in FORMS)
        assert row.values["unseen tokeniser µs"] > 0
        assert row.values["distinct"] == 40
    assert len({row.values["matches / document"] for row in rows}) == 1


def test_a_wrong_answer_ends_the_run(small: engines.Set, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = engines.index_of

    def forgetful(each: engines.Set, engine: str, pruned: bool) -> pathcast.Index:
        index = honest(each, engine, pruned)
        if engine == "lazy-dfa":
            index.remove(min(number for document in small.others for number in index.match(document)))
        return index

    monkeypatch.setattr(engines, "index_of", forgetful)
    wide = engines.Set(WIRE, ["//body.a", "//*"], small.documents, small.others, PLAN)
    wanted = [entry for entry in engines.entries(WIRE) if entry[0] in ("auto", "lazy-dfa")]
    with pytest.raises(WrongAnswerError, match="lazy-dfa and auto differ on document"):
        list(engines.side_by_side(wide, wanted))


def test_an_engine_that_is_cut_off_says_so(small: engines.Set, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_worker", lambda out, *_: out.send(("building", {}, [], "")))
    row = next(engines.side_by_side(small, engines.entries(WIRE)))
    assert row.note == "cut after 10 s of building"
    assert not row.values


def test_a_run_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    plan = Plan(
        workloads=("wire",), engines=("auto", "yfilter"), sizes=(1_000,), seconds=0.2, other_seconds=0.2
    )
    kept = Kept.read(tmp_path / "engines.json")
    first = next(engines.table(kept, plan))
    kept.keep(first)
    again = list(engines.table(Kept.read(kept.path), plan))
    assert [row.subject for row in (first, *again)] == ["wire 1,000: auto", "wire 1,000: yfilter"]
