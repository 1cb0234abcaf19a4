"""The plots of the report, inline: one accent colour, direct labels, no frame that says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from bench.page import svg

__all__ = ["bars", "histogram", "shares"]

INK, MUTED, GRID, ACCENT, OTHER = "#1f2933", "#66727f", "#e4e7eb", "#1f6f8b", "#d9a441"
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": INK,
}


def bars(name: str, rows: Sequence[tuple[str, float]], *, unit: str = "", digits: int = 0) -> str:
    """Horizontal bars, the first on top, each with its value behind it."""
    labels, values = [label for label, _ in rows], [value for _, value in rows]
    figure, axes = _axes(height=0.36 * len(rows) + 0.35)
    axes.barh(labels, values, color=ACCENT, height=0.66)
    axes.set_xlim(0, max(values, default=1) * 1.18)
    for place, value in enumerate(values):
        axes.annotate(
            f"{value:,.{digits}f}{unit}",
            (value, place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=INK,
        )
    axes.xaxis.set_visible(False)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.spines[["bottom", "left"]].set_visible(False)
    axes.tick_params(left=False)
    return _svg(figure, name)


def histogram(values: Sequence[int], *, label: str, count: str, bins: int = 40) -> str:
    """How often each value comes, with the median marked; the last bar holds what is beyond."""
    ordered = sorted(values) or [0]
    top = max(1, ordered[int(len(ordered) * 0.995) - 1] if len(ordered) > 1 else ordered[0])
    width = max(1, -(-top // bins))
    edges = list(range(0, top + 2 * width, width))
    middle = ordered[len(ordered) // 2]
    figure, axes = _axes(height=4.2)
    axes.hist([min(value, edges[-1] - 1) for value in ordered], bins=edges, color=ACCENT, rwidth=0.9)
    axes.axvline(middle, color=OTHER, linewidth=2)
    axes.annotate(
        f"median {middle:,}",
        (middle, 1),
        xycoords=axes.get_xaxis_transform(),
        xytext=(6, 0),
        textcoords="offset points",
        va="bottom",
        color=INK,
    )
    axes.set_xlabel(label)
    axes.set_ylabel(count)
    axes.set_xlim(0, edges[-1])
    axes.yaxis.grid(color=GRID)
    axes.set_axisbelow(True)
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
    return _svg(figure, "histogram")


def shares(parts: Sequence[tuple[str, float]]) -> str:
    """One bar cut into parts, and below it their names and shares: however narrow a part, its name has room.

    >>> shares([("you", 3), ("me", 1)]).count("%</b>")
    2
    """
    total = sum(value for _, value in parts) or 1
    cuts = "".join(f'<i style="flex-grow: {value / total:.4f}"></i>' for _, value in parts)
    names = "".join(f"<li>{escape(name)} <b>{value / total:.0%}</b></li>" for name, value in parts)
    return f'<div class="shares"><div aria-hidden="true">{cuts}</div><ul>{names}</ul></div>'


def _axes(height: float) -> tuple[Figure, Any]:
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, height), layout="constrained")
        return figure, figure.add_subplot()


def _svg(figure: Figure, name: str) -> str:
    with mpl.rc_context(STYLE):
        return svg(figure, name)
