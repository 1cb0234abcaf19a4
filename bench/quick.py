"""``python -m bench --quick``: `auto` on every workload in five minutes, beside the figures that are kept.

What is compared is the ratio to the bare tokeniser in the same run, so another machine, or a busy one, says
nearly the same. The figures of the quick run are written to `build/bench/quick` and not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from pathlib import Path

from bench.harness.columns import FORMS
from bench.harness.kept import Kept, Row
from bench.plan import Plan

PLAN = Plan(engines=("auto",), sizes=(1_000, 10_000, 100_000), seconds=4.0)
FOLDER = Path("build/bench/quick")
NOISE = 0.25  # what two runs of the same code may differ by on a busy machine


def compared(now: Kept, before: Kept) -> Iterator[Row]:
    """A row a subject: multiples of the tokeniser, unseen, with the change since the kept figures.

    >>> figures = {"unseen tokeniser µs": 2.0, "unseen match µs": 20.0, "unseen arrow µs": 30.0}
    >>> slower = {**figures, "unseen arrow µs": 60.0}
    >>> row, = compared(Kept(Path("now"), [Row("a", slower)]), Kept(Path("before"), [Row("a", figures)]))
    >>> row.values["arrow ×"], row.values["arrow change %"], row.note
    (30.0, 100.0, 'slower: arrow')
    """
    for row in now.rows:
        old = before.row(row.subject)
        values: dict[str, float] = {}
        slower, faster = [], []
        for form in FORMS:
            ours, theirs = ratio(row, form), ratio(old, form) if old else nan
            change = ours / theirs - 1
            values |= {f"{form} ×": ours, f"{form} kept ×": theirs, f"{form} change %": 100 * change}
            slower += [form] if change > NOISE else []
            faster += [form] if change < -NOISE else []
        words = [
            f"{word}: {', '.join(names)}" for word, names in (("slower", slower), ("faster", faster)) if names
        ]
        yield Row(row.subject, values, "; ".join(words))


def ratio(row: Row, form: str) -> float:
    """A form of unseen documents as a multiple of the tokeniser; not a number where one is missing."""
    return row.values.get(f"unseen {form} µs", nan) / row.values.get("unseen tokeniser µs", nan)
