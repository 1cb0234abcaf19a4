"""PostgreSQL: subscriptions in its tables, documents copied into temporary ones.

A match is one transaction that sees one state of the subscriptions (repeatable read). It copies the documents
into temporary tables of the connection and calls one function, which runs all steps on the server. Writers
wait for one another and for nobody else. A connection that was lost is not used again: the call that lost it
raises `DatabaseError` and has changed nothing, and the next call connects anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg import IsolationLevel

from pathcast.errors import DatabaseError
from pathcast.relational.backends.backend import Found, current_shape
from pathcast.relational.backends.postgresql import function
from pathcast.relational.settings import Settings
from pathcast.relational.sql import names, steps, tables
from pathcast.relational.sql.program import Shape
from pathcast.relational.subscriptions import settle

SUMMARY_BYTES = 128 << 20
"""Size of a path summary, from which it is begun anew."""
ANALYSED = 1_000  # rows that are added to a table which stays, from which it is looked at anew
SESSION = (
    "set client_encoding = 'UTF8'",
    "set client_min_messages = warning",
    "set jit = off",  # statements run for milliseconds
    "set join_collapse_limit = 1",  # the statements begin with the small table; joins keep their order
    "set from_collapse_limit = 1",
    # Without statistics of a run's tables the planner expects too many rows and sorts for nothing, or too few
    # and looks at every pair: one such join took a third of the time of a match. Hashing is never far off.
    "set enable_mergejoin = off",
    "set enable_nestloop = off",
    # A run's tables and joins stay in memory: with 8 MB and 4 MB, the defaults, they went to disk, and with
    # 64 MB the path summary did. Memory is taken as it is needed.
    "set temp_buffers = '256MB'",
    "set work_mem = '64MB'",
    "set hash_mem_multiplier = 4",  # what a join hashes
    "set default_statistics_target = 10",  # 3,000 rows tell enough of a run's tables, in milliseconds
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

_WIDTHS = {pa.int64(): 8, pa.int32(): 4}
"""The bytes of numbers that COPY takes as they are."""

_LOCK = 7_208_311_962  # of those who make the tables


class PostgreSQL:
    """One database on a server."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._idle: list[PostgresSession] = []
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
            session.connection.execute(function.text())
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
        for session in idle:
            session.connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[PostgresSession]:
        try:
            session = self._session()
            try:
                with session.connection.transaction():
                    yield session
                with self._guard:
                    self._idle.append(session)
            except BaseException:
                session.connection.close()  # its tables may not be what it remembers
                raise
        except psycopg.Error as error:
            raise DatabaseError(f"PostgreSQL: {str(error) or type(error).__name__}") from error

    def _session(self) -> PostgresSession:
        while True:
            with self._guard:
                session = self._idle.pop() if self._idle else None
            if session is None:
                connection = psycopg.connect(self._address, autocommit=True)
                connection.isolation_level = IsolationLevel.REPEATABLE_READ
                for setting in SESSION:
                    connection.execute(setting)
                return PostgresSession(connection)
            try:
                session.connection.execute("select 1")
                return session
            except psycopg.Error:
                session.connection.close()  # lost while nobody used it


def indexes(table: str, name: str) -> Iterator[str]:
    """The statements that make the indexes of a table.

    An index that is sorted takes no long text, and names may be long, so texts are indexed by their hash.

    >>> list(indexes("Predicate", "tests"))[1]
    'create index if not exists tests_text_value on tests using hash (text_value)'
    """
    for columns in tables.INDEXES.get(table, ()):
        text = any(tables.COLUMNS[table][column] == "varchar" for column in columns)
        how = " using hash" if text else ""
        yield (f"create index if not exists {name}_{'_'.join(columns)} on {name}{how} ({', '.join(columns)})")


