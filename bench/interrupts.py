"""How late a call reacts to Ctrl-C: a signal at five moments of every long call of the library.

The figure is the latest: milliseconds from the signal to the exception. A call that ends before it saw the
signal counts with what it had left.
"""

from __future__ import annotations

import copy
import gc
import pickle
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

import pathcast
from bench.harness.kept import Kept, Row
from bench.plan import Plan
from bench.workloads import WORKLOADS

SUBSCRIPTIONS = 200_000
MOMENTS = (0.1, 0.25, 0.5, 0.75, 0.9)
EVERYBODY = "<everybody/>"


@dataclass(frozen=True)
class Case:
    """What is there before the call, and the call."""

    before: Callable[[], Any]
    call: Callable[[Any], object]


def _cases(folder: Path) -> dict[str, Case]:
    workload = WORKLOADS["alerts"]
    rows = [(f"id-{number}", query) for number, query in enumerate(workload.queries(SUBSCRIPTIONS))]
    documents = list(islice(workload.documents(2), 4_000))
    large = "<all>" + "".join(each.decode() for each in documents) + "</all>"
    index = pathcast.Index()
    index.add_many(rows)
    index.save(folder / "index")
    pickled = pickle.dumps(index)
    everybody = pathcast.Index()
    everybody.add_many((f"id-{number}", "/everybody") for number in range(SUBSCRIPTIONS))
    half = len(rows) // 2

    def half_full() -> pathcast.Index:
        begun = pathcast.Index()
        begun.add_many(rows[:half])
        return begun

    def same() -> pathcast.Index:
        return index

    return {
        "add_many": Case(pathcast.Index, lambda empty: empty.add_many(rows)),
        "add_many to others": Case(half_full, lambda begun: begun.add_many(rows[half:])),
        "clear": Case(lambda: pickle.loads(pickled), lambda full: full.clear()),
        "save": Case(same, lambda index: index.save(folder / "again")),
        "load": Case(lambda: None, lambda _: pathcast.Index.load(folder / "index")),
        "copy": Case(same, copy.deepcopy),
        "items": Case(same, lambda index: list(index.items())),
        "match": Case(same, lambda index: index.match(large)),
        "match_many": Case(same, lambda index: index.match_many(documents)),
        "match_many, 2 threads": Case(same, lambda index: index.match_many(documents, threads=2)),
        "match_stream": Case(same, lambda index: list(index.match_stream(documents, threads=2))),
        "match, all ids": Case(lambda: everybody, lambda index: index.match(EVERYBODY)),
        "match_many, all ids": Case(
            lambda: everybody, lambda index: [list(each) for each in index.match_many([EVERYBODY] * 20)]
        ),
        "select": Case(same, lambda index: index.select(large)),
        "select, all ids": Case(lambda: everybody, lambda index: index.select(EVERYBODY)),
        "explain": Case(lambda: None, lambda _: pathcast.explain("//item[@lang = 'none']//*", large)),
    }


def table(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Milliseconds from a signal to the exception, at most, and what the whole call takes."""
    with tempfile.TemporaryDirectory(prefix="pathcast-") as folder:
        for name, case in _cases(Path(folder)).items():
            if kept.has(name):
                continue
            before = case.before()
            start = time.perf_counter()
            result = case.call(before)
            whole = time.perf_counter() - start
            del result, before
            late = max(_late(case, moment * whole) for moment in MOMENTS)
            yield Row(name, {"whole": 1e3 * whole, "late": 1e3 * late})


def _late(case: Case, delay: float) -> float:
    """Seconds from the signal to the end of the call."""

    ended: list[float] = []

    def handler(number: int, frame: FrameType | None) -> None:
        if not ended:  # a signal that was late may be handled behind the block that waits for it
            raise KeyboardInterrupt

    before = case.before()
    gc.collect()
    known = signal.signal(signal.SIGALRM, handler)
    start = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, max(delay, 1e-4))
        case.call(before)
        ended.append(time.perf_counter())
    except KeyboardInterrupt:
        ended.append(time.perf_counter())
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, known)
    return max(0.0, ended[0] - start - delay)
