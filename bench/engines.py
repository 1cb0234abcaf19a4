"""All engines side by side on every workload: first, unseen and repeated documents, with and without ids.

Each engine runs in a process of its own, so that it has the memory to itself and can be cut off when it takes
longer than its time; a cut engine has a row that says so. The answers of all engines on some more documents
are compared, id by id, and those of the first with the reference.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import pathcast
from bench.harness.answers import WrongAnswerError, check
from bench.harness.columns import NEEDED, columns
from bench.harness.kept import Kept, Row
from bench.plan import Plan
from bench.workloads import WORKLOADS, Workload, rules
from pathcast.index import needs_schema

SEED, CHECK_SEED = 1, 2
PATIENCE = 10  # times the processor time that an engine may take until it is cut off
CHECKED = 10  # documents whose answers are compared
PRUNED = ("auto",)  # also shown with pruned queries


@dataclass(frozen=True)
class Set:
    """Subscriptions and documents of one size of a workload."""

    workload: Workload
    queries: list[str]
    documents: list[bytes]
    others: list[bytes]
    """For comparing answers."""
    plan: Plan

    @property
    def name(self) -> str:
        """As it stands in a table."""
        return f"{self.workload.name} {len(self.queries):,}"


@dataclass
class Outcome:
    """What an engine's process told before it ended or was cut off."""

    values: dict[str, float] = field(default_factory=dict)
    digests: list[int] = field(default_factory=list)
    stage: str = "building"
    failure: str = ""


def table(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Microseconds a document by column and form; × tokeniser is unseen with every id in Arrow."""
    for is_auto in (True, False):  # what users run comes first: a run may be cut
        for workload, size in plan.sets():
            missing = [
                entry
                for entry in entries(workload)
                if (entry[0] == "auto") == is_auto
                and plan.takes(entry[0], size)
                and not kept.has(f"{workload.name} {size:,}: {entry[0]}")
            ]
            if missing:
                each = Set(workload, workload.queries(size), *drawn(workload.name), plan)
                yield from side_by_side(each, missing)


@cache
def drawn(name: str) -> tuple[list[bytes], list[bytes]]:
    """The documents of a workload that are timed, and those whose answers are compared."""
    documents = WORKLOADS[name].documents
    return list(islice(documents(SEED), NEEDED)), list(islice(documents(CHECK_SEED), CHECKED))


def entries(workload: Workload) -> list[tuple[str, str, bool]]:
    """Label, engine, and whether queries are pruned; `auto` first."""
    found = []
    for engine in pathcast.engines():
        pruned = needs_schema(engine) and workload.schema is not None
        found.append((engine, engine, pruned))
    if workload.schema is not None:
        found += [(f"{engine} pruned", engine, True) for engine in PRUNED]
    return found


def side_by_side(each: Set, wanted: list[tuple[str, str, bool]]) -> Iterator[Row]:
    """One row an engine; an error when two engines answer otherwise, or one of them fails."""
    expected: list[int] = []
    for label, engine, pruned in wanted:
        outcome = _cut_off(each, engine, pruned, reference=not expected)
        if outcome.failure:
            raise RuntimeError(f"{each.name}, {label}: {outcome.failure}")
        for place, (said, other) in enumerate(zip(outcome.digests, expected, strict=False)):
            if said != other:
                raise WrongAnswerError(f"{each.name}: {label} and {wanted[0][0]} differ on document {place}")
        expected = expected or outcome.digests
        yield Row(f"{each.name}: {label}", outcome.values, _note(each, engine, outcome))


def _note(each: Set, engine: str, outcome: Outcome) -> str:
    if outcome.stage != "done":
        return f"cut after {PATIENCE * each.plan.seconds_of(engine):.0f} s of {outcome.stage}"
    if outcome.values["warmed with"] < 1_000:
        return f"slow: {outcome.values['warmed with']:.0f} documents before unseen ones"
    if each.workload.name == "rules" and rules.left_out():
        return f"without {', '.join(rules.left_out())}"
    return ""


def _cut_off(each: Set, engine: str, pruned: bool, reference: bool) -> Outcome:
    """Runs an engine in a process of its own, and ends that when its time is over."""
    context = get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    worker = context.Process(target=_worker, args=(sending, each, engine, pruned, reference))
    worker.start()
    sending.close()
    outcome = Outcome()
    # Matching bounds its processor time, but for a call that it cannot leave; a busy machine takes longer.
    while receiving.poll(PATIENCE * each.plan.seconds_of(engine)):
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
    start = time.process_time()
    index = index_of(each, engine, pruned)
    built = time.process_time() - start
    stats = index.stats()
    values = {
        "subscriptions": stats["subscriptions"],
        "distinct": stats["distinct"],
        "build s": built,
        "MB": stats["memory_bytes"] / 1e6,
    }
    out.send(("matching", values, [], ""))
    values = columns(index, each.documents, each.plan.seconds_of(engine))
    stats = index.stats()
    values["cache MB"] = (stats["cache_bytes"] + stats["remembered_bytes"]) / 1e6
    answers = [index.match(document) for document in each.others]
    values["matches / document"] = sum(map(len, answers)) / len(answers)
    digests = [zlib.crc32(repr(answer).encode()) for answer in answers]
    failure = ""
    if reference:
        names = {"namespaces": each.workload.namespaces, "variables": each.workload.variables}
        try:
            check(index, each.queries, each.others[:4], pairs=1_000, **names)
        except WrongAnswerError as error:
            failure = str(error)
    out.send(("done", values, digests, failure))


def index_of(each: Set, engine: str, pruned: bool) -> pathcast.Index:
    """As users have it: with a schema, documents are held to it."""
    options: dict[str, Any] = {}
    if pruned:
        assert each.workload.schema is not None
        options = {"schema": each.workload.schema(), "prune": True, "impossible": "ignore"}
    elif needs_schema(engine):
        options = {"prune": False}
    return each.workload.index(engine, each.queries, **options)
