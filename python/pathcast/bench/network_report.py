"""The experiments on routing as one HTML file each, with a drawing of what they show."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from math import isnan
from pathlib import Path
from typing import Any

from pathcast.bench.foundation import Row

COLOURS = ("#9aa5b1", "#1f6f8b", "#1f7a4d", "#d9a441", "#c4661f")
STYLE = """
body { margin: 0; background: #f5f6f7; color: #1f2933; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.5rem; margin: 0; } p { margin: .2rem 0 1rem; color: #66727f; }
svg { display: block; width: 100%; height: auto; background: #fff; border: 1px solid #e4e7eb; }
table { border-collapse: collapse; margin-top: 1rem; font-size: .85rem; background: #fff; }
td, th { padding: .25rem .6rem; border: 1px solid #e4e7eb; text-align: right; }
td:first-child { text-align: left; }
"""
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
        (("insertions a second", ("set A / s", "set B / s"), False),),
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


def write_report(rows: Sequence[Row], machine: Mapping[str, Any], path: Path) -> Path:
    """Writes the report; matplotlib draws, from the extra ``report``."""
    title, panels = SHOWN[rows[0].experiment]
    facts = ", ".join(f"{key} {value}" for key, value in machine.items() if value is not None)
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *rows[0].values))
    body = "".join(
        f"<tr><td>{escape(row.subject)}</td>"
        + "".join(f"<td>{'—' if isnan(each) else f'{each:,.2f}'}</td>" for each in row.values.values())
        + "</tr>"
        for row in rows
    )
    path.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8>"
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
        f"<main><h1>{escape(title)}</h1><p>After “Routing of XML and XPath Queries in Data Dissemination "
        f"Networks”. {escape(facts)}</p>{_plot(rows, panels)}"
        f"<table><tr>{head}</tr>{body}</table></main></html>\n",
        encoding="utf-8",
    )
    return path


def _plot(rows: Sequence[Row], panels: Sequence[Panel]) -> str:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "pathcast", "font.size": 10}
    with mpl.rc_context(settings):
        heights = [0.9 + 0.2 * len(rows) * (len(columns) + 0.6) for _, columns, _ in panels]
        figure = Figure(figsize=(9, sum(heights)), layout="constrained")
        drawn = figure.subplots(len(panels), squeeze=False, height_ratios=heights)
        for axes, panel in zip(drawn[:, 0], panels, strict=True):
            _bars(axes, rows, panel)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    head, rest = text.split(">", 1)
    return re.sub(r' (width|height)="[^"]*"', "", head) + ">" + rest


def _bars(axes: Any, rows: Sequence[Row], panel: Panel) -> None:
    unit, columns, logarithmic = panel
    high = 1 / (len(columns) + 0.6)
    for place, (column, colour) in enumerate(zip(columns, COLOURS, strict=False)):
        values = [row.values[column] for row in rows]
        across = [at + place * high for at in range(len(rows))]
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
