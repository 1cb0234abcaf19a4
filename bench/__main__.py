"""``python -m bench``: runs the experiments, prints tables, keeps figures with the machine and the commit.

A run that was cut goes on where it was: rows of the present commit are not taken again, unless `--again`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from math import nan
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench import (
    beside,
    curves,
    engines,
    filters,
    headline,
    interrupts,
    memory,
    network,
    network_advertisements,
    network_growth,
    network_restart,
    playground,
    predicate,
    pruning,
    quick,
    reader,
    registration,
    relational,
    relational_paper,
    relational_report,
    routing_paper,
    scale,
    schema_paper,
    service,
    shard_costs,
    spark,
    states,
    twig_sets,
    values,
    worst_cases,
    xtrie,
)
from bench.evidence import pages as evidence
from bench.harness.kept import Kept, Row, commit, names_of, shown
from bench.plan import Plan
from bench.workloads import WORKLOADS

# What users ask about first comes first: a run may be cut.
EXPERIMENTS: dict[str, Callable[[Kept, Plan], Iterator[Row]]] = {
    "engines": engines.table,
    "peers": beside.table,
    "reader": reader.table,
    "registration": registration.table,
    "filters": filters.filters,
    "values": values.table,
    "states": states.table,
    "pruning": pruning.table,
    "pruning-auto": pruning.guarded,
    "schema-examples": schema_paper.examples,
    "schema-automaton": schema_paper.table_3,
    "schema-engines": schema_paper.tables_4_and_5,
    "schema-speed": schema_paper.figure_5,
    "schema-bounds": schema_paper.bounds,
    "schema-variants": schema_paper.variants,
    "schema-throughput": schema_paper.throughput,
    "worst-cases": worst_cases.table,
    "interrupts": interrupts.table,
    "network-tables": network.tables,
    "network-insertion": network.insertion,
    "network-routing": network.routing,
    "network-traffic": network.traffic,
    "network-growth": network_growth.table,
    "network-advertisements": network_advertisements.table,
    "network-restart": network_restart.table,
    "routing-tables": routing_paper.tables,
    "routing-cold": routing_paper.cold,
    "routing-traffic": routing_paper.traffic,
    "routing-examples": routing_paper.examples,
    "xtrie": xtrie.sweeps,
    "xtrie-sets": xtrie.described,
    "xtrie-substrings": xtrie.substrings,
    "predicate-distinct": predicate.distinct,
    "predicate-duplicates": predicate.duplicates,
    "predicate-wildcards": predicate.wildcards,
    "predicate-filters": predicate.attributes,
    "predicate-nested": predicate.nested,
    "twig-sets": twig_sets.table,
    "spark": spark.pipeline,
    "spark-ways": spark.ways,
    "spark-peers": spark.peers,
    "spark-memory": memory.table,
    "shard-sizes": shard_costs.sizes,
    "shard-ways": shard_costs.ways,
    "spark-shards": scale.shards,
    "spark-updates": scale.updates,
    "spark-millions": scale.millions,
    "spark-placement": scale.simulated,
    "service": service.table,
    "playground": playground.table,
    "relational": relational.subscriptions,
    "relational-paper": relational_paper.figures,
    "relational-workloads": relational.workloads,
    "relational-spark": relational.million,
}
REPORTS: dict[str, Callable[[Path, Path], Path]] = {
    "xtrie": curves.write_report,
    **dict.fromkeys(relational_report.SECTIONS, relational_report.write_report),
}
RESULTS = Path("benchmarks/results")


def main(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(help=f"Which to run: {', '.join(EXPERIMENTS)}. All of them if none is named."),
    ] = None,
    workload: Annotated[list[str] | None, typer.Option(help="Only these workloads.")] = None,
    engine: Annotated[list[str] | None, typer.Option(help="Only these engines.")] = None,
    size: Annotated[list[int] | None, typer.Option(help="Only these numbers of subscriptions.")] = None,
    seconds: Annotated[float, typer.Option(help="Processor time for `auto`.")] = Plan.seconds,
    other_seconds: Annotated[
        float, typer.Option(help="Processor time for another engine.")
    ] = Plan.other_seconds,
    minutes: Annotated[
        float,
        typer.Option(help="Stop after the row that is under way then; the next run goes on from there."),
    ] = float("inf"),
    again: Annotated[bool, typer.Option("--again", help="Take rows again that are there.")] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for the figures as JSON.")
    ] = RESULTS,
    reports: Annotated[Path, typer.Option(help="The folder for reports as HTML.")] = Path("build/bench"),
    quick_form: Annotated[
        bool, typer.Option("--quick", help="Only `auto`, in five minutes, beside the kept figures.")
    ] = False,
    draw: Annotated[
        bool,
        typer.Option("--draw", help="Run nothing; draw reports and put tables into the documentation."),
    ] = False,
) -> None:
    """Run the experiments side by side; a wrong answer ends the run with an error."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    if quick_form:
        now = Kept(quick.FOLDER / "engines.json")
        _run("engines", now, quick.PLAN, True, float("inf"))
        _print(console, "× tokeniser, unseen", list(quick.compared(now, Kept.read(output / "engines.json"))))
        return
    _known("experiment", experiments, list(EXPERIMENTS))
    _known("workload", workload, list(WORKLOADS))
    reports.mkdir(parents=True, exist_ok=True)
    names = experiments or list(EXPERIMENTS)
    if not draw:
        plan = Plan(
            tuple(workload or WORKLOADS),
            tuple(engine or ()),
            tuple(size or ()),
            seconds=seconds,
            other_seconds=other_seconds,
        )
        console.print(f"measuring {commit() or 'code without a commit'}")
        end = time.perf_counter() + 60 * minutes
        for name in names:
            kept = Kept.read(output / f"{name}.json")
            whole = _run(name, kept, plan, again, end)
            _print(console, name, kept.rows, (EXPERIMENTS[name].__doc__ or "").strip())
            console.print(f"kept in {kept.path}")
            if not whole:
                console.print("stopped: the same command goes on from here")
                break
    paths = {name: output / f"{name}.json" for name in names if name in REPORTS}
    if output == RESULTS:
        for page in (*headline.write(), *evidence.write()):
            console.print(f"figures put into {page}")
    for report in sorted({REPORTS[name](path, reports) for name, path in paths.items() if path.exists()}):
        console.print(f"drawn in {report}")


