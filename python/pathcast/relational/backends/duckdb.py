"""DuckDB, in this process: the default. Documents go from Arrow into its tables without a copy in Python."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from pathcast.errors import DatabaseError
from pathcast.relational.backends.backend import Found, Outline, current_shape
from pathcast.relational.numbering import Numbering
from pathcast.relational.settings import NODE_BITS, Settings
from pathcast.relational.sql import names, program, steps, summary, tables
from pathcast.relational.sql.program import Shape
from pathcast.relational.sql.statement import Statement
from pathcast.relational.subscriptions import settle

SUMMARY_ROWS = 4_000_000
"""Rows of a path summary, from which it is begun anew."""
SUMMARY_PATHS = 500_000
"""The same for its paths: those at which no chain ends have no rows."""
SMALL = 1_000
"""Nodes of a batch up to which names alone find candidates, if there are few subscriptions."""
FEW = 20_000
MANY = 2_000
"""Nodes of a batch from which subscriptions are numbers: to number them takes half a microsecond for each."""
HELD = {*tables.DOCUMENTS, "NewPath", "Asked"}
"""Tables that are Arrow rows of this process and no tables of the database."""


class DuckDB:
    """One database, in memory or in a file. Sessions are cursors, each with temporary tables of its own."""

    def __init__(self, path: str) -> None:
        with _errors():
            self._connection = duckdb.connect(path)
            # Two threads took 1.3 to 1.7 times the processor time of one, for statements of milliseconds.
            self._connection.execute("set threads = 1")
            # Tables of a transaction that has not ended look empty to the optimizer, so it would put the
            # largest where the smallest belongs. Joins are run as they are written.
            self._connection.execute("set disabled_optimizers = 'join_order,build_side_probe_side'")
        self._writing = threading.Lock()
        self._guard = threading.Lock()
        self._idle: list[DuckSession] = []

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
        """A session in a transaction, so that it sees one state of the tables."""
        with _errors():
            with self._guard:
                session = self._idle.pop() if self._idle else None
            session = session or DuckSession(self._connection.cursor())
            try:
                session.begin()
                yield session
                session.execute("commit")
            except BaseException:
                session.close()  # what it remembers of its tables may be wrong
                raise
            with self._guard:
                self._idle.append(session)

    @contextmanager
    def writing(self) -> Iterator[DuckSession]:
        """The same, one at a time; an exception leaves nothing behind."""
        with self._writing, self.reading() as session:
            yield session

    def close(self) -> None:
        """Closes the database."""
        for session in self._idle:
            session.close()
        self._connection.close()


class Held:
    """Arrow rows that DuckDB reads again each time a statement runs, so that they may be others then."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table(self.rows).__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.rows.schema.__arrow_c_schema__()


@cache
def matching(levels: int, with_values: bool, numbered: bool = False) -> str:
    """The statement that matches a batch whose paths are known; it tells names or numbers."""
    statement = Statement(("XMLPath", "XMLNode", "XMLBelow", "XMLAncestor", *["XMLValue"] * with_values))
    program.find_facts(statement, levels, with_values=with_values)
    return statement.asking(steps.numbered(steps.FOUND) if numbered else steps.FOUND)


@cache
def outlining() -> str:
    """The statement that finds by names what may match a small batch, for the expressions to decide.

    The other one has more than a hundred operators, and each costs something before the first row comes.
    """
    statement = Statement(("XMLPath", "XMLBelow"))
    statement.make("Label", summary.LABELS)
    return statement.asking(steps.OUTLINE)


@cache
def extending(step_levels: int) -> str:
    """The statement that finds what the summary has to say about new paths."""
    statement = Statement(("NewPath", "XMLPath", "XMLPathAncestor"), by_level=("Trie",))
    program.find_steps(statement, step_levels)
    return statement.asking(summary.CLOSED)


