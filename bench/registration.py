"""What it takes to register subscriptions, and what they weigh."""

from __future__ import annotations

import time
from collections.abc import Iterator

from bench.harness.kept import Kept, Row
from bench.harness.turns import rest, timed
from bench.plan import Plan
from pathcast import Index

ROUNDS = 3


def table(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Subscriptions registered a second of processor time, and bytes a distinct expression."""
    for workload, size in plan.sets():
        subject = f"{workload.name} {size:,}"
        if kept.has(subject):
            continue
        queries = workload.queries(size)
        taken, index = [], Index()
        for _ in range(ROUNDS):
            del index
            rest()  # what was let go of is given back by a thread, beside which allocating takes longer
            took, index = timed(lambda: workload.index(queries=queries), time.process_time)  # noqa: B023
            taken.append(took)
        stats = index.stats()
        yield Row(
            subject,
            {
                "subscriptions": stats["subscriptions"],
                "distinct": stats["distinct"],
                "per second": size / min(taken),
                "MB": stats["memory_bytes"] / 1e6,
                "bytes / distinct": stats["memory_bytes"] / stats["distinct"],
                "bytes / subscription": stats["memory_bytes"] / stats["subscriptions"],
            },
        )
