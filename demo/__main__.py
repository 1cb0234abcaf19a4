"""``python -m demo``: stories and alerts of a news agency, the pipeline on Spark, and what came out."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from demo.data import write_alerts, write_documents
from demo.pipeline import Figures, Places, check_answers, run
from demo.report import write_report
from demo.strangers import ATTACKS
from demo.summary import show
from pathcast.spark.driver.session import session


def main(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where everything goes.")],
    documents: Annotated[int, typer.Option(min=1, metavar="N", help="How many stories.")] = 50_000,
    bad: Annotated[int, typer.Option(min=0, metavar="N", help="How many of them are damaged.")] = 40,
    subscriptions: Annotated[int, typer.Option(min=1, metavar="N", help="How many alerts.")] = 20_000,
    subscribers: Annotated[int, typer.Option(min=5, metavar="N", help="How many readers have them.")] = 400,
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed draws the same data.")] = 1,
) -> None:
    """Write stories and alerts of a news agency; compile, match and deliver on Spark; write a report."""
    console = Console(stderr=False, width=None if sys.stdout.isatty() else 110, highlight=False)
    begun = time.perf_counter()
    shutil.rmtree(output, ignore_errors=True)
    places = Places(output)
    figures = Figures(
        cores=os.cpu_count() or 1, documents=documents + len(ATTACKS), first=max(1, documents // 5)
    )

    def say(text: str) -> None:
        console.print(f"[dim]{time.perf_counter() - begun:6.1f} s[/dim]  {text}")

    say(
        f"Writing {documents:,} stories, {bad:,} of them damaged, and {len(ATTACKS)} documents of a bad actor"
    )
    write_documents(documents, bad, figures.first, places.documents, seed)
    figures.megabytes = _size(places.documents)
    say(f"Writing {subscriptions:,} alerts of {subscribers:,} readers, and a few that are mistyped")
    write_alerts(subscriptions, subscribers, places.subscriptions, seed)
    say(f"Starting Spark with {figures.cores} cores; what it logs is in {output / 'spark.log'}")
    with session("pathcast demo", log=output / "spark.log") as spark:
        run(spark, places, figures, say)
    say("Matching again in this process, without Spark, to compare the answers and the time")
    check_answers(places, figures)
    say("The answers are the same")
    page = write_report(places, figures)
    show(console, figures)
    console.print(f"\nReport: [bold]{page}[/bold]   Outboxes: {places.outbox}   Index: {places.index}")
    console.print(f"Done in {time.perf_counter() - begun:.0f} s.")


def _size(folders: Sequence[Path]) -> float:
    """The documents' bytes, unpacked, in megabytes."""
    import pyarrow.parquet as pq

    return float(sum(pq.read_table(folder, columns=["xml"])["xml"].nbytes for folder in folders) / 1e6)


if __name__ == "__main__":
    typer.run(main)
