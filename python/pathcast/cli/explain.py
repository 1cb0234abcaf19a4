"""``pathcast explain``: why does a document satisfy an expression, or why not?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import pathcast
from pathcast.cli.arguments import Entities, Prefixes, Version, fail, prefixes
from pathcast.errors import DocumentError, XPathError, located, printable


def explain(
    xpath: Annotated[str, typer.Argument(metavar="XPATH", help="The expression.", show_default=False)],
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help="An XML file; - is standard input.", show_default=False)
    ],
    draw: Annotated[
        Path | None,
        typer.Option(
            "--draw",
            metavar="FILE",
            help="Also draw the trie and the substring-table of the expression: an .svg or a .dot file.",
            show_default=False,
        ),
    ] = None,
    namespace: Prefixes = None,
    entities: Entities = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the explanation as JSON.")] = False,
    version: Version = False,
) -> None:
    """Say why a document satisfies an expression, or why not.

    Prints which nodes of the document each step found, or the first step that found none.

    \b
    Example:
      pathcast explain "/news//item[@lang = 'en']" late.xml
    """
    if draw is not None and draw.suffix not in {".svg", ".dot"}:
        fail(located(str(draw), None, "a drawing is written as .svg, or as .dot for graphviz"))
    source = sys.stdin.buffer if document == "-" else Path(document)
    try:
        explanation = pathcast.explain(
            xpath, source, namespaces=prefixes(namespace), entities="html" if entities else None
        )
    except XPathError as error:
        fail(f"pathcast: {error}", *_pointer(error))
    except DocumentError as error:
        typer.echo(located(document, error.line, error.reason, error.column), err=True)
        raise typer.Exit(1) from None
    except OSError as error:
        typer.echo(located(document, None, f"cannot be read: {error.strerror}"), err=True)
        raise typer.Exit(1) from None
    for line in [explanation.to_json()] if as_json else str(explanation).splitlines():
        typer.echo(printable(line))
    if draw is not None:
        _draw(xpath, draw)


def _draw(xpath: str, path: Path) -> None:
    """Writes what XTrie holds for the expression alone."""
    from pathcast.draw import xtrie

    structure = xtrie([xpath])
    try:
        path.write_text(structure.dot() if path.suffix == ".dot" else structure.svg(), encoding="utf-8")
    except OSError as error:
        fail(located(str(path), None, f"cannot be written: {error.strerror}"))
    typer.echo(f"drawn in {printable(str(path))}", err=True)


def _pointer(error: XPathError) -> list[str]:
    """The expression with a mark under the column, if it fits on a line."""
    if len(error.expression) > 100 or not error.expression.isprintable():
        return []
    return ["  " + error.expression, "  " + " " * (error.column - 1) + "^"]
