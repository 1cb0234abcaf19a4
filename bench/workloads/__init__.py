"""Workloads as named streams: any number of subscriptions, and fresh documents without end.

A stream is drawn from a seed, and no document comes from a pool of fragments: `bench.signature` says how
often a document has the paths of an earlier one, and a test holds every stream to the share that stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.corpus import news_schema
from bench.workloads import alerts, nitf, rules, twigs, wire
from pathcast.index import Index
from pathcast.schema import Schema

__all__ = ["WORKLOADS", "Workload"]

SIZES = (1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Workload:
    """Subscriptions and documents that belong together."""

    name: str
    about: str
    queries: Callable[[int], list[str]]
    """The first so many subscriptions."""
    documents: Callable[[int], Iterator[bytes]]
    """By seed: documents without end."""
    same_paths: float
    """The share of documents, at most, whose set of paths an earlier one of 1,000 had."""
    sizes: tuple[int, ...] = SIZES
    schema: Callable[[], Schema] | None = None
    namespaces: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    def index(self, engine: str = "auto", queries: Sequence[str] = (), **options: Any) -> Index:
        """An index of the queries; the ids are their places."""
        index = Index(engine, namespaces=self.namespaces or None, **options)
        rows: Any = enumerate(queries)
        if self.variables:
            rows = (
                (place, xpath, None, None, self.variables) if "$" in xpath else (place, xpath)
                for place, xpath in rows
            )
        index.add_many(rows)
        return index


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            "nitf",
            "paths of the YFilter release; NITF documents of 4 KB",
            nitf.queries,
            nitf.documents,
            same_paths=0.01,
            sizes=(1_000, 10_000, 100_000, 153_928, 500_000, 1_000_000),
            schema=news_schema,
        ),
        Workload(
            "wire",
            "distinct paths over twenty names; messages of 2 KB",
            wire.queries,
            wire.documents,
            same_paths=0.01,
        ),
        Workload(
            "alerts",
            "fields and values as people write them; news items of 1.6 KB",
            alerts.queries,
            alerts.documents,
            same_paths=1.0,  # items have one shape; no two have the same values
        ),
        Workload(
            "twigs",
            "tree patterns with value tests; NITF documents of 4 KB",
            twigs.queries,
            twigs.documents,
            same_paths=0.01,
            schema=news_schema,
        ),
        Workload(
            "rules",
            "namespaced rules with functions, positions and variables; invoices of 5 KB",
            rules.queries,
            rules.documents,
            same_paths=0.01,
            namespaces=rules.NAMESPACES,
            variables=rules.VARIABLES,
        ),
    )
}
