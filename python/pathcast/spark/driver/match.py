"""Matches a table of documents with subscriptions: DataFrames in, DataFrames out, nothing runs until asked.

One `mapInArrow` for each shard, and their union: documents × shards is the grid of tasks. Documents are read
once for each shard and never shuffled, and the tasks of a shard follow one another, so a worker loads each
shard once. Shuffling a copy of every document to each shard would write them all to disk that often. If
documents are routed, or few bytes are in all shards, or lists of several shards become one, there is one
`mapInArrow`, and the shards take turns within a task.

Matches and dead letters are two DataFrames, so asking for both runs two jobs: one that matches, and one that
only reads the documents, which needs no index. `tagged` gives both from one job.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import BinaryType, DataType, StringType, StructField, StructType

from pathcast.spark.artifact import check_engine
from pathcast.spark.driver.answers import DEAD_COLUMNS, NODE_COLUMNS, answers, check_kept
from pathcast.spark.driver.columns import check_frame, column_type, known_columns, quoted
from pathcast.spark.driver.compile import compile_subscriptions
from pathcast.spark.driver.compiled import Compiled, RejectedSubscriptions
from pathcast.spark.driver.workers import asked_together, bound_batches, on_worker, shard_files
from pathcast.spark.options import MatchOptions, takes_options
from pathcast.spark.worker.kept import ID
from pathcast.spark.worker.match import MatchJob, match_batches
from pathcast.spark.worker.route import ShardsJob, match_shards

if TYPE_CHECKING:
    from pathcast.spark.options import Subscriptions
    from pathcast.spark.worker.answers import Result
    from pathcast.spark.worker.shards import ShardFiles

__all__ = ["Matched", "match", "match_tagged", "split_tagged"]

_SHOWN = 5  # bad subscriptions that an error lists


class Matched(tuple[DataFrame, DataFrame]):
    """The matches and the dead letters: `matches, dead = match(...)`."""

    _tagged: Callable[[], DataFrame]

    def __new__(cls, matches: DataFrame, dead: DataFrame, tagged: Callable[[], DataFrame]) -> Matched:
        self = super().__new__(cls, (matches, dead))
        self._tagged = tagged
        return self

    @property
    def matches(self) -> DataFrame:
        """One row for each match."""
        return self[0]

    @property
    def dead(self) -> DataFrame:
        """One row for each bad document."""
        return self[1]

    @property
    def tagged(self) -> DataFrame:
        """Both in one table, from one job, as `match_tagged` gives them."""
        return self._tagged()


@takes_options(MatchOptions)
def match(documents: DataFrame, subscriptions: Subscriptions, options: MatchOptions) -> Matched:
    """Which subscriptions each document satisfies, and which documents were rejected.

    `documents` has an id of any type and XML as string or binary, in the columns named by `id` and
    `document`. `subscriptions` is a table, compiled on the fly (see `compile_subscriptions` for its
    columns, and for `shards` to `latest_by`), or compiled subscriptions or their folder.

    The first result has `doc_id`, `subscription_id` and, if the subscriptions have it, `subscriber`: one row
    for each match, in no order. The second has the dead letters: `doc_id`, `reason`, `line`, `column`, `kind`
    and an `excerpt`; null and empty documents are among them. `mode` is Spark's: PERMISSIVE gives dead
    letters, DROPMALFORMED gives none, and FAILFAST makes the job fail at the first bad document.

    With `keep` both have those columns of the documents too. With `result="grouped"` the first has a row for
    each good document, with the list `subscriptions`; with `result="delivered"` a row for each document and
    subscriber, with the list of what of the subscriber matched. Neither is ever a row for each match.

    With `nodes=True` matches also have `nodes`: the path and the text of every node that the subscription
    selects, up to 1 MiB a match; `nodes_left_out` counts those beyond.

    Batches are cut at `batch_bytes`. `ship` says whether the index is sent to the workers, or they open it
    where it was compiled; by default it is sent unless they run in this machine's session.
    """
    plan = _Plan(documents, options)
    compiled = _compiled(subscriptions, options)
    matches, dead = plan.run(options.result, compiled), plan.run("dead", compiled)
    if options.mode == "DROPMALFORMED":
        dead = documents.sparkSession.createDataFrame([], dead.schema)
    return Matched(matches, dead, lambda: plan.run("tagged", compiled))


@takes_options(MatchOptions)
def match_tagged(documents: DataFrame, subscriptions: Subscriptions, options: MatchOptions) -> DataFrame:
    """What `match` gives, in one DataFrame: a row is a match, or a dead letter if it has a `reason`.

    Write it somewhere, or persist it, and take it apart with `split_tagged`: documents are then read once.
    It is one table from another, so it also fits `documents.transform(match_tagged, subscriptions)`.
    """
    return _Plan(documents, options).run("tagged", _compiled(subscriptions, options))


def split_tagged(tagged: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The matches and the dead letters of a tagged DataFrame."""
    names = [name for name in tagged.columns if name not in DEAD_COLUMNS]
    own = {"doc_id", "subscription_id", "subscriber", *NODE_COLUMNS}
    kept = [name for name in names if name not in own]
    return (
        tagged.where(F.col("reason").isNull()).select(*map(quoted, names)),
        tagged.where(F.col("reason").isNotNull()).select("doc_id", *DEAD_COLUMNS, *map(quoted, kept)),
    )


