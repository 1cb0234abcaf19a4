"""The report: one HTML file that needs nothing else, with plots drawn in it."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pathcast
from bench.page import page, section, table
from demo.data import STRANGER
from demo.letters import DeadLetter, Story
from demo.pipeline import Figures, Places
from demo.plots import bars, histogram, shares
from demo.strangers import ATTACKS
from pathcast.errors import printable

__all__ = ["write_report"]

SHOWN = 10  # rows of a table or bars of a plot

STYLE = """
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 1rem; }
.cards { margin: 1.5rem 0; }
.cards div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
.cards div { padding: 1rem 1.2rem; }
.cards b { display: block; font-size: 1.6rem; line-height: 1.2; }
.cards span { color: var(--muted); font-size: .85rem; }
code { font-size: .85rem; overflow-wrap: anywhere; }
code span { display: inline-block; white-space: pre-wrap; }
main { --part: #1f6f8b; --rest: #d9a441; }
@media (prefers-color-scheme: dark) { main { --part: #68a9bf; --rest: #c08f36; } }
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: .45rem .8rem; }
.bars { list-style: none; margin: .8rem 0 .2rem; padding: 0; font-size: .9rem; }
.bars li { display: contents; }
.bars div { align-self: center; }
.bars i { display: block; height: 1.1rem; min-width: 1px; background: var(--part); border-radius: .15rem; }
.bars b { font-weight: 500; text-align: right; font-variant-numeric: tabular-nums; }
.narrow { display: none; }
.shares { margin-top: 1.2rem; }
.shares div { display: flex; gap: 2px; height: 1.7rem; border-radius: .3rem; overflow: hidden; }
.shares i { flex-basis: 0; background: var(--rest); }
.shares ul { display: flex; flex-wrap: wrap; gap: .2rem 1.5rem; margin: .6rem 0 .2rem; padding: 0; }
.shares ul { list-style: none; }
.shares li { font-size: .85rem; }
.shares li::before { content: ""; display: inline-block; width: .7em; height: .7em; margin-right: .5em; }
.shares li::before { border-radius: .15em; background: var(--rest); }
.shares i:first-child, .shares li:first-child::before { background: var(--part); }
mark { background: #d9480f; color: #fff; border-radius: .15rem; padding: 0 .1rem; }
.inbox { list-style: none; margin: 0; padding: 0; }
.inbox li { padding: .5rem 0; border-top: 1px solid var(--line); }
.inbox code { display: block; color: var(--muted); font-size: .78rem; }
@media (max-width: 40rem) {  /* a name and its numbers share a line, and what is long has the next ones */
  table, tbody { display: block; }
  tr { display: flex; flex-wrap: wrap; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  tr:last-child { border-bottom: 0; }
  th, td { flex: 1 0 100%; order: 1; padding: .1rem 0; border: 0; }
  th:first-child, td:first-child { flex: 1 0 0; order: 0; }
  td:first-child { font-weight: 600; }
  .n { flex: 0 0 auto; order: 0; min-width: 4.5rem; }
  .bars { display: block; }
  .bars li { display: grid; grid-template-columns: 1fr max-content; margin-bottom: .6rem; }
  .bars div { grid-column: 1 / -1; order: 1; }
  .broad { display: none; }
  .narrow { display: block; }
}
"""


def write_report(places: Places, figures: Figures) -> Path:
    """Writes `report.html` and returns where it is."""
    path = places.folder / "report.html"
    path.write_text(_page(figures), encoding="utf-8")
    return path


def _page(figures: Figures) -> str:
    core = figures.core_share
    busy = figures.cores * (figures.seconds["match"] + figures.seconds["match, cold"])
    match_parts = [("Pathcast", busy * core), ("Spark, Arrow and disk", busy * (1 - core))]
    good = figures.documents - len(figures.dead)
    accidents = [letter for letter in figures.dead if not letter.doc_id.startswith(STRANGER)]
    attacks = [letter for letter in figures.dead if letter.doc_id.startswith(STRANGER)]
    sections = (
        section(
            f'<ul class="inbox">{"".join(map(_story, figures.inbox))}</ul>',
            title=f"The inbox of {figures.reader}",
            says=f"The first {len(figures.inbox)} of {figures.subscribers[0][1]:,} stories, each with the "
            "alerts that asked for it.",
            wide=True,
        ),
        section(
            bars(list(figures.seconds.items()), unit=" s", digits=1),
            title="Where the time went",
            says="Seconds of each step, from tables on disk to tables on disk.",
        ),
        section(
            shares(match_parts),
            title="Matching: Spark and Pathcast",
            says=f"Matching took {busy / figures.cores:.1f} s on {figures.cores} processors. One thread of "
            f"Pathcast, without Spark, needs {figures.core_seconds:.1f} s for the same documents and gives "
            "the same answers. The rest is what Spark costs, starting its workers included.",
        ),
        section(
            bars([(name, deliveries) for name, deliveries, _ in figures.subscribers[:SHOWN]]),
            title="Top subscribers",
            says="Documents delivered. A subscriber gets a document once, however many alerts matched it.",
        ),
        section(
            histogram(figures.matches_per_document, label="subscriptions matched", count="documents"),
            title="Matches of a document",
            says=f"{good:,} could be read; {good - figures.matched_documents:,} of them matched nothing. The "
            "last bar holds those that matched still more.",
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
                ("document", "#line", "#column", "reason, and the spot"),
                (
                    (
                        letter.doc_id,
                        str(letter.line),
                        str(letter.column),
                        _spot(letter),
                    )
                    for letter in accidents[:SHOWN]
                ),
            ),
            title="Dead letters, with the spot marked",
            says=f"{len(accidents):,} stories were damaged on their way, on purpose. Nobody gets a part of "
            f"one. The first {min(SHOWN, len(accidents))}:",
            wide=True,
        ),
        section(
            table(
                ("document", "what it tries", "what came of it"),
                (
                    (letter.doc_id, escape(tried), escape(letter.reason))
                    for letter, tried in zip(attacks, ATTACKS, strict=True)
                ),
            ),
            title="A bad actor",
            says="Sent among the stories. Each was refused within its limits, and all documents around it "
            "got the answers that they get without it.",
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
        (f"{figures.rate:,.0f}", f"documents a second, warm; cold {figures.cold_rate:,.0f}"),
        (f"{figures.documents:,}", f"documents, {figures.megabytes:.1f} MB"),
        (f"{figures.subscriptions:,}", "subscriptions"),
        (f"{figures.matches:,}", "matches"),
        (f"{figures.deliveries:,}", f"deliveries to {len(figures.subscribers):,} subscribers"),
        (f"{len(figures.dead):,}", "dead letters"),
    )
    shown = "".join(f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for value, name in cards)
    above = (
        f"<p>A news agency: which of its readers' {figures.subscriptions:,} alerts does each of "
        f"{figures.documents:,} stories satisfy? Compiled, matched and delivered on local Spark with "
        f"{figures.cores} cores. Pathcast {escape(pathcast.__version__)}, index version "
        f"<code>{figures.version[:12]}</code> "
        f'({figures.index_megabytes:.1f} MB).</p><div class="cards">{shown}</div>'
    )
    return page("Pathcast on Spark", above, sections, STYLE)


def _spot(letter: DeadLetter) -> str:
    line = f"{escape(letter.before)}<mark>{escape(letter.spot)}</mark>{escape(letter.after)}"
    return f"{escape(letter.reason)}<br><code>{line}</code>"


def _story(story: Story) -> str:
    because = "".join(map(_code, story.because))
    return f"<li>{story.headline}{because}</li>"


def _code(text: str | None) -> str:
    """An expression; a line that is too short for it ends before a step or a further predicate, if it can.

    >>> _code("//a/b[c = 1][d]")
    '<code><span>//a</span><span>/b[c = 1]</span><span>[d]</span></code>'
    """
    pieces = re.findall(r"(?:/*[^/\[]+)?\[[^\[\]]*\]?|/*[^/\[]+|.", text or "", re.DOTALL)
    inside = "".join(f"<span>{escape(piece)}</span>" for piece in pieces)
    return f"<code>{inside}</code>" if inside else ""
