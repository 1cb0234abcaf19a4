"""Matches a table of documents with subscriptions: DataFrames in, DataFrames out, nothing runs until asked.

One `mapInArrow` for each shard, and their union: documents × shards is the grid of tasks. Documents are read
once for each shard and never shuffled, and the tasks of a shard follow one another, so a worker loads each
shard once. Shuffling a copy of every document to each shard would write them all to disk that often.

Matches and dead letters are two DataFrames, so asking for both runs two jobs: one that matches, and one that
only reads the documents, which needs no index. `match_tagged` gives both from one job.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import reduce
from typing import Literal, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import BinaryType, StringType

from pathcast.limits import Limits
from pathcast.spark.answers import DEAD_COLUMNS, answers, columns
from pathcast.spark.artifact import check_engine
from pathcast.spark.compile import Compiled, RejectedSubscriptions, compile_subscriptions
from pathcast.spark.matching import MatchJob, Want
from pathcast.spark.session import BATCH_BYTES, bound_batches, column_type, needs_shipping, quoted, ship_files
from pathcast.spark.worker import ShardFiles, on_worker
from pathcast.types import Namespaces

__all__ = ["match", "match_tagged", "split_tagged"]

Subscriptions: TypeAlias = "DataFrame | Compiled | str | os.PathLike[str]"
Mode: TypeAlias = Literal["PERMISSIVE", "DROPMALFORMED", "FAILFAST"]

_SHOWN = 5  # bad subscriptions that an error lists


def match(
    documents: DataFrame,
    subscriptions: Subscriptions,
    document: str = "xml",
    id: str = "doc_id",
    engine: str = "auto",
    shards: int | None = None,
    mode: Mode = "PERMISSIVE",
    *,
    on_bad_subscription: Literal["raise", "reject"] = "raise",
    namespaces: Namespaces | None = None,
    ordered: bool = False,
    ignore_namespaces: bool = False,
    limits: Limits | None = None,
    latest_by: str | None = None,
    batch_bytes: int = BATCH_BYTES,
    ship: bool | None = None,
) -> tuple[DataFrame, DataFrame]:
    """Which subscriptions each document satisfies, and which documents are none.

    `documents` has an id of any type and XML as string or binary, in the columns named by `id` and
    `document`. `subscriptions` is a table, compiled on the fly (see `compile_subscriptions` for its
    columns, and for `shards` to `latest_by`), or compiled subscriptions or their folder.

    The first result has `doc_id`, `subscription_id` and, if the subscriptions have it, `subscriber`: one row
    for each match, in no order. The second has the dead letters: `doc_id`, `reason`, `line`, `column`, `kind`
    and an `excerpt`; null and empty documents are among them. `mode` is Spark's: PERMISSIVE gives dead
    letters, DROPMALFORMED gives none, and FAILFAST makes the job fail at the first bad document.

    Batches are cut at `batch_bytes`. `ship` says whether the index is sent to the workers, or they open it
    where it was compiled; by default it is sent unless they run in this machine's session.
    """
    plan = _Plan(documents, document, id, engine, mode, batch_bytes)
    compiled = _compiled(
        subscriptions, shards, on_bad_subscription, namespaces, ordered, ignore_namespaces, limits, latest_by
    )
    matches = plan.run("matches", compiled, ship)
    if mode == "DROPMALFORMED":
        empty = columns("dead", plan.id_type, compiled.manifest)
        return matches, documents.sparkSession.createDataFrame([], empty)
    return matches, plan.run("dead", compiled, ship)


def match_tagged(
    documents: DataFrame,
    subscriptions: Subscriptions,
    document: str = "xml",
    id: str = "doc_id",
    engine: str = "auto",
    shards: int | None = None,
    mode: Mode = "PERMISSIVE",
    *,
    on_bad_subscription: Literal["raise", "reject"] = "raise",
    namespaces: Namespaces | None = None,
    ordered: bool = False,
    ignore_namespaces: bool = False,
    limits: Limits | None = None,
    latest_by: str | None = None,
    batch_bytes: int = BATCH_BYTES,
    ship: bool | None = None,
) -> DataFrame:
    """What `match` gives, in one DataFrame: a row is a match, or a dead letter if it has a `reason`.

    Write it somewhere, or persist it, and take it apart with `split_tagged`: documents are then read once.
    """
    plan = _Plan(documents, document, id, engine, mode, batch_bytes)
    compiled = _compiled(
        subscriptions, shards, on_bad_subscription, namespaces, ordered, ignore_namespaces, limits, latest_by
    )
    return plan.run("tagged", compiled, ship)


def split_tagged(tagged: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The matches and the dead letters of a tagged DataFrame."""
    names = [name for name in tagged.columns if name not in DEAD_COLUMNS]
    bare = [name for name in names if name not in ("subscription_id", "subscriber")]
    return (
        tagged.where(F.col("reason").isNull()).select(*names),
        tagged.where(F.col("reason").isNotNull()).select(*bare, *DEAD_COLUMNS),
    )


