"""The sweeps of XTrie at their smallest, and the report drawn from them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import xtrie
from bench.foundation import Row
from bench.workloads import Workload, corpus_schema

NOTHING = Workload("none", [], {})


def test_the_report_has_a_plot_for_each_figure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from bench.claims import CLAIMS
    from bench.curves import write_report
    from bench.kept import keep

    assert set(CLAIMS) == {sweep.figure for sweep in xtrie.SWEEPS}
    rows = [
        Row("xtrie", f"{sweep.figure}: {sweep.parameter} {at}, {subject}", {"at": at, "MB": at, key: at * 10})
        for sweep in xtrie.SWEEPS
        for at in (1, 2)
        for subject in sweep.subjects
        for key in (["µs / document"] if sweep.measure == "time" else ["distinct"])
    ]
    keep(rows, "none", tmp_path / "xtrie.json")
    text = write_report(tmp_path / "xtrie.json", tmp_path).read_text(encoding="utf-8")
    assert text.count("<svg") == len(xtrie.SWEEPS)
    drawing = text[text.index("<svg") : text.index("</svg>") + 6]
    ElementTree.fromstring(drawing)


def test_a_sweep_answers_alike_on_every_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    if corpus_schema("nitf") is None:
        pytest.skip("the sweeps need the NITF DTD beside the checkout")
    monkeypatch.setenv("PATHCAST_BENCH_SCALE", "0.002")
    monkeypatch.setenv("PATHCAST_BENCH_FIGURES", "15a 15b")
    rows = list(xtrie.sweeps(NOTHING))
    assert {row.subject.partition(", ")[2] for row in rows} == {
        subject for sweep in xtrie.SWEEPS if sweep.figure in {"15a", "15b"} for subject in sweep.subjects
    }
    assert all(row.values["µs / document"] > 0 for row in rows)
