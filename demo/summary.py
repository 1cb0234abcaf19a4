"""What a run gave, for people in front of a terminal."""

from __future__ import annotations

from rich.columns import Columns
from rich.console import Console
from rich.table import Table
from rich.text import Text

from demo.pipeline import Figures
from pathcast.errors import printable

__all__ = ["show"]

SHOWN = 6  # rows of a table


def show(console: Console, figures: Figures) -> None:
    """Prints the summary."""
    console.print()
    console.print(_whole(figures))
    console.print(Columns([_steps(figures), _subscribers(figures)], padding=(0, 4)))
    console.print(_inbox(figures))
    console.print(_dead(figures))
    console.print(_refused(figures))


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for place, name in enumerate(columns):
        table.add_column(name, justify="right" if place and name != "reason" else "left")
    return table


def _whole(figures: Figures) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", justify="right")
    table.add_column()
    core = 100 * figures.core_share
    matching = figures.seconds["match, cold"] + figures.seconds["match"]
    for name, text in (
        (
            "documents",
            f"{figures.documents:,} ({figures.megabytes:.1f} MB), {len(figures.dead):,} dead letters",
        ),
        (
            "subscriptions",
            f"{figures.subscriptions:,}, index {figures.index_megabytes:.1f} MB, "
            f"version {figures.version[:12]}",
        ),
        (
            "throughput",
            f"{figures.rate:,.0f} documents/s warm, {figures.cold_rate:,.0f} cold; warm "
            f"{figures.rate * figures.subscriptions / 1e6:,.1f} million expressions decided a second",
        ),
        ("matches", f"{figures.matches:,} in {figures.matched_documents:,} documents"),
        ("deliveries", f"{figures.deliveries:,} to {len(figures.subscribers):,} subscribers, one copy each"),
        (
            "time",
            f"matching took {matching:.1f} s on {figures.cores} cores: Pathcast needs "
            f"{core:.0f} % of that, Spark {100 - core:.0f} %",
        ),
    ):
        table.add_row(name, text)
    return table


def _steps(figures: Figures) -> Table:
    table = _table("Steps", "step", "seconds")
    for name, seconds in figures.seconds.items():
        table.add_row(name, f"{seconds:.1f}")
    return table


def _subscribers(figures: Figures) -> Table:
    table = _table("Top subscribers", "subscriber", "documents", "matches")
    for name, deliveries, matches in figures.subscribers[:SHOWN]:
        table.add_row(Text(name), f"{deliveries:,}", f"{matches:,}")
    return table


def _dead(figures: Figures) -> Table:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in figures.dead_by_reason)
    table = _table(f"Dead letters: {kinds}", "document", "line", "column", "reason")
    seen: set[str] = set()
    for letter in figures.dead:
        if letter.reason not in seen and len(seen) < 3 * SHOWN:
            seen.add(letter.reason)
            spot = Text.assemble(
                letter.before[-20:], (letter.spot, "reverse"), letter.after[:20], style="dim"
            )
            said = Text.assemble(letter.reason, "\n", spot)
            table.add_row(letter.doc_id, str(letter.line), str(letter.column), said)
    return table


def _inbox(figures: Figures) -> Table:
    table = Table(title=f"The inbox of {figures.reader}", title_justify="left", title_style="bold")
    for name in ("story", "because of"):
        table.add_column(name)
    for story in figures.inbox[:SHOWN]:
        table.add_row(Text(story.headline), Text(story.because[0], style="dim"))
    return table


def _refused(figures: Figures) -> Table:
    table = _table("Subscriptions refused", "id", "column", "reason")
    for row in figures.refused:
        table.add_row(
            row["id"], str(row["column"] or ""), Text(f"{row['xpath']}  {printable(row['reason'])}")
        )
    return table
