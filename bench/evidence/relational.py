"""XML publish/subscribe on a relational database with non-recursive SQL: its two experiments.

The paper ran a stored procedure on Oracle 9i and a Pentium IV and draws its times without a table, so what
can be compared is how its curves go. Its matcher runs here on DuckDB on one thread, as printed, with two
errors corrected: branches must meet at one node, and the root is constrained. The join of the document with
itself is made once and not at each level, which makes it faster than printed. NITF and XMark take the place
of the astronomical DTD; subscriptions are drawn as the paper says (30 % branching steps, 10 % `*`, 20 % `//`,
up to ten levels; on average they have four over NITF and five over XMark, the paper's five), and documents
have the paper's sizes and depths. Every document comes once, and every answer is compared with that of the
index in memory. In the tables *paper* is the paper's matcher as it runs here, with cutting and without,
*DuckDB* is `pathcast.relational`, and *auto* is the index in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from bench import paper_figures
from bench.evidence import chart
from bench.evidence.exhibit import Check, Exhibit, Results, Verdict, judged, rows_table
from bench.harness.kept import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "XML publish/subscribe on a relational database with non-recursive SQL"
FILE = "relational-paper"
EDGES = ("edges without cutting", "edges")
SHOWN = ("nodes", "matches / document", *EDGES, *paper_figures.CURVES)


Picked: TypeAlias = Callable[[Sequence[Row], str], list[Row]]


def _checks(results: Results, because: str, *about: str) -> list[Check]:
    return [
        Check(f"{schema}: {says}", word == "yes", measured, because)
        for says, schema, measured, word in paper_figures.claims(results.rows(FILE))
        if says.startswith(about)
    ]


def _rows(results: Results, picked: Picked) -> dict[str, list[Row]]:
    rows = results.rows(FILE)
    return {paper_figures.TITLES[each]: picked(rows, each) for each in paper_figures.schemas(rows)}


def _table(results: Results, picked: Picked, *columns: str) -> str:
    return rows_table([row for some in _rows(results, picked).values() for row in some], columns)


def _curves(results: Results, picked: Picked, across: str, title: str) -> Figure:
    panels = {
        schema: {
            name: [(row.values[across], row.values[column]) for row in rows]
            for column, (name, *_) in paper_figures.CURVES.items()
        }
        for schema, rows in _rows(results, picked).items()
    }
    return chart.lines(panels, title, "ms, one unseen document")


def _cutting(results: Results) -> Verdict:
    because = (
        f"cutting saves {' and '.join(_edges(results))} of the edges that are found in a document with "
        "the most subscriptions, but each level has its cost however few of them are left"
    )
    return judged(_checks(results, because, "cutting"))


def _edges(results: Results) -> list[str]:
    """How many edges of the document are not looked for with cutting."""
    most = {title: rows[-1].values for title, rows in _rows(results, paper_figures.by_number).items()}
    return [
        f"{100 - 100 * row['edges'] / row['edges without cutting']:.0f} % ({title})"
        for title, row in most.items()
    ]


def _growth(results: Results) -> Verdict:
    because = "small documents match no smaller a share of these subscriptions than large ones"
    return judged(_checks(results, because, "each", "because"))


UNMEASURED = {
    "Figures 1 to 5": "the parts of the system, a document and two subscriptions as trees, and the algorithm "
    "in SQL; [ours](../design/relational.md) is described beside it.",
    "Tables 1 to 4": "the rows of this document and of these subscriptions, which the text has lost.",
}
EXHIBITS: tuple[Exhibit, ...] = (
    Exhibit(
        label="Figure 6.1",
        claim="Cutting, which drops a subscription at the first level where nothing of it is found, halves "
        "the time.",
        paper="One document of 15 KB (328 inner nodes, 227 values) against up to 100,000 subscriptions: "
        "about 50 % faster with cutting. The text gives no times.",
        experiments=(FILE,),
        shown=lambda results: _table(results, paper_figures.by_number, *SHOWN),
        verdict=_cutting,
        chart=lambda results: _curves(
            results, paper_figures.by_number, "subscriptions", "subscriptions, documents of 15 KB"
        ),
    ),
    Exhibit(
        label="Figure 6.2",
        claim="The larger the document, the longer each further KB takes, because a larger share of the "
        "subscriptions matches.",
        paper="Documents of 3, 15, 40 and 100 KB (5, 10, 11 and 12 levels) against 10,000 subscriptions; no "
        "times in the text.",
        experiments=(FILE,),
        shown=lambda results: _table(results, paper_figures.by_size, "KB", *SHOWN),
        verdict=_growth,
        chart=lambda results: _curves(
            results, paper_figures.by_size, "KB", "KB of the document, 10,000 subscriptions"
        ),
    ),
)
