"""The backends that tests run on, opened for as long as they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from pathcast.relational import Relational

Make: TypeAlias = Callable[[bool], Relational]
"""A new and empty database; the argument says whether it ignores namespaces."""


@contextmanager
def opened(name: str) -> Iterator[Make]:
    """What makes databases of that kind."""
    if name == "duckdb":
        from pathcast.relational.backends import duckdb

        # Most batches of random sets are small; the statement for all others is the one to be tested.
        small, duckdb.SMALL = duckdb.SMALL, 0
        yield lambda ignore: Relational("duckdb", ignore_namespaces=ignore)
        duckdb.SMALL = small
    elif name == "postgresql":
        from tests.postgres.server import PostgresServer

        with PostgresServer() as server:
            yield lambda ignore: Relational(server.schema(), ignore_namespaces=ignore)
    elif name == "spark":
        from pathcast.spark.driver.session import session

        with session("pathcast tests", master="local[2]") as spark:
            yield lambda ignore: Relational(spark, ignore_namespaces=ignore)
    else:
        raise ValueError(name)
