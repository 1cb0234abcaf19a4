"""Times that can be compared: taken in turn, in one process, the best of several rounds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")
Clock = Callable[[], float]


def best_times(
    tasks: Mapping[str, Callable[[], Result]],
    rounds: int = 7,
    *,
    within: float = float("inf"),
    clock: Clock = time.perf_counter,
    check: Callable[[str, Result], None] | None = None,
) -> dict[str, float]:
    """The shortest time of each task in seconds.

    The tasks take turns, so that a busy machine disturbs all, and every other round in reverse, so that none
    is always the first, which warms what the others find warm. After `within` seconds there is no further
    round, but there are two. `check` sees every result, outside of the time.

    >>> order = []
    >>> sorted(best_times({name: lambda name=name: order.append(name) for name in "ab"}, rounds=3))
    ['a', 'b']
    >>> print(*order)
    a b b a a b
    """
    best = dict.fromkeys(tasks, float("inf"))
    began = time.perf_counter()
    for place in range(rounds):
        if place >= 2 and time.perf_counter() - began > within:
            break
        for name in reversed(best) if place % 2 else best:
            took, result = timed(tasks[name], clock)
            best[name] = min(best[name], took)
            if check is not None:
                check(name, result)
    return best


def timed(task: Callable[[], Result], clock: Clock = time.perf_counter) -> tuple[float, Result]:
    """Seconds, and what the task gave.

    >>> timed(lambda: 7)[1]
    7
    """
    start = clock()
    result = task()
    return clock() - start, result


def scale() -> float:
    """The share of an experiment's numbers that is run, from `PATHCAST_BENCH_SCALE`."""
    return float(os.environ.get("PATHCAST_BENCH_SCALE", "1"))


def processor_seconds() -> float:
    """What the processes below this one have used of the processors so far; 0 where the system does not tell.

    On a machine that others use too, time that passed says little; this share would be the other's on a
    machine of one's own.
    """
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
    return sum(used[each] for each in ours) / os.sysconf("SC_CLK_TCK")
