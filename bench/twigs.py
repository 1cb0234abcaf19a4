"""Twig sets: XTrie, which matches them natively, beside `auto`, which decides them on a tree.

Sets on NITF of twigs alone, with few and with many branches, with and without tests on values, of deep
expressions that few documents satisfy and of short open ones that many do; documents of 100 and of 400 tags.
The engines take turns, processor time is taken, and all must answer alike.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from bench.answers import WrongAnswerError, check
from bench.foundation import Row
from bench.measure import best_times, scale
from bench.workloads import Workload, corpus_schema
from bench.xtrie import BYTES_A_TAG
from pathcast.generate import documents, subscriptions
from pathcast.index import Index, Matches
from pathcast.schema import Schema

TWIGS = 20_000
DOCUMENTS = 40
ROUNDS = 5
ENGINES = ("auto", "xtrie", "xtrie-lazy")
FEW: dict[str, Any] = {"max_depth": 20, "branch": 0.1}
MANY: dict[str, Any] = {"max_depth": 20, "branch": 0.3, "nested": 2}
OPEN: dict[str, Any] = {"max_depth": 6, "branch": 0.3, "nested": 2, "wildcard": 0.3, "descendant": 0.3}
SETS: dict[str, dict[str, Any]] = {
    "few branches": FEW,
    "many branches": MANY,
    "short and open": OPEN,
    "few branches, one value": {**FEW, "predicates": 1},
    "many branches, two values": {**MANY, "predicates": 2},
    "short and open, one value": {**OPEN, "predicates": 1},
}


def table(_: Workload) -> Iterator[Row]:
    """Sets of twigs alone: microseconds a document, and as a multiple of auto."""
    schema = corpus_schema("nitf")
    if schema is None:
        return
    count = max(50, int(TWIGS * scale()))
    for name, parameters in SETS.items():
        queries = drawn(schema, count, parameters)
        indexes = {engine: Index(engine) for engine in ENGINES}
        for index in indexes.values():
            index.add_many(enumerate(queries))
        for tags in (100, 400):
            yield from _beside(f"{name}, {tags} tags", indexes, queries, _feed(schema, tags))


def drawn(schema: Schema, count: int, parameters: dict[str, Any]) -> list[str]:
    """So many distinct expressions with branches or values."""
    found: dict[str, None] = {}
    for xpath in subscriptions(schema, 50 * count, seed=1, **parameters):
        if "[" in xpath:
            found.setdefault(xpath)
        if len(found) == count:
            break
    return list(found)


def _feed(schema: Schema, tags: int) -> list[bytes]:
    size = tags * BYTES_A_TAG
    return list(documents(schema, DOCUMENTS, max_levels=20, target_size=size, attributes=0.3, seed=5))


def _beside(
    name: str, indexes: dict[str, Index], queries: Sequence[str], feed: Sequence[bytes]
) -> Iterator[Row]:
    answers = {engine: [index.match(each) for each in feed[:5]] for engine, index in indexes.items()}
    if any(answer != answers["auto"] for answer in answers.values()):
        raise WrongAnswerError(f"{name}: the engines disagree")
    check(indexes["xtrie"], queries, feed[:3], pairs=400)
    counts = [len(each) for each in indexes["auto"].match_many(feed) if isinstance(each, Matches)]
    tasks = {engine: partial(index.match_many, feed) for engine, index in indexes.items()}
    times = best_times(tasks, ROUNDS, clock=time.process_time)
    for engine, index in indexes.items():
        yield Row(
            "twigs",
            f"{name}: {engine}",
            {
                "µs / document": times[engine] / len(feed) * 1e6,
                "× auto": times[engine] / times["auto"],
                "matches / document": sum(counts) / len(feed),
                "distinct": float(index.stats()["distinct"]),
                "MB": index.stats()["memory_bytes"] / 1e6,
            },
        )
