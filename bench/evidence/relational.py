"""XML publish/subscribe on a relational database with non-recursive SQL: its two experiments.

The paper ran a stored procedure on Oracle 9i and a Pentium IV and draws its times without a table, so what
can be compared is how its curves go. Its matcher runs here on DuckDB on one thread, as printed, with two
errors corrected: branches must meet at one node, and the root is constrained. NITF takes the place of the
astronomical DTD; subscriptions are drawn as the paper says (30 % branching steps, 10 % `*`, 20 % `//`, up to
ten levels). Every document comes once, and every answer is compared with that of the index in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench import paper_figures
from bench.evidence import chart
from bench.evidence.exhibit import Check, Exhibit, Results, Verdict, judged, rows_table
from bench.harness.kept import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "XML publish/subscribe on a relational database with non-recursive SQL"
FILE = "relational-paper"
SHOWN = ("nodes", "matches / document", *paper_figures.CURVES)


BECAUSE = (
    "what a level costs however few subscriptions are left, the join of the document with itself among it, "
    "is not cut",
    *[
        "the reason that the paper gives is missing here: small documents match nearly as many of these "
        "subscriptions as large ones"
    ]
    * 2,
)


def _checks(results: Results) -> list[Check]:
    return [
        Check(says[0].upper() + says[1:], word == "yes", measured, because)
        for (says, measured, word), because in zip(
            paper_figures.claims(results.rows(FILE)), BECAUSE, strict=True
        )
    ]


def _curves(rows: Sequence[Row], across: str, title: str) -> Figure:
    curves = {
        name: [(row.values[across], row.values[column]) for row in rows]
        for column, (name, *_) in paper_figures.CURVES.items()
    }
    return chart.lines({"": curves}, title, "ms, one unseen document")


def _cutting(results: Results) -> Verdict:
    return judged(_checks(results)[:1])


def _growth(results: Results) -> Verdict:
    return judged(_checks(results)[1:])


EXHIBITS: tuple[Exhibit, ...] = (
    Exhibit(
        label="Figure 6.1",
        claim="Cutting, which drops a subscription at the first level where nothing of it is found, halves "
        "the time.",
        paper="One document of 15 KB (328 inner nodes, 227 values) against up to 100,000 subscriptions: "
        "about 50 % faster with cutting. The text gives no times.",
        experiments=(FILE,),
        shown=lambda results: rows_table(paper_figures.by_number(results.rows(FILE)), SHOWN),
        verdict=_cutting,
        chart=lambda results: _curves(
            paper_figures.by_number(results.rows(FILE)), "subscriptions", "subscriptions, documents of 15 KB"
        ),
    ),
    Exhibit(
        label="Figure 6.2",
        claim="Time grows faster than the size of the document, because a larger share of the subscriptions "
        "matches.",
        paper="Documents of 3, 15, 40 and 100 KB (5, 10, 11 and 12 levels) against 10,000 subscriptions; no "
        "times in the text.",
        experiments=(FILE,),
        shown=lambda results: rows_table(paper_figures.by_size(results.rows(FILE)), ("KB", *SHOWN)),
        verdict=_growth,
        chart=lambda results: _curves(
            paper_figures.by_size(results.rows(FILE)), "KB", "KB of the document, 10,000 subscriptions"
        ),
    ),
)
