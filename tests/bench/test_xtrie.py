"""The sweeps of XTrie at their smallest, and the report drawn from them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import twig_sets, xtrie
from bench.claims import verdicts
from bench.corpus import corpus_schema
from bench.harness.kept import Kept, Row
from bench.headline import RESULTS
from bench.plan import Plan
from tests.bench import keep_all


def test_the_report_has_a_plot_for_each_figure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from bench.claims import CLAIMS
    from bench.curves import write_report

    assert set(CLAIMS) == {sweep.figure for sweep in xtrie.SWEEPS}
    rows = [
        Row(f"{sweep.figure}: {sweep.parameter} {at}, {subject}", {"at": at, "MB": at, key: at * 10})
        for sweep in xtrie.SWEEPS
        for at in (1, 2)
        for subject in sweep.subjects
        for key in (["µs / document"] if sweep.measure == "time" else ["distinct"])
    ]
    keep_all(rows, tmp_path / "xtrie.json")
    text = write_report(tmp_path / "xtrie.json", tmp_path).read_text(encoding="utf-8")
    assert text.count("<svg") == len(xtrie.SWEEPS)
    drawing = text[text.index("<svg") : text.index("</svg>") + 6]
    ElementTree.fromstring(drawing)


def test_no_curve_grows_both_linearly_and_faster() -> None:
    points = [(at, at**1.4) for at in (1.0, 2.0, 3.0, 4.0, 20.0)]
    curves = {"xfilter-trees": points, "xtrie": [(at, at) for at, _ in points]}
    told = {claim.says: claim.reproduces for figure in ("12a", "12b") for claim in verdicts(figure, curves)}
    assert told["XFilter's time grows faster than linearly"]
    assert not told["XFilter is linear in the number of expressions"]


def test_what_does_not_slow_down_is_not_slowed_down_most() -> None:
    curves = {"xfilter": [(8.0, 2.0), (20.0, 2.0)]} | {
        name: [(8.0, 2.0), (20.0, 1.0)] for name in ("xfilter-lb", "xtrie", "xtrie-lazy")
    }
    assert [claim.says for claim in verdicts("17a", curves) if claim.reproduces] == []


def test_a_sweep_answers_alike_on_every_curve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if corpus_schema("nitf") is None:
        pytest.skip("the sweeps need the NITF DTD beside the checkout")
    monkeypatch.setenv("PATHCAST_BENCH_SCALE", "0.002")
    monkeypatch.setenv("PATHCAST_BENCH_FIGURES", "15a 15b")
    rows = list(xtrie.sweeps(Kept(tmp_path / "xtrie.json"), Plan()))
    assert {row.subject.partition(", ")[2] for row in rows} == {
        subject for sweep in xtrie.SWEEPS if sweep.figure in {"15a", "15b"} for subject in sweep.subjects
    }
    assert all(row.values["µs / document"] > 0 for row in rows)


def test_every_set_of_twigs_was_taken_with_every_engine() -> None:
    wanted = [
        f"{name}, {tags} tags: {engine}"
        for name in twig_sets.SETS
        for tags in twig_sets.TAGS
        for engine in twig_sets.ENGINES
    ]
    assert sorted(row.subject for row in Kept.read(RESULTS / "twig-sets.json").rows) == sorted(wanted)
