"""A report of sweeps as one HTML file that needs nothing else: a plot for each figure, and what it shows."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from pathcast.bench.claims import verdicts
from pathcast.bench.foundation import Row
from pathcast.bench.xtrie import ROUNDS, SWEEPS, Sweep, scale

COLOURS = {
    "xfilter": "#c4661f",
    "xfilter-lb": "#d9a441",
    "xtrie": "#1f6f8b",
    "xtrie-lazy": "#7a4fa3",
    "auto": "#1f7a4d",
}
MARKERS = {"xfilter": "s", "xfilter-lb": "D", "xtrie-lazy": "^", "auto": "v"}
SPREAD = 100  # above that, the axis is logarithmic
DASHED = ("ordered", "maximal", "trees")
STYLE = """
body { margin: 0; background: #f5f6f7; color: #1f2933; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.05rem; margin: 0 0 .2rem; }
p { margin: 0 0 .6rem; color: #66727f; } ul { margin: .4rem 0 0; padding-left: 1.1rem; font-size: .9rem; }
.so { color: #1f7a4d; } .not { color: #a33b20; } .points { color: #66727f; font-size: .8rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(30rem, 1fr)); gap: 1rem; }
section { background: #fff; border: 1px solid #e4e7eb; border-radius: .5rem; padding: 1rem 1.2rem; }
svg { display: block; width: 100%; height: auto; }
"""


def write_report(rows: Iterable[Row], machine: Mapping[str, Any], path: Path) -> Path:
    """Writes the report; matplotlib draws, from the extra ``report``."""
    curves = gathered(rows)
    sections = [_section(sweep, curves[sweep.figure]) for sweep in SWEEPS if curves.get(sweep.figure)]
    facts = ", ".join(f"{key} {value}" for key, value in machine.items() if value is not None)
    part = "" if scale() == 1 else f" Sets are {scale():g} of the paper's size."
    path.write_text(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>XTrie</title><style>{STYLE}</style><main>"
        "<h1>XTrie beside XFilter</h1><p>The sweeps of “Efficient filtering of XML documents with XPath "
        f"expressions”, figures 11 to 18, on NITF.{part} What the paper says of a figure is held against "
        "the curves measured here; what is called linear, slower or hardly is told by fixed bounds. "
        f"Processor time, the best of {ROUNDS} rounds, one thread. {escape(facts)}</p>"
        f'<div class="grid">{"".join(sections)}</div></main></html>\n',
        encoding="utf-8",
    )
    return path


def gathered(rows: Iterable[Row]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """By figure and curve: the points.

    >>> row = Row("xtrie", "11: expressions 10, xtrie", {"at": 10, "MB": 1, "µs / document": 7})
    >>> gathered([row])
    {'11': {'xtrie': [(10, 7)]}}
    """
    figures: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        figure, _, rest = row.subject.partition(": ")
        subject = rest.partition(", ")[2]
        value = row.values.get("µs / document", row.values["MB"])
        figures.setdefault(figure, {}).setdefault(subject, []).append((row.values["at"], value))
    return figures


def shape(curves: Mapping[str, Sequence[tuple[float, float]]]) -> list[str]:
    """What the curves do, in numbers: how each ends beside its start, and beside the best.

    >>> shape({"a": [(1, 10.0), (2, 20.0)], "b": [(1, 5.0), (2, 5.0)]})
    ['a: ×2.0 from 1 to 2; ×4.0 of the best at the end', 'b: ×1.0 from 1 to 2; ×1.0 of the best at the end']
    """
    best = min(points[-1][1] for points in curves.values())
    return [
        f"{name}: ×{points[-1][1] / points[0][1]:.1f} from {points[0][0]:g} to {points[-1][0]:g}; "
        f"×{points[-1][1] / best:.1f} of the best at the end"
        for name, points in curves.items()
    ]


def _section(sweep: Sweep, curves: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    unit = "MB" if sweep.measure == "memory" else "ms a document"
    told = "".join(
        f'<li class="{"so" if verdict.reproduces else "not"}">{escape(str(verdict))}</li>'
        for verdict in verdicts(sweep.figure, curves)
    )
    lines = "".join(f"<li>{escape(line)}</li>" for line in shape(curves))
    return (
        f"<section><h2>Figure {sweep.figure}: {escape(sweep.axis)}</h2>{_plot(sweep, curves, unit)}"
        f'<ul>{told}</ul><ul class="points">{lines}</ul></section>'
    )


def _plot(sweep: Sweep, curves: Mapping[str, Sequence[tuple[float, float]]], unit: str) -> str:
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "pathcast", "font.size": 10}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(7, 3.8), layout="constrained")
        axes = figure.add_subplot()
        heights: list[float] = []
        for name, points in curves.items():
            engine, _, option = name.partition(" ")
            factor = 1.0 if sweep.measure == "memory" else 1e-3
            across, up = [at for at, _ in points], [value * factor for _, value in points]
            style = "--" if option in DASHED else "-"
            # Where two curves are one, the thin one shows on the broad one.
            wide, marker = (3.2, "o") if engine == "xtrie" else (1.4, MARKERS.get(engine, "o"))
            colour = COLOURS.get(engine, "#66727f")
            axes.plot(across, up, style, marker=marker, ms=4.5, lw=wide, color=colour, label=name)
            heights += up
        axes.set_xlabel(sweep.axis)
        axes.set_ylabel(unit)
        if max(heights) > SPREAD * min(heights):
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_minor_formatter(NullFormatter())
        else:
            axes.set_ylim(bottom=0)  # a straight line is seen to be one
        axes.yaxis.set_major_formatter("{x:g}")
        if sweep.parameter == "expressions":
            axes.xaxis.set_major_locator(MaxNLocator(5))  # long numbers would touch
            axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#e4e7eb")
        axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    head, rest = text.split(">", 1)
    text = re.sub(r' (width|height)="[^"]*"', "", head) + ">" + rest
    # Several drawings share one page: what they refer to must not clash.
    return re.sub(r'(id="|url\(#|href="#)', rf"\g<1>f{sweep.figure}-", text)
