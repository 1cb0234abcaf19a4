"""Dead letters and an inbox as people look at them: the spot that is wrong, and the stories that came."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pathcast.errors import printable

__all__ = ["DeadLetter", "Story", "dead_letter", "headline"]

AROUND = 34  # letters that are shown on each side of the spot


@dataclass(frozen=True)
class DeadLetter:
    """A document that could not be read, and the line around the spot: before it, at it, after it."""

    doc_id: str
    line: int
    column: int
    reason: str
    kind: str
    before: str
    spot: str
    after: str


@dataclass(frozen=True)
class Story:
    """What came to a reader, and the alerts that asked for it."""

    doc_id: str
    headline: str
    because: tuple[str, ...]


def headline(document: bytes) -> str:
    """The headline of a story that was matched, and so is well-formed."""
    found = re.search(rb"<headline>(.*?)</headline>", document, re.DOTALL)
    return found[1].decode() if found else ""


def dead_letter(row: Mapping[str, Any], document: bytes | None) -> DeadLetter:
    """Marks the spot in the document that a row about it names.

    >>> row = dict(doc_id="d", line=2, column=4, reason="not closed", kind="malformed")
    >>> letter = dead_letter(row, b"<a>\\n<b></a>")
    >>> letter.before, letter.spot, letter.after
    ('<b>', '<', '/a>')
    >>> dead_letter(row | dict(line=1, column=90), b"a" * 99).before.startswith("…aaa")
    True
    """
    lines = re.split(rb"\r\n|\r|\n", document or b"")
    line, column = row["line"] or 1, row["column"] or 1
    text = lines[line - 1].decode("utf-8", "replace") if line <= len(lines) else ""
    at = column - 1
    before = "…" if at > AROUND else ""
    after = "…" if len(text) > at + AROUND else ""
    return DeadLetter(
        row["doc_id"],
        line,
        column,
        printable(row["reason"]),
        row["kind"],
        before + printable(text[max(0, at - AROUND) : at]),
        printable(text[at : at + 1]) or "⏎",
        printable(text[at + 1 : at + AROUND]) + after,
    )
