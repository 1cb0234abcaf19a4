"""Times that can be compared: processor time, candidates in turns, rounds of different documents."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TypeVar

Result = TypeVar("Result")
Clock = Callable[[], float]
Task = Callable[[Sequence[bytes]], object]
Check = Callable[[str, Sequence[bytes], object], None]


@dataclass
class Times:
    """Seconds a document, one figure a round."""

    rounds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        """The shortest round's."""
        return min(self.rounds, default=float("nan"))

    @property
    def median(self) -> float:
        """The middle one."""
        return median(self.rounds) if self.rounds else float("nan")


def in_turns(
    tasks: Mapping[str, Task],
    stream: Iterator[bytes],
    *,
    size: int,
    rounds: int = 6,
    warm: int = 0,
    within: float = float("inf"),
    clock: Clock = time.process_time,
    check: Check | None = None,
) -> dict[str, Times]:
    """What each task takes for a document, on documents that it has not seen.

    Every round draws `size` documents from the stream; all tasks get them, in both orders by turns, so that a
    busy machine disturbs all and none is always the first. Before that all are warmed with `warm` other
    documents. After `within` seconds there is no further round, but there are two. `check` sees every
    result, outside of the time. A task may tell its own seconds by returning a float.

    >>> seen = []
    >>> def task(name):
    ...     return lambda documents: seen.append((name, *documents))
    >>> found = in_turns({"a": task("a"), "b": task("b")}, iter([b"1", b"2", b"3"]), size=1, rounds=2, warm=1)
    >>> seen
    [('a', b'1'), ('b', b'1'), ('a', b'2'), ('b', b'2'), ('b', b'3'), ('a', b'3')]
    >>> len(found["a"].rounds)
    2
    """
    if warm:
        documents = list(islice(stream, warm))
        for task in tasks.values():
            task(documents)
    found = {name: Times() for name in tasks}
    end = time.perf_counter() + within
    for place in range(rounds):
        if place >= 2 and time.perf_counter() > end:
            break
        documents = list(islice(stream, size))
        for name in reversed(found) if place % 2 else found:
            took, result = timed(partial(tasks[name], documents), clock)
            found[name].rounds.append((result if isinstance(result, float) else took) / len(documents))
            if check is not None:
                check(name, documents, result)
    return found


def timed(task: Callable[[], Result], clock: Clock = time.perf_counter) -> tuple[float, Result]:
    """Seconds, and what the task gave.

    >>> timed(lambda: 7)[1]
    7
    """
    start = clock()
    result = task()
    return clock() - start, result


def rest(seconds: float = 0.02) -> None:
    """Waits until other threads of this process have nothing to do.

    >>> rest()
    """
    while True:
        start = time.process_time()
        time.sleep(seconds)
        if time.process_time() - start < seconds / 10:
            return


def family_clock() -> Clock:
    """Processor time of this process and of those below it; what it takes to read it is not counted.

    >>> clock = family_clock()
    >>> timed(lambda: sum(range(1000)), clock)[0] >= 0
    True
    """
    reading = 0.0

    def read() -> float:
        nonlocal reading
        begun = time.process_time()
        now = begun - reading + processor_seconds()
        reading += time.process_time() - begun
        return now

    return read


def scale() -> float:
    """The share of an experiment's numbers that is run, from `PATHCAST_BENCH_SCALE`."""
    return float(os.environ.get("PATHCAST_BENCH_SCALE", "1"))


def processor_seconds() -> float:
    """Processor time of the processes below this one so far; 0 where the system does not tell."""
    return sum(family().values()) / os.sysconf("SC_CLK_TCK")


def family() -> dict[int, int]:
    """The processes below this one, and the ticks of processor time of each, with its ended children."""
    parents: dict[int, int] = {}
    used: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(entry.parent.name)] = int(fields[1])
        used[int(entry.parent.name)] = sum(map(int, fields[11:15]))  # its own, and of its ended children
    ours = {os.getpid()}
    while more := {each for each, parent in parents.items() if parent in ours and each not in ours}:
        ours |= more
    ours.discard(os.getpid())
    return {each: used[each] for each in ours}
