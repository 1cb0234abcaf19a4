"""DuckDB, in this process: the default. Documents go from Arrow into its tables without a copy in Python."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

from pathcast.errors import DatabaseError
from pathcast.relational.settings import Settings
from pathcast.relational.sql import names, tables
from pathcast.relational.subscriptions import settle

GROWING = ("Kept", "MatchedXPath")
"""Tables of a run that are added to."""


class DuckDB:
    """One database, in memory or in a file. Sessions are cursors, each with temporary tables of its own."""

    def __init__(self, path: str) -> None:
        with _errors():
            self._connection = duckdb.connect(path)
        self._writing = threading.Lock()

    def prepare(self, wanted: Settings) -> Settings:
        """Makes the tables if they are not there."""
        with self.writing() as session:
            for table, key in tables.KEYS.items():
                columns = ", ".join(f"{name} {kind}" for name, kind in tables.COLUMNS[table].items())
                # Keys would be indexes in memory; only the small tables get one.
                unique = f", primary key ({', '.join(key)})" if table in {"Setting", "Subscription"} else ""
                session.execute(f"create table if not exists {{{table}}} ({columns}{unique})")
            return settle(session, wanted)

    @contextmanager
    def reading(self) -> Iterator[DuckSession]:
        """A cursor in a transaction, so that it sees one state of the tables."""
        with _errors():
            cursor = self._connection.cursor()
            try:
                cursor.execute("begin transaction")
                yield DuckSession(cursor)
                cursor.execute("commit")
            finally:
                cursor.close()

    @contextmanager
    def writing(self) -> Iterator[DuckSession]:
        """The same, one at a time; an exception leaves nothing behind."""
        with self._writing, self.reading() as session:
            yield session

    def close(self) -> None:
        """Closes the database."""
        self._connection.close()


class DuckSession:
    """One transaction."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self._parts: dict[str, int] = {}

    def load(self, name: str, rows: Any) -> None:
        """Makes a temporary table of Arrow rows."""
        self._cursor.register("arrow_rows", rows)
        self._cursor.execute(f"create or replace temp table {names.run_table(name)} as from arrow_rows")
        self._cursor.unregister("arrow_rows")

    def make(self, name: str, query: str, level: int = 0) -> None:
        """Makes a temporary table of what a query answers."""
        table = names.run_table(name)
        if name not in GROWING:
            self.execute(f"create or replace temp table {table} as {query}", level)
            return
        self._parts[name] = 0
        self.grow(name, query)

    def grow(self, name: str, query: str) -> None:
        """Adds to a table: it is a view of its parts, each of which is a table that no row is inserted into.

        DuckDB 2.0.0 loses rows that are inserted into a table to which the same transaction has written
        nothing before, as when the first query answers nothing. A table made by a query is whole.
        """
        table, part = names.run_table(name), self._parts[name]
        self.execute(f"create or replace temp table {table}_{part} as {query}")
        self._parts[name] = part + 1
        parts = " union all ".join(f"from {table}_{number}" for number in range(part + 1))
        self.execute(f"create or replace temp view {table} as {parts}")

    def insert(self, name: str, query: str) -> None:
        """Adds to a table that stays."""
        columns = ", ".join(tables.COLUMNS[name])
        self.execute(f"insert into {{{name}}} ({columns}) {query}")

    def execute(self, statement: str, level: int = 0) -> int:
        """Runs a statement; how many rows it changed."""
        self._cursor.execute(names.filled(statement, level))
        row = self._cursor.fetchone() if statement.lstrip().startswith(("delete", "insert")) else None
        return int(row[0]) if row else 0

    def rows(self, query: str, level: int = 0) -> list[tuple[Any, ...]]:
        """What a query answers."""
        found: list[tuple[Any, ...]] = self._cursor.execute(names.filled(query, level)).fetchall()
        return found

    def pairs(self, query: str) -> tuple[list[Any], list[str]]:
        """The two columns that a query answers with."""
        found = self._cursor.sql(names.filled(query)).to_arrow_table()
        return found.column(0).to_pylist(), found.column(1).to_pylist()

    def has_rows(self, name: str) -> bool:
        """Whether there is any row in a table of the run."""
        return bool(self.rows(f"select 1 from {{{name}}} limit 1"))

    def highest_level(self) -> int:
        """The highest level of any pattern."""
        return int(self.rows(names.HIGHEST_LEVEL)[0][0])


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise DatabaseError(f"DuckDB: {error}") from error