class PostgresSession:
    """A connection with its temporary tables, used by one transaction after the other."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self._shape: Shape | None = None
        self._summary: int | None = None
        """For which steps there is a path summary."""
        self._version: int | None = None
        """For which subscriptions there is what depends on them alone."""
        self._has_tables = False

    def begin(self) -> None:
        """Makes the temporary tables of a run, without rows."""
        for name in tables.DOCUMENTS:
            kinds = ", ".join(f"{column} {kind}" for column, kind in tables.COLUMNS[name].items())
            self.execute(f"create temp table {names.run_table(name)} ({kinds})")
        for name, query in function.made():
            self.execute(f"create temp table {names.run_table(name)} as {query} with no data", 1)
        self._has_tables = True

    def shape(self) -> Shape:
        """What a run has to know about the subscriptions."""
        self._shape = current_shape(self, self._shape)
        return self._shape

    def outline(self, shape: Shape, rows: dict[str, Any]) -> None:
        """A run is one call, however small the batch."""

    def run(self, shape: Shape, rows: dict[str, Any]) -> Found:
        """What was found for a batch of documents: they are copied in, and one function does the rest."""
        if not self._has_tables:
            self.begin()
        self.execute("truncate " + ", ".join(names.run_table(name) for name in rows))
        for name, some in rows.items():
            self._copy(names.run_table(name), some)
        fresh = self._summary != shape.steps
        call = f"select {function.NAME}(%s, %s, %s, %s, %s, %s)"
        with_values = rows["XMLValue"].num_rows > 0
        changed = self._version != shape.version
        arguments = (fresh, changed, shape.step_levels, shape.may_stay, shape.levels, with_values)
        found = self.connection.execute(call, arguments).fetchone()
        assert found
        self._summary = shape.steps if found[0] <= SUMMARY_BYTES else None
        self._version = shape.version
        with self.connection.cursor(binary=True) as cursor:
            answer = cursor.execute(names.filled(steps.FOUND)).fetchall()
        kinds = {"node": pa.int64(), "subscription": pa.string(), "is_exact": pa.bool_()}
        columns = zip(*answer, strict=True) if answer else ((), (), ())
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds.values(), strict=True)]
        return Found(pa.table(arrays, [*kinds]))

    def load(self, name: str, rows: Any) -> None:
        """Makes a temporary table of Arrow rows, for this transaction."""
        table = names.run_table(name)
        self.execute(f"drop table if exists {table}")
        self.execute(f"create temp table {table} ({columns(rows)}) on commit drop")
        self._copy(table, rows)
        if rows.num_rows >= ANALYSED:
            self.execute(f"analyze {table}")

    def _copy(self, table: str, rows: Any) -> None:
        if not rows.num_rows:
            return
        listed = ", ".join(rows.schema.names)
        numbers = all(column.type in _WIDTHS and not column.null_count for column in rows.columns)
        how, pieces = (" (format binary)", copy_numbers) if numbers else ("", copy_lines)
        with (
            self.connection.cursor() as cursor,
            cursor.copy(f"copy {table} ({listed}) from stdin{how}") as copy,
        ):
            for piece in pieces(rows):
                copy.write(piece)

    def make(self, name: str, query: str, level: int = 0) -> None:
        """Makes a temporary table of what a query answers, for this transaction."""
        table = names.run_table(name)
        self.execute(f"drop table if exists {table}")
        self.execute(f"create temp table {table} on commit drop as {query}", level)

    def grow(self, name: str, query: str, level: int = 0) -> None:
        """Adds to a temporary table."""
        self.execute(f"insert into {names.run_table(name)} {query}", level)

    def has_rows(self, name: str) -> bool:
        """Whether there is any row in a temporary table."""
        return bool(self.rows(f"select 1 from {{{name}}} limit 1"))

    def insert(self, name: str, query: str) -> int:
        """Adds to a table that stays."""
        columns = ", ".join(tables.COLUMNS[name])
        changed = self.execute(f"insert into {{{name}}} ({columns}) {query}")
        if changed >= ANALYSED:
            self.execute(f"analyze {{{name}}}")
        return changed

    def execute(self, statement: str, level: int = 0) -> int:
        """Runs a statement; how many rows it changed."""
        # The texts are ours; values come in through COPY alone.
        return self.connection.execute(names.filled(statement, level)).rowcount

    def rows(self, query: str, level: int = 0) -> list[tuple[Any, ...]]:
        """What a query answers."""
        return self.answer(names.filled(query, level))

    def answer(self, sql: str) -> list[tuple[Any, ...]]:
        """What a query of the caller's answers."""
        return self.connection.execute(sql).fetchall()


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


def copy_numbers(rows: Any) -> Iterator[bytes]:
    r"""Rows of nothing but integers as the bytes that COPY reads: they need not be written and read as text.

    >>> rows = pa.record_batch({"a": pa.array([1], pa.int64()), "b": pa.array([2], pa.int32())})
    >>> b"".join(copy_numbers(rows))[19:]  # two columns, each with its length
    b'\x00\x02\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x02\xff\xff'
    """
    kinds = [("columns", ">i2")]
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        kinds += [(f"length of {name}", ">i4"), (name, f">i{_WIDTHS[column.type]}")]
    cells = np.empty(rows.num_rows, np.dtype(kinds))
    cells["columns"] = rows.num_columns
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        cells[f"length of {name}"] = _WIDTHS[column.type]
        cells[name] = column.to_numpy(zero_copy_only=False)
    yield b"PGCOPY\n\xff\r\n\0" + bytes(8)
    for start in range(0, rows.num_rows, COPIED):
        yield cells[start : start + COPIED].tobytes()
    yield b"\xff\xff"


def _cells(column: Any) -> Any:
    if pa.types.is_boolean(column.type):
        text = pc.if_else(column, "t", "f").cast(pa.large_string())
    else:
        text = column.cast(pa.large_string())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        for plain, escaped in _ESCAPES:
            text = pc.replace_substring(text, plain, escaped)
    return pc.fill_null(text, "\\N")
