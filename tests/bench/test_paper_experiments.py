"""The experiments of the papers on routing and on schemas at their smallest; they compare answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("lxml", reason="lxml is not installed")

from bench import network, routing_paper, schema_paper
from bench.corpus import corpus_schema
from bench.harness.kept import Kept
from bench.plan import Plan
from pathcast import Index

needs_corpus = pytest.mark.skipif(
    corpus_schema("xmark") is None, reason="the experiments need the DTDs beside the checkout"
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PATHCAST_BENCH_SCALE", "0.002")
    schema_paper.large.cache_clear()
    yield
    schema_paper.large.cache_clear()


@needs_corpus
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("experiment", ["figure_5", "tables_4_and_5", "bounds", "variants", "table_3"])
def test_pruned_and_unpruned_answer_alike(experiment: str, tmp_path: Path) -> None:
    rows = list(getattr(schema_paper, experiment)(Kept(tmp_path / "rows.json"), Plan()))
    assert rows
    assert len({row.subject for row in rows}) == len(rows)
    assert all(value >= 0 for row in rows for name, value in row.values.items() if name.endswith(" s"))


@needs_corpus
@pytest.mark.usefixtures("small")
def test_a_wrong_answer_ends_the_experiment() -> None:
    schema = corpus_schema("blast")
    assert schema is not None
    filters = schema_paper.drawn(schema, 100_000, 0.2, 0.2)
    wrong = Index("yfilter")
    wrong.add_many(list(enumerate(reversed(filters))))
    with pytest.raises(AssertionError, match="wrong answers otherwise"):
        schema_paper.measured(schema, filters, {"wrong": (wrong, None)}, schema_paper.large("blast", 1_000))


@needs_corpus
def test_traffic_is_counted_with_and_without_clients(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(routing_paper, "SCALE", 0.02)
    rows = list(routing_paper.traffic(Kept(tmp_path / "rows.json"), Plan()))
    assert len({row.subject for row in rows}) == 2 * len(network.STRATEGIES)
    for row in rows:
        parts = [
            row.values[f"{kind} received"] for kind in ("subscriptions", "advertisements", "publications")
        ]
        assert sum(parts) == row.values["with clients"] > row.values["between brokers"]


def test_covering_and_overlap_are_what_all_paths_show(tmp_path: Path) -> None:
    rows = {row.subject: row.values for row in routing_paper.examples(Kept(tmp_path / "rows.json"), Plan())}
    assert rows["/*/a//*/c covers /a/a/*//c/b/d"]["covers"] == 1
    for values in rows.values():
        assert values["paths"] > 0
        if "covers" in values:
            assert bool(values["covers"]) == (values["not covered"] == 0)
        else:
            assert bool(values["overlaps"]) == (values["selected"] > 0)
