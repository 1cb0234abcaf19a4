"""Matches documents with all shards in one task, or with those that they can concern, within a worker.

A small index of what subscriptions require tells for every document which shards to ask. Documents are read
and routed once and held, up to a number of bytes; then the shards take their turns, each with the documents
that concern it, so that a worker holds one shard at a time. Bad documents go to the first shard, which tells.
Without such an index every document concerns every shard, and is still read once. Lists that several shards
give for a document are put together here (`merge`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathcast.index import Index
from pathcast.spark.artifact import Routing, Settings
from pathcast.spark.worker.match import MatchJob, Meter, match_batches
from pathcast.spark.worker.merge import Merger
from pathcast.spark.worker.shards import Batches, find_file, numbered_texts, read_rows, verify
from pathcast.spark.worker.vectors import from_numpy, to_numpy

__all__ = ["Router", "ShardsJob", "match_shards", "open_router"]

HELD = 64 << 20  # bytes of documents, for which every shard is opened once


@dataclass(frozen=True)
class ShardsJob:
    """The jobs of all shards, in order."""

    folder: str
    routing: Routing | None
    settings: Settings
    jobs: tuple[MatchJob, ...]
    held: int = HELD


@dataclass(frozen=True)
class Router:
    """What subscriptions require, and where those are that require it."""

    index: Index
    shards: Any
    """The shards of each requirement, as lists."""
    always: tuple[int, ...]
    count: int
    """Of all shards."""

    def concerned(self, documents: Any) -> Any:
        """A row for each shard: which documents concern it. A bad one concerns the first shard alone."""
        found = self.index.match_many(documents).to_arrow(ordered=False)
        concerned = np.zeros((self.count, len(documents)), bool)
        shards = self.shards.take(found.values)
        of = to_numpy(pc.list_parent_indices(found))[to_numpy(pc.list_parent_indices(shards))]
        concerned[to_numpy(pc.list_flatten(shards)), of] = True
        good = to_numpy(pc.cast(pc.is_valid(found), pa.uint8())).astype(bool)
        for shard in self.always:
            concerned[shard] = good
        # Somebody must answer for a document that concerns nobody.
        concerned[0] |= ~concerned.any(axis=0)
        return concerned


def match_shards(batches: Batches, job: ShardsJob, meter: Meter | None = None) -> Batches:
    """The rows that the jobs ask for."""
    router = open_router(job.folder, job.routing, job.settings, len(job.jobs)) if job.routing else None
    lists = job.jobs[0].result in ("grouped", "delivered")
    merger = Merger(job.held) if lists and len(job.jobs) > 1 else None

    def ask(ids: Any, documents: Any) -> Batches:
        concerned = router.concerned(documents) if router else [None] * len(job.jobs)
        for shard, each in zip(concerned, job.jobs, strict=True):
            some = [ids, documents]
            if shard is not None:
                if not shard.any():
                    continue
                places = from_numpy(np.flatnonzero(shard))
                some = [ids.take(places), documents.take(places)]
            batch = pa.RecordBatch.from_arrays(some, ["id", "document"])
            yield from match_batches(iter([batch]), each, meter)

    for ids, documents in _held(batches, job.held):
        yield from merger.rows(ids, documents, ask) if merger else ask(ids, documents)


def open_router(folder: str, routing: Routing, settings: Settings, shards: int) -> Router:
    """The router of a version, opened once in each worker."""
    path = find_file(folder, routing.name)
    return _opened(path, routing.sha256, routing.always, _Key(settings), shards)


@dataclass(frozen=True)
class _Key:
    """Settings as a key: two are the same if they say the same."""

    settings: Settings

    def __hash__(self) -> int:
        return 0  # a worker has few


@lru_cache(maxsize=2)
def _opened(path: str, sha256: str, always: tuple[int, int], key: _Key, shards: int) -> Router:
    verify(path, sha256)
    rows = read_rows(path)
    index = key.settings.index()
    index.add_many(numbered_texts(rows["text"]))
    first, last = always
    return Router(index, rows["shards"].combine_chunks(), tuple(range(first, last + 1)), shards)


def _held(batches: Batches, size: int) -> Iterator[tuple[Any, Any]]:
    """Ids and documents of several batches at once, up to about this many bytes.

    Texts and bytes are apart: files of one folder may hold either.
    """
    some: list[Any] = []
    filled = 0
    for batch in batches:
        if some and (filled + batch.nbytes > size or batch.schema != some[0].schema):
            yield _joined(some)
            some, filled = [], 0
        some.append(batch)
        filled += batch.nbytes
    if filled:
        yield _joined(some)


def _joined(batches: list[Any]) -> tuple[Any, Any]:
    ids, documents = (pa.concat_arrays([batch.column(which) for batch in batches]) for which in (0, 1))
    return ids, documents
