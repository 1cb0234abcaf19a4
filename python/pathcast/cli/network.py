"""``pathcast network``: a network of brokers in one process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.arguments import Version, fail
from pathcast.errors import located, printable

if TYPE_CHECKING:
    from pathcast.network.simulation.simulate import Report

LISTED = 50
"""Brokers that are listed one by one."""

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

    The same file and seed give the same run. Every delivery is compared with a network that floods; what is
    lost, false or twice ends the run with status 1.

    \b
    Example:
      pathcast network simulate examples/network/tree.toml -o tree.svg
    """
    from pathcast.network.simulation.checks import ViolationError
    from pathcast.network.simulation.drawing import draw
    from pathcast.network.simulation.simulate import simulate
    from pathcast.network.simulation.topology import read_topology

    if output is not None and output.suffix != ".svg":
        fail(located(str(output), None, "a drawing is written as .svg"))
    try:
        found = read_topology(topology, seed=seed)
    except OSError as error:
        fail(located(str(error.filename or topology), None, f"cannot be read: {error.strerror}"))
    try:
        report = simulate(found, checked=not unchecked)
    except ViolationError as error:
        typer.echo(f"pathcast: {printable(str(error))}", err=True)
        raise typer.Exit(1) from None
    _show(report)
    if output is not None:
        try:
            output.write_text(draw(report), encoding="utf-8")
        except OSError as error:
            fail(located(str(output), None, f"cannot be written: {error.strerror}"))


def _show(report: Report) -> None:
    from pathcast.network.simulation.simulate import CONTROL

    head = (
        "broker",
        "subscriptions",
        "filters",
        "told",
        "control",
        "documents",
        "unmatched",
        "delivered",
        "crashes",
    )
    rows = [
        (
            printable(broker.name),
            broker.subscriptions,
            broker.filters,
            broker.told,
            sum(broker.received[kind] for kind in CONTROL),
            broker.received["Publish"],
            broker.unmatched,
            broker.delivered,
            broker.crashes,
        )
        for broker in report.brokers
    ]
    total = (f"all {len(rows):,}", *(sum(row[at] for row in rows) for at in range(1, len(head))))  # type: ignore[misc]
    shown = [*(rows if len(rows) <= LISTED else ()), total]
    texts = [head, *((row[0], *(f"{number:,}" for number in row[1:])) for row in shown)]
    widths = [max(len(str(row[at])) for row in texts) for at in range(len(head))]
    for name, *numbers in texts:
        cells = [f"{text:>{width}}" for text, width in zip(numbers, widths[1:], strict=True)]
        typer.echo(f"{name:<{widths[0]}}  {'  '.join(cells)}")
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(report.messages.items()))
    typer.echo(f"messages between brokers: {kinds or 'none'}")
    typer.echo(
        f"{report.counted.published:,} documents, {report.counted.delivered:,} subscriptions satisfied, "
        f"{report.counted.owed:,} owed by flooding, {report.time:.3f} s simulated"
    )
