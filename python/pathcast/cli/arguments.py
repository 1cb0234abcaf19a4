"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeAlias

import typer

import pathcast
from pathcast.errors import PathcastError, printable
from pathcast.schema import Schema

RELATIONAL = "relational"
"""The engine that is a database."""


def fail(*messages: str) -> NoReturn:
    """End with status 2: the call or a subscription is wrong."""
    for message in messages:
        typer.echo(message, err=True)
    raise typer.Exit(2)


def named(given: Iterable[str] | None, what: str) -> dict[str, str]:
    """What was given as ``NAME=VALUE``; `what` says in the message how it is to be written."""
    found: dict[str, str] = {}
    for each in given or ():
        name, equals, value = each.partition("=")
        if not equals:
            fail(f"pathcast: {what}, not {printable(each)!r}")
        found[name] = value
    return found


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pathcast {pathcast.__version__}")
        raise typer.Exit


def _known(name: str, *others: str) -> str:
    if name not in (*pathcast.engines(variants=True), *others):
        names = ", ".join((*pathcast.engines(), *others))
        raise typer.BadParameter(f"{name!r} is not an engine; choose one of {names}.")
    return name


def _check_entities(name: str | None) -> str | None:
    if name not in (None, "html"):
        raise typer.BadParameter(f"{name!r} is no set of entities; html is.")
    return name


def _check_engine(name: str) -> str:
    return _known(name)


def _check_match_engine(name: str) -> str:
    return _known(name, RELATIONAL)


Version: TypeAlias = Annotated[
    bool,
    typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True),
]

_SUBSCRIPTIONS: Any = typer.Option(
    "--subscriptions",
    "-s",
    metavar="SUBSCRIPTIONS",
    help="The subscriptions: .txt (one XPath a line, the id is the line number; # begins a comment line, "
    'xmlns:p="URI" on a line binds a prefix from there on), .csv (commas or semicolons), .tsv or .jsonl, '
    "each also as .gz, or .parquet; columns id, xpath and perhaps subscriber, ordered, namespaces, "
    "variables. - reads standard input as .txt.",
)

Subscriptions: TypeAlias = Annotated[str, _SUBSCRIPTIONS]
OptionalSubscriptions: TypeAlias = Annotated[str | None, _SUBSCRIPTIONS]

Prefixes: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        metavar="PREFIX=URI",
        help="What a prefix of the expressions means; may be repeated; =URI is for names without a prefix.",
        show_default=False,
    ),
]


def prefixes(bindings: list[str] | None) -> dict[str, str] | None:
    """The ``--namespace`` options as a mapping; the end if one is none."""
    wrong = [binding for binding in bindings or () if "=" not in binding]
    if wrong:
        fail(f"pathcast: --namespace takes PREFIX=URI, not {wrong[0]!r}.")
    return {prefix: uri for prefix, _, uri in (each.partition("=") for each in bindings or ())} or None


Engine: TypeAlias = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME",
        help=f"How to match: {', '.join(pathcast.engines())}. All give the same answer.",
        callback=_check_engine,
    ),
]

MatchEngine: TypeAlias = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME",
        help=f"How to match: {', '.join(pathcast.engines())}, or {RELATIONAL} (SQL on tables in DuckDB). "
        "All give the same answer.",
        callback=_check_match_engine,
    ),
]

Dtd: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--dtd", metavar="FILE", help="The DTD; files it names are read from its folder, never fetched."
    ),
]
OptionalDtd: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--dtd",
        metavar="FILE",
        help="A DTD that the documents follow; files it names are read from its folder, never fetched.",
    ),
]
Xsd: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--xsd",
        metavar="FILE",
        help="An XSD in the place of a DTD; files it names are read from its folder, never fetched.",
    ),
]
Root: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The root element; needed when the schema has several candidates."),
]


Entities: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--entities",
        metavar="html",
        help="Entities that documents may use without declaring them: html stands for &nbsp; and its like.",
        callback=_check_entities,
        show_default=False,
    ),
]


def read_schema(dtd: Path | None, root: str | None, xsd: Path | None = None) -> Schema:
    """The schema of a file; what was read with doubt goes to standard error."""
    try:
        if xsd is not None and dtd is None:
            schema = Schema.from_xsd(xsd, root)
        elif dtd is not None and xsd is None:
            schema = Schema.from_dtd(dtd, root)
        else:
            fail("pathcast: give either --dtd FILE or --xsd FILE.")
    except ModuleNotFoundError as error:
        fail(f"pathcast: {error}")
    except PathcastError as error:
        fail(f"pathcast: {str(error).replace('root=', '--root')}")
    for warning in schema.warnings:
        typer.echo(f"pathcast: {printable(warning)}", err=True)
    if schema.undeclared:
        typer.echo(f"pathcast: {len(schema.undeclared)} elements are named and not declared", err=True)
    return schema


def optional_schema(dtd: Path | None, root: str | None, xsd: Path | None = None) -> Schema | None:
    """The schema if there is one; a root without a schema is a mistake."""
    if dtd is None and xsd is None:
        if root is not None:
            fail("pathcast: --root names the root element of a schema: give --dtd FILE or --xsd FILE too.")
        return None
    return read_schema(dtd, root, xsd)
