"""``pathcast cover``, ``merge`` and ``advertise``: questions about expressions and schemas."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pathcast.cli.arguments import (
    Dtd,
    OptionalDtd,
    Root,
    Version,
    Xsd,
    fail,
    named,
    optional_schema,
    read_schema,
)
from pathcast.errors import XPathError, printable
from pathcast.network.advertisement import advertisements, graph_advertisement
from pathcast.network.covering import relation
from pathcast.network.merging import imperfect_degree
from pathcast.network.merging import merge as merged

First = Annotated[str, typer.Argument(metavar="XPATH1", help="The first expression.")]
Second = Annotated[str, typer.Argument(metavar="XPATH2", help="The second expression.")]
Namespace = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace", metavar="PREFIX=URI", help="What a prefix means; may be given several times."
    ),
]


def cover(
    first: First,
    second: Second,
    namespace: Namespace = None,
    ordered: Annotated[bool, typer.Option("--ordered", help="Read both in ordered mode.")] = False,
    version: Version = False,
) -> None:
    """Print equal, covers, covered or neither: how the first expression stands to the second.

    One covers another if every document that satisfies the other satisfies it. For linear paths the answer
    is exact; with branches and values "neither" may also mean that no proof was found.

    \b
    Example:
      pathcast cover '/a//b' '/a/c/b'
    """
    try:
        typer.echo(
            relation(first, second, namespaces=named(namespace, "a namespace is PREFIX=URI"), ordered=ordered)
        )
    except XPathError as error:
        fail(f"pathcast: {error}")


def merge(
    first: First,
    second: Second,
    dtd: OptionalDtd = None,
    xsd: Xsd = None,
    root: Root = None,
    version: Version = False,
) -> None:
    """Print one expression that covers both, or nothing with status 1 when no rule makes one.

    With a DTD or an XSD its imperfect degree follows: the share of the paths it selects that neither
    expression does.

    \b
    Example:
      pathcast merge '/a/*/c/d' '/a/*/c/e'
    """
    try:
        made = merged(first, second)
        if made is None:
            typer.echo("pathcast: no rule merges these expressions", err=True)
            raise typer.Exit(1)
        schema = optional_schema(dtd, root, xsd)
        if schema is None:
            typer.echo(made)
            return
        degree = imperfect_degree(schema, made, [first, second], namespaces=schema.namespaces)
        typer.echo(f"{made}\t{'unknown' if degree is None else f'{degree:.4f}'}")
    except XPathError as error:
        fail(f"pathcast: {error}")


def advertise(
    dtd: Dtd = None,
    xsd: Xsd = None,
    root: Root = None,
    graph: Annotated[
        bool, typer.Option("--graph", help="Print the graph as one advertisement: exact for any DTD.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="How many paths at most.")] = 1_000,
    max_depth: Annotated[
        int | None, typer.Option(min=1, metavar="D", help="Steps before the rest is (/*)+.")
    ] = None,
    version: Version = False,
) -> None:
    """Print the advertisements of a schema, one a line: the paths of its documents, repeated groups with +.

    Every path of every valid document is covered. Where there is no such notation, or there would be too many
    lines, a path ends in (/*)+.

    \b
    Example:
      pathcast advertise --dtd news.dtd
    """
    schema = read_schema(dtd, root, xsd)
    lines = (
        [graph_advertisement(schema)] if graph else advertisements(schema, limit=limit, max_depth=max_depth)
    )
    sys.stdout.writelines(f"{printable(line)}\n" for line in lines)
    sys.stdout.flush()
