"""``python -m bench.evidence``: runs every experiment that an exhibit rests on, and writes the pages."""

from __future__ import annotations

from typing import Annotated

import typer

from bench.__main__ import main as run
from bench.corpus import ROOT
from bench.evidence import pages


def main(
    draw: Annotated[bool, typer.Option("--draw", help="Run nothing; write the pages.")] = False,
    minutes: Annotated[float, typer.Option(help="Stop after the row that is under way then.")] = float("inf"),
) -> None:
    """Run the experiments of the five papers; a run that was cut goes on where it was."""
    if not draw:
        run(experiments=pages.experiments(), minutes=minutes)
    for path in pages.write():
        typer.echo(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    typer.run(main)
