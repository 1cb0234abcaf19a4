"""The rows of "Predicate-based Filtering of XPath Expressions", by name, and tables of curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

from bench.evidence import chart
from bench.evidence.exhibit import figure, table

PANELS = {"nitf": "NITF", "blast": "BLAST for PSD"}
PC_AP = "predicate-pc-ap-first"
"""The paper's *basic-pc-ap*."""
MICROSECONDS = "µs / document"
IDS = (
    "most of the time goes into naming the ids of equal expressions, which all engines here do in "
    "the same way"
)


def row_of(name: str, count: int, engine: str) -> str:
    """The name of a row."""
    return f"{name}, {count:,} expressions: {engine}"


def wide(curves: Mapping[str, Sequence[tuple[float, float]]], first: str) -> str:
    """A column for each curve; `first` is what varies."""
    points = [at for at, _ in next(iter(curves.values()))]
    cells = (
        (figure(at), *(_cell(name, each[place][1]) for name, each in curves.items()))
        for place, at in enumerate(points)
    )
    return table((first, *curves), cells)


def _cell(name: str, value: float) -> str:
    """Three digits of ours, and all of the paper's."""
    return f"{value:g}" if name.startswith(chart.PAPER) and not isnan(value) else figure(value)
