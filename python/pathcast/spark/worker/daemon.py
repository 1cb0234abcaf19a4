"""Spark's daemon, which has imported what our tasks need before it forks workers, so that they share it.

    spark.python.daemon.module=pathcast.spark.worker.daemon

A worker that imports for itself has 40 MB of its own for that, and its first task takes longer. What runs is
Spark's own daemon, with whatever worker it was told to fork. If anything cannot be imported, or has started a
thread that might not survive a fork, it is Spark's daemon alone, as without us.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from contextlib import suppress
from pathlib import Path

from pathcast.spark.worker.imports import forget_archives

__all__ = ["main", "prepare"]

_MODULES = ("pyspark.worker", "pyspark.sql.worker.plan_data_source_read", "pathcast.spark")
_HARMLESS = {"jemalloc_bg_thd"}
"""Threads of libraries that know what to do at a fork; Arrow's wheels have this one."""


def main() -> None:
    """Imports, and is Spark's daemon from then on."""
    if not prepare():
        os.execv(sys.executable, [sys.executable, "-m", "pyspark.daemon", *sys.argv[1:]])
    from pyspark.daemon import manager

    manager()


def prepare() -> bool:
    """Imports what workers need; whether it is well to fork them from this process."""
    try:
        for name in _MODULES:
            importlib.import_module(name)
        threads = _threads()
    except Exception as error:
        sys.stderr.write(f"Python workers import for themselves, because their daemon cannot ({error})\n")
        return False
    if unknown := threads - _HARMLESS:
        sys.stderr.write(f"Python workers import for themselves: their daemon has threads {unknown}\n")
        return False
    if "numpy.random" in sys.modules:  # older NumPy; workers would all draw the same numbers
        os.register_at_fork(after_in_child=sys.modules["numpy.random"].seed)
    forget_archives()
    # Workers would write to everything that the collector looks at, and then have it for themselves.
    gc.collect()
    gc.freeze()
    return True


def _threads() -> set[str]:
    """The names of all threads but the first; an error where the system does not tell."""
    names = set()
    for thread in os.listdir("/proc/self/task"):
        if int(thread) != os.getpid():
            with suppress(FileNotFoundError):  # it has ended
                names.add(Path(f"/proc/self/task/{thread}/comm").read_text().strip())
    return names


if __name__ == "__main__":
    main()
