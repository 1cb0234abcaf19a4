"""The figures of an experiment as they are kept: JSON, with the machine they were taken on."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from math import isnan, nan
from pathlib import Path
from typing import Any

import pathcast
from bench.foundation import Row
from bench.page import table


@dataclass(frozen=True)
class Kept:
    """What a file holds."""

    rows: list[Row]
    machine: dict[str, Any]

    @property
    def facts(self) -> str:
        """The machine in a line, as HTML."""
        known = (f"{key} {value}" for key, value in self.machine.items() if value is not None)
        return escape(", ".join(known))


def keep(rows: Sequence[Row], workload: str, path: Path) -> None:
    """Writes the figures, without what was not measured: JSON has no word for it."""
    known = [
        {"subject": row.subject, **{name: value for name, value in row.values.items() if not isnan(value)}}
        for row in rows
    ]
    text = json.dumps({**machine(), "workload": workload, "rows": known}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def kept(path: Path) -> Kept:
    """Reads what `keep` has written; the experiment has the name of the file."""
    found = json.loads(path.read_text(encoding="utf-8"))
    rows = [Row(path.stem, row.pop("subject"), row) for row in found.pop("rows")]
    del found["workload"]
    return Kept(rows, found)


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return {
        "pathcast": pathcast.__version__,
        "commit": commit.stdout.strip() or None,
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "scale": os.environ.get("PATHCAST_BENCH_SCALE"),
    }


def shown(value: float) -> str:
    """A figure for people.

    >>> shown(1234.5), shown(12.345), shown(12), shown(nan)
    ('1,234', '12.35', '12', '—')
    """
    if isnan(value):
        return "—"
    return f"{value:,.2f}" if abs(value) < 100 and value % 1 else f"{value:,.0f}"


def figures(rows: Sequence[Row]) -> str:
    """A table of all rows as HTML."""
    columns = list(dict.fromkeys(column for row in rows for column in row.values))
    return table(
        ("", *(f"#{column}" for column in columns)),
        ((escape(row.subject), *(shown(row.values.get(column, nan)) for column in columns)) for row in rows),
    )
