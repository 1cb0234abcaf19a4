"""``pathcast schema``: look at a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathcast.cli.arguments import Dtd, Root, Version, Xsd, fail, read_schema
from pathcast.errors import located
from pathcast.schema.drawing import draw as drawn

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def schema(version: Version = False) -> None:
    """Look at a schema."""


@app.command()
def show(dtd: Dtd = None, xsd: Xsd = None, root: Root = None, version: Version = False) -> None:
    """Print what a schema declares, in a few lines."""
    typer.echo(read_schema(dtd, root, xsd).summary())


@app.command()
def draw(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The drawing, an .svg file.")
    ],
    dtd: Dtd = None,
    xsd: Xsd = None,
    root: Root = None,
    version: Version = False,
) -> None:
    """Draw which element may stand in which, as SVG; recursion is in another colour.

    \b
    Example:
      pathcast schema draw --dtd news.dtd -o news.svg
    """
    if output.suffix != ".svg":
        fail(
            located(str(output), None, "a drawing is written as .svg; browsers and editors turn it into .png")
        )
    try:
        output.write_text(drawn(read_schema(dtd, root, xsd)), encoding="utf-8")
    except OSError as error:
        fail(located(str(output), None, f"cannot be written: {error.strerror}"))
