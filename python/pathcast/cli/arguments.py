"""Options and arguments that several commands share."""

from __future__ import annotations

from typing import Annotated, NoReturn, TypeAlias

import typer

import pathcast


def fail(*messages: str) -> NoReturn:
    """End with status 2: the call or a subscription is wrong."""
    for message in messages:
        typer.echo(message, err=True)
    raise typer.Exit(2)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pathcast {pathcast.__version__}")
        raise typer.Exit


def _check_engine(name: str) -> str:
    if name not in pathcast.engines():
        raise typer.BadParameter(f"{name!r} is no engine; choose one of {', '.join(pathcast.engines())}.")
    return name


Version: TypeAlias = Annotated[
    bool,
    typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True),
]

Subscriptions: TypeAlias = Annotated[
    str,
    typer.Option(
        "--subscriptions",
        "-s",
        metavar="SUBSCRIPTIONS",
        help="The subscriptions: .txt (one XPath a line, the id is the line number), .csv, .tsv or .jsonl, "
        "each also as .gz, or .parquet; columns id, xpath and perhaps subscriber, ordered, namespaces. "
        "- reads standard input as .txt.",
    ),
]

Engine: TypeAlias = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME",
        help=f"How to match: {', '.join(pathcast.engines())}. All give the same answer.",
        callback=_check_engine,
    ),
]
