"""``pathcast network``: a network of brokers in one process, and what a living one is doing."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pathcast.cli.arguments import Version, fail
from pathcast.errors import located, printable

if TYPE_CHECKING:
    from pathcast.network.simulation.simulate import Report
    from pathcast.network.transports.overview import Overview

LISTED = 50
"""Brokers that are listed one by one."""

app = typer.Typer(
    help="Try out a network of brokers, and look at a living one.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Monitors: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MONITOR",
        help="Where brokers show themselves: HOST:PORT, or the .toml file of a broker; 127.0.0.1:9464 if "
        "nothing is given. From there it goes on to the neighbours whose monitor the settings name.",
        show_default=False,
    ),
]
Drawing: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Also draw it, as an .svg file.")
]


@app.callback()
def network(version: Version = False) -> None:
    """Try out a network of brokers, and look at a living one."""


@app.command()
def status(monitors: Monitors = None, output: Drawing = None, version: Version = False) -> None:
    """Show the brokers of a living network, the tree that they agree on, and what is wrong.

    \b
    Example:
      pathcast network status localhost:9464 -o network.svg

    \b
    Exit status:
      0  everybody who was asked has answered
      1  somebody has not
    """
    _is_drawable(output)
    found = _overview(monitors)
    for line in found.lines():
        typer.echo(line)
    if output is not None:
        _write(output, found.drawing())
    _end(found)


@app.command()
def trace(
    document: Annotated[str, typer.Argument(metavar="ID", help="The document: BROKER/CLIENT/ID.")],
    monitors: Monitors = None,
    version: Version = False,
) -> None:
    """Show the way of a document through a living network: every hop, and why.

    Brokers keep this in memory, for the latest documents.

    \b
    Example:
      pathcast network trace berlin/wire/1 localhost:9464

    \b
    Exit status:
      0  its way is known
      1  no broker knows of it, or somebody has not answered
    """
    from pathcast.network.transports.traces import in_order

    found = _overview(monitors)
    traces = found.traces(document)
    width = max((len(printable(name)) for name in traces), default=0)
    for name in in_order(traces):
        for at, step in traces[name]:
            when = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).isoformat(
                timespec="milliseconds"
            )
            typer.echo(f"{when[:-6]}Z  {printable(name):<{width}}  {printable(step.text())}")
    if not traces:
        typer.echo(f"pathcast: no broker that was asked knows of {printable(document)}", err=True)
        _end(found)
        raise typer.Exit(1)
    _end(found)


def _overview(monitors: list[str] | None) -> Overview:
    from pathcast.network.transports.monitor import PORT
    from pathcast.network.transports.overview import Overview

    return Overview.gathered([_address(each) for each in monitors or [f"127.0.0.1:{PORT}"]])


def _address(given: str) -> str:
    """Where a monitor is."""
    from pathcast.network.transports.settings import read_broker

    if not given.endswith(".toml"):
        return given.removeprefix("http://").rstrip("/")
    settings = read_broker(Path(given))
    if settings.monitor_port is None:
        fail(located(given, None, "this broker has no monitor"))
    host = "127.0.0.1" if settings.monitor_host in ("", "0.0.0.0") else settings.monitor_host
    return f"{host}:{settings.monitor_port}"


def _end(found: Overview) -> None:
    for monitor, why in found.failed.items():
        typer.echo(f"pathcast: {printable(f'{monitor}: {why}')}", err=True)
    if found.failed:
        raise typer.Exit(1)


def _is_drawable(output: Path | None) -> None:
    if output is not None and output.suffix != ".svg":
        fail(located(str(output), None, "a drawing is written as .svg"))


def _write(output: Path, drawing: str) -> None:
    try:
        output.write_text(drawing, encoding="utf-8")
    except OSError as error:
        fail(located(str(output), None, f"cannot be written: {error.strerror}"))


@app.command()
def simulate(
    topology: Annotated[Path, typer.Argument(metavar="TOPOLOGY.toml", help="The network, as a TOML file.")],
    output: Drawing = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Another seed than the file says.")] = None,
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

    _is_drawable(output)
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
        _write(output, draw(report))


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
