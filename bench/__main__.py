"""``python -m bench``: runs the experiments, prints tables, keeps the figures with the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench import (
    curves,
    engines,
    filters,
    foundation,
    network,
    network_report,
    pruning,
    relational,
    relational_report,
    spark,
    twigs,
    xtrie,
)
from bench.foundation import Row
from bench.kept import keep, shown
from bench.workloads import Workload, yfilter_benchmark

EXPERIMENTS: dict[str, Callable[[Workload], Iterator[Row]]] = {
    "reader": foundation.reader,
    "registration": foundation.registration,
    "engines": engines.table,
    "filters": filters.filters,
    "pruning": pruning.table,
    "network-tables": network.tables,
    "network-insertion": network.insertion,
    "network-routing": network.routing,
    "network-traffic": network.traffic,
    "network-growth": network.growth,
    "xtrie": xtrie.sweeps,
    "twigs": twigs.table,
    "spark": spark.pipeline,
    "spark-peers": spark.peers,
    "relational": relational.subscriptions,
    "relational-documents": relational.sizes,
    "relational-levers": relational.levers,
    "relational-spark": relational.million,
}
REPORTS: dict[str, Callable[[Path, Path], Path]] = {
    "xtrie": curves.write_report,
    **dict.fromkeys(network_report.SHOWN, network_report.write_report),
    **dict.fromkeys(relational_report.SECTIONS, relational_report.write_report),
}


def main(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(help=f"Which to run: {', '.join(EXPERIMENTS)}. All of them if none is named."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for the figures as JSON.")
    ] = Path("benchmarks/results"),
    reports: Annotated[Path, typer.Option(help="The folder for reports as HTML.")] = Path("build/bench"),
    draw: Annotated[
        bool,
        typer.Option("--draw", help="Run nothing; draw the reports of the figures in the folder."),
    ] = False,
) -> None:
    """Run the experiments side by side; a wrong answer ends the run with an error."""
    unknown = set(experiments or ()) - set(EXPERIMENTS)
    if unknown:
        raise typer.BadParameter(
            f"there is no {', '.join(sorted(unknown))}; there are {', '.join(EXPERIMENTS)}"
        )
    console = Console(width=None if sys.stdout.isatty() else 120)
    reports.mkdir(parents=True, exist_ok=True)
    paths = {name: output / f"{name}.json" for name in experiments or EXPERIMENTS}
    if draw:
        kept = ((name, path) for name, path in paths.items() if name in REPORTS and path.exists())
        for report in sorted({REPORTS[name](path, reports) for name, path in kept}):
            console.print(f"drawn in {report}")
        return
    workload = yfilter_benchmark()
    console.print(
        f"{workload.name}: {len(workload.documents)} documents, {workload.megabytes:.1f} MB;"
        " every figure is the best of several rounds taken in turn"
    )
    output.mkdir(parents=True, exist_ok=True)
    for name, path in paths.items():
        rows = list(_told(EXPERIMENTS[name](workload)))
        if not rows:
            console.print(f"{name}: needs documents that are not here")
            continue
        title = (EXPERIMENTS[name].__doc__ or "").strip()
        table = Table(name, *rows[0].values, title=title, title_justify="left")
        for row in rows:
            table.add_row(row.subject, *map(shown, row.values.values()))
        console.print(table)
        if name == "engines":
            console.print(*engines.summary(rows), sep="\n")
        keep(rows, workload.name, path)
        console.print(f"kept in {path}")
        if name in REPORTS:
            console.print(f"drawn in {REPORTS[name](path, reports)}")


def _told(rows: Iterator[Row]) -> Iterator[Row]:
    """The same; a log hears of each as it comes."""
    for row in rows:
        if not sys.stdout.isatty():
            print(row.subject, *map(shown, row.values.values()), sep="  ", file=sys.stderr, flush=True)
        yield row


if __name__ == "__main__":
    typer.run(main)
