"""The experiments on routing as one HTML file each, with a drawing of what they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, nan
from pathlib import Path
from typing import Any

from bench.harness.kept import Kept, Row, figures
from bench.page import page, section, svg

COLOURS = ("#9aa5b1", "#1f6f8b", "#1f7a4d", "#d9a441", "#c4661f")
Panel = tuple[str, tuple[str, ...], bool]
"""What the axis counts, the columns that are drawn, and whether on a logarithmic scale."""

SHOWN: Mapping[str, tuple[str, tuple[Panel, ...]]] = {
    "network-tables": (
        "The size of a routing table",
        (
            (
                "expressions that a neighbour is told (logarithmic)",
                ("no covering", "covering", "perfect merging", "merging 10 %"),
                True,
            ),
        ),
    ),
    "network-insertion": (
        "How fast subscriptions are put into the covering forest while it grows",
        (("insertions a second", ("set A / s", "set B / s", "twigs / s"), False),),
    ),
    "network-routing": (
        "The time to route a publication",
        (("microseconds a publication (logarithmic)", ("no covering µs", "covering µs"), True),),
    ),
    "network-traffic": (
        "Messages between eight brokers",
        (("messages, in % of no-adv-no-cov", ("paper %", "% of first"), False),),
    ),
    "network-growth": (
        "How a network grows",
        (
            (
                "expressions in tables (logarithmic)",
                ("table at the publisher", "largest table", "all tables"),
                True,
            ),
            ("messages between brokers, for each subscription", ("messages / subscription",), False),
            ("messages between brokers, for each document (logarithmic)", ("hops / document",), True),
            ("milliseconds a document, all brokers together (logarithmic)", ("ms / document",), True),
            ("subscriptions taken a second", ("subscriptions / s",), False),
        ),
    ),
}
"""By experiment: the title and the drawings."""


def write_report(path: Path, folder: Path) -> Path:
    """Draws the figures that are kept in a file, into a folder."""
    title, panels = SHOWN[path.stem]
    found = Kept.read(path)
    above = f"<p>After “Routing of XML and XPath Queries in Data Dissemination Networks”. {found.facts}</p>"
    shown = section(_plot(path.stem, found.rows, panels) + figures(found.rows), wide=True)
    report = folder / f"{path.stem}.html"
    report.write_text(page(title, above, [shown]), encoding="utf-8")
    return report


def _plot(name: str, rows: Sequence[Row], panels: Sequence[Panel]) -> str:
    from matplotlib.figure import Figure

    heights = [0.9 + 0.2 * len(rows) * (len(columns) + 0.6) for _, columns, _ in panels]
    figure = Figure(figsize=(9, sum(heights)), layout="constrained")
    drawn = figure.subplots(len(panels), squeeze=False, height_ratios=heights)
    for axes, panel in zip(drawn[:, 0], panels, strict=True):
        _bars(axes, rows, panel)
    return svg(figure, name)


def _bars(axes: Any, rows: Sequence[Row], panel: Panel) -> None:
    unit, columns, logarithmic = panel
    high = 1 / (len(columns) + 0.6)
    for place, (column, colour) in enumerate(zip(columns, COLOURS, strict=False)):
        values = [row.values.get(column, nan) for row in rows]
        across = [at + place * high for at in range(len(rows))]
        if logarithmic:  # a bar on such an axis has no length that means anything
            axes.plot(values, across, "o", color=colour, label=column)
        else:
            axes.barh(across, values, height=high * 0.92, color=colour, label=column)
        for at, value in zip(across, values, strict=True):
            if value and not isnan(value):
                text = f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
                axes.annotate(
                    text, (value, at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8
                )
    axes.set_yticks([at + high * (len(columns) - 1) / 2 for at in range(len(rows))])
    axes.set_yticklabels([row.subject for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    if logarithmic:
        axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.margins(x=0.12, y=0.02)
    axes.spines[["top", "right"]].set_visible(False)
    if len(columns) > 1:
        # Above the bars, where it hides none.
        axes.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(columns))
