"""The figures of an experiment as they are kept: JSON, each row with its commit and the machine's load.

A row is kept as soon as it is measured, so a run that is cut goes on where it was. Its commit is the last one
that changed what is measured; a row of an older one is taken again.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cache
from html import escape
from math import isnan, nan
from pathlib import Path
from typing import Any

from bench.corpus import ROOT, corpus
from bench.page import table

MEASURED = ("crates", "Cargo.lock", "python/pathcast", "bench/workloads", "bench/harness")
_WORDS = ("subject", "note", "commit", "when", "load")


@dataclass(frozen=True)
class Row:
    """One line of a table; a note says what a figure cannot, as that an engine was cut off."""

    subject: str
    values: dict[str, float]
    note: str = ""
    commit: str = ""
    when: str = ""
    load: float = nan


@dataclass
class Kept:
    """What a file holds."""

    path: Path
    rows: list[Row] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Kept:
        """The file's, or nothing where there is none."""
        if not path.exists():
            return cls(path)
        found = json.loads(path.read_text(encoding="utf-8"))
        return cls(path, [_row(row) for row in found["rows"]], found["machine"])

    def has(self, subject: str) -> bool:
        """Whether a row is there and measured what is there now."""
        return any(row.subject == subject and row.commit == commit() for row in self.rows)

    def row(self, subject: str) -> Row | None:
        """The row of that subject."""
        return next((row for row in self.rows if row.subject == subject), None)

    def keep(self, row: Row) -> None:
        """Adds a row, or puts it in the place of an older one, and writes the file."""
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        row = Row(row.subject, row.values, row.note, commit(), now, round(os.getloadavg()[0], 1))
        places = {each.subject: at for at, each in enumerate(self.rows)}
        at = places.get(row.subject, len(self.rows))
        self.rows[at : at + 1] = [row]
        self.machine = machine()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"machine": self.machine, "rows": [_known(each) for each in self.rows]}, indent=1)
        self.path.write_text(text + "\n", encoding="utf-8")

    @property
    def facts(self) -> str:
        """The machine and the commits in a line, as HTML."""
        known = [f"{key}: {value}" for key, value in self.machine.items() if value is not None]
        commits = ", ".join(sorted({row.commit for row in self.rows if row.commit}))
        return escape("; ".join([*known, f"commit: {commits}"]))


def _row(found: dict[str, Any]) -> Row:
    words = {name: found.pop(name) for name in _WORDS if name in found}
    return Row(values=found, **words)


def _known(row: Row) -> dict[str, Any]:
    """Without what was not measured: JSON has no word for it. Five digits are more than a clock has."""
    values = {name: float(f"{value:.5g}") for name, value in row.values.items() if not isnan(value)}
    words = {name: getattr(row, name) for name in _WORDS}
    return {name: word for name, word in words.items() if word not in ("", None)} | values


@cache
def commit() -> str:
    """The last commit that changed what is measured, with a word when it has been changed since."""
    found = _git("log", "-1", "--format=%h", "--abbrev=10", "--", *MEASURED)
    changed = _git("status", "--porcelain", "--", *MEASURED)
    return f"{found} with changes" if found and changed else found


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


@cache
def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "corpus": corpus() is not None,
        "scale": os.environ.get("PATHCAST_BENCH_SCALE"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )


def shown(value: float) -> str:
    """A figure for people.

    >>> shown(1234.5), shown(12.345), shown(12), shown(nan)
    ('1,234', '12.35', '12', '—')
    """
    if isnan(value):
        return "—"
    return f"{value:,.2f}" if abs(value) < 100 and value % 1 else f"{value:,.0f}"


def names_of(rows: Sequence[Row]) -> Iterator[str]:
    """The names of all figures, in order."""
    return iter(dict.fromkeys(name for row in rows for name in row.values))


def figures(rows: Sequence[Row]) -> str:
    """A table of all rows as HTML."""
    columns = list(names_of(rows))
    notes = ["note"] if any(row.note for row in rows) else []
    return table(
        ("", *(f"#{column}" for column in columns), *notes),
        (
            (
                escape(row.subject),
                *(shown(row.values.get(each, nan)) for each in columns),
                *([escape(row.note)] if notes else []),
            )
            for row in rows
        ),
    )
