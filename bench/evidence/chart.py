"""Charts as all evidence has them: linear axes from zero, or dots on a logarithmic one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

Curves: TypeAlias = Mapping[str, Sequence[tuple[float, float]]]
COLOURS = ("#1f6f8b", "#c4661f", "#7a4fa3", "#1f7a4d", "#a33b20", "#d9a441", "#4a5b6c", "#66727f")
PAPER = "paper: "
"""A curve whose name starts so is the paper's: grey, with hollow marks, in any chart."""
MARKS = "osD^"
"""Of the paper's curves, which have one colour."""


def lines(
    panels: Mapping[str, Curves], across: str | Sequence[str], up: str, *, logarithmic: bool = False
) -> Figure:
    """A panel for each group of curves, side by side; without `logarithmic`, axes start at zero.

    `across` is what all panels vary, or what each does.

    On logarithmic axes points are dots, with thin dots between those of a curve. On others the first curves
    are the broadest: where two are one, both are seen. Wide charts cannot be read on a telephone: two panels
    are the most.
    """
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(4.2 * len(panels) + (1.8 if len(panels) == 1 else 0), 3.9), layout="constrained")
    every = drawn.subplots(1, len(panels), squeeze=False)[0]
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    varied = [across] * len(panels) if isinstance(across, str) else across
    for axes, below, (title, curves) in zip(every, varied, panels.items(), strict=True):
        for name, points in curves.items():
            width = 0.8 if logarithmic else max(1.0, 3.0 - 0.5 * names.index(name))
            style = ":" if logarithmic or name.startswith(PAPER) else "-"
            axes.plot(
                *zip(*points, strict=True), ls=style, lw=width, ms=4.5, label=name, **_look(name, names)
            )
        plain(axes, below, title=title, logarithmic=logarithmic)
    every[0].set_ylabel(up)
    handles = {
        label: handle
        for axes in every
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    drawn.legend(
        [handles[name] for name in names],
        names,
        frameon=False,
        fontsize=9,
        loc="outside lower left",
        ncols=2,
    )
    return drawn


def _look(name: str, names: Sequence[str]) -> dict[str, Any]:
    """The paper's are grey and hollow, each with its own mark; ours have the colour of their place."""
    papers = [each for each in names if each.startswith(PAPER)]
    if name in papers:
        return {"color": "#8a94a0", "mfc": "white", "marker": MARKS[papers.index(name) % len(MARKS)]}
    ours = [each for each in names if each not in papers]
    return {"color": COLOURS[ours.index(name) % len(COLOURS)], "marker": "o"}


def _logarithmic(axis: Axis) -> None:
    """Numbers at 1, 2 and 5 of each power of ten, or at the powers alone where there are many."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1_000 * low else (1,)))
    axis.set_minor_formatter(NullFormatter())


def plain(axes: Axes, across: str, *, title: str = "", logarithmic: bool = False) -> None:
    """The axes: from zero or logarithmic, no frame, numbers as people write them."""
    from matplotlib.ticker import MaxNLocator

    if logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
        _logarithmic(axes.xaxis)
        _logarithmic(axes.yaxis)
    else:
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(5))  # long numbers would touch
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_xlabel(across)
    if title:
        axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color="#e4e7eb")


def dots(values: Mapping[str, Mapping[str, float]], across: str) -> Figure:
    """A line of dots for each subject on one logarithmic axis: by subject, who has which figure."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(6.4, 1.2 + 0.36 * len(values)), layout="constrained")
    axes = drawn.add_subplot()
    names = list(dict.fromkeys(name for figures in values.values() for name in figures))
    for name in names:
        found = [(figures[name], at) for at, figures in enumerate(values.values()) if name in figures]
        axes.plot(*zip(*found, strict=True), ls="", ms=6, label=name, **_look(name, names))
    plain(axes, across)
    axes.set_xscale("log")
    axes.autoscale(axis="x")
    _logarithmic(axes.xaxis)
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.set_yticks(range(len(values)), list(values))
    axes.set_ylim(len(values) - 0.5, -0.5)
    axes.grid(axis="x", color="#e4e7eb")
    drawn.legend(frameon=False, fontsize=9, loc="outside lower left", ncols=2)
    return drawn
