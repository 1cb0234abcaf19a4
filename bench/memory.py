"""What four Python workers of one host take with 1,000,000 subscriptions: an index each, or one for all.

Memory is that of the processes below Spark's Java, each page counted once (PSS), at its highest while jobs
run. The host is its workers, their daemon and the process of the shared index. Helpers of the driver, in
which Spark plans data sources, are told apart: they are there once, however many hosts there are. Pages of
libraries that both have are divided among them. Documents are new in every job.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bench import spark as pipeline
from bench.harness.kept import Kept, Row
from bench.harness.turns import family, processor_seconds, scale, timed
from bench.plan import Plan
from bench.workloads import WORKLOADS
from pathcast.errors import PathcastError

SIZE = int(1_000_000 * scale())
WORKERS, JOBS = 4, 4  # the first two warm
PART = max(200, int(8_000 * scale()))
_PAUSE = 0.25  # seconds between looks


def table(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Megabytes of four workers and processor time of a document, with an index each and with one for all."""
    ways = {"an index each": "false", "one index for all": "true"}
    if all(kept.has(name) for name in ways):
        return
    from pathcast.spark import compile_subscriptions, match_files

    drawn = WORKLOADS["alerts"].documents(8)
    with tempfile.TemporaryDirectory(prefix="pathcast-bench-") as index:
        # Each in a session of its own: the worker that compiled keeps what it took.
        with pipeline._session() as (spark, folder):
            queries = WORKLOADS["alerts"].queries(SIZE)
            compile_subscriptions(pipeline._subscriptions(spark, folder, queries), index)
            del queries
        for name, share in ways.items():
            with pipeline._session(WORKERS) as (spark, folder), _Watch() as watch:
                used, seconds, counts = [], [], []
                for number in range(JOBS):
                    place = folder / f"round-{number}"
                    pipeline._write(place, islice(drawn, PART))
                    files = match_files(spark, place, index, share=share, splitBytes="1000000")
                    before = processor_seconds()
                    took, found = timed(files.matches.count)
                    used.append((processor_seconds() - before) / PART)
                    seconds.append(took)
                    counts.append(found / PART)
            if watch.processes <= WORKERS:
                raise PathcastError(f"{watch.processes} processes are no {WORKERS} workers and their daemon")
            yield Row(
                name,
                {
                    "subscriptions": SIZE,
                    "processes": watch.processes,
                    "MB of the host": watch.highest["host"] / 1e3,
                    "MB of the shared index": watch.highest["index"] / 1e3,
                    "MB of the driver's helpers": watch.highest["planners"] / 1e3,
                    "first job s": seconds[0],
                    "last job s": seconds[-1],
                    "µs / document": 1e6 * min(used[2:]),
                    "matches / document": sum(counts) / JOBS,
                },
            )


class _Watch:
    """Looks at the processes below Java while a block runs."""

    def __init__(self) -> None:
        self.highest = dict.fromkeys(("host", "index", "planners"), 0)
        self.processes = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_PAUSE):
            sizes = dict.fromkeys(self.highest, 0)
            processes = 0
            for process in _python():
                words, size = _words(process), _shared_kilobytes(process)
                planner = any(word.startswith(b"pyspark.sql.worker.") for word in words)
                sizes["planners" if planner else "host"] += size
                sizes["index"] += size if any(b"worker.matcher" in word for word in words) else 0
                processes += bool(size) and not planner
            self.highest = {name: max(size, sizes[name]) for name, size in self.highest.items()}
            self.processes = max(self.processes, processes)


def _python() -> list[int]:
    """The processes below this one that are not Java."""
    return [each for each in family() if not _words(each)[0].endswith(b"java")]


def _words(process: int) -> list[bytes]:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return [b""]


def _shared_kilobytes(process: int) -> int:
    """What a process takes, pages that several have divided among them; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