class DuckSession:
    """A cursor with its temporary tables, used by one transaction after the other."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self._shape: Shape | None = None
        self._summary: int | None = None
        """For which steps there is a path summary."""
        self._version: int | None = None
        """For which subscriptions there is what depends on them alone."""
        self._numbered: tuple[int, Numbering] | None = None
        """The last numbers of subscriptions, and of which version they are."""
        self._outlined: tuple[int, Outline | None] | None = None
        """The last names of subscriptions, unless they are many, and of which version they are."""
        self._paths: set[int] = set()
        """The paths that the summary knows."""
        self._prepared: dict[str, str] = {}
        """The names of statements that are prepared, by their texts."""
        self._has_changed = False
        """Whether this transaction has made a table."""
        self._held: dict[str, Held] = {}
        """The rows of a batch, by table."""
        self._rows: dict[str, int] = {}
        """The rows of each temporary table."""

    def begin(self) -> None:
        """Begins a transaction."""
        self.execute("begin transaction")
        self._has_changed = False

    def shape(self) -> Shape:
        """What a run has to know about the subscriptions."""
        self._shape = current_shape(self, self._shape)
        return self._shape

    def run(self, shape: Shape, rows: dict[str, Any]) -> Found:
        """What was found for a batch of documents, by one statement that is prepared once.

        Before it, another one extends the path summary if there are paths that it does not know.
        """
        for name, some in rows.items():
            self.load(name, some)
        self.summarise(shape, rows["XMLPath"])
        levels = shape.levels_of(pc.max(rows["XMLPath"].column("depth")).as_py() or 0)
        numbering = self._numbering(shape) if rows["XMLNode"].num_rows >= MANY else None
        statement = matching(levels, rows["XMLValue"].num_rows > 0, numbering is not None)
        found = self._run(statement).to_arrow_table()
        if self._rows["PathStep"] > SUMMARY_ROWS or len(self._paths) > SUMMARY_PATHS:
            self._summary = None
        return Found(found, numbering)

    def _numbering(self, shape: Shape) -> Numbering:
        """The subscriptions as numbers, with a table of the subscribers that has them."""
        if self._numbered is None or self._numbered[0] != shape.version:
            rows = self._cursor.execute(
                names.filled("select pattern, subscription, is_exact from {Subscriber}")
            )
            found = rows.to_arrow_table().combine_chunks()
            numbering = Numbering(found.column("subscription").combine_chunks())
            self.load("Numbered", found.set_column(1, "subscription", pa.array(numbering.rows)))
            self._numbered = shape.version, numbering
        return self._numbered[1]

    def outline(self, shape: Shape, rows: dict[str, Any]) -> tuple[Outline, dict[int, set[str]]] | None:
        """The names of a small batch, if there are so few subscriptions that expressions decide."""
        if rows["XMLNode"].num_rows > SMALL or not (outline := self._outline(shape)):
            return None
        for name in ("XMLPath", "XMLBelow"):
            self.load(name, rows[name])
        found: dict[int, set[str]] = {}
        for node, label in self._run(outlining()).fetchall():
            found.setdefault(node >> NODE_BITS, set()).add(label)
        return outline, found

    def _outline(self, shape: Shape) -> Outline | None:
        """The last names of subscriptions, unless they are many."""
        if self._outlined is None or self._outlined[0] != shape.version:
            few = self.rows("select count(*) from {Subscriber}")[0][0] <= FEW
            self.make("LastName", f"select distinct label from ({steps.LAST_NAMES})")
            subscriptions: dict[str, list[str]] = {}
            names: dict[str, set[str]] = {}
            for label, subscription in (
                self.rows(f"select distinct * from ({steps.LAST_NAMES})") if few else ()
            ):
                subscriptions.setdefault(label, []).append(subscription)
                names.setdefault(subscription, set()).add(label)
            outline = Outline(subscriptions, names)
            self._outlined = shape.version, outline if few else None
        return self._outlined[1]

    def _run(self, statement: str) -> Any:
        """Runs a statement that will come again.

        What is prepared while a table is new to others would be planned again each time it runs, so it is
        prepared by a transaction that has made none.
        """
        if self._has_changed:
            return self._cursor.execute(statement)
        if statement not in self._prepared:
            self._prepared[statement] = f"pathcast_{len(self._prepared)}"
            self._cursor.execute(f"prepare {self._prepared[statement]} as {statement}")
        return self._cursor.execute(f"execute {self._prepared[statement]}")

    def summarise(self, shape: Shape, paths: Any) -> None:
        """Adds new paths to the summary, which is made anew for other steps."""
        if self._summary != shape.steps:
            program.begin_summary(self)
            for level in range(1, shape.step_levels + 1):  # each statement would read all levels twice
                self.make(f"Trie_{level}", f"from {{Trie}} where level = {level}")
            self.make("Trie", "from {Trie} limit 0")
            self._summary = shape.steps
            self._paths = set()
        if self._version != shape.version:
            program.begin_version(self)
            self._version = shape.version
        numbers = paths.column("path").to_pylist()
        is_new = [number not in self._paths for number in numbers]
        if not any(is_new):
            return
        new = paths.filter(pa.array(is_new))
        self.load("NewPath", new)
        query = extending(shape.step_levels_of(pc.max(new.column("depth")).as_py()))
        if self._rows["PathStep"]:
            found = self._run(f"insert into {names.run_table('PathStep')} {query}")
            self._rows["PathStep"] += found.fetchone()[0]
        else:
            self.make("PathStep", query)
        self._paths.update(numbers)

    def load(self, name: str, rows: Any) -> None:
        """Makes a temporary table of Arrow rows, or lets statements read them where they are."""
        if name in self._held:
            self._held[name].rows = rows  # registered anew, statements would need a new plan
        elif name in HELD:
            self._held[name] = Held(rows)
            self._cursor.register(names.run_table(name), self._held[name])
            self._changed()
        else:
            self._cursor.register("arrow_rows", rows)
            self.make(name, "from arrow_rows")
            self._cursor.unregister("arrow_rows")

    def make(self, name: str, query: str, level: int = 0) -> None:
        """Makes a temporary table of what a query answers."""
        statement = f"create or replace temp table {names.run_table(name)} as {query}"
        self._rows[name] = self.execute(statement, level)
        self._changed()

    def _changed(self) -> None:
        self._has_changed = True
        self._prepared.clear()

    def grow(self, name: str, query: str, level: int = 0) -> None:
        """Adds to a temporary table; one without rows is made anew, because DuckDB may lose what it gets."""
        if not self._rows[name]:
            self.make(name, query, level)
        else:
            self._rows[name] += self.execute(f"insert into {names.run_table(name)} {query}", level)

    def has_rows(self, name: str) -> bool:
        """Whether there is any row in a temporary table."""
        return self._rows[name] > 0

    def insert(self, name: str, query: str) -> int:
        """Adds to a table that stays."""
        columns = ", ".join(tables.COLUMNS[name])
        return self.execute(f"insert into {{{name}}} ({columns}) {query}")

    def execute(self, statement: str, level: int = 0) -> int:
        """Runs a statement; how many rows it changed."""
        self._cursor.execute(names.filled(statement, level))
        counted = statement.lstrip().startswith(("delete", "insert", "create or replace temp table"))
        row = self._cursor.fetchone() if counted else None
        return int(row[0]) if row else 0

    def rows(self, query: str, level: int = 0) -> list[tuple[Any, ...]]:
        """What a query answers."""
        return self.answer(names.filled(query, level))

    def answer(self, sql: str) -> list[tuple[Any, ...]]:
        """What a query of the caller's answers."""
        found: list[tuple[Any, ...]] = self._cursor.execute(sql).fetchall()
        return found

    def close(self) -> None:
        """Drops the temporary tables; a transaction that was not committed is undone."""
        self._cursor.close()


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise DatabaseError(f"DuckDB: {error}") from error
