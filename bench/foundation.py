"""The foundation: the strict reader beside the bare one, and registration."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from bench.measure import best_times
from bench.workloads import Workload, corpus
from pathcast import _core
from pathcast.index import Index


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    experiment: str
    subject: str
    values: dict[str, float]


def reader(workload: Workload) -> Iterator[Row]:
    """How fast the strict reader is as a share of a bare quick-xml loop over the same bytes."""
    sets = {workload.name: workload.documents}
    folder = corpus()
    if folder is not None:
        for name in ("blast", "xmark"):
            files = [path.read_bytes() for path in sorted((folder / name).glob("*.xml"))]
            sets[name] = [document for document in files if _is_sound(document)]
    for name, documents in sets.items():
        if _core.bare_elements(documents) != _core.strict_elements(documents):
            raise AssertionError(f"the two readers count different elements in {name}")
        times = best_times(
            {
                "bare": partial(_core.bare_elements, documents),
                "strict": partial(_core.strict_elements, documents),
            }
        )
        size = sum(map(len, documents)) / 1e6
        yield Row(
            "reader",
            name,
            {
                "bare MB/s": size / times["bare"],
                "strict MB/s": size / times["strict"],
                "strict / bare": times["bare"] / times["strict"],
            },
        )


def _is_sound(document: bytes) -> bool:
    try:
        return _core.strict_elements([document]) > 0
    except ValueError:
        return False


def registration(workload: Workload) -> Iterator[Row]:
    """Subscriptions registered per second, and bytes per distinct expression."""
    for name, queries in workload.queries.items():
        rows = list(enumerate(queries))
        fastest = float("inf")
        for _ in range(3):
            index = Index()
            start = time.perf_counter()
            index.add_many(rows)
            fastest = min(fastest, time.perf_counter() - start)
        stats = index.stats()
        yield Row(
            "registration",
            name,
            {
                "subscriptions": stats["subscriptions"],
                "distinct": stats["distinct"],
                "per second": len(rows) / fastest,
                "bytes / distinct": stats["memory_bytes"] / stats["distinct"],
                "bytes / subscription": stats["memory_bytes"] / stats["subscriptions"],
            },
        )
