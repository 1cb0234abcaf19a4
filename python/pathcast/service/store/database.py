"""Connections: one to write, a few to read, and the schema brought up to date when they are opened.

SQLite runs in WAL mode, so readers never wait for the writer, and with `synchronous = FULL`, so a commit has
reached the disk when it returns. The standard library's own handling of transactions is switched off: it
would begin one too late for a read that must see the same state as the write after it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select, text, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from pathcast.errors import PathcastError
from pathcast.service.store import tables
from pathcast.service.store.migrations import MIGRATIONS

_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "cache_size = -65536",
    "wal_autocheckpoint = 8000",  # pages: whose commit it falls into waits for the disk more than once
)
_START_LOCK = 0x70617468  # any number that every process agrees on


class StoreError(PathcastError):
    """The store cannot be used: out of reach, full, damaged, or written by a newer version."""


class Database:
    """The two ways into one store."""

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        self.kind = parsed.get_backend_name()
        if self.kind == "sqlite":
            Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
            self._writer = _sqlite(url, "BEGIN IMMEDIATE")
            self._reader = _sqlite(url, "BEGIN")
        elif self.kind == "postgresql":
            # A connection that died while it was idle is replaced before it is used.
            self._writer = create_engine(url, pool_size=1, max_overflow=0, pool_pre_ping=True)
            self._reader = create_engine(url, pool_size=3, max_overflow=1, pool_pre_ping=True)
        else:
            raise StoreError(f"a store is SQLite or PostgreSQL, not {self.kind}")
        self.url = url

    @property
    def shared(self) -> bool:
        """Whether other processes may change the store."""
        return self.kind == "postgresql"

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that changes something; committed at the end, rolled back on an error."""
        with self._writer.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads, all of it from one state of the store."""
        with self._reader.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def starting(self) -> Iterator[Connection]:
        """A transaction that changes something, in which processes that start together take turns."""
        with self.writing() as connection:
            if self.shared:
                connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": _START_LOCK})
            yield connection

    def migrate(self) -> None:
        """Create or upgrade the tables; a store of a newer version is refused and left alone."""
        try:
            with self.starting() as connection:
                _migrate(connection)
        except SQLAlchemyError as error:
            raise StoreError(f"the store cannot be opened: {_sentence(error)}") from error

    def close(self) -> None:
        """Close all connections."""
        self._writer.dispose()
        self._reader.dispose()


def _migrate(connection: Connection) -> None:
    if not inspect(connection).has_table("meta"):
        tables.metadata.create_all(connection)
        connection.execute(insert(tables.meta).values(name="version", value=str(tables.VERSION)))
        return
    found = connection.scalar(select(tables.meta.c.value).where(tables.meta.c.name == "version"))
    version = int(found or 0)
    if version > tables.VERSION:
        raise StoreError(
            f"the store has version {version}, and this is Pathcast for version {tables.VERSION}: "
            "start the newer Pathcast that wrote it"
        )
    for step in range(version, tables.VERSION):
        MIGRATIONS[step](connection)
    connection.execute(
        update(tables.meta).where(tables.meta.c.name == "version").values(value=str(tables.VERSION))
    )


def _sqlite(url: str, begin: str) -> Engine:
    engine = create_engine(url, connect_args={"timeout": 30.0})

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, record: Any) -> None:
        connection.isolation_level = None
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _sentence(error: SQLAlchemyError) -> str:
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
