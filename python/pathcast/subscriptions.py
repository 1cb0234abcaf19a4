"""Reads a file of subscriptions: ``.txt``, ``.csv``, ``.tsv`` or ``.jsonl``, each also ``.gz``; ``.parquet``.

Rows stream: a file of millions of subscriptions costs the ids seen so far and no more. A broken row does not
stop the reading: all of them are known after the last row. So whoever consumes the rows must not act on them
before the end, as ``Index.add_many`` does not.

Ids are strings whatever the format: a file answers alike as text, JSON or Parquet.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath
from reprlib import repr as shortened
from typing import IO, Any, TypeAlias

from pathcast.errors import SubscriptionFileError
from pathcast.types import Variables, XPath

COLUMNS = ("id", "xpath", "subscriber", "ordered", "namespaces", "variables")
FORMATS = (".txt", ".csv", ".tsv", ".jsonl", ".parquet")
MAX_LINE = 1 << 20  # bytes; an expression may have 16 KiB, so a longer line is not a subscription

Row: TypeAlias = tuple[int, Mapping[str, Any]]  # the line, and the cells by column

_BINDING = re.compile(r"""xmlns(?::(?P<prefix>[^\s:="']+))?\s*=\s*(?P<quote>["'])(?P<uri>[^"']*)(?P=quote)""")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Subscription:
    """One row; what the row does not say is ``None``. In Parquet, ``line`` is the row, from 1."""

    id: str
    xpath: str
    subscriber: str | None
    ordered: bool | None
    namespaces: Mapping[str, str] | None
    line: int
    variables: Variables | None = None


class SubscriptionFile:
    """A subscriptions file, iterated once; ``-`` is standard input, read as ``.txt``.

    Iteration gives the sound rows; ``problems`` gathers the others as (line, what is wrong).
    """

    def __init__(self, path: str | os.PathLike[str], contents: bytes | None = None) -> None:
        """`contents` are what a file of text holds, if somebody read it already."""
        self.name = os.fspath(path)
        self._contents = contents
        self.problems: list[tuple[int | None, str]] = []
        self._lines: dict[str, int] = {}

    def line_of(self, identifier: str) -> int:
        """Where the subscription with this id stands; known once it was read."""
        return self._lines[identifier]

    def __iter__(self) -> Iterator[Subscription]:
        try:
            for line, row in self._rows():
                try:
                    subscription = _subscription(row, line)
                    first = self._lines.setdefault(subscription.id, line)
                    if first != line:
                        raise ValueError(f"the id {shortened(subscription.id)} is already on line {first}")
                except ValueError as error:
                    self.problems.append((line, str(error)))
                else:
                    yield subscription
        except OSError as error:
            self.problems.append((None, f"cannot be read: {error.strerror or error}"))
        except (EOFError, zlib.error) as error:
            self.problems.append((None, f"is a damaged gzip file: {error}"))
        except _FileError as error:
            self.problems.append((error.line, str(error)))

    def _rows(self) -> Iterator[Row]:
        if self.name == "-":
            yield from _text(self._decoded(nullcontext(sys.stdin.buffer)))
            return
        suffix = PurePath(self.name).suffix.lower()
        zipped = suffix == ".gz"
        if zipped:
            suffix = PurePath(PurePath(self.name).stem).suffix.lower()
        if suffix == ".parquet" and not zipped:
            yield from _parquet(self.name)
            return
        if suffix not in FORMATS or suffix == ".parquet":
            raise _FileError(f"has no known extension; use {', '.join(FORMATS)}, or .gz of a text format")
        lines = self._decoded(self._opened(zipped))
        if suffix == ".txt":
            yield from _text(lines)
        elif suffix == ".jsonl":
            yield from self._json(lines)
        else:
            yield from self._table(lines, suffix)

    def _opened(self, zipped: bool) -> IO[bytes] | gzip.GzipFile:
        if self._contents is None:
            return gzip.open(self.name) if zipped else open(self.name, "rb")
        held = io.BytesIO(self._contents)
        return gzip.GzipFile(fileobj=held) if zipped else held

    def _decoded(
        self, source: AbstractContextManager[IO[bytes] | gzip.GzipFile]
    ) -> Iterator[tuple[int, str]]:
        """Numbered lines with their ends; one that is too long or not UTF-8 is reported and comes empty."""
        with source as stream:
            number = 0
            while raw := stream.readline(MAX_LINE + 1):
                number += 1
                text = "\n"
                if len(raw) > MAX_LINE:
                    self.problems.append((number, f"the line is longer than {MAX_LINE:,} bytes"))
                    while raw and not raw.endswith(b"\n"):
                        raw = stream.readline(MAX_LINE)
                else:
                    try:
                        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                    except UnicodeDecodeError as error:
                        self.problems.append((number, f"the line is not UTF-8 at byte {error.start + 1}"))
                yield number, text

    def _json(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row]:
        for number, text in lines:
            if not text.strip():
                continue
            try:
                row = json.loads(text, object_pairs_hook=_unique)
            except (ValueError, RecursionError) as error:
                self.problems.append((number, f"the line is not JSON: {error}"))
                continue
            missing = [column for column in COLUMNS[:2] if not isinstance(row, dict) or column not in row]
            if missing:
                self.problems.append((number, f"the line is no JSON object with {' and '.join(missing)}"))
            else:
                yield number, row

    def _table(self, lines: Iterator[tuple[int, str]], suffix: str) -> Iterator[Row]:
        first = next(lines, (1, ""))
        delimiter = "\t" if suffix == ".tsv" else delimiter_of(first[1])
        reader = csv.reader((text for _, text in chain([first], lines)), delimiter=delimiter, strict=True)
        header: list[str] | None = None
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                self.problems.append((line, f"the row cannot be read: {error}"))
                continue
            if not cells:
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                _check_columns(header, line)
            elif len(cells) != len(header):
                self.problems.append((line, f"the row has {len(cells)} cells, the header has {len(header)}"))
            else:
                row = dict(zip(header, cells, strict=True))
                yield line, {name: cell for name, cell in row.items() if cell or name in COLUMNS[:2]}
        if header is None:
            _check_columns([], 1)


def read_subscriptions(path: str | os.PathLike[str], contents: bytes | None = None) -> Iterator[Subscription]:
    """The rows of a file; after the last one, all broken rows are raised in one ``SubscriptionFileError``."""
    file = SubscriptionFile(path, contents)
    yield from file
    if file.problems:
        raise SubscriptionFileError(file.name, file.problems)


class _FileError(Exception):
    """What makes the whole file unreadable."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def _text(lines: Iterable[tuple[int, str]]) -> Iterator[Row]:
    """One expression a line; ``#`` begins a comment line, ``xmlns:p="urn:x"`` binds a prefix from there on.

    Neither can be an expression: none begins with ``#``, and XML keeps ``xmlns`` for itself.
    """
    namespaces: dict[str, str] = {}
    for number, text in lines:
        if binding := _BINDING.fullmatch(text.strip()):
            namespaces = {**namespaces, binding["prefix"] or "": binding["uri"]}
        elif text.strip() and not text.lstrip().startswith("#"):
            row: dict[str, Any] = {"id": str(number), "xpath": text.rstrip("\r\n")}
            yield number, row | ({"namespaces": namespaces} if namespaces else {})


def delimiter_of(header: str) -> str:
    """What stands between the columns: a comma, or the semicolon that spreadsheets write where 1.5 is 1,5.

    >>> delimiter_of("id;xpath"), delimiter_of("id,xpath")
    (';', ',')
    """
    names = [name.strip().strip('"') for name in header.removeprefix("\ufeff").split(";")]
    return ";" if all(column in names for column in COLUMNS[:2]) else ","


def _parquet(name: str) -> Iterator[Row]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise _FileError("Parquet needs pyarrow: pip install 'pathcast[arrow]'") from None
    try:
        with pyarrow.parquet.ParquetFile(name) as file:
            present = file.schema_arrow.names
            _check_columns(present, None)
            number = 0
            for batch in file.iter_batches(columns=[column for column in COLUMNS if column in present]):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except pyarrow.ArrowException as error:
        raise _FileError(f"cannot be read as Parquet: {error}") from None


def _check_columns(header: list[str], line: int | None) -> None:
    missing = [column for column in COLUMNS[:2] if column not in header]
    if missing:
        raise _FileError(f"the header has no column {' and no column '.join(missing)}", line)
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise _FileError(f"the header has the column {', '.join(twice)} more than once", line)


def _subscription(row: Mapping[str, Any], line: int) -> Subscription:
    """The row with its values checked; raises ``ValueError`` with a sentence."""
    identifier, subscriber = row["id"], row.get("subscriber")
    if isinstance(identifier, int) and not isinstance(identifier, bool):
        identifier = str(identifier)
    if identifier == "":
        raise ValueError("the id is empty")
    return Subscription(
        id=_string("the id", identifier),
        xpath=_string("the xpath", row["xpath"]),
        subscriber=None if subscriber is None else str(subscriber),
        ordered=_ordered(row.get("ordered")),
        namespaces=_namespaces(row.get("namespaces")),
        line=line,
        variables=variables_from(row.get("variables")),
    )


def _string(what: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} must be a string, not {shortened(value)}")
    try:
        value.encode()  # JSON can escape half a character
    except UnicodeEncodeError:
        raise ValueError(f"{what} holds a lone surrogate: {shortened(value)}") from None
    return value


def _ordered(value: object) -> bool | None:
    if value is None:
        return None
    truth = _TRUTH.get(str(value).strip().lower())
    if truth is None:
        raise ValueError(f"ordered must be true, false, 1 or 0, not {shortened(value)}")
    return truth


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of two members with one name, Python would take the last without a word."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {shortened(twice)} is there twice")
    return members


