"""Places subscriptions by what they require of a document, within a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

import pyarrow as pa

from pathcast.spark.artifact import Routing
from pathcast.spark.requirements import first_required, prefixed
from pathcast.spark.worker.shards import Batches

__all__ = ["PlacingJob", "place_of", "place_rows"]


@dataclass(frozen=True)
class PlacingJob:
    """Rows come with `spread`, a number made from the id, and `copies`, if several rows have that id."""

    routing: Routing


def place_rows(batches: Batches, job: PlacingJob) -> Batches:
    """The rows with `shard` and `required` in the place of `spread` and `copies`."""
    order = {field.text: at for at, field in enumerate(job.routing.fields)}
    for batch in batches:
        names = ("xpath", "namespaces", "variables", "copies", "spread")
        cells = zip(*(batch[name].to_pylist() for name in names), strict=True)
        shards, texts = [], []
        for xpath, namespaces, variables, copies, spread in cells:
            # Rows with one id are told apart, or refused, where they are together.
            known = copies is None and xpath is not None and not namespaces and not variables
            text, first, last = place_of(xpath if known else "", job.routing, order)
            shards.append(first + spread % (last - first + 1))
            texts.append(text)
        columns = {"shard": pa.array(shards, pa.int32())}
        columns |= {name: batch[name] for name in batch.schema.names if name not in ("spread", "copies")}
        columns["required"] = pa.array(texts, pa.string())
        yield pa.RecordBatch.from_pydict(columns)


def place_of(xpath: str, routing: Routing, order: Mapping[str, int]) -> tuple[str | None, int, int]:
    """What an expression requires, None if nothing is known, and the shards it may be in, first and last."""
    found = first_required(xpath, order)
    if found is None:
        return None, *routing.always
    field = routing.fields[order[found.field]]
    text = found.text if field.prefix is None else prefixed(found, field.prefix)
    if text in routing.places:
        return text, *routing.places[text]
    shard = field.first + crc32(text.encode()) % (field.last - field.first + 1)
    return text, shard, shard
