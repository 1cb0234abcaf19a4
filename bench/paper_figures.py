"""The two figures of the paper on non-recursive SQL, drawn from what was measured, and its claims."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING

from bench.harness.kept import Row
from bench.page import svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVES = {
    "paper without cutting ms": ("the paper's matcher without cutting", "#a3443f", "o--"),
    "paper ms": ("the paper's matcher", "#a3443f", "o-"),
    "DuckDB ms": ("pathcast.relational on DuckDB", "#1f6f8b", "o-"),
    "auto ms": ("index in memory (auto)", "#1f7a4d", "o-"),
}
FASTER = (0.4, 0.6)
"""What is taken for about a half."""


def by_number(rows: Sequence[Row]) -> list[Row]:
    """Those of the first figure: documents of 15 KB."""
    return sorted(
        (row for row in rows if row.subject.endswith(", 15 KB")), key=lambda row: row.values["subscriptions"]
    )


def by_size(rows: Sequence[Row]) -> list[Row]:
    """Those of the second: 10,000 subscriptions."""
    return sorted(
        (row for row in rows if row.subject.startswith("10,000 ")), key=lambda row: row.values["KB"]
    )


def drawn(rows: Sequence[Row]) -> str:
    """Both figures side by side, on linear axes from zero, as SVG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _curves(left, by_number(rows), "subscriptions", "subscriptions, documents of 15 KB (Fig. 6.1)")
    _curves(right, by_size(rows), "KB", "KB of the document, 10,000 subscriptions (Fig. 6.2)")
    left.set_ylabel("ms of processor time, one unseen document")
    left.legend(frameon=False, fontsize=8)
    return svg(figure, "relational-paper")


def _curves(axes: Axes, rows: Sequence[Row], across: str, label: str) -> None:
    for column, (name, colour, style) in CURVES.items():
        points = [(row.values[across], row.values[column]) for row in rows]
        axes.plot(*zip(*points, strict=True), style, ms=4, color=colour, label=name)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel(label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color="#e4e7eb")


def claims(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    """What the paper says, what was measured, and whether that is the same.

    >>> def row(number, size, with_it, without, matched):
    ...     values = {"subscriptions": number, "KB": size, "paper ms": with_it, "matches / document": matched}
    ...     return Row(f"{number:,} subscriptions, {size} KB", values | {"paper without cutting ms": without})
    >>> rows = [row(10_000, 3, 1, 2, 10), row(10_000, 15, 5, 10, 60), row(10_000, 40, 20, 41, 90)]
    >>> for claim in claims(rows):
    ...     print(*claim, sep=": ")
    cutting saves about half of the time: 50 % at 10,000: yes
    time grows faster than the document: ×4.0 for ×2.7, the last step: yes
    because more subscriptions match: 0.1 %, 0.6 %, 0.9 % of them: yes
    """
    numbers, sizes = by_number(rows), by_size(rows)
    saved = {
        row.values["subscriptions"]: 1 - row.values["paper ms"] / row.values["paper without cutting ms"]
        for row in numbers
    }
    before, last = sizes[-2].values, sizes[-1].values
    longer, larger = last["paper ms"] / before["paper ms"], last["KB"] / before["KB"]
    shares = [row.values["matches / document"] / row.values["subscriptions"] for row in sizes]
    is_half = all(FASTER[0] <= share <= FASTER[1] for share in saved.values())
    return [
        (
            "cutting saves about half of the time",
            ", ".join(f"{share:.0%} at {number:,.0f}".replace("%", " %") for number, share in saved.items()),
            _word(is_half),
        ),
        (
            "time grows faster than the document",
            f"×{longer:.1f} for ×{larger:.1f}, the last step",
            _word(log(longer) > log(larger)),
        ),
        (
            "because more subscriptions match",
            ", ".join(f"{100 * share:.1f} %" for share in shares) + " of them",
            _word(shares == sorted(shares)),
        ),
    ]


def _word(so: bool) -> str:
    return "yes" if so else "no"