def _object(what: str, value: object) -> dict[str, Any]:
    """From a JSON object, as text in a table; or from Parquet's map (pairs) or struct (absent is null)."""
    if isinstance(value, str):
        try:
            value = json.loads(value, object_pairs_hook=_unique)
        except (json.JSONDecodeError, RecursionError):
            raise ValueError(f"{what} must be a JSON object, not {shortened(value)}") from None
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from None
    elif isinstance(value, list) and all(isinstance(pair, tuple) for pair in value):
        value = dict(value)
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be a JSON object, not {shortened(value)}")
    return value


def variables_from(value: object) -> Variables | None:
    """Strings, numbers and booleans by name; an expression is an object ``{"xpath": "..."}``.

    >>> variables_from('{"type": "x", "most": 3, "here": {"xpath": "/*/type"}}')
    {'type': 'x', 'most': 3, 'here': XPath(expression='/*/type')}
    """
    if value is None:
        return None
    bound: dict[str, str | int | float | bool | XPath] = {}
    for name, each in _object("variables", value).items():
        if isinstance(each, dict) and list(each) == ["xpath"]:
            bound[name] = XPath(_string(f"the expression of {name!r}", each["xpath"]))
        elif isinstance(each, bool | int | float):
            bound[name] = each
        elif each is not None:
            bound[name] = _string(f"the variable {name!r}", each)
    return bound


def _namespaces(value: object) -> Mapping[str, str] | None:
    if value is None:
        return None
    return {
        prefix: _string(f"the namespace of {prefix!r}", uri)
        for prefix, uri in _object("namespaces", value).items()
        if uri is not None
    }
