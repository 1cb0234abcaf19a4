"""The foundation: the strict reader and the engines beside the bare reader, and registration."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import pathcast
from pathcast import _core
from pathcast.bench.answers import check
from pathcast.bench.measure import best_times
from pathcast.bench.workloads import Workload, corpus
from pathcast.index import Index, Matches


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


def engines(workload: Workload) -> Iterator[Row]:
    """Each engine's time as a multiple of the bare reader's, as the number of queries grows."""
    for queries_name, queries in workload.queries.items():
        sizes = [size for size in (1_000, 10_000) if size < len(queries)] if "d" in queries_name else []
        for size in [*sizes, len(queries)]:
            yield from _side_by_side(workload, queries_name, queries[:size])


def _side_by_side(workload: Workload, queries_name: str, queries: list[str]) -> Iterator[Row]:
    documents = workload.documents
    tasks: dict[str, Callable[[], object]] = {"bare": lambda: _core.bare_elements(documents)}
    indexes: dict[str, Index] = {}
    built: dict[str, float] = {}
    for name in pathcast.engines():
        start = time.perf_counter()
        index = indexes[name] = Index(name)
        index.add_many(list(enumerate(queries)))
        built[name] = time.perf_counter() - start
        tasks[name] = partial(index.match_many, documents)
    checked = {name: check(index, queries, documents) for name, index in indexes.items()}
    times = best_times(tasks, rounds=5)
    answers: set[int] = set()
    for name, index in indexes.items():
        matches = sum(len(result) for result in index.match_many(documents) if isinstance(result, Matches))
        answers.add(matches)
        stats = index.stats()
        yield Row(
            "engines",
            f"{queries_name}: {len(queries):,} {name}",
            {
                "matches / document": matches / len(documents),
                "µs / document": times[name] / len(documents) * 1e6,
                "× bare reader": times[name] / times["bare"],
                "build s": built[name],
                "MB": (stats["memory_bytes"] + stats["cache_bytes"] + stats["remembered_bytes"]) / 1e6,
                "pairs checked": checked[name],
            },
        )
    if len(answers) > 1:
        raise AssertionError(f"the engines find different numbers of matches: {answers}")
