"""``pathcast network``: a network of brokers in one process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from pathcast.cli.arguments import Version, fail
from pathcast.errors import located, printable

app = typer.Typer(help="Try out a network of brokers.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def network(version: Version = False) -> None:
    """Try out a network of brokers."""


@app.command()
def simulate(
    topology: Annotated[Path, typer.Argument(metavar="TOPOLOGY.toml", help="The network, as a TOML file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Also draw it, as an .svg file.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed than the file says.")] = None,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Do not hold every delivery against flooding; faster.")
    ] = False,
    version: Version = False,
) -> None:
    """Run a network in this process and print what each broker and link had to do.

    The same file and seed give the same run. Every delivery is held against a network that floods; what is
    lost, false or twice ends the run with status 1.

    \b
    Example:
      pathcast network simulate examples/network/tree.toml -o tree.svg
    """
    from pathcast.network.simulation.checks import ViolationError
    from pathcast.network.simulation.drawing import draw
    from pathcast.network.simulation.simulate import Report, simulate
    from pathcast.network.simulation.topology import read_topology

    if output is not None and output.suffix != ".svg":
        fail(located(str(output), None, "a drawing is written as .svg"))
    try:
        found = read_topology(topology, seed=seed)
    except OSError as error:
        fail(located(str(error.filename or topology), None, f"cannot be read: {error.strerror}"))
    try:
        report: Report = simulate(found, checked=not unchecked)
    except ViolationError as error:
        typer.echo(f"pathcast: {printable(str(error))}", err=True)
        raise typer.Exit(1) from None
    _show(report)
    if output is not None:
        try:
            output.write_text(draw(report), encoding="utf-8")
        except OSError as error:
            fail(located(str(output), None, f"cannot be written: {error.strerror}"))


def _show(report: object) -> None:
    from pathcast.network.simulation.simulate import CONTROL, Report

    assert isinstance(report, Report)
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    table = Table(box=None, header_style="bold")
    table.add_column("broker")
    for name in (
        "subscriptions",
        "filters",
        "told",
        "control",
        "documents",
        "unmatched",
        "delivered",
        "crashes",
    ):
        table.add_column(name, justify="right")
    for broker in report.brokers if len(report.brokers) <= 50 else ():
        control = sum(broker.received[kind] for kind in CONTROL)
        numbers = (
            broker.subscriptions,
            broker.filters,
            broker.told,
            control,
            broker.received["Publish"],
            broker.unmatched,
            broker.delivered,
            broker.crashes,
        )
        table.add_row(printable(broker.name), *(f"{number:,}" for number in numbers))
    total = [
        sum(each.subscriptions for each in report.brokers),
        sum(each.filters for each in report.brokers),
        sum(each.told for each in report.brokers),
        sum(report.messages.get(kind, 0) for kind in CONTROL),
        report.messages.get("Publish", 0),
        sum(each.unmatched for each in report.brokers),
        sum(each.delivered for each in report.brokers),
        sum(each.crashes for each in report.brokers),
    ]
    table.add_section()
    table.add_row(f"all {len(report.brokers):,}", *(f"{number:,}" for number in total), style="bold")
    console.print(table)
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(report.messages.items()))
    console.print(f"messages between brokers: {kinds or 'none'}")
    console.print(
        f"{report.counted.published:,} documents, {report.counted.delivered:,} subscriptions satisfied, "
        f"{report.counted.owed:,} owed by flooding, {report.time:.3f} s simulated"
    )
