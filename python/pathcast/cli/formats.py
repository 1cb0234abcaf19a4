"""How ``match`` writes its answers: one function a format, each returns how many documents were bad."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from itertools import islice
from typing import TextIO

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pathcast import Node
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
            if isinstance(answer, Mapping):
                row["nodes"] = {str(id): [_node(node) for node in nodes] for id, nodes in answer.items()}
            if failures := getattr(answer, "failures", None):
                bad += 1
                row["undecided"] = failures
        stream.write(json.dumps(row) + "\n")
        stream.flush()
    return bad


def _node(node: Node) -> dict[str, object]:
    return {
        "path": node.path,
        "line": node.line,
        "column": node.column,
        "span": list(node.span),
        "text": node.text,
    }


def write_csv(answers: Iterable[tuple[str, Answer]], stream: TextIO) -> int:
    """One row a match, one row for a document without matches; bad documents go to standard error."""
    bad = 0
    writer = csv.writer(stream, lineterminator="\n")
    header: tuple[str, ...] = ("document", "subscription")
    for name, answer in answers:
        if header:
            nodes = ("path", "line", "column", "text") if isinstance(answer, Mapping) else ()
            writer.writerow((*header, *nodes))
            header = ()
        if isinstance(answer, DocumentError):
            bad += 1
            typer.echo(located(name, answer.line, answer.reason, answer.column), err=True)
            continue
        if not answer:
            writer.writerow((name, "", "", "", "", "") if isinstance(answer, Mapping) else (name, ""))
        elif isinstance(answer, Mapping):
            for identifier, found in answer.items():
                writer.writerows((name, identifier, n.path, n.line, n.column, n.text) for n in found)
                if not found:
                    writer.writerow((name, identifier, "", "", "", ""))
        else:
            writer.writerows((name, identifier) for identifier in answer)
        stream.flush()
    if header:
        writer.writerow(header)
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
        ids = ", ".join(printable(text) for text in islice(_shown(answer), SHOWN))
        more = f" and {len(answer) - SHOWN:,} more" if len(answer) > SHOWN else ""
        table.add_row(Text(printable(name)), f"{len(answer):,}", Text(ids + more))
    Console(file=stream).print(table)
    return bad


def _shown(answer: Iterable[str | int]) -> Iterator[str]:
    """The ids, with the first path that each selects if that is known."""
    for identifier in answer:
        nodes = answer[identifier] if isinstance(answer, Mapping) else ()
        more = f" and {len(nodes) - 1:,} more" if len(nodes) > 1 else ""
        yield f"{identifier} ({nodes[0].path}{more})" if nodes else str(identifier)


WRITERS: dict[Format, Callable[[Iterable[tuple[str, Answer]], TextIO], int]] = {
    Format.jsonl: write_jsonl,
    Format.csv: write_csv,
    Format.table: write_table,
}
