"""``python -m demo``: draws news and alerts, runs the pipeline on Spark, shows what came out."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from demo.data import draw_documents, draw_subscriptions
from demo.pipeline import Figures, Places, check_answers, run
from demo.report import write_report
from demo.summary import show
from pathcast.schema import Schema
from pathcast.spark.driver.session import session


def main(
    dtd: Annotated[Path, typer.Option(metavar="FILE", help="The DTD that everything is drawn from.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where everything goes.")],
    documents: Annotated[int, typer.Option(min=1, metavar="N", help="How many documents.")] = 3_000,
    bad: Annotated[int, typer.Option(min=0, metavar="N", help="How many of them are damaged.")] = 30,
    subscriptions: Annotated[int, typer.Option(min=1, metavar="N", help="How many subscriptions.")] = 20_000,
    subscribers: Annotated[int, typer.Option(min=5, metavar="N", help="How many have them.")] = 400,
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed draws the same data.")] = 1,
) -> None:
    """Draw documents and subscriptions from a DTD; compile, match and deliver on Spark; write a report."""
    console = Console(stderr=False, width=None if sys.stdout.isatty() else 110, highlight=False)
    begun = time.perf_counter()
    shutil.rmtree(output, ignore_errors=True)
    places = Places(output)
    figures = Figures(cores=os.cpu_count() or 1)
    schema = Schema.from_dtd(dtd)

    def say(text: str) -> None:
        console.print(f"[dim]{time.perf_counter() - begun:6.1f} s[/dim]  {text}")

    say(f"Drawing {documents:,} documents from {dtd}, {bad:,} of them damaged on purpose")
    for written in draw_documents(schema, documents, bad, places.documents, seed):
        figures.documents = written
    figures.megabytes = _size(places.documents)
    say(f"Drawing {subscriptions:,} subscriptions of {subscribers:,} subscribers, and a few with mistakes")
    draw_subscriptions(schema, subscriptions, subscribers, places.subscriptions, seed)
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


def _size(folder: Path) -> float:
    """The documents' bytes, unpacked, in megabytes."""
    import pyarrow.parquet as pq

    return float(pq.read_table(folder, columns=["xml"])["xml"].nbytes / 1e6)


if __name__ == "__main__":
    typer.run(main)
