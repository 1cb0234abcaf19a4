"""All engines side by side: the same documents and queries, as multiples of the bare reader.

Each engine runs in a process of its own, so that it has the memory to itself and can be cut off when it takes
longer than its time; a cut engine has a row that says so. Within its process the engine and the bare reader
take turns, and processor time is taken. The answers of all engines on the documents they got to are compared,
id by id.

`PATHCAST_BENCH_SECONDS` is the time of an engine for matching (30), four times as long that for building;
`PATHCAST_BENCH_LARGEST` is the largest number of generated queries (1,000,000).
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection

import pathcast
from bench import wire
from bench.answers import WrongAnswerError, check
from bench.foundation import Row
from bench.workloads import Workload, corpus_schema
from pathcast import _core
from pathcast.generate import documents, subscriptions
from pathcast.index import Index, needs_schema
from pathcast.schema import Pruning, Schema

SECONDS = float(os.environ.get("PATHCAST_BENCH_SECONDS", "30"))
LARGEST = int(os.environ.get("PATHCAST_BENCH_LARGEST", "1000000"))
SIZES = (10_000, 100_000, 1_000_000)
DRAWN = 200  # documents of a generated set
PRUNED = ("yfilter", "lazy-dfa", "auto")  # also shown with pruned queries
_BLOCK = 16  # documents that are matched between two looks at the clock
_ROUNDS = 5
# Wide enough to eliminate all that can be, as the paper on pruning does.
_WIDE = Pruning(max_substitutes=1_000, max_length=10_000, max_results=1_000)


@dataclass(frozen=True)
class Set:
    """Documents, queries, and the schema of both if there is one."""

    name: str
    documents: list[bytes]
    queries: list[str]
    schema: Schema | None = None


@dataclass
class Outcome:
    """What an engine's process told before it ended or was cut off."""

    values: dict[str, float] = field(default_factory=dict)
    digests: list[int] = field(default_factory=list)
    stage: str = "building"
    failure: str = ""


def table(workload: Workload) -> Iterator[Row]:
    """Each engine's time as a multiple of the bare reader's, its memory, and how long it takes to build."""
    for each in sets(workload):
        yield from side_by_side(each)


def sets(workload: Workload) -> Iterator[Set]:
    """The workload's own queries, generated ones over two schemas, and distinct ones that grow."""
    nitf = corpus_schema("nitf") if workload.name == "yfilter-benchmark" else None
    for name, queries in workload.queries.items():
        yield Set(f"{workload.name} {name}", workload.documents, queries, nitf)
    for name in ("blast", "xmark"):
        schema = corpus_schema(name)
        if schema is None:
            continue
        drawn = list(documents(schema, DRAWN, max_levels=8, seed=2))
        most = [size for size in SIZES if size <= LARGEST]
        queries = list(subscriptions(schema, most[-1], max_depth=8, wildcard=0.2, descendant=0.2, seed=1))
        for size in most:
            yield Set(f"{name} {size:,}", drawn, queries[:size], schema)
    queries = wire.queries(LARGEST)
    for size in SIZES:
        if size <= LARGEST:
            yield Set(f"wire {size:,} distinct", list(wire.documents(DRAWN)), queries[:size])


def side_by_side(each: Set) -> Iterator[Row]:
    """One row an engine; an error when two engines answer otherwise, or one of them fails."""
    expected: list[int] = []
    for label, engine, pruned in entries(each.schema is not None):
        outcome = _cut_off(each, engine, pruned, reference=not expected)
        if outcome.failure:
            raise RuntimeError(f"{each.name}, {label}: {outcome.failure}")
        for place, (said, other) in enumerate(zip(outcome.digests, expected, strict=False)):
            if said != other:
                raise WrongAnswerError(f"{each.name}: {label} and auto differ on document {place}")
        expected = expected or outcome.digests
        limit = 4 * SECONDS if outcome.stage == "building" else SECONDS
        cut = f", cut after {limit:.0f} s {outcome.stage}" if outcome.stage != "done" else ""
        yield Row("engines", f"{each.name}: {label}{cut}", {**_EMPTY, **outcome.values})


_EMPTY = dict.fromkeys(
    (
        "× bare reader",
        "× with every id",
        "µs / document",
        "matches / document",
        "documents",
        "distinct",
        "build s",
        "MB",
        "bytes / distinct",
        "cache MB",
    ),
    float("nan"),
)


def entries(with_schema: bool) -> Iterator[tuple[str, str, bool]]:
    """Label, engine, and whether queries are pruned; `auto` first."""
    for engine in pathcast.engines(variants=True):
        if not needs_schema(engine):
            yield engine, engine, False
        elif with_schema:
            yield f"{engine} (pruned)", engine, True
    if with_schema:
        for engine in PRUNED:
            yield f"{engine} (pruned)", engine, True


