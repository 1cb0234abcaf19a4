"""The backends that tests run on, opened for as long as they are needed."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from pathcast.relational import Relational

if TYPE_CHECKING:
    from tests.relational.postgres import PostgresServer

Make: TypeAlias = Callable[[bool], Relational]
"""A new and empty database; the argument says whether it ignores namespaces."""

_numbers = itertools.count()


@contextmanager
def opened(name: str) -> Iterator[Make]:
    """What makes databases of that kind."""
    if name == "duckdb":
        yield lambda ignore: Relational("duckdb", ignore_namespaces=ignore)
    elif name == "postgresql":
        from tests.relational.postgres import PostgresServer

        with PostgresServer() as server:
            yield lambda ignore: Relational(fresh_database(server), ignore_namespaces=ignore)
    else:
        raise ValueError(name)


def fresh_database(server: PostgresServer) -> str:
    """The address of a new and empty database."""
    import psycopg

    name = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(f"create database {name}")
    return server.address(name)
