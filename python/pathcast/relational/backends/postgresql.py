"""PostgreSQL: subscriptions in its tables, documents copied into temporary ones.

A match is one transaction that sees one state of the subscriptions (repeatable read); its tables are gone
when it ends. Writers wait for one another and for nobody else. A connection that was lost is not used again:
the call that lost it raises a `DatabaseError` and has changed nothing, the next call connects anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg import IsolationLevel

from pathcast.errors import DatabaseError
from pathcast.relational.settings import Settings
from pathcast.relational.sql import names, tables
from pathcast.relational.subscriptions import settle

ANALYSED = 1_000  # rows that are added to a table which stays, from which it is looked at anew
SESSION = (
    "set client_encoding = 'UTF8'",
    "set client_min_messages = warning",
    "set jit = off",  # statements run for milliseconds
    # A run's tables and joins stay in memory: with 8 MB and 4 MB, the defaults, they went to disk.
    "set temp_buffers = '64MB'",
    "set work_mem = '64MB'",
)
COPIED = 50_000  # rows at a time
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))

SQL_TYPES: dict[Any, str] = {
    pa.int64(): "bigint",
    pa.int32(): "integer",
    pa.string(): "varchar",
    pa.large_string(): "varchar",
    pa.bool_(): "boolean",
    pa.float64(): "double precision",
}

_LOCK = 7_208_311_962  # of those who make the tables


class PostgreSQL:
    """One database on a server."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._idle: list[psycopg.Connection[Any]] = []
        self._guard = threading.Lock()

    def prepare(self, wanted: Settings) -> Settings:
        """Makes the tables and their indexes if they are not there."""
        with self._transaction() as session:
            # What another made while this one waited for the lock has to be seen.
            session.execute("set transaction isolation level read committed")
            session.execute(f"select pg_advisory_xact_lock({_LOCK})")
            for table, key in tables.KEYS.items():
                columns = ", ".join(f"{name} {kind}" for name, kind in tables.COLUMNS[table].items())
                session.execute(
                    f"create table if not exists {{{table}}} ({columns}, primary key ({', '.join(key)}))"
                )
                for index in indexes(table, names.kept_table(table)):
                    session.execute(index)
            return settle(session, wanted)

    def reading(self) -> Any:
        """A transaction that sees the subscriptions as they are now."""
        return self._transaction()

    @contextmanager
    def writing(self) -> Iterator[PostgresSession]:
        """A transaction that no other writer overlaps."""
        with self._transaction() as session:
            session.execute("lock table {Setting} in exclusive mode")
            yield session

    def close(self) -> None:
        """Closes the connections that nobody uses."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[PostgresSession]:
        try:
            connection = self._connection()
            try:
                with connection.transaction():
                    session = PostgresSession(connection)
                    yield session
                with self._guard:
                    self._idle.append(connection)
            except BaseException:
                # What state it is in is not worth finding out.
                connection.close()
                raise
        except psycopg.Error as error:
            raise DatabaseError(f"PostgreSQL: {str(error) or type(error).__name__}") from error

    def _connection(self) -> psycopg.Connection[Any]:
        while True:
            with self._guard:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                connection = psycopg.connect(self._address, autocommit=True)
                connection.isolation_level = IsolationLevel.REPEATABLE_READ
                for setting in SESSION:
                    connection.execute(setting)
                return connection
            try:
                connection.execute("select 1")
                return connection
            except psycopg.Error:
                connection.close()  # lost while nobody used it


def indexes(table: str, name: str) -> Iterator[str]:
    """The statements that make the indexes of a table.

    An index that is sorted takes no long text, and names may be long, so texts are indexed by their hash.

    >>> list(indexes("XMLFrame", "run_xmlframe"))[0]
    'create index if not exists run_xmlframe_node on run_xmlframe using hash (node)'
    """
    for columns in tables.INDEXES.get(table, ()):
        text = any(tables.COLUMNS[table][column] == "varchar" for column in columns)
        how = " using hash" if text else ""
        yield (f"create index if not exists {name}_{'_'.join(columns)} on {name}{how} ({', '.join(columns)})")


class PostgresSession:
    """One transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def load(self, name: str, rows: Any) -> None:
        """Makes a temporary table of Arrow rows, by COPY."""
        table = names.run_table(name)
        self.execute(f"drop table if exists {table}")
        self.execute(f"create temp table {table} ({columns(rows)}) on commit drop")
        with self._connection.cursor() as cursor, cursor.copy(f"copy {table} from stdin") as copy:
            for piece in copy_lines(rows):
                copy.write(piece)
        for index in indexes(name, table) if name not in tables.KEYS else ():
            self.execute(index)
        self._analyse(table)

    def make(self, name: str, query: str, level: int = 0) -> None:
        """Makes a temporary table of what a query answers."""
        table = names.run_table(name)
        self.execute(f"drop table if exists {table}")
        self.execute(f"create temp table {table} on commit drop as {query}", level)
        self._analyse(table)

    def grow(self, name: str, query: str) -> None:
        """Adds to a temporary table."""
        table = names.run_table(name)
        self.execute(f"insert into {table} {query}")
        self._analyse(table)

    def insert(self, name: str, query: str) -> None:
        """Adds to a table that stays."""
        columns = ", ".join(tables.COLUMNS[name])
        changed = self.execute(f"insert into {{{name}}} ({columns}) {query}")
        if changed >= ANALYSED:
            self.execute(f"analyze {{{name}}}")

    def execute(self, statement: str, level: int = 0) -> int:
        """Runs a statement; how many rows it changed."""
        # The texts are ours; values come in through COPY alone.
        return self._connection.execute(names.filled(statement, level)).rowcount

    def rows(self, query: str, level: int = 0) -> list[tuple[Any, ...]]:
        """What a query answers."""
        return self._connection.execute(names.filled(query, level)).fetchall()

    def pairs(self, query: str) -> tuple[list[Any], list[str]]:
        """The two columns that a query answers with."""
        found = self.rows(query)
        return [row[0] for row in found], [row[1] for row in found]

    def has_rows(self, name: str) -> bool:
        """Whether there is any row in a table of the run."""
        return bool(self.rows(f"select 1 from {{{name}}} limit 1"))

    def highest_level(self) -> int:
        """The highest level of any pattern."""
        return int(self.rows(names.HIGHEST_LEVEL)[0][0])

    def _analyse(self, table: str) -> None:
        """Lets the planner know a new table; of one that it has not seen it thinks as of a thousand rows."""
        self.execute(f"analyze {table}")