def _cut_off(each: Set, engine: str, pruned: bool, reference: bool) -> Outcome:
    """Runs an engine in a process of its own, and ends that when its time is over."""
    context = get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    worker = context.Process(target=_worker, args=(sending, each, engine, pruned, reference))
    worker.start()
    sending.close()
    outcome = Outcome()
    # Matching bounds itself but for the one call that it cannot leave; so this is for building.
    while receiving.poll(4 * SECONDS + 30):
        try:
            outcome.stage, values, outcome.digests, outcome.failure = receiving.recv()
        except EOFError:
            worker.join()
            break
        outcome.values.update(values)
        if outcome.stage == "done":
            worker.join()
            break
    if worker.exitcode:
        outcome.failure = f"the process ended with status {worker.exitcode} while {outcome.stage}"
    worker.kill()
    worker.join()
    return outcome


def _worker(out: Connection, each: Set, engine: str, pruned: bool, reference: bool) -> None:
    digests: list[int] = []

    def tell(stage: str, values: dict[str, float], failure: str = "") -> None:
        out.send((stage, values, digests, failure))

    start = time.perf_counter()
    index = _index(each.schema, engine, pruned)
    index.add_many(list(enumerate(each.queries)))
    built = time.perf_counter() - start
    stats = index.stats()
    tell(
        "matching" if built < 4 * SECONDS else "building",
        {
            "build s": built,
            "distinct": stats["distinct"],
            "MB": stats["memory_bytes"] / 1e6,
            "bytes / distinct": stats["memory_bytes"] / max(stats["distinct"], 1),
        },
    )
    if built > 4 * SECONDS:
        return
    seen, found = _first_round(index, each.documents, digests)
    tell("timing", {"documents": seen, "matches / document": found / seen})
    times = _rounds(index, each.documents[:seen])
    stats = index.stats()
    values = {
        "× bare reader": times["match"] / times["bare"],
        "× with every id": times["ids"] / times["bare"],
        "µs / document": times["match"] / seen * 1e6,
        "cache MB": (stats["cache_bytes"] + stats["remembered_bytes"]) / 1e6,
    }
    failure = ""
    if reference:
        try:
            check(index, each.queries, each.documents[:seen], pairs=1_000)
        except WrongAnswerError as error:
            failure = str(error)
    tell("done", values, failure)


def _index(schema: Schema | None, engine: str, pruned: bool) -> Index:
    if not pruned:
        return Index(engine)
    return Index(engine, schema=schema, prune=_WIDE, validate=False, impossible="ignore")


def _first_round(index: Index, documents: Sequence[bytes], digests: list[int]) -> tuple[int, int]:
    """Matches documents until a quarter of the time is over: how many, and how many matches."""
    end = time.perf_counter() + SECONDS / 4
    seen = found = 0
    while seen < len(documents) and (seen == 0 or time.perf_counter() < end):
        block = documents[seen : seen + (_BLOCK if seen else 1)]
        lists = index.match_many(block).to_arrow()
        for ids in lists:
            values = ids.values
            digests.append(zlib.crc32(values.to_numpy(zero_copy_only=False).tobytes()))
            found += len(values)
        seen += len(block)
    return seen, found


def _rounds(index: Index, documents: list[bytes]) -> dict[str, float]:
    """Best times, taken in turn: the bare reader, matching, matching and naming every id."""
    best = dict.fromkeys(("bare", "match", "ids"), float("inf"))
    end = time.perf_counter() + SECONDS / 2
    for number in range(_ROUNDS):
        if number and time.perf_counter() > end:
            break
        # Processor time: what else the machine does disturbs it less.
        start = time.process_time()
        _core.bare_elements(documents)
        read = time.process_time()
        index.match_many(documents)
        matched = time.process_time()
        for place in range(0, len(documents), _BLOCK):
            index.match_many(documents[place : place + _BLOCK]).to_arrow()
        named = time.process_time()
        for name, took in (("bare", read - start), ("match", matched - read), ("ids", named - matched)):
            best[name] = min(best[name], took)
    return best


def summary(rows: Sequence[Row]) -> list[str]:
    """How `auto` stands to its targets, from the rows of one run.

    >>> summary([Row("engines", "wire 10,000 distinct: auto", {"µs / document": 20.0}),
    ...          Row("engines", "wire 1,000,000 distinct: auto", {"µs / document": 25.0})])
    ['auto grows 1.25 times from 10,000 to 1,000,000 distinct expressions']
    """
    took = {row.subject: row.values["µs / document"] for row in rows}
    told = []
    few, many = (took.get(f"wire {size:,} distinct: auto") for size in (SIZES[0], SIZES[-1]))
    if few and many:
        told.append(f"auto grows {many / few:.2f} times from 10,000 to 1,000,000 distinct expressions")
    groups: dict[str, list[tuple[float, str]]] = {}
    for subject, time_taken in took.items():
        name, _, engine = subject.partition(": ")
        if time_taken == time_taken and "(pruned)" not in engine:
            groups.setdefault(name, []).append((time_taken, engine))
    for name, engines in groups.items():
        auto = next((took for took, engine in engines if engine == "auto"), None)
        best = min(engines)
        if auto is not None and len(engines) > 1:
            told.append(f"{name}: auto takes {auto / best[0]:.2f} times the best, {best[1]}")
    return told
