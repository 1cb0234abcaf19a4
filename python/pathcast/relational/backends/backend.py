"""What a database has to be able to do."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from pathcast.relational.settings import Settings
from pathcast.relational.sql.program import Session


class Reader(Session, Protocol):
    """A run of the program, and questions about what it found."""

    def rows(self, query: str, level: int = 0) -> list[tuple[Any, ...]]:
        """What a query answers."""

    def pairs(self, query: str) -> tuple[list[Any], list[str]]:
        """The two columns that a query answers with, apart: it may answer with very many rows."""


class Writer(Reader, Protocol):
    """Changes that become visible together when the session ends, or not at all."""

    def insert(self, name: str, query: str) -> None:
        """Adds what a query answers to a table that stays."""

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