def columns(rows: Any) -> str:
    """The columns of some rows as a table declares them."""
    return ", ".join(f"{field.name} {SQL_TYPES[field.type]}" for field in rows.schema)


def copy_lines(rows: Any) -> Iterator[bytes]:
    r"""Arrow rows as the text that COPY reads, made a column at a time.

    Cells are separated by tabs and rows by line ends. Tabs, line ends and backslashes inside a value are
    escaped, so no value can end a row; ``\N`` is null.

    >>> rows = pa.record_batch({"a": [1, None], "b": ["tab\t, \\N", "line\n"], "c": [float("inf"), 0.1]})
    >>> b"".join(copy_lines(rows))
    b'1\ttab\\t, \\\\N\tinf\n\\N\tline\\n\t0.1\n'
    """
    for start in range(0, rows.num_rows, COPIED):
        some = rows.slice(start, COPIED)
        cells = [_cells(column) for column in some.columns]
        joined = pc.binary_join_element_wise(*cells, pa.scalar("\t", pa.large_string()))
        yield ("\n".join(joined.to_pylist()) + "\n").encode()


def _cells(column: Any) -> Any:
    if pa.types.is_boolean(column.type):
        text = pc.if_else(column, "t", "f").cast(pa.large_string())
    else:
        text = column.cast(pa.large_string())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        for plain, escaped in _ESCAPES:
            text = pc.replace_substring(text, plain, escaped)
    return pc.fill_null(text, "\\N")
