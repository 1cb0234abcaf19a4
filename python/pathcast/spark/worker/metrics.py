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
import pyarrow.compute as pc

from pathcast.spark.worker.answers import DEAD, no_match
from pathcast.spark.worker.match import MatchJob, Meter, match_batches
from pathcast.spark.worker.route import ShardsJob, match_shards
from pathcast.spark.worker.shards import Batches, open_shard

__all__ = ["METRICS", "MeteredJob", "match_metered", "match_shards_metered"]

METRICS = "\0metrics"


@dataclass(frozen=True)
class MeteredJob:
    """A job over one shard."""

    match: MatchJob
    first: bool
    """Whether this shard's tasks count the documents."""


def match_metered(batches: Batches, job: MeteredJob) -> Batches:
    """Tagged rows, and one of metrics if there was any document."""
    started, seen, meter = perf_counter_ns(), _Seen(), Meter()
    yield from match_batches(seen.watched(batches), job.match, meter)
    if seen.id_type is not None:
        values = asdict(meter) | {"task_ns": perf_counter_ns() - started, "first": job.first}
        yield _told(values, seen.id_type, job.match)


def match_shards_metered(batches: Batches, job: ShardsJob) -> Batches:
    """The same where documents are routed: they count once, however many shards they concern."""
    started, seen, meter = perf_counter_ns(), _Seen(), Meter()
    yield from match_shards(seen.watched(batches), job, meter)
    if seen.id_type is not None:
        read = {"documents": seen.documents, "bytes": seen.bytes}
        values = asdict(meter) | read | {"task_ns": perf_counter_ns() - started, "first": True}
        yield _told(values, seen.id_type, job.jobs[0])


def _told(values: dict[str, Any], id_type: Any, job: MatchJob) -> Any:
    assert job.shard is not None
    columns = {"doc_id": pa.nulls(1, id_type), **no_match(1, open_shard(job.shard), "lists", job.nodes)}
    columns |= {name: pa.nulls(1, kind) for name, kind in DEAD}
    columns["reason"] = pa.array([json.dumps(values)])
    columns["kind"] = pa.array([METRICS])
    return pa.RecordBatch.from_pydict(columns)


@dataclass
class _Seen:
    """What passed by."""

    id_type: Any = None
    documents: int = 0
    bytes: int = 0

    def watched(self, batches: Batches) -> Batches:
        for batch in batches:
            if batch.num_rows:
                self.id_type = batch.column(0).type
                self.documents += batch.num_rows
                self.bytes += pc.sum(pc.binary_length(batch.column(1))).as_py() or 0
            yield batch
