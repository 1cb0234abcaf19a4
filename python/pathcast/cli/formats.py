"""How ``match`` writes its answers: one function a format, each returns how many documents were bad."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TextIO

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pathcast.cli.documents import Answer
from pathcast.errors import DocumentError, located, printable

SHOWN = 20  # ids of one document that a table shows


class Format(str, Enum):
    """The formats by the name that ``--format`` takes."""

    jsonl = "jsonl"
    csv = "csv"
    table = "table"


def write_jsonl(answers: Iterable[tuple[str, Answer]], stream: TextIO) -> int:
    """One object a document, written out at once."""
    bad = 0
    for name, answer in answers:
        row: dict[str, object] = {"document": name}
        if isinstance(answer, DocumentError):
            bad += 1
            row["error"] = {
                "kind": answer.kind,
                "message": answer.reason,
                "line": answer.line,
                "column": answer.column,
            }
        else:
            row["matches"] = list(answer)
        stream.write(json.dumps(row) + "\n")
        stream.flush()
    return bad


def write_csv(answers: Iterable[tuple[str, Answer]], stream: TextIO) -> int:
    """One row a match; bad documents go to standard error."""
    bad = 0
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("document", "subscription"))
    for name, answer in answers:
        if isinstance(answer, DocumentError):
            bad += 1
            typer.echo(located(name, answer.line, answer.reason, answer.column), err=True)
        else:
            writer.writerows((name, identifier) for identifier in answer)
            stream.flush()
    return bad


def write_table(answers: Iterable[tuple[str, Answer]], stream: TextIO) -> int:
    """A table for people, after the last document; it shows the first ids of each."""
    bad = 0
    table = Table()
    table.add_column("document", overflow="fold")
    table.add_column("matches", justify="right")
    table.add_column("subscriptions", overflow="fold")
    for name, answer in answers:
        if isinstance(answer, DocumentError):
            bad += 1
            table.add_row(
                Text(printable(name)), Text("bad", style="bold red"), Text(str(answer), style="red")
            )
            continue
        ids = ", ".join(printable(str(answer[place])) for place in range(min(SHOWN, len(answer))))
        more = f" and {len(answer) - SHOWN:,} more" if len(answer) > SHOWN else ""
        table.add_row(Text(printable(name)), f"{len(answer):,}", Text(ids + more))
    Console(file=stream).print(table)
    return bad


WRITERS: dict[Format, Callable[[Iterable[tuple[str, Answer]], TextIO], int]] = {
    Format.jsonl: write_jsonl,
    Format.csv: write_csv,
    Format.table: write_table,
}
