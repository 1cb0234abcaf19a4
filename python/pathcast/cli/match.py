"""``pathcast match``: which subscriptions do these documents satisfy?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

import pathcast
from pathcast.cli.arguments import (
    RELATIONAL,
    Entities,
    MatchEngine,
    OptionalDtd,
    OptionalSubscriptions,
    Prefixes,
    Root,
    Version,
    Xsd,
    fail,
    optional_schema,
    prefixes,
)
from pathcast.cli.documents import (
    PATTERNS,
    Matcher,
    answers,
    count_documents,
    empty_directory,
    find_documents,
    selections,
)
from pathcast.cli.formats import WRITERS, Format
from pathcast.cli.stream import progress
from pathcast.errors import PathcastError, SubscriptionErrors, located
from pathcast.index import needs_schema
from pathcast.schema import Schema
from pathcast.subscriptions import SubscriptionFile
from pathcast.types import Subscription

if TYPE_CHECKING:
    from pathcast.cli.relational import InTables


def match(
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCUMENT",
            help="XML files, also as .xml.gz; a directory, .zip or .tar.gz stands for every *.xml file in it;"
            " - is standard input.",
            show_default=False,
        ),
    ],
    subscriptions: OptionalSubscriptions = None,
    expressions: Annotated[
        list[str] | None,
        typer.Option(
            "--expression",
            "-e",
            metavar="XPATH",
            help="A subscription itself, in place of a file; may be repeated; the id is its number.",
            show_default=False,
        ),
    ] = None,
    namespace: Prefixes = None,
    nodes: Annotated[
        bool, typer.Option("--nodes", help="Also print the nodes that each subscription selects.")
    ] = False,
    engine: MatchEngine = "auto",
    dtd: OptionalDtd = None,
    xsd: Xsd = None,
    root: Root = None,
    entities: Entities = None,
    output_format: Annotated[
        Format, typer.Option("--format", help="What to print; a table is for people.")
    ] = Format.jsonl,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is standard output.")
    ] = "-",
    threads: Annotated[int, typer.Option(min=1, metavar="N", help="How many threads match.")] = 1,
    glob: Annotated[
        list[str] | None,
        typer.Option(
            "--glob",
            metavar="PATTERN",
            help="Which files of a directory or archive are documents, in any letter case; a pattern with a "
            "slash is for the whole path below it; may be repeated.",
            show_default="*.xml and *.xml.gz",
        ),
    ] = None,
    version: Version = False,
) -> None:
    """Print which subscriptions each document satisfies.

    Answers come in the order of the documents. A bad document gets an error instead of an answer, the others
    are not affected, and the exit status is 1. With a schema the subscriptions are pruned by it, and a
    document that breaks it is a bad one. When a subscription is bad, nothing is matched, all bad ones
    are listed, and the exit status is 2.

    \b
    Example:
      pathcast match -s alerts.txt --format table news/ late.xml
      pathcast match -e "//item[price < 10]" --nodes late.xml
    """
    if (subscriptions is None) == (not expressions):
        fail("pathcast: give either -s SUBSCRIPTIONS or -e XPATH.")
    if [*documents, subscriptions].count("-") > 1:
        fail("pathcast: standard input (-) can be read only once.")
    with_schema = dtd is not None or xsd is not None
    if not with_schema and needs_schema(engine):
        fail(
            f"pathcast: the engine {engine} needs a schema to prune wildcards: give --dtd FILE or --xsd FILE."
        )
    if engine == RELATIONAL and (with_schema or nodes or entities):
        fail("pathcast: --engine relational takes no --dtd, no --xsd, no --entities and no --nodes.")
    patterns = tuple(glob) if glob else PATTERNS
    if (empty := empty_directory(documents, patterns)) is not None:
        fail(located(empty, None, f"no {' or '.join(patterns)} file in this directory"))
    schema = optional_schema(dtd, root, xsd)
    index = load(subscriptions, engine, schema, expressions or (), prefixes(namespace), entities)
    with _opened(output) as stream:
        shown = output_format is Format.table or not stream.isatty()
        found = progress(
            find_documents(documents, patterns),
            "Matching documents",
            total=count_documents(documents, patterns) if shown and sys.stderr.isatty() else None,
            shown=shown,
        )
        answered = selections(index, found) if nodes else answers(index, found, threads)
        bad = WRITERS[output_format](answered, stream)
        stream.flush()
    if bad:
        raise typer.Exit(1)


def _empty(
    engine: str, schema: Schema | None, namespaces: Mapping[str, str] | None, entities: str | None
) -> pathcast.Index | InTables:
    if engine != RELATIONAL:
        return pathcast.Index(
            engine,
            schema=schema,
            prune=schema is not None,
            validate=schema is not None,
            impossible="ignore",
            namespaces={**(schema.namespaces if schema else {}), **(namespaces or {})},
            entities="html" if entities else None,
        )
    from pathcast.cli.relational import InTables

    try:
        return InTables(namespaces)
    except PathcastError as error:
        fail(f"pathcast: {error}")


def load(
    name: str | None,
    engine: str,
    schema: Schema | None = None,
    expressions: Sequence[str] = (),
    namespaces: Mapping[str, str] | None = None,
    entities: str | None = None,
) -> Matcher:
    """An index of the file's subscriptions, or of expressions; or the end with all bad ones listed."""
    index = _empty(engine, schema, namespaces, entities)
    if name is None:
        try:
            index.add_many((str(number), xpath) for number, xpath in enumerate(expressions, 1))
        except SubscriptionErrors as error:
            fail(*(f"pathcast: {failure}" for _, failure in error.failures))
        return index
    file = SubscriptionFile(name)
    problems: list[tuple[int | None, str]] = []

    def rows() -> Iterator[Subscription]:
        for row in progress(file, "Reading subscriptions"):
            yield row.id, row.xpath, row.ordered, row.namespaces, row.variables

    try:
        index.add_many(rows())
    except SubscriptionErrors as error:
        problems = [(file.line_of(str(identifier)), str(failure)) for identifier, failure in error.failures]
    problems = sorted(file.problems + problems, key=lambda problem: problem[0] or 0)
    if problems:
        fail(*(located(name, line, message) for line, message in problems))
    return index


def _opened(output: str) -> AbstractContextManager[TextIO]:
    if output == "-":
        return nullcontext(sys.stdout)
    try:
        return open(output, "w", encoding="utf-8", errors="surrogateescape", newline="")
    except OSError as error:
        fail(located(output, None, f"cannot be written: {error.strerror}"))
