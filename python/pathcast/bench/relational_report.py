"""The experiments on databases as one HTML file: a plot and a table for each, from the figures that are kept.

Each experiment draws the whole report anew, with what the others have kept beside it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pathcast.bench.foundation import Row
from pathcast.bench.relational import CLUSTERED, NOT_BROADCAST

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rows: TypeAlias = Sequence[Mapping[str, Any]]
Lines: TypeAlias = Mapping[str, Sequence[tuple[float, float]]]

COLOURS = {"DuckDB": "#1f6f8b", "PostgreSQL": "#d9a441", "Spark": "#a3443f", "auto": "#1f7a4d"}
STYLE = """
body { margin: 0; background: #f5f6f7; color: #1f2933; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 0 0 .2rem; }
p { margin: 0 0 .6rem; color: #66727f; }
section { background: #fff; border: 1px solid #e4e7eb; border-radius: .5rem; padding: 1rem; margin: 1rem 0; }
svg { display: block; width: 100%; height: auto; }
.table { overflow-x: auto; } table { border-collapse: collapse; font-size: .8rem; }
td, th { padding: .2rem .5rem; border: 1px solid #e4e7eb; text-align: right; white-space: nowrap; }
td:first-child { text-align: left; }
"""


@dataclass(frozen=True)
class Section:
    """An experiment in the report."""

    title: str
    about: str


SECTIONS = {
    "relational": Section(
        "Number of subscriptions, with and without cutting",
        "5 documents of 15 KB in a batch. The paper: linear, and cutting saves about half of the time.",
    ),
    "relational-documents": Section(
        "Size of the documents",
        "10,000 subscriptions, 10 documents in a batch. The paper: time grows faster than size, because more "
        "subscriptions match.",
    ),
    "relational-levers": Section(
        "Batching, clustering, broadcasting",
        "10,000 subscriptions, documents of 15 KB. Clustered: edges with the same names lie together. "
        "Without broadcasts: Spark sends no small table to all tasks, and joins by shuffling both sides.",
    ),
    "relational-spark": Section(
        "A million subscriptions on Spark",
        "1,000 documents of 2 KB in one batch, on two cores. The plans are beside this file.",
    ),
}


def write_report(rows: Sequence[Row], machine: Mapping[str, Any], path: Path) -> Path:
    """Writes the report of all experiments that were kept in the folder; matplotlib draws."""
    folder, experiment = path.parent, rows[0].experiment
    found: dict[str, Rows] = {}
    for name in SECTIONS:
        if name == experiment:
            found[name] = [{"subject": row.subject, **row.values} for row in rows]
        elif (kept := folder / f"{name}.json").exists():
            found[name] = json.loads(kept.read_text(encoding="utf-8"))["rows"]
    facts = ", ".join(f"{key} {value}" for key, value in machine.items() if value is not None)
    report = folder / "relational.html"
    report.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Matching inside a database</title>"
        f"<style>{STYLE}</style><main><h1>Matching inside a database</h1>"
        "<p>The experiments of the paper on matching XPath subscriptions level by level with non-recursive "
        "SQL, on NITF: branching paths with a value test each. Milliseconds are those of one document; "
        "<em>auto</em> is the index in memory on one thread. Every answer was compared with the index's. "
        f"{escape(facts)}</p>"
        + "".join(_section(name, each) for name, each in found.items())
        + "</main></html>\n",
        encoding="utf-8",
    )
    return report


def _section(name: str, rows: Rows) -> str:
    section = SECTIONS[name]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    head = "".join(f"<th>{escape('' if column == 'subject' else column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(row.get(column))}</td>" for column in columns) + "</tr>" for row in rows
    )
    return (
        f"<section><h2>{escape(section.title)}</h2><p>{escape(section.about)}</p>{drawn(name, rows)}"
        f'<div class="table"><table><tr>{head}</tr>{body}</table></div></section>'
    )


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return escape(value)
    if value is None or value != value:
        return "—"
    return f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"


def lines(name: str, rows: Rows) -> Lines:
    """By curve: the points.

    >>> lines("relational", [{"subject": "DuckDB, 1,000", "cut ms": 2, "not cut ms": 3, "auto ms": 1}])
    {'DuckDB': [(1000.0, 2)], 'DuckDB, not cut': [(1000.0, 3)], 'auto': [(1000.0, 1)]}
    """
    found: dict[str, list[tuple[float, float]]] = {}

    def add(curve: str, at: float, value: float) -> None:
        points = found.setdefault(curve, [])
        if all(at != other for other, _ in points):
            points.append((at, value))

    for row in rows:
        subject, _, rest = row["subject"].partition(", ")
        if name == "relational":
            at = float(rest.replace(",", ""))
            add(subject, at, row["cut ms"])
            add(f"{subject}, not cut", at, row["not cut ms"])
            add("auto", at, row["auto ms"])
        elif name == "relational-documents":
            for curve in COLOURS:
                add(curve, row["KB"], row[f"{curve} ms"])
        elif rest.startswith("batches"):
            add(subject, row["documents"], row["ms"])
            add("auto", row["documents"], row["auto ms"])
    return found


def bars(name: str, rows: Rows) -> list[tuple[str, float, str]]:
    """What is compared by bars: a label, milliseconds, and whose they are."""
    found: list[tuple[str, float, str]] = []
    if name == "relational-spark":
        found = [(row["subject"], row["ms / document"], "Spark") for row in rows]
        return [*found, ("auto, one thread", rows[0]["auto ms"], "auto")]
    for row in rows:
        subject, _, rest = row["subject"].partition(", ")
        if row["documents"] == 10:
            label = rest if rest in {CLUSTERED, NOT_BROADCAST} else "as it is"
            found.append((f"{subject}, {label}", row["ms"], subject))
    return found


def drawn(name: str, rows: Rows) -> str:
    """The plots of an experiment as SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "pathcast", "font.size": 10}
    with mpl.rc_context(settings):
        if name == "relational-spark":
            figure = Figure(figsize=(9, 1.9), layout="constrained")
            _bars(figure.add_subplot(), bars(name, rows), "ms a document")
        elif name == "relational-levers":
            figure = Figure(figsize=(9, 3.8), layout="constrained")
            left, right = figure.subplots(1, 2)
            _lines(left, lines(name, rows), "documents in a batch", "ms a document")
            _bars(right, bars(name, rows), "ms a document, batches of 10")
        else:
            figure = Figure(figsize=(9, 4.4), layout="constrained")
            across = "subscriptions" if name == "relational" else "KB of a document"
            _lines(figure.add_subplot(), lines(name, rows), across, "ms a document")
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    head, rest = text.split(">", 1)
    text = re.sub(r' (width|height)="[^"]*"', "", head) + ">" + rest
    # Several drawings share one page: what they refer to must not clash.
    return re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{name}-", text)


def _lines(axes: Axes, curves: Lines, across: str, up: str) -> None:
    order = list(COLOURS)
    for name, points in sorted(curves.items(), key=lambda curve: order.index(curve[0].partition(", ")[0])):
        kind, _, uncut = name.partition(", ")
        style = "--" if uncut else "-"
        axes.plot(*zip(*points, strict=True), style, marker="o", ms=4, color=COLOURS[kind], label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = sorted({at for points in curves.values() for at, _ in points})
    axes.set_xticks(ticks, [f"{at:,.0f}" for at in ticks])
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    _plain(axes, "y")
    axes.legend(frameon=False, fontsize=8)


def _bars(axes: Axes, values: Iterable[tuple[str, float, str]], across: str) -> None:
    labels, lengths, kinds = zip(*values, strict=True)
    axes.barh(range(len(labels)), lengths, color=[COLOURS[kind] for kind in kinds], height=0.7)
    for at, length in enumerate(lengths):
        text = f"{length:,.2f}" if length < 10 else f"{length:,.0f}"
        axes.annotate(text, (length, at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(min(lengths) / 2, max(lengths) * 2.5)
    axes.set_xlabel(across)
    _plain(axes, "x")


def _plain(axes: Axes, grid: str) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis=grid, color="#e4e7eb")  # type: ignore[arg-type]
