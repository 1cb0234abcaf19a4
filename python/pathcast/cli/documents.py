"""From the DOCUMENT arguments to answers, one document after another: never all of them in memory."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

from pathcast import Index, Limits, Node
from pathcast.cli.archives import Unpacked, is_archive, is_gzip, members, unpack, unpacked_again
from pathcast.cli.stream import blocks
from pathcast.errors import DocumentError, EvaluationError

BLOCK = 64  # documents that go to a database at a time
PATTERNS = ("*.xml", "*.xml.gz")
"""The files that a directory or an archive stands for."""

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
    source: Path | BinaryIO | Unpacked | DocumentError


def find_documents(arguments: Iterable[str], patterns: Sequence[str] = PATTERNS) -> Iterator[Document]:
    """The documents that the arguments name: files, ``-``, and what fits in directories and archives."""
    for argument in arguments:
        if argument == "-":
            yield Document("-", sys.stdin.buffer)
        elif os.path.isdir(argument):
            yield from _below(argument, argument, patterns)
        elif is_archive(argument):
            yield from _inside(argument, patterns)
        else:
            yield _file(argument)


def empty_directory(arguments: Iterable[str], patterns: Sequence[str] = PATTERNS) -> str | None:
    """The first argument that is a directory without a document in it."""
    directories = (argument for argument in arguments if argument != "-" and os.path.isdir(argument))
    return next((each for each in directories if not any(_below(each, each, patterns))), None)


def count_documents(arguments: Sequence[str], patterns: Sequence[str] = PATTERNS) -> int | None:
    """How many documents there will be; unknown when an archive would have to be read for it."""
    if any(map(is_archive, arguments)):
        return None
    return sum(1 for _ in find_documents(arguments, patterns))


def _file(path: str) -> Document:
    return Document(path, unpack(path) if is_gzip(path) else Path(path))


def _fits(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path fits, in any letter case; a pattern without a slash is one for the name alone."""
    lower = path.lower().replace(os.sep, "/")
    name = lower.rpartition("/")[2]
    return any(fnmatchcase(lower if "/" in each else name, each.lower()) for each in patterns)


def _below(directory: str, top: str, patterns: Sequence[str]) -> Iterator[Document]:
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
            yield from _below(entry.path, top, patterns)
        elif (entry.is_file() or entry.is_symlink()) and _fits(os.path.relpath(entry.path, top), patterns):
            yield _file(entry.path)


def _inside(archive: str, patterns: Sequence[str]) -> Iterator[Document]:
    empty = True
    try:
        for name, stream in members(archive):
            if _fits(name, patterns):
                empty = False
                yield Document(f"{archive}/{name}", unpacked_again(stream) if is_gzip(name) else stream)
    except OSError as error:
        reason = f"the document cannot be read: {error.strerror or error}"
        yield Document(archive, DocumentError(reason, 0, 0, "io"))
        return
    if empty:
        yield Document(archive, DocumentError(f"no {patterns[0]} file in this archive", 0, 0, "io"))


def answers(index: Matcher, documents: Iterable[Document], threads: int) -> Iterator[tuple[str, Answer]]:
    """Each document's name with the ids it satisfies or its error, in the order of the documents.

    An answer is given when it is known: it does not wait for the documents behind it.
    """
    if not isinstance(index, Index):
        yield from _in_blocks(index, documents, threads)
        return
    taken: deque[Document] = deque()

    def sources() -> Iterator[Any]:
        for document in documents:
            taken.append(document)
            bad = isinstance(document.source, DocumentError)
            yield None if bad else _held(document.source) if threads > 1 else document.source

    for answer in index.match_stream(sources(), threads):
        document = taken.popleft()
        known = document.source
        yield document.name, known if isinstance(known, DocumentError) else answer


def _held(source: Any) -> Any:
    """A member of an archive in memory, because the next one may be read before it was matched."""
    if not isinstance(source, Unpacked):
        return source
    try:
        return source.read(Limits().document_bytes + 1)
    except OSError:
        return source  # whoever reads it says why


def _in_blocks(index: Matcher, documents: Iterable[Document], threads: int) -> Iterator[tuple[str, Answer]]:
    for block in blocks(documents, BLOCK):
        good = [_held(doc.source) for doc in block if not isinstance(doc.source, DocumentError)]
        matched = iter(index.match_many(good, threads=threads))
        for document in block:
            known = document.source
            yield document.name, known if isinstance(known, DocumentError) else next(matched)


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
            answer = DocumentError(f"the document cannot be read: {error.strerror or error}", 0, 0, "io")
        yield document.name, answer
