"""``python -m pathcast.bench``: runs the experiments, prints tables, keeps the figures with the machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from math import isnan
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import pathcast
from pathcast.bench import (
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
from pathcast.bench.foundation import Row
from pathcast.bench.workloads import Workload, yfilter_benchmark

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
REPORTS: dict[str, Callable[[list[Row], dict[str, Any], Path], Path]] = {
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
) -> None:
    """Run the experiments side by side; a wrong answer ends the run with an error."""
    unknown = set(experiments or ()) - set(EXPERIMENTS)
    if unknown:
        raise typer.BadParameter(
            f"there is no {', '.join(sorted(unknown))}; there are {', '.join(EXPERIMENTS)}"
        )
    console = Console(width=None if sys.stdout.isatty() else 120)
    workload = yfilter_benchmark()
    console.print(
        f"{workload.name}: {len(workload.documents)} documents, {workload.megabytes:.1f} MB;"
        " every figure is the best of several rounds taken in turn"
    )
    output.mkdir(parents=True, exist_ok=True)
    for name in experiments or EXPERIMENTS:
        table: Table | None = None
        kept: list[dict[str, Any]] = []
        rows: list[Row] = []
        for row in EXPERIMENTS[name](workload):
            if table is None:
                title = (EXPERIMENTS[name].__doc__ or "").strip()
                table = Table(name, *row.values, title=title, title_justify="left")
            table.add_row(row.subject, *map(_shown, row.values.values()))
            kept.append({"subject": row.subject, **row.values})
            rows.append(row)
            if not sys.stdout.isatty():
                print(row.subject, *map(_shown, row.values.values()), sep="  ", file=sys.stderr, flush=True)
        if table is None:
            console.print(f"{name}: needs documents that are not here")
            continue
        console.print(table)
        if name == "engines":
            console.print(*engines.summary(kept), sep="\n")
        path = output / f"{name}.json"
        path.write_text(
            json.dumps(
                {**machine(), "workload": workload.name, "rows": [_known(row) for row in kept]}, indent=1
            )
            + "\n"
        )
        console.print(f"kept in {path}")
        if name in REPORTS:
            report = REPORTS[name](rows, machine(), path.with_suffix(".html"))
            console.print(f"drawn in {report}")


def _known(row: dict[str, Any]) -> dict[str, Any]:
    """Without what was not measured: JSON has no word for it."""
    return {name: value for name, value in row.items() if isinstance(value, str) or not isnan(value)}


def _shown(value: float) -> str:
    if isnan(value):
        return "—"
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return {
        "pathcast": pathcast.__version__,
        "commit": commit.stdout.strip() or None,
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
    }


if __name__ == "__main__":
    typer.run(main)
