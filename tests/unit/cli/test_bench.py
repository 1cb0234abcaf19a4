"""``pathcast bench`` runs the benchmarks of a checkout, and elsewhere says where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from pathcast.cli import bench
from tests.unit.cli.conftest import Run


def test_a_checkout_runs_its_benchmarks(capfd: pytest.CaptureFixture[str], run: Run) -> None:
    assert run("bench", "no-such-experiment").exit_code == 2
    assert "there is no experiment no-such-experiment" in capfd.readouterr().err


def test_elsewhere_it_says_how_to_get_them(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "__file__", str(tmp_path / "site-packages/pathcast/cli/bench.py"))
    monkeypatch.chdir(tmp_path)
    result = run("bench")
    assert result.exit_code == 2
    assert "`make bench`" in result.stderr
