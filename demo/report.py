"""The report: one HTML file that needs nothing else, with plots drawn in it."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pathcast
from bench.page import page, section, table
from demo.pipeline import Figures, Places
from demo.plots import bars, histogram, shares
from pathcast.errors import printable

__all__ = ["write_report"]

SHOWN = 10  # rows of a table or bars of a plot

STYLE = """
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 1rem; }
.cards { margin: 1.5rem 0; }
.cards div { background: #fff; border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.2rem; }
.cards b { display: block; font-size: 1.6rem; line-height: 1.2; }
.cards span { color: var(--muted); font-size: .85rem; }
code { font-size: .85rem; overflow-wrap: anywhere; }
"""


def write_report(places: Places, figures: Figures) -> Path:
    """Writes `report.html` and returns where it is."""
    path = places.folder / "report.html"
    path.write_text(_page(figures), encoding="utf-8")
    return path


def _page(figures: Figures) -> str:
    core = figures.core_share
    busy = figures.cores * figures.seconds["match"]
    match_parts = [("the core", busy * core), ("Spark, Arrow and disk", busy * (1 - core))]
    good = figures.documents - len(figures.dead)
    sections = (
        section(
            bars("steps", list(figures.seconds.items()), unit=" s", digits=1),
            title="Where the time went",
            says="Seconds of each step, from tables on disk to tables on disk.",
        ),
        section(
            shares(match_parts),
            title="Matching: Spark and the core",
            says=f"{figures.cores} cores were busy for {figures.seconds['match']:.1f} s. One thread of the "
            f"core, without Spark, needs {figures.core_seconds:.1f} s for the same documents and gives the "
            "same answers. The rest is what Spark costs, starting its workers included.",
        ),
        section(
            bars("subscribers", [(name, deliveries) for name, deliveries, _ in figures.subscribers[:SHOWN]]),
            title="Top subscribers",
            says="Documents delivered. A subscriber gets a document once, however many alerts matched it.",
        ),
        section(
            histogram(figures.matches_per_document, label="subscriptions matched", count="documents"),
            title="Matches of a document",
            says=f"{good:,} could be read; {good - figures.matched_documents:,} of them matched nothing.",
        ),
        section(
            table(
                ("subscription", "expression", "#documents"),
                ((name, _code(xpath), f"{count:,}") for name, xpath, count in figures.popular),
            ),
            title="Alerts that matched most",
            wide=True,
        ),
        section(
            table(
                ("document", "#line", "#column", "reason", "around it"),
                (
                    (
                        row["doc_id"],
                        str(row["line"]),
                        str(row["column"]),
                        escape(printable(row["reason"])),
                        _code(row["excerpt"]),
                    )
                    for row in figures.dead[:SHOWN]
                ),
            ),
            title="Dead letters",
            says=f"{len(figures.dead):,} documents could not be read, as intended: "
            + ", ".join(f"{count:,} {kind}" for kind, count in figures.dead_by_reason)
            + f". The first {min(SHOWN, len(figures.dead))}:",
            wide=True,
        ),
        section(
            table(
                ("id", "expression", "#column", "reason"),
                (
                    (
                        row["id"],
                        _code(row["xpath"]),
                        str(row["column"] or ""),
                        escape(printable(row["reason"])),
                    )
                    for row in figures.refused
                ),
            ),
            title="Subscriptions refused",
            says="Rows that make no subscription are kept apart; the others are compiled.",
            wide=True,
        ),
    )
    cards = (
        (f"{figures.rate:,.0f}", "documents matched a second"),
        (f"{figures.documents:,}", f"documents, {figures.megabytes:.1f} MB"),
        (f"{figures.subscriptions:,}", "subscriptions"),
        (f"{figures.matches:,}", "matches"),
        (f"{figures.deliveries:,}", f"deliveries to {len(figures.subscribers):,} subscribers"),
        (f"{len(figures.dead):,}", "dead letters"),
    )
    shown = "".join(f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for value, name in cards)
    above = (
        f"<p>Which of {figures.subscriptions:,} XPath subscriptions does each of {figures.documents:,} news "
        f"documents satisfy? Compiled, matched and delivered on local Spark with {figures.cores} cores. "
        f"Pathcast {escape(pathcast.__version__)}, index version <code>{figures.version[:12]}</code> "
        f'({figures.index_megabytes:.1f} MB).</p><div class="cards">{shown}</div>'
    )
    return page("Pathcast on Spark", above, sections, STYLE)


def _code(text: str | None) -> str:
    return f"<code>{escape(text)}</code>" if text else ""
