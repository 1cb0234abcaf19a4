"""``pathcast generate``: documents and subscriptions from a schema, the same for the same seed."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, TextIO, TypeAlias

import typer

from pathcast import generate
from pathcast.cli.arguments import Dtd, Root, Version, Xsd, fail, read_schema
from pathcast.cli.stream import progress
from pathcast.errors import located

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def generated(version: Version = False) -> None:
    """Draw documents and subscriptions from a schema."""


Number: TypeAlias = Annotated[int, typer.Option("-n", "--number", min=0, metavar="N", help="How many.")]
MaxDepth: TypeAlias = Annotated[
    int, typer.Option(min=1, metavar="D", help="Levels at most; the root is one.")
]
Seed: TypeAlias = Annotated[int, typer.Option(metavar="S", help="The same seed gives the same result.")]
ValueSkew: TypeAlias = Annotated[
    float, typer.Option(min=0, metavar="THETA", help="Zipf exponent of the values; 0 draws all alike.")
]


def _share(help_text: str) -> object:
    return typer.Option(min=0, max=1, metavar="P", help=help_text)


@app.command()
def documents(
    number: Number,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where the files go.")],
    dtd: Dtd = None,
    xsd: Xsd = None,
    root: Root = None,
    max_depth: MaxDepth = 10,
    max_repeats: Annotated[int, typer.Option(min=1, metavar="R", help="Bound of what may repeat.")] = 3,
    optional: Annotated[float, _share("Probability of parts that may be left out.")] = 0.5,
    attributes: Annotated[float, _share("Probability of attributes that may be left out.")] = 0.5,
    value_skew: ValueSkew = 0.0,
    size: Annotated[
        int | None, typer.Option(min=1, metavar="BYTES", help="The size that documents should have, about.")
    ] = None,
    seed: Seed = 0,
    version: Version = False,
) -> None:
    """Write documents that are valid for a schema to DIR/*.xml.

    \b
    Example:
      pathcast generate documents --dtd news.dtd -n 100 --max-depth 8 -o documents
    """
    drawn = generate.documents(
        read_schema(dtd, root, xsd),
        number,
        max_levels=max_depth,
        max_repeats=max_repeats,
        optional=optional,
        attributes=attributes,
        values=generate.Values(skew=value_skew),
        target_size=size,
        seed=seed,
    )
    output.mkdir(parents=True, exist_ok=True)
    width = max(6, len(str(number)))
    for place, document in enumerate(progress(drawn, "Drawing documents", total=number), 1):
        (output / f"{place:0{width}}.xml").write_bytes(document)


@app.command()
def subscriptions(
    number: Number,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where they go, one a line, or as .csv, .tsv or .jsonl; - is standard output.",
        ),
    ],
    dtd: Dtd = None,
    xsd: Xsd = None,
    root: Root = None,
    max_depth: MaxDepth = 10,
    wildcard: Annotated[float, _share("Probability of * at a step.")] = 0.1,
    descendant: Annotated[float, _share("Probability of // at a step.")] = 0.1,
    relative: Annotated[float, _share("Probability of a start without a slash.")] = 0.0,
    branch: Annotated[float, _share("Probability that a step gets a path as predicate.")] = 0.0,
    nested: Annotated[int, typer.Option(min=0, metavar="D", help="How deep branches may be nested.")] = 1,
    predicates: Annotated[int, typer.Option(min=0, metavar="K", help="Value tests in each.")] = 0,
    skew: Annotated[float, typer.Option(min=0, metavar="THETA", help="Zipf exponent of names.")] = 0.0,
    value_skew: ValueSkew = 0.0,
    distinct: Annotated[bool, typer.Option("--distinct", help="No two the same.")] = False,
    seed: Seed = 0,
    version: Version = False,
) -> None:
    """Write subscriptions that some document valid for a schema satisfies.

    With --distinct, when there are not as many, nothing is written and the message says how many there are.

    \b
    Example:
      pathcast generate subscriptions --dtd news.dtd -n 10000 --wildcard 0.2 --distinct -o alerts.txt
    """
    schema = read_schema(dtd, root, xsd)
    drawn = generate.subscriptions(
        schema,
        number,
        max_depth=max_depth,
        wildcard=wildcard,
        descendant=descendant,
        relative=relative,
        branch=branch,
        nested=nested,
        predicates=predicates,
        skew=skew,
        values=generate.Values(skew=value_skew),
        distinct=distinct,
        seed=seed,
    )
    kept = list(progress(drawn, "Drawing subscriptions", total=number))
    namespaces = dict(schema.namespaces)
    kind = Path(output).suffix
    if namespaces and kind not in (".csv", ".tsv", ".jsonl"):
        typer.echo(
            f"pathcast: the names need the namespaces {json.dumps(namespaces)}; .csv and .jsonl keep them",
            err=True,
        )
    try:
        to = nullcontext(sys.stdout) if output == "-" else open(output, "w", encoding="utf-8", newline="")  # noqa: SIM115
    except OSError as error:
        fail(located(output, None, f"cannot be written: {error.strerror}"))
    with to as stream:
        _write(kept, namespaces, kind, stream)


def _write(expressions: Iterable[str], namespaces: dict[str, str], kind: str, stream: TextIO) -> None:
    """One expression a row, numbered from 1, with the namespaces if the format can hold them."""
    bound = json.dumps(namespaces)
    if kind in (".csv", ".tsv"):
        writer = csv.writer(stream, delimiter="," if kind == ".csv" else "\t", lineterminator="\n")
        writer.writerow(("id", "xpath", "namespaces") if namespaces else ("id", "xpath"))
        writer.writerows(
            (place, expression, bound) if namespaces else (place, expression)
            for place, expression in enumerate(expressions, 1)
        )
        return
    for place, expression in enumerate(expressions, 1):
        if kind == ".jsonl":
            row: dict[str, object] = {"id": str(place), "xpath": expression}
            stream.write(json.dumps(row | ({"namespaces": namespaces} if namespaces else {})) + "\n")
        else:
            stream.write(expression + "\n")
