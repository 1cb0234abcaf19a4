"""``pathcast explain``: why does a document satisfy an expression, or why not?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import pathcast
from pathcast.cli.arguments import Version, fail
from pathcast.errors import DocumentError, XPathError, located, printable


def explain(
    xpath: Annotated[str, typer.Argument(metavar="XPATH", help="The expression.", show_default=False)],
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help="An XML file; - is standard input.", show_default=False)
    ],
    version: Version = False,
) -> None:
    """Say why a document satisfies an expression, or why not.

    Prints which nodes of the document each step found, or the first step that found none.

    \b
    Example:
      pathcast explain "/news//item[@lang = 'en']" late.xml
    """
    source = sys.stdin.buffer if document == "-" else Path(document)
    try:
        explanation = pathcast.explain(xpath, source)
    except XPathError as error:
        fail(f"pathcast: {error}", *_pointer(error))
    except DocumentError as error:
        typer.echo(located(document, error.line, error.reason, error.column), err=True)
        raise typer.Exit(1) from None
    except OSError as error:
        typer.echo(located(document, None, f"cannot be read: {error.strerror}"), err=True)
        raise typer.Exit(1) from None
    for line in str(explanation).splitlines():
        typer.echo(printable(line))


def _pointer(error: XPathError) -> list[str]:
    """The expression with a mark under the column, if it fits on a line."""
    if len(error.expression) > 100 or not error.expression.isprintable():
        return []
    return ["  " + error.expression, "  " + " " * (error.column - 1) + "^"]