def _known(what: str, given: list[str] | None, known: list[str]) -> None:
    unknown = set(given or ()) - set(known)
    if unknown:
        raise typer.BadParameter(
            f"there is no {what} {', '.join(sorted(unknown))}; there are {', '.join(known)}"
        )


def _run(name: str, kept: Kept, plan: Plan, again: bool, end: float) -> bool:
    """Keeps each row as it comes; whether all came before the time was over."""
    for row in EXPERIMENTS[name](Kept(kept.path) if again else kept, plan):
        kept.keep(row)
        if not sys.stdout.isatty():
            figures = (f"{key} {shown(value)}" for key, value in row.values.items())
            print(row.subject, *figures, row.note, sep="  ", file=sys.stderr, flush=True)
        if time.perf_counter() > end:
            return False
    return True


def _print(console: Console, name: str, rows: Sequence[Row], title: str = "") -> None:
    if not rows:
        console.print(f"{name}: needs what is not here")
        return
    columns = list(names_of(rows))
    notes = ["note"] if any(row.note for row in rows) else []
    table = Table(name, *columns, *notes, title=title or None, title_justify="left")
    for row in rows:
        cells = (shown(row.values.get(each, nan)) for each in columns)
        table.add_row(row.subject, *cells, *([row.note] if notes else []))
    # A squeezed table cannot be read: one that is too wide is turned, some rows at a time.
    if table.__rich_measure__(console, console.options.update(width=10_000)).maximum > console.width:
        for few in batched(rows, 5):
            console.print(_turned(name, columns, few, title))
    else:
        console.print(table)


def _turned(name: str, columns: list[str], rows: Sequence[Row], title: str) -> Table:
    """A figure a line, a row a column."""
    table = Table(name, *(row.subject for row in rows), title=title or None, title_justify="left")
    for each in columns:
        table.add_row(each, *(shown(row.values.get(each, nan)) for row in rows))
    if any(row.note for row in rows):
        table.add_row("note", *(row.note for row in rows))
    return table


def batched(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    """The rows in order, at most so many at a time."""
    return (rows[at : at + size] for at in range(0, len(rows), size))


if __name__ == "__main__":
    typer.run(main)
