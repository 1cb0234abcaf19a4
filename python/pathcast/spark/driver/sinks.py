"""Where a stream writes.

A sink is asked to write a batch again when the driver died before Spark knew that it was written, and must
then have the effect of writing it once.

- `FileSink`: a folder for each batch, written over: exactly once.
- `KafkaSink` (`kafka_sink`): transactions of executors, which also note the batch's number: exactly once for
  consumers that read committed messages only.
- `KafkaSink(transactional=False)`: Spark's connector: at least once. The key of a message is its delivery id,
  so a consumer that drops ids it has seen, or a compacted topic, has each once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql import DataFrame

from pathcast.errors import PathcastError
from pathcast.spark.driver.hadoop import spark_folder
from pathcast.spark.driver.outbox_log import write_outboxes
from pathcast.spark.driver.outboxes import deliver
from pathcast.spark.folders import LocalFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Batch", "FileSink", "Sink", "StreamError", "read_deliveries"]

_OWNER = "_stream.json"


class StreamError(PathcastError, RuntimeError):
    """A stream that cannot go on, and why."""


@dataclass(frozen=True)
class Batch:
    """A batch to write: the same for the same `stream` and `number`, however often it is asked for."""

    stream: str
    number: int
    index_version: str
    matches: DataFrame
    dead: DataFrame
    documents: DataFrame
    """`doc_id`, `xml` and the columns that are kept."""
    has_dead: bool
    plan: Mapping[str, Any] | None = None
    """What `Sink.plan` said when the batch began; None if it has no plan."""


class Sink(Protocol):
    """What `stream` writes to. It travels to a Spark Connect server, so it holds no session.

    A sink may also have a method `plan(spark)`: what it says is noted when a batch begins, and is
    `batch.plan`, then and whenever that batch is asked for again. If it has a true `reads_documents`, the
    stream keeps `batch.documents`, so that they are not read from the source a second time.
    """

    def write(self, batch: Batch) -> None:
        """Writes a batch; a second time it changes nothing."""


@dataclass(frozen=True)
class FileSink:
    """Parquet files in `path/matches/batch=00000012/`, `path/dead/batch=...` and perhaps `path/outboxes/...`.

    `path` is anything that Spark can write to. Files under a batch that is being written are seen when they
    are complete, so a reader sees a batch, or does not yet.
    """

    path: str
    outboxes: bool = False

    @property
    def reads_documents(self) -> bool:
        """Whether it needs the documents of a batch beside its matches."""
        return self.outboxes

    def write(self, batch: Batch) -> None:
        self._claim(batch.stream, batch.documents.sparkSession)
        name = f"batch={batch.number:08}"
        batch.matches.write.mode("overwrite").parquet(f"{self.path}/matches/{name}")
        if batch.has_dead:
            batch.dead.write.mode("overwrite").parquet(f"{self.path}/dead/{name}")
        if self.outboxes:
            delivered = deliver(batch.matches, batch.documents)
            write_outboxes(delivered, f"{self.path}/outboxes", batch=batch.number)

    def _claim(self, stream: str, spark: SparkSession) -> None:
        """Two streams, or one whose checkpoint was deleted, would write over each other's batches."""
        folder = spark_folder(self.path, spark)
        try:
            found = json.loads(folder.read(_OWNER))["stream"]
        except FileNotFoundError:
            if isinstance(folder, LocalFolder) and (folder.path / "matches").exists():
                raise StreamError(
                    f"{folder.place} holds files of something else: choose another output"
                ) from None
            folder.write(_OWNER, json.dumps({"stream": stream}).encode())
            return
        if found != stream:
            raise StreamError(
                f"{folder.place} holds the batches of another stream, or of this one with another "
                "checkpoint, and this one would write over them: choose another output, or use that "
                "checkpoint again"
            )


def read_deliveries(spark: SparkSession, output: str | os.PathLike[str]) -> DataFrame:
    """The matches that a stream wrote to files, every delivery id once, whoever sent documents twice."""
    return spark.read.parquet(f"{os.fspath(output)}/matches").dropDuplicates(["delivery_id"])
