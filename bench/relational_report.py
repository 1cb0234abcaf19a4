"""The experiments on databases as one HTML file: a plot and a table for each, from the figures that are kept.

Each experiment draws the whole report anew, with what the others have kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bench import paper_figures
from bench.harness.kept import Kept, Row, figures
from bench.page import page, section, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Lines: TypeAlias = Mapping[str, Sequence[tuple[float, float]]]

COLOURS = {"DuckDB": "#1f6f8b", "PostgreSQL": "#d9a441", "Spark": "#a3443f", "auto": "#1f7a4d"}


@dataclass(frozen=True)
class Section:
    """An experiment in the report."""

    title: str
    about: str


SECTIONS = {
    "relational": Section(
        "Number of subscriptions",
        "Unseen documents of 15 KB in batches of 100; dashed: one document alone. The plot has the branching "
        "set on NITF, which is nearest to the paper's, the table all sets.",
    ),
    "relational-paper": Section(
        "The two figures of the paper",
        "One unseen document, the median of five, on DuckDB: the paper's matcher as printed, with two errors "
        "corrected, and ours. The paper: cutting saves about half; time grows faster than the document.",
    ),
    "relational-workloads": Section(
        "Other workloads",
        "DuckDB, unseen documents in batches of 100, and documents of 17 nodes one at a time.",
    ),
    "relational-spark": Section(
        "A million subscriptions on Spark",
        "1,000 documents of 2 KB in one batch, on two cores. The plans are beside this file.",
    ),
}


def write_report(path: Path, folder: Path) -> Path:
    """Draws what all experiments have kept beside the file, into a folder."""
    found = {name: path.with_name(f"{name}.json") for name in SECTIONS}
    above = (
        "<p>The experiments of the paper on matching XPath subscriptions level by level with non-recursive "
        "SQL: branching paths with a value test each, and linear ones. Milliseconds are for one document; "
        "<em>auto</em> is the index in memory on one thread. Every answer was compared with the index's.</p>"
    )
    sections = [_section(name, Kept.read(file)) for name, file in found.items() if file.exists()]
    report = folder / "relational.html"
    report.write_text(page("Matching inside a database", above, sections), encoding="utf-8")
    return report


def _section(name: str, found: Kept) -> str:
    about = SECTIONS[name]
    body = f"{drawn(name, found.rows)}{figures(found.rows)}<p>{found.facts}</p>"
    return section(body, title=about.title, says=about.about, wide=True)


def lines(rows: Sequence[Row]) -> Lines:
    """By curve: the points.

    >>> lines([Row("DuckDB, 1,000, nitf twigs", {"batch ms": 2, "single ms": 3, "auto ms": 1})])
    {'DuckDB': [(1000.0, 2)], 'DuckDB, alone': [(1000.0, 3)], 'auto': [(1000.0, 1)]}
    """
    found: dict[str, list[tuple[float, float]]] = {}

    def add(curve: str, at: float, value: float) -> None:
        points = found.setdefault(curve, [])
        if all(at != other for other, _ in points):
            points.append((at, value))

    for row in rows:
        subject, _, rest = row.subject.partition(", ")
        number, _, drawn_set = rest.rpartition(", ")
        if drawn_set == "nitf twigs":
            at = float(number.replace(",", ""))
            add(subject, at, row.values["batch ms"])
            add(f"{subject}, alone", at, row.values["single ms"])
            add("auto", at, row.values["auto ms"])
    return found


def dots(name: str, rows: Sequence[Row]) -> list[tuple[str, float, str]]:
    """What is compared by dots on one axis: a label, milliseconds, and whose they are."""
    found: list[tuple[str, float, str]] = []
    if name == "relational-spark":
        found = [(row.subject, row.values["ms / document"], "Spark") for row in rows]
        return [*found, ("auto, one thread", rows[0].values["auto ms"], "auto")]
    for row in rows:
        found.append((row.subject, row.values["best ms"], "DuckDB"))
        found.append((f"{row.subject}, auto", row.values["auto ms"], "auto"))
    return found


def drawn(name: str, rows: Sequence[Row]) -> str:
    """The plots of an experiment as SVG."""
    from matplotlib.figure import Figure

    if name == "relational-paper":
        return paper_figures.drawn(rows)
    if name == "relational-spark":
        figure = Figure(figsize=(9, 1.9), layout="constrained")
        _dots(figure.add_subplot(), dots(name, rows), "ms a document")
    elif name == "relational-workloads":
        figure = Figure(figsize=(9, 3.2), layout="constrained")
        _dots(figure.add_subplot(), dots(name, rows), "ms a document")
    else:
        figure = Figure(figsize=(9, 4.4), layout="constrained")
        _lines(figure.add_subplot(), lines(rows), "subscriptions", "ms a document")
    return svg(figure, name)


def _lines(axes: Axes, curves: Lines, across: str, up: str) -> None:
    order = list(COLOURS)
    for name, points in sorted(curves.items(), key=lambda curve: order.index(curve[0].partition(", ")[0])):
        kind, _, alone = name.partition(", ")
        style = "--" if alone else "-"
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


def _dots(axes: Axes, values: Iterable[tuple[str, float, str]], across: str) -> None:
    labels, lengths, kinds = zip(*values, strict=True)
    axes.scatter(lengths, range(len(labels)), color=[COLOURS[kind] for kind in kinds])
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
