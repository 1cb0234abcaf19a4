"""From the DOCUMENT arguments to answers, a block at a time: never all documents in memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

import typer

from pathcast import Index, Node
from pathcast.cli.stream import blocks
from pathcast.errors import DocumentError, EvaluationError, located

BLOCK = 64  # documents; enough to keep some threads busy, few enough that answers come while work goes on

Answer: TypeAlias = Sequence[str | int] | Mapping[str | int, list[Node]] | DocumentError
"""The ids, or the ids with the nodes that they select, or why there is no answer."""


class Matcher(Protocol):
    """What answers: an index, or tables."""

    def match_many(self, documents: Any, threads: int = 1) -> Iterable[Answer]:
        """One answer for each document, in order."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document by the name its answer carries, and where its bytes come from."""

    name: str
    source: Path | BinaryIO | DocumentError


def find_documents(arguments: Iterable[str]) -> Iterator[Document]:
    """The documents that the arguments name: files, ``-``, and every ``*.xml`` below a directory, sorted."""
    for argument in arguments:
        if argument == "-":
            yield Document("-", sys.stdin.buffer)
        elif os.path.isdir(argument):
            empty = True
            for document in _below(argument):
                empty = False
                yield document
            if empty:
                typer.echo(located(argument, None, "no *.xml file in this directory"), err=True)
        else:
            yield Document(argument, Path(argument))


def _below(directory: str) -> Iterator[Document]:
    """One directory at a time, so that no list of all files is needed; links to directories are passed."""
    try:
        with os.scandir(directory) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        reason = f"cannot list the directory: {error.strerror}"
        yield Document(directory, DocumentError(reason, 0, 0, "io"))
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path)
        elif entry.name.endswith(".xml") and (entry.is_file() or entry.is_symlink()):
            yield Document(entry.path, Path(entry.path))


def answers(index: Matcher, documents: Iterable[Document], threads: int) -> Iterator[tuple[str, Answer]]:
    """Each document's name with the ids it satisfies or its error, in the order of the documents."""
    for block in blocks(documents, BLOCK):
        sources = [doc.source for doc in block if not isinstance(doc.source, DocumentError)]
        matched = iter(index.match_many(sources, threads=threads))
        for document in block:
            yield (
                document.name,
                document.source if isinstance(document.source, DocumentError) else next(matched),
            )


def selections(index: Matcher, documents: Iterable[Document]) -> Iterator[tuple[str, Answer]]:
    """Each document's name with the ids it satisfies and the nodes that they select, or its error."""
    assert isinstance(index, Index)
    for document in documents:
        answer: Answer
        try:
            source = document.source
            answer = source if isinstance(source, DocumentError) else index.select(source)
        except DocumentError as error:
            answer = error
        except EvaluationError as error:
            answer = DocumentError(str(error), 0, 0, "limit")
        except OSError as error:
            answer = DocumentError(f"the document cannot be read: {error.strerror}", 0, 0, "io")
        yield document.name, answer