class _Plan:
    """Documents and how to match them, checked.

    What goes with a document travels as one struct in the place of its id, so workers know of ids only.
    """

    def __init__(self, documents: DataFrame, options: MatchOptions) -> None:
        check_frame(documents)
        self._id = F.col(quoted(options.id))
        self._id_type: DataType | None = None  # as the documents have it
        if known_columns(documents):
            column_type(documents, options.id, "documents")
            column_type(documents, options.document, "documents", (StringType, BinaryType))
        elif options.keep:
            raise ValueError("within a query function of a pipeline no columns can be kept: join them later")
        else:
            # What types columns have cannot be asked for there.
            self._id, self._id_type = self._id.cast("string"), StringType()
        for name in options.keep:
            column_type(documents, name, "documents")
        check_kept(options.keep)
        self._kept = [F.col(quoted(name)) for name in options.keep]
        column = F.col(quoted(options.document))
        self._document = (column if self._id_type is None else column.cast("binary")).alias("document")
        self._documents = documents
        self._options = options

    def run(self, result: Result, compiled: Compiled) -> DataFrame:
        """The tasks of all shards; dead letters come from the first one only."""
        spark = self._documents.sparkSession
        check_engine(self._options.engine, compiled.manifest.settings)
        bound_batches(spark, self._options.batch_bytes)
        id = F.struct(self._id.alias(ID), *self._kept) if self._kept else self._id
        documents = self._documents.select(id.alias("id"), self._document)
        if self._id_type is not None:
            # `mapInArrow` asks for the columns, which pyspark remembers once they are known.
            columns = [StructField("id", self._id_type), StructField("document", BinaryType())]
            documents._cached_schema = StructType(columns)  # type: ignore[attr-defined]
        # To find bad documents takes no index; what a subscription cannot be decided for, its own.
        slow = any(shard.on_tree for shard in compiled.manifest.shards)
        shards: list[ShardFiles | None] = [None] if result == "dead" else []
        if result != "dead" or (slow and self._options.mode != "DROPMALFORMED"):
            every = shard_files(spark, compiled, self._options)
            shards += [files for files in every if result != "dead" or files.shard.on_tree]
        if result != "dead" and asked_together(compiled, result):
            found = self._in_one_task(result, documents, compiled, [files for files in shards if files])
        else:
            frames = [self._in_tasks(result, documents, compiled, files) for files in shards]
            found = reduce(lambda left, right: left.union(right), frames)
        return self._taken_apart(found) if self._kept else found

    def _in_one_task(
        self, result: Result, documents: DataFrame, compiled: Compiled, shards: list[ShardFiles]
    ) -> DataFrame:
        """Each task asks all shards, or those that its documents concern: documents are read once."""
        manifest = compiled.manifest
        jobs = tuple(self._job(result, compiled, files) for files in shards)
        job = ShardsJob(compiled.place, manifest.routing, manifest.settings, jobs)
        function = on_worker(match_shards, job)
        return answers(result, documents, function, manifest, self._options.nodes, self._id_type)

    def _in_tasks(
        self, result: Result, documents: DataFrame, compiled: Compiled, files: ShardFiles | None
    ) -> DataFrame:
        """The tasks of one shard."""
        job = self._job(result, compiled, files)
        function = on_worker(match_batches, job)
        return answers(result, documents, function, compiled.manifest, self._options.nodes, self._id_type)

    def _job(self, result: Result, compiled: Compiled, files: ShardFiles | None) -> MatchJob:
        options = self._options
        tells_undecided = options.mode != "DROPMALFORMED"
        first = files is None or (result != "dead" and files.shard.number == 0)
        return MatchJob(
            result,
            files,
            compiled.manifest.settings,
            options.mode == "FAILFAST",
            options.batch_bytes,
            tells_undecided and first,
            tells_undecided=tells_undecided,
            nodes=options.nodes,
        )

    def _taken_apart(self, found: DataFrame) -> DataFrame:
        kept = [F.col(f"doc_id.{quoted(name)}").alias(name) for name in self._options.keep]
        rest = [name for name in found.columns if name != "doc_id"]
        return found.select(F.col(f"doc_id.{quoted(ID)}").alias("doc_id"), *rest, *kept)


def _compiled(subscriptions: Subscriptions, options: MatchOptions) -> Compiled:
    if not isinstance(subscriptions, DataFrame | Compiled | str | os.PathLike):
        raise TypeError(
            "subscriptions must be a DataFrame, compiled subscriptions or their folder, "
            f"not {type(subscriptions).__name__}"
        )
    if not isinstance(subscriptions, DataFrame):
        compiled = subscriptions if isinstance(subscriptions, Compiled) else Compiled.open(subscriptions)
        if options.shards not in (None, 1, compiled.shards):
            raise ValueError(
                f"these subscriptions were compiled into {compiled.shards} shards, not {options.shards}"
            )
        if options.compiles:
            raise ValueError(
                "namespaces, ordered, ignore_namespaces, limits, entities and latest_by were fixed when "
                "the subscriptions were compiled: leave them out, or compile again"
            )
        return compiled
    folder = tempfile.mkdtemp(prefix="pathcast-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compiled = compile_subscriptions(
        subscriptions,
        folder,
        shards=options.shards or 1,
        namespaces=options.namespaces,
        ordered=options.ordered,
        ignore_namespaces=options.ignore_namespaces,
        limits=options.limits,
        entities=options.entities,
        latest_by=options.latest_by,
    )
    if compiled.refused and options.on_bad_subscription == "raise":
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
