"""The two figures of the paper on non-recursive SQL, drawn from what was measured, and its claims."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from bench.harness.kept import Row
from bench.page import svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVES = {
    "paper without cutting ms": ("the paper's matcher without cutting", "#a3443f", "o--"),
    "paper ms": ("the paper's matcher", "#a3443f", "o-"),
    "DuckDB ms": ("pathcast.relational on DuckDB", "#1f6f8b", "o-"),
    "auto ms": ("index in memory (auto)", "#1f7a4d", "o-"),
}
FASTER = (0.3, 0.6)
"""What is taken for the paper's "about 50 %": it may mean a third of the time, or half of it."""
CUTTING = "cutting makes it about 50 % faster (30 to 60 % from 10,000 on count)"
FEWEST = 10_000
"""Subscriptions from which that is judged: the paper's curve does not show smaller numbers apart."""
TITLES = {"nitf": "NITF", "xmark": "XMark"}


def schemas(rows: Sequence[Row]) -> list[str]:
    """Those that there are rows of."""
    return [schema for schema in TITLES if any(row.subject.startswith(f"{schema}, ") for row in rows)]


def by_number(rows: Sequence[Row], schema: str) -> list[Row]:
    """Those of the first figure: documents of 15 KB."""
    some = (row for row in rows if row.subject.startswith(f"{schema}, ") and row.subject.endswith(", 15 KB"))
    return sorted(some, key=lambda row: row.values["subscriptions"])


def by_size(rows: Sequence[Row], schema: str) -> list[Row]:
    """Those of the second: 10,000 subscriptions."""
    some = (row for row in rows if row.subject.startswith(f"{schema}, 10,000 "))
    return sorted(some, key=lambda row: row.values["KB"])


def drawn(rows: Sequence[Row]) -> str:
    """Both figures side by side, a line a schema, on linear axes from zero, as SVG."""
    from matplotlib.figure import Figure

    found = schemas(rows)
    figure = Figure(figsize=(10, 4.2 * len(found)), layout="constrained")
    for schema, (left, right) in zip(found, figure.subplots(len(found), 2, squeeze=False), strict=True):
        title = TITLES[schema]
        _curves(
            left,
            by_number(rows, schema),
            "subscriptions",
            f"{title}: subscriptions, documents of 15 KB (Fig. 6.1)",
        )
        _curves(
            right,
            by_size(rows, schema),
            "KB",
            f"{title}: KB of the document, 10,000 subscriptions (Fig. 6.2)",
        )
        left.set_ylabel("ms of processor time, one unseen document")
        left.legend(frameon=False, fontsize=8)
    return svg(figure, "relational-paper")


def _curves(axes: Axes, rows: Sequence[Row], across: str, label: str) -> None:
    for column, (name, colour, style) in CURVES.items():
        points = [(row.values[across], row.values[column]) for row in rows]
        axes.plot(*zip(*points, strict=True), style, ms=4, color=colour, label=name)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel(label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color="#e4e7eb")


def claims(rows: Sequence[Row]) -> list[tuple[str, str, str, str]]:
    """What the paper says, on which schema, what was measured there, and whether that is the same.

    >>> def row(number, size, with_it, without, matched):
    ...     values = {"subscriptions": number, "KB": size, "paper ms": with_it, "matches / document": matched}
    ...     subject = f"nitf, {number:,} subscriptions, {size} KB"
    ...     return Row(subject, values | {"paper without cutting ms": without})
    >>> rows = [row(10_000, 3, 1, 2, 10), row(10_000, 15, 5, 10, 60), row(10_000, 40, 20, 41, 90)]
    >>> for claim in claims(rows):
    ...     print(*claim, sep=": ")
    cutting makes it about 50 % faster (30 to 60 % from 10,000 on count): NITF: saves 50 % at 10,000: yes
    each further KB takes longer: NITF: 0.33, 0.60 ms for one more: yes
    because more subscriptions match: NITF: 0.1 %, 0.6 %, 0.9 % of them: yes
    """
    asked = {
        CUTTING: _cutting,
        "each further KB takes longer": _growth,
        "because more subscriptions match": _share,
    }
    return [
        (says, TITLES[schema], *about(rows, schema))
        for says, about in asked.items()
        for schema in schemas(rows)
    ]


def _cutting(rows: Sequence[Row], schema: str) -> tuple[str, str]:
    saved = {
        row.values["subscriptions"]: 1 - row.values["paper ms"] / row.values["paper without cutting ms"]
        for row in by_number(rows, schema)
    }
    told = ", ".join(f"{share:.0%} at {number:,.0f}".replace("%", " %") for number, share in saved.items())
    judged = [share for number, share in saved.items() if number >= FEWEST]
    return f"saves {told}", _word(all(FASTER[0] <= share <= FASTER[1] for share in judged))


def _growth(rows: Sequence[Row], schema: str) -> tuple[str, str]:
    points = [(row.values["KB"], row.values["paper ms"]) for row in by_size(rows, schema)]
    slopes = [(after[1] - before[1]) / (after[0] - before[0]) for before, after in pairwise(points)]
    return ", ".join(f"{slope:.2f}" for slope in slopes) + " ms for one more", _word(slopes == sorted(slopes))


def _share(rows: Sequence[Row], schema: str) -> tuple[str, str]:
    shares = [row.values["matches / document"] / row.values["subscriptions"] for row in by_size(rows, schema)]
    return ", ".join(f"{100 * share:.1f} %" for share in shares) + " of them", _word(shares == sorted(shares))


def _word(so: bool) -> str:
    return "yes" if so else "no"
