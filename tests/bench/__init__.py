"""Tests of the benchmarks: streams are fresh, and what is shown is what was measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench.harness.kept import Kept, Row


def keep_all(rows: Iterable[Row], path: Path) -> None:
    """Writes a file of figures that are made up."""
    kept = Kept.read(path)
    for row in rows:
        kept.keep(row)
