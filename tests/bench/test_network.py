"""The reports on routing, drawn from figures that are made up."""

from __future__ import annotations

from math import nan
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from bench import network_report
from bench.harness.kept import Row
from tests.bench import keep_all


@pytest.mark.parametrize("name", network_report.SHOWN)
def test_what_was_not_measured_is_told_apart_from_nothing(name: str, tmp_path: Path) -> None:
    title, panels = network_report.SHOWN[name]
    columns = [column for _, some, _ in panels for column in some]
    rows = [
        Row("with <paths>", dict.fromkeys(columns, 12.5)),
        Row("with documents", {**dict.fromkeys(columns, 0.0), columns[0]: nan}),
    ]
    keep_all(rows, tmp_path / f"{name}.json")
    report = network_report.write_report(tmp_path / f"{name}.json", tmp_path)
    assert report == tmp_path / f"{name}.html"
    text = report.read_text(encoding="utf-8")
    assert f"<h1>{title}</h1>" in text
    cells = [[cell.text for cell in row] for row in _found(text, "table")[1:]]
    assert cells == [
        ["with <paths>", *("12.50" for _ in columns)],
        ["with documents", "—", *("0" for _ in columns[1:])],
    ]
    ids = [id for each in _found(text, "svg").iter() if (id := each.get("id"))]
    assert ids
    assert all(id.startswith(f"{name}-") for id in ids)


def _found(text: str, tag: str) -> ElementTree.Element:
    return ElementTree.fromstring(text[text.index(f"<{tag}") : text.index(f"</{tag}>") + len(tag) + 3])
