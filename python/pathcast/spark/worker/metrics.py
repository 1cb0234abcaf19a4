"""Matches batches within a worker as `match` does, and ends with a row that says what the task did.

All shards give the same columns. A row whose `kind` is `METRICS` is neither a
match nor a dead letter; its `reason` is a JSON object.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from time import perf_counter_ns
from typing import Any

import pyarrow as pa

from pathcast.spark.worker.answers import DEAD, no_match
from pathcast.spark.worker.match import MatchJob, Meter, match_batches
from pathcast.spark.worker.shards import Batches, open_shard

__all__ = ["METRICS", "MeteredJob", "match_metered"]

METRICS = "\0metrics"


@dataclass(frozen=True)
class MeteredJob:
    """A job over one shard."""

    match: MatchJob
    first: bool
    """Whether this shard's tasks count the documents."""


def match_metered(batches: Batches, job: MeteredJob) -> Batches:
    """Tagged rows, and one of metrics if there was any document."""
    started = perf_counter_ns()
    seen: list[Any] = []
    meter = Meter()
    yield from match_batches(_watched(batches, seen), job.match, meter)
    if not seen:
        return
    assert job.match.shard is not None
    shard = open_shard(job.match.shard)
    values = asdict(meter) | {"task_ns": perf_counter_ns() - started, "first": job.first}
    columns = {"doc_id": pa.nulls(1, seen[0]), **no_match(1, shard, "lists", job.match.nodes)}
    columns |= {name: pa.nulls(1, kind) for name, kind in DEAD}
    columns["reason"] = pa.array([json.dumps(values)])
    columns["kind"] = pa.array([METRICS])
    yield pa.RecordBatch.from_pydict(columns)


def _watched(batches: Batches, seen: list[Any]) -> Batches:
    for batch in batches:
        if batch.num_rows and not seen:
            seen.append(batch.column(0).type)
        yield batch
