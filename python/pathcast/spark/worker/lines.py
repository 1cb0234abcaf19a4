"""Text files of subscriptions, one expression a line, as commands without Spark read them."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pathcast.spark.worker.shards import Batches
from pathcast.subscriptions import Subscription, read_subscriptions

__all__ = ["COLUMNS", "read_lines"]

COLUMNS = "id string, xpath string, namespaces map<string,string>"
_ROWS = 10_000
_NAMESPACES = pa.map_(pa.string(), pa.string())


def read_lines(batches: Batches, _: None) -> Batches:
    """The subscriptions of the files whose names and contents are columns 0 and 1."""
    for batch in batches:
        for name, contents in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield from _tables(read_subscriptions(name, contents))


def _tables(rows: Iterator[Subscription]) -> Batches:
    some: list[Subscription] = []
    for row in rows:
        some.append(row)
        if len(some) == _ROWS:
            yield _table(some)
            some = []
    yield _table(some)


def _table(rows: list[Subscription]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "id": pa.array([row.id for row in rows], pa.string()),
            "xpath": pa.array([row.xpath for row in rows], pa.string()),
            "namespaces": pa.array(
                [row.namespaces and list(row.namespaces.items()) for row in rows], _NAMESPACES
            ),
        }
    )
