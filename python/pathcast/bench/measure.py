"""Times that can be compared: taken in turn, in one process, the best of several rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


def best_times(tasks: Mapping[str, Callable[[], object]], rounds: int = 7) -> dict[str, float]:
    """The shortest time of each task in seconds; the tasks take turns, so that a busy machine disturbs all.

    >>> sorted(best_times({"a": lambda: None, "b": lambda: None}, rounds=2))
    ['a', 'b']
    """
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    return best
