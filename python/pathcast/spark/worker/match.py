"""Matches batches of documents within a worker: Arrow in, Arrow out, no object for a document or a match.

A batch is matched in slices, bounded in bytes and in the matches they may give: 170,000 matches a document
and 10,000 documents a batch would be more than memory holds.

How answers leave is the file `answers`.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from itertools import islice
from time import perf_counter_ns
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathcast.errors import DocumentError, LimitError, printable
from pathcast.spark.artifact import Settings
from pathcast.spark.progress import reporter
from pathcast.spark.worker.answers import DEAD, Result, Shape, no_match, shaped
from pathcast.spark.worker.deliveries import count, delivered
from pathcast.spark.worker.kept import ID
from pathcast.spark.worker.nodes import selected
from pathcast.spark.worker.shards import Batches, OpenShard, ShardFiles, open_shard
from pathcast.spark.worker.shared import SharedIndex
from pathcast.spark.worker.vectors import blobs, from_numpy, to_numpy

__all__ = ["MatchJob", "Meter", "excerpt", "match_batches"]

_MATCHES = 1 << 20  # that a slice may give, by what was seen so far
_EXCERPT = 200  # bytes of a document that a dead letter quotes
_LINE_END = re.compile(rb"\r\n?|\n")


@dataclass(frozen=True)
class MatchJob:
    """What a task is to do with its batches: columns 0 and 1 are the id and the document."""

    result: Result
    shard: ShardFiles | None
    """None to check documents only."""
    settings: Settings
    failfast: bool
    batch_bytes: int
    tells_dead: bool = True
    """Whether dead letters are given, if the result has them: of several shards, one does."""
    shape: Shape = "lists"
    tells_undecided: bool = True
    """Whether pairs that took too many steps are among the dead letters: every shard has its own."""
    nodes: bool = False
    """Whether matches have the nodes that they select."""


@dataclass
class Meter:
    """What a task did so far."""

    documents: int = 0
    bytes: int = 0
    matches: int = 0
    dead: int = 0
    undecided: int = 0
    core_ns: int = 0
    """Time in the index."""


def match_batches(batches: Batches, job: MatchJob, meter: Meter | None = None) -> Batches:
    """The rows that `job.result` asks for."""
    shard = open_shard(job.shard, own=job.nodes) if job.shard else _checking(job)
    documents_at_once = max(1, _MATCHES // max(1, len(shard.index)))
    waiting = reporter()
    ordered = job.result == "grouped"  # rows have no order
    for batch in batches:
        at = 0
        ends = _ends(batch.column(1))
        if meter and len(ends):
            meter.documents += len(ends)
            meter.bytes += int(ends[-1])
        while at < batch.num_rows:
            start = at
            at = min(_within(ends, start, job.batch_bytes), start + documents_at_once)
            ids, documents = (batch.column(which).slice(start, at - start) for which in (0, 1))
            size = int(ends[at - 1]) - (int(ends[start - 1]) if start else 0)
            if waiting:
                waiting.begin(size)
            started = perf_counter_ns()
            results = shard.index.match_many(documents)
            groups = results.to_groups() if job.result == "delivered" else None
            lists = groups.documents if groups else results.to_arrow(ordered=ordered)
            matched = count(groups) if groups else len(lists.values)
            if meter:
                meter.core_ns += perf_counter_ns() - started
                meter.matches += matched
                meter.dead += lists.null_count
                meter.undecided += len(results.undecided)
            if waiting:
                waiting.end(len(documents), size, matched, lists.null_count)
            if letters := _letters(results, lists, shard, job):
                yield _dead(ids, documents, letters, shard, job)
            if job.result != "dead" and job.nodes:
                for first, last, found, nodes in selected(documents, lists, shard):
                    some = ids.slice(first, last - first)
                    yield from shaped(some, found, shard, job.result, job.shape, nodes)
            elif groups:
                yield from delivered(ids, groups, shard)
            elif job.result != "dead":
                yield from shaped(ids, lists, shard, job.result, job.shape)
            # Twice as many matches as this slice had on average would still fit.
            documents_at_once = max(1, _MATCHES // max(1, 2 * matched // len(documents)))
        if isinstance(shard.index, SharedIndex):
            # Of a worker without an index, what Arrow keeps for later would be a quarter.
            pa.default_memory_pool().release_unused()


def _checking(job: MatchJob) -> OpenShard:
    """No subscriptions: a document is read to its end whatever is asked, so this finds every bad one."""
    return OpenShard(job.settings.index(), pa.nulls(0, pa.int64()), None)


def _ends(documents: Any) -> Any:
    """Where each document ends if all stood behind one another."""
    lengths = pc.binary_length(documents)
    if lengths.null_count:
        lengths = pc.coalesce(lengths, from_numpy(np.zeros(1, lengths.type.to_pandas_dtype()))[0])
    return np.cumsum(to_numpy(lengths), dtype=np.int64)


def _within(ends: Any, start: int, size: int) -> int:
    """Behind the last document of a slice of at most this many bytes, or of one document."""
    limit = size + (int(ends[start - 1]) if start else 0)
    return max(start + 1, int(ends.searchsorted(limit, side="right")))


class _Letter(NamedTuple):
    """Why there is no answer for a document of a slice, or for one subscription and it."""

    at: int
    reason: str
    error: DocumentError | None = None
    """None if the document is good."""


def _letters(results: Any, lists: Any, shard: OpenShard, job: MatchJob) -> list[_Letter]:
    """The bad documents of a slice and the pairs that were not decided, as far as this task tells them."""
    letters: list[_Letter] = []
    if not (job.failfast or job.result in ("dead", "tagged")):
        return letters
    if lists.null_count and (job.failfast or job.tells_dead):
        bad = pc.indices_nonzero(pc.is_null(lists)).to_pylist()
        letters += [_Letter(at, results[at].reason, results[at]) for at in bad]
    if job.failfast or job.tells_undecided:
        steps = job.settings.limits.evaluation_steps
        for at, row in results.undecided:
            reason = f"deciding the subscription {shard.ids[row].as_py()!r} takes more than {steps:,} steps"
            letters.append(_Letter(at, reason))
    return letters


def _dead(ids: Any, documents: Any, letters: list[_Letter], shard: OpenShard, job: MatchJob) -> Any:
    """The dead letters of a slice: few, so they may cost Python objects."""
    if job.failfast:
        first, name = letters[0], ids[letters[0].at].as_py()
        while isinstance(name, dict) and ID in name:
            name = name[ID]  # the others are columns that travel with it
        reason = f"document {name!r} was refused in mode FAILFAST: {first.reason}"
        if first.error is None:
            raise LimitError(reason)
        raise DocumentError(reason, first.error.line, first.error.column, first.error.kind)
    columns = {"doc_id": ids.take(from_numpy(np.array([letter.at for letter in letters])))}
    if job.result == "tagged":
        columns |= no_match(len(letters), shard, job.shape, job.nodes)
    values = (
        (error.reason, error.line, error.column, error.kind, excerpt(documents[at].as_buffer(), error))
        if error
        else (reason, 0, 0, "undecided", None)
        for at, reason, error in letters
    )
    for (name, kind), column in zip(DEAD, zip(*values, strict=True), strict=True):
        texts = pa.types.is_string(kind)
        columns[name] = blobs(column, kind) if texts else from_numpy(np.array(column, np.int64))
    return pa.RecordBatch.from_pydict(columns)


def excerpt(document: Any, error: DocumentError) -> str | None:
    """A bounded piece of the document around the error, on one line; None for no document.

    >>> excerpt(b"<a>\\n<b></a>", DocumentError("the end tag </a> does not close <b>", 2, 4))
    '<a>\\\\n<b></a>'
    """
    if document is None:
        return None
    text = bytes(document)
    if b"\x00" in text[:4] or text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = text.decode("utf-16", "replace").encode("utf-8", "replace")
    start = 0
    for ending in islice(_LINE_END.finditer(text), max(0, error.line - 1)):
        start = ending.end()
    before = text[start : start + 4 * error.column].decode("utf-8", "surrogateescape")[
        : max(0, error.column - 1)
    ]
    at = start + len(before.encode("utf-8", "surrogateescape"))
    return printable(text[max(0, at - _EXCERPT // 2) : at + _EXCERPT // 2].decode("utf-8", "replace"))
