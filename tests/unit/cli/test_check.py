"""``pathcast check``: one object a subscription."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pathcast.cli import check
from tests.unit.cli.conftest import Run


def test_all_sound(run: Run, folder: Path) -> None:
    result = run("check", "-s", "s.txt")
    assert result.exit_code == 0
    assert result.stdout == '{"id": "1", "ok": true}\n{"id": "3", "ok": true}\n{"id": "4", "ok": true}\n'
    assert result.stderr == ""


@pytest.mark.parametrize("block", [1, 2, 10_000])
def test_some_bad(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(check, "BLOCK", block)
    result = run("check", "-s", "bad.txt")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["id"], row["ok"]) for row in rows] == [("1", True), ("2", False), ("4", True), ("5", False)]
    assert all(set(row) == {"id", "ok", "message", "column"} for row in rows if not row["ok"])
    assert [line.split(": ")[0] for line in result.stderr.splitlines()] == ["bad.txt:2", "bad.txt:5"]
    assert result.exit_code == 2


def test_broken_rows_do_not_hide_the_others(run: Run, folder: Path) -> None:
    (folder / "s.csv").write_text("id,xpath\na,/a\nb\nc,/c\n")
    result = run("check", "-s", "s.csv")
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["a", "c"]
    assert result.stderr == "s.csv:3: the row has 1 cells, the header has 2\n"
    assert result.exit_code == 2


def test_standard_input(run: Run) -> None:
    result = run("check", "-s", "-", stdin="/a\n")
    assert (result.exit_code, result.stdout) == (0, '{"id": "1", "ok": true}\n')
