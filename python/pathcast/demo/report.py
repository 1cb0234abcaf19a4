"""The report: one HTML file that needs nothing else, with plots drawn in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import pathcast
from pathcast.demo.pipeline import Figures, Places
from pathcast.demo.plots import bars, histogram, shares
from pathcast.errors import printable

__all__ = ["write_report"]

SHOWN = 10  # rows of a table or bars of a plot

STYLE = """
:root { color-scheme: light; --ink: #1f2933; --muted: #66727f; --line: #e4e7eb; --accent: #1f6f8b; }
* { box-sizing: border-box; }
body { margin: 0; background: #f5f6f7; color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.05rem; margin: 0 0 .2rem; }
p { margin: 0 0 .8rem; color: var(--muted); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 1rem; }
.cards { margin: 1.5rem 0; }
.cards div, section { background: #fff; border: 1px solid var(--line); border-radius: .5rem; }
.cards div, section { padding: 1rem 1.2rem; }
.cards b { display: block; font-size: 1.6rem; line-height: 1.2; }
.cards span { color: var(--muted); font-size: .85rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem; }
.wide { grid-column: 1 / -1; overflow-x: auto; }
svg { display: block; width: 100%; height: auto; }
svg text { font-family: system-ui, sans-serif !important; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th { text-align: left; color: var(--muted); font-weight: 500; }
th, td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td:first-child { white-space: nowrap; }
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
        _section(
            "Where the time went",
            "Seconds of each step, from tables on disk to tables on disk.",
            bars([(name, seconds) for name, seconds in figures.seconds.items()], unit=" s", digits=1),
        ),
        _section(
            "Matching: Spark and the core",
            f"{figures.cores} cores were busy for {figures.seconds['match']:.1f} s. One thread of the core, "
            f"without Spark, needs {figures.core_seconds:.1f} s for the same documents and gives the same "
            "answers. The rest is what Spark costs, starting its workers included.",
            shares(match_parts),
        ),
        _section(
            "Top subscribers",
            "Documents delivered. A subscriber gets a document once, however many of its alerts matched.",
            bars([(name, deliveries) for name, deliveries, _ in figures.subscribers[:SHOWN]]),
        ),
        _section(
            "Matches of a document",
            f"{good:,} could be read; {good - figures.matched_documents:,} of them matched nothing.",
            histogram(figures.matches_per_document, label="subscriptions matched", count="documents"),
        ),
        _section(
            "Alerts that matched most",
            "",
            _table(
                ("subscription", "expression", "#documents"),
                ((name, _code(xpath), f"{count:,}") for name, xpath, count in figures.popular),
            ),
            wide=True,
        ),
        _section(
            "Dead letters",
            f"{len(figures.dead):,} documents could not be read, as intended: "
            + ", ".join(f"{count:,} {kind}" for kind, count in figures.dead_by_reason)
            + f". The first {min(SHOWN, len(figures.dead))}:",
            _table(
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
            wide=True,
        ),
        _section(
            "Subscriptions refused",
            "Rows that make no subscription are kept apart; the others are compiled.",
            _table(
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
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Pathcast on Spark</title><style>{STYLE}</style><main><h1>Pathcast on Spark</h1>"
        f"<p>Which of {figures.subscriptions:,} XPath subscriptions does each of {figures.documents:,} news "
        f"documents satisfy? Compiled, matched and delivered on local Spark with {figures.cores} cores. "
        f"Pathcast {escape(pathcast.__version__)}, index version <code>{figures.version[:12]}</code> "
        f"({figures.index_megabytes:.1f} MB).</p>"
        f'<div class="cards">{shown}</div><div class="grid">{"".join(sections)}</div></main></html>\n'
    )


def _section(title: str, says: str, body: str, *, wide: bool = False) -> str:
    kind = ' class="wide"' if wide else ""
    text = f"<p>{escape(says)}</p>" if says else ""
    return f"<section{kind}><h2>{escape(title)}</h2>{text}{body}</section>"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML; a column whose name starts with # holds numbers."""
    kinds = [' class="n"' if name.startswith("#") else "" for name in columns]
    head = "".join(f"<th{kind}>{name.lstrip('#')}</th>" for name, kind in zip(columns, kinds, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _code(text: str | None) -> str:
    return f"<code>{escape(text)}</code>" if text else ""
