"""Twig sets: XTrie, which matches them natively, beside `auto`, which decides them on a tree.

Sets on NITF of twigs alone, with few and with many branches, with and without tests on values, of deep
expressions that few documents satisfy and of short open ones that many do; documents of 100 and of 400 tags.
The engines take turns on documents that none has seen, and all must answer alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from bench.corpus import corpus_schema
from bench.harness.answers import WrongAnswerError, check
from bench.harness.columns import forms
from bench.harness.kept import Kept, Row
from bench.harness.turns import in_turns, scale
from bench.plan import Plan
from pathcast.generate import documents, subscriptions
from pathcast.index import Index
from pathcast.schema import Schema

TWIGS = 20_000
DOCUMENTS = 40  # of a round
WARM = 300
TAGS = (100, 400)
BYTES_A_TAG = 42
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


def table(kept: Kept, _: Plan) -> Iterator[Row]:
    """Sets of twigs alone: microseconds a document, and as a multiple of auto."""
    schema = corpus_schema("nitf")
    if schema is None:
        return
    count = max(50, int(TWIGS * scale()))
    for name, parameters in SETS.items():
        if all(kept.has(f"{name}, {tags} tags: {engine}") for tags in TAGS for engine in ENGINES):
            continue
        queries = drawn(schema, count, parameters)
        indexes = {engine: Index(engine) for engine in ENGINES}
        for index in indexes.values():
            index.add_many(enumerate(queries))
        for tags in TAGS:
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


def _feed(schema: Schema, tags: int) -> Iterator[bytes]:
    size = tags * BYTES_A_TAG
    return documents(schema, 1 << 40, max_levels=20, target_size=size, attributes=0.3, seed=5)


def _beside(
    name: str, indexes: dict[str, Index], queries: Sequence[str], feed: Iterator[bytes]
) -> Iterator[Row]:
    some = list(islice(feed, 20))
    answers = {engine: [index.match(each) for each in some] for engine, index in indexes.items()}
    if any(answer != answers["auto"] for answer in answers.values()):
        raise WrongAnswerError(f"{name}: the engines disagree")
    check(indexes["xtrie"], queries, some[:3], pairs=400)
    tasks = {engine: forms(index)["match"] for engine, index in indexes.items()}
    times = in_turns(tasks, feed, size=DOCUMENTS, warm=WARM)
    for engine, index in indexes.items():
        yield Row(
            f"{name}: {engine}",
            {
                "unseen match µs": times[engine].best * 1e6,
                "median µs": times[engine].median * 1e6,
                "× auto": times[engine].best / times["auto"].best,
                "matches / document": sum(map(len, answers["auto"])) / len(some),
                "distinct": float(index.stats()["distinct"]),
                "MB": index.stats()["memory_bytes"] / 1e6,
            },
        )
