"""The plots of the report, inline: one accent colour, direct labels, no frame that says nothing.

Text of a drawing shrinks with it, so bars are HTML, and what must be drawn is drawn twice: as wide as a
column of the page, and as narrow as a phone.
"""

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


def bars(rows: Sequence[tuple[str, float]], *, unit: str = "", digits: int = 0) -> str:
    """Horizontal bars, the first on top, each between its name and its value.

    >>> bars([("you", 3.0), ("me", 1.5)], unit=" s", digits=1).count('<i style="width: 50.0%">')
    1
    """
    most = max((value for _, value in rows), default=0) or 1
    lines = (
        f"<li><span>{escape(label)}</span>"
        f'<div aria-hidden="true"><i style="width: {100 * value / most:.1f}%"></i></div>'
        f"<b>{value:,.{digits}f}{unit}</b></li>"
        for label, value in rows
    )
    return f'<ul class="bars">{"".join(lines)}</ul>'


def histogram(values: Sequence[int], *, label: str, count: str, bins: int = 40) -> str:
    """How often each value comes, with the median marked; the last bar holds what is beyond."""
    drawn = (
        (kind, _histogram(values, label, count, most, size))
        for kind, most, size in (("broad", bins, (5.2, 3.6)), ("narrow", bins // 2, (3.5, 3.0)))
    )
    return "".join(f'<div class="{kind}">{_svg(figure, kind)}</div>' for kind, figure in drawn)


def _histogram(values: Sequence[int], label: str, count: str, bins: int, size: tuple[float, float]) -> Figure:
    ordered = sorted(values) or [0]
    top = max(1, ordered[int(len(ordered) * 0.995) - 1] if len(ordered) > 1 else ordered[0])
    width = max(1, -(-top // bins))
    edges = [edge - 0.5 for edge in range(0, top + 2 * width, width)]  # a number is in the middle of its bar
    middle = ordered[len(ordered) // 2]
    figure, axes = _axes(size)
    axes.hist([min(value, edges[-1] - 0.5) for value in ordered], bins=edges, color=ACCENT, rwidth=0.9)
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
    axes.set_xlim(edges[0], edges[-1])
    axes.locator_params(axis="x", integer=True)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.grid(color=GRID)
    axes.set_axisbelow(True)
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
    return figure


def shares(parts: Sequence[tuple[str, float]]) -> str:
    """One bar cut into parts, and below it their names and shares: however narrow a part, its name has room.

    >>> shares([("you", 3), ("me", 1)]).count("%</b>")
    2
    """
    total = sum(value for _, value in parts) or 1
    cuts = "".join(f'<i style="flex-grow: {value / total:.4f}"></i>' for _, value in parts)
    names = "".join(f"<li>{escape(name)} <b>{value / total:.0%}</b></li>" for name, value in parts)
    return f'<div class="shares"><div aria-hidden="true">{cuts}</div><ul>{names}</ul></div>'


def _axes(size: tuple[float, float]) -> tuple[Figure, Any]:
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        return figure, figure.add_subplot()


def _svg(figure: Figure, name: str) -> str:
    with mpl.rc_context(STYLE):
        return svg(figure, name)
