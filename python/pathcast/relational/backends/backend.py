"""What a database has to be able to do."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pathcast.relational.settings import Settings
from pathcast.relational.sql.program import Session, Shape

if TYPE_CHECKING:
    from pathcast.relational.numbering import Numbering


@dataclass(frozen=True)
class Outline:
    """Subscriptions by names, one of which a document must have to match."""

    subscriptions: Mapping[str, Sequence[str]]
    """The subscriptions of a name."""
    names: Mapping[str, Collection[str]]
    """The names of a subscription."""


class Found(NamedTuple):
    """What `steps.FOUND` answers for a batch of documents: an Arrow table."""

    rows: Any
    numbering: Numbering | None = None
    """If the subscriptions are numbers and no names."""


class Reader(Session, Protocol):
    """Runs of the program that see one state of the subscriptions, and questions about what they found."""

    def shape(self) -> Shape:
        """What a run has to know about the subscriptions."""

    def outline(self, shape: Shape, rows: dict[str, Any]) -> tuple[Outline, dict[int, set[str]]] | None:
        """For a small batch, in place of a run: the names that decide who may match, of each document.

        None where a run is to be done.
        """

    def run(self, shape: Shape, rows: dict[str, Any]) -> Found:
        """What was found for a batch of documents, given as rows by table."""

    def rows(self, query: str, level: int = 0) -> list[tuple[Any, ...]]:
        """What a query answers."""

    def answer(self, sql: str) -> list[tuple[Any, ...]]:
        """What a query of the caller's answers, as it is written."""


class Writer(Reader, Protocol):
    """Changes that become visible together when the session ends, or not at all."""

    def insert(self, name: str, query: str) -> int:
        """Adds what a query answers to a table that stays; how many rows."""

    def execute(self, statement: str, level: int = 0) -> int:
        """Runs a statement; how many rows it changed."""


class Backend(Protocol):
    """One database."""

    def prepare(self, wanted: Settings) -> Settings:
        """Makes the tables if they are not there; the settings that hold."""

    def reading(self) -> AbstractContextManager[Reader]:
        """A session that sees the subscriptions as they are now, until its end."""

    def writing(self) -> AbstractContextManager[Writer]:
        """A session that changes them; one at a time."""

    def close(self) -> None:
        """Ends all connections."""


def current_shape(session: Reader, known: Shape | None) -> Shape:
    """The shape of the subscriptions; what is known of it holds as long as nothing has changed."""
    stamps = dict(session.rows("select name, content from {Setting} where name like 'changed %'"))
    version, steps = (json.loads(stamps.get(f"changed {name}", "0")) for name in ("version", "steps"))
    if known is not None and known.version == version:
        return known
    levels, step_levels = (
        int(session.rows(f"select coalesce(max(level), 0) from {{{table}}}")[0][0])
        for table in ("Pattern", "Step")
    )
    subjects = session.rows("select subject, node, name from {Subject}")
    may_stay = bool(session.rows("select 1 from {Step} where min_diff = 0 limit 1"))
    return Shape(version, steps, levels, step_levels, tuple(subjects), may_stay)
