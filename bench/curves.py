"""A report of sweeps as one HTML file that needs nothing else: a plot for each figure, and what it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from bench.claims import verdicts
from bench.harness.kept import Kept, Row
from bench.page import page, section, svg
from bench.xtrie import ROUNDS, SWEEPS, Sweep

COLOURS = {
    "xfilter": "#c4661f",
    "xfilter-lb": "#d9a441",
    "xfilter-trees": "#c4661f",
    "xtrie": "#1f6f8b",
    "xtrie-lazy": "#7a4fa3",
    "auto": "#1f7a4d",
}
MARKERS = {"xfilter": "s", "xfilter-trees": "s", "xfilter-lb": "D", "xtrie-lazy": "^", "auto": "v"}
SPREAD = 100  # above that, the axis is logarithmic
DASHED = ("ordered", "maximal", "trees")
STYLE = """
ul { margin: .4rem 0 0; padding-left: 1.1rem; font-size: .9rem; }
.so { color: #1f7a4d; } .not { color: #a33b20; } .points { color: var(--muted); font-size: .8rem; }
"""


def write_report(path: Path, folder: Path) -> Path:
    """Draws the figures that are kept in a file, into a folder."""
    found = Kept.read(path)
    curves = gathered(found.rows)
    above = (
        "<p>The sweeps of “Efficient filtering of XML documents with XPath expressions”, figures 11 to 18, "
        "on NITF and on ten DTDs, each document once. What the paper says of a figure is held against the "
        "curves measured here; what is called linear, slower or hardly is told by fixed bounds. Processor "
        "time, the best of "
        f"{ROUNDS} rounds, one thread. {found.facts}</p>"
    )
    sections = [_section(sweep, curves[sweep.figure]) for sweep in SWEEPS if sweep.figure in curves]
    report = folder / "xtrie.html"
    report.write_text(page("XTrie beside XFilter", above, sections, STYLE), encoding="utf-8")
    return report


def gathered(rows: Iterable[Row]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """By figure and curve: the points.

    >>> row = Row("11: expressions 10, xtrie", {"at": 10, "MB": 1, "µs / document": 7})
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
    return section(
        f'{_plot(sweep, curves, unit)}<ul>{told}</ul><ul class="points">{lines}</ul>',
        title=f"Figure {sweep.figure}: {sweep.axis}",
    )


def _plot(sweep: Sweep, curves: Mapping[str, Sequence[tuple[float, float]]], unit: str) -> str:
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

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
    return svg(figure, f"f{sweep.figure}")