class _Plan:
    """Documents and how to match them, checked."""

    def __init__(
        self, documents: DataFrame, document: str, id: str, engine: str, mode: Mode, batch_bytes: int
    ) -> None:
        if mode not in ("PERMISSIVE", "DROPMALFORMED", "FAILFAST"):
            raise ValueError(f"mode must be PERMISSIVE, DROPMALFORMED or FAILFAST, not {mode!r}")
        check_engine(engine)
        if batch_bytes < 1:
            raise ValueError(f"batch_bytes must be at least 1, not {batch_bytes}")
        self.id_type = column_type(documents, id, "documents")
        column_type(documents, document, "documents", (StringType, BinaryType))
        self._documents = documents.select(
            F.col(quoted(id)).alias("id"), F.col(quoted(document)).alias("document")
        )
        self._engine, self._mode, self._batch_bytes = engine, mode, batch_bytes

    def run(self, want: Want, compiled: Compiled, ship: bool | None) -> DataFrame:
        """The tasks of all shards; dead letters come from the first one only."""
        spark = self._documents.sparkSession
        check_engine(self._engine, compiled.manifest.settings)
        bound_batches(spark, self._batch_bytes)
        if want == "dead":
            return self._mapped(want, compiled, None)
        if needs_shipping(spark) if ship is None else ship:
            names = (name for shard in compiled.manifest.shards for name in (shard.index, shard.rows))
            ship_files(spark, compiled.path, names)
        schema = columns(want, self.id_type, compiled.manifest)
        # A worker holds one shard; without shards, two versions, for jobs that take turns.
        keep = 2 if compiled.shards == 1 else 1
        frames = []
        for shard in compiled.manifest.shards:
            files = ShardFiles(str(compiled.path), shard, compiled.manifest.settings, self._engine, keep)
            part = self._mapped(want if shard.number == 0 else "matches", compiled, files)
            for field in schema.fields[len(part.columns) :]:
                part = part.withColumn(field.name, F.lit(None).cast(field.dataType))
            frames.append(part)
        return reduce(lambda left, right: left.union(right), frames)

    def _mapped(self, want: Want, compiled: Compiled, files: ShardFiles | None) -> DataFrame:
        failfast = self._mode == "FAILFAST"
        job_want: Want = "matches" if want == "tagged" and self._mode == "DROPMALFORMED" else want
        job = MatchJob(job_want, files, compiled.manifest.settings, failfast, self._batch_bytes)
        function = on_worker("matching", "match_batches", job)
        return answers(job_want, self._documents, function, compiled.manifest)


def _compiled(
    subscriptions: Subscriptions,
    shards: int | None,
    on_bad_subscription: Literal["raise", "reject"],
    namespaces: Namespaces | None,
    ordered: bool,
    ignore_namespaces: bool,
    limits: Limits | None,
    latest_by: str | None,
) -> Compiled:
    if on_bad_subscription not in ("raise", "reject"):
        raise ValueError(f"on_bad_subscription must be 'raise' or 'reject', not {on_bad_subscription!r}")
    if not isinstance(subscriptions, DataFrame):
        compiled = subscriptions if isinstance(subscriptions, Compiled) else Compiled.open(subscriptions)
        if shards not in (None, 1, compiled.shards):
            raise ValueError(f"these subscriptions were compiled into {compiled.shards} shards, not {shards}")
        if namespaces or ordered or ignore_namespaces or limits or latest_by:
            raise ValueError(
                "namespaces, ordered, ignore_namespaces, limits and latest_by were fixed when the "
                "subscriptions were compiled: leave them out, or compile again"
            )
        return compiled
    folder = tempfile.mkdtemp(prefix="pathcast-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compiled = compile_subscriptions(
        subscriptions,
        folder,
        shards=shards or 1,
        namespaces=namespaces,
        ordered=ordered,
        ignore_namespaces=ignore_namespaces,
        limits=limits,
        latest_by=latest_by,
    )
    if compiled.refused and on_bad_subscription == "raise":
        raise _rejected(compiled)
    return compiled


def _rejected(compiled: Compiled) -> RejectedSubscriptions:
    lines = compiled.first_rejected(_SHOWN)
    more = compiled.refused - len(lines)
    return RejectedSubscriptions(
        f"{compiled.refused:,} subscriptions were rejected, nothing was matched: "
        + "; ".join(lines)
        + (f"; and {more:,} more" if more else "")
        + ". Correct them; or compile_subscriptions() first and look at its .rejected; or match the others "
        "with on_bad_subscription='reject'",
        compiled,
    )
