"""The databases that run the SQL: one module each, or one folder where a module does not do.

| | DuckDB | PostgreSQL | Spark |
|---|---|---|---|
| a table of a run | a part of the statement | a temporary table, emptied and filled | a DataFrame |
| a run | one prepared statement | one function in PL/pgSQL | statements from this process |
| the path summary | kept by a cursor | kept by a connection | made for each match |
| rows from outside | an Arrow table, registered | `copy ... from stdin` | an Arrow table, or a DataFrame |
| one state of the tables | a transaction | a transaction, `repeatable read` | files that never change |
| primary keys | small tables only | all tables | none |
| further indexes | none | `tables.INDEXES` | none |
"""

from __future__ import annotations

from collections.abc import Callable

from pathcast.errors import DatabaseError
from pathcast.relational.backends.backend import Backend


def connect(address: str) -> Backend:
    """The backend that an address names."""
    makers: dict[str, Callable[[str], Backend]] = {"duckdb": _duckdb, "postgresql": _postgresql}
    scheme, separator, _ = address.partition("://")
    maker = makers.get({"postgres": "postgresql"}.get(scheme, scheme))
    if maker is None or (scheme != "duckdb" and not separator):
        raise ValueError(
            f"there is no backend {address!r}; there are 'duckdb', 'duckdb:///FILE', "
            "'postgresql://user@host/db', and a SparkSession"
        )
    try:
        return maker(address)
    except ImportError as error:
        raise DatabaseError(f"{error}: pip install 'pathcast[relational]'") from None


def _duckdb(address: str) -> Backend:
    from pathcast.relational.backends.duckdb import DuckDB

    return DuckDB(address.removeprefix("duckdb").removeprefix("://").removeprefix("/") or ":memory:")


def _postgresql(address: str) -> Backend:
    from pathcast.relational.backends.postgresql import PostgreSQL

    return PostgreSQL(address)
