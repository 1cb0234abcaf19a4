"""``pathcast bench``: the benchmarks of a checkout; they are not installed with the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import typer

from pathcast.cli.arguments import Version, fail


def bench(context: typer.Context, version: Version = False) -> None:
    """Run the benchmarks of a checkout: `pathcast bench NAME...`, or all of them.

    `pathcast bench -- --help` shows their options.
    """
    folder = _checkout()
    if folder is None:
        fail(
            "the benchmarks are not installed with the package; get the sources of this version, "
            "run `make setup` there, and then `make bench`"
        )
    raise typer.Exit(subprocess.call([sys.executable, "-m", "bench", *context.args], cwd=folder))


def _checkout() -> Path | None:
    """The checkout that holds this package or the current folder."""
    for folder in (Path(__file__).parents[3], Path.cwd()):
        if (folder / "bench/__main__.py").is_file() and (folder / "python/pathcast").is_dir():
            return folder
    return None
