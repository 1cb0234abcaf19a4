"""How the driver reaches workers: functions, files, and the size of batches.

It is all that differs between sessions: classic or Connect, on one machine or on many. No RDD or broadcast
variable is used: `shipping` sends files.

Spark ships functions, not this package. `on_worker` makes a function that Spark ships by value, so that a
worker without the package can say so. Everything it needs travels as bytes beside it and is read once the
package is imported.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from pyspark.errors import PySparkException

from pathcast.spark.driver.shipping import is_connect, needs_shipping, ship_files
from pathcast.spark.worker.shards import SHARED_BYTES, ShardFiles
from pathcast.spark.worker.shipped import Shipped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pathcast.spark.driver.compiled import Compiled
    from pathcast.spark.options import MatchOptions
    from pathcast.spark.worker.answers import Result

__all__ = ["asked_together", "bound_batches", "on_worker", "opened_from", "shard_files"]

_MISSING = (
    "this Spark worker cannot import pathcast. Install it where the executors run (pip install "
    "'pathcast[spark]' in the environment that spark.pyspark.python or PYSPARK_PYTHON names), or ship an "
    "environment that has it: spark-submit --archives environment.tar.gz#environment, or "
    "spark.addArtifacts(..., archive=True)"
)
TOGETHER = 200 << 20
"""Bytes of index files: four times as much in memory, which the process of an executor keeps open."""
_SETTING = "spark.sql.execution.arrow.maxBytesPerBatch"

Argument = TypeVar("Argument")
Job = TypeVar("Job")
Reply = TypeVar("Reply")


def on_worker(function: Callable[[Argument, Job], Reply], job: Job) -> Callable[[Argument], Reply]:
    """`function(argument, job)` for `mapInArrow` or `applyInArrow`; a function of `pathcast.spark.worker`."""
    payload, missing = pickle.dumps((function.__module__, function.__qualname__, job)), _MISSING
    name = function.__module__

    def run(argument):  # type: ignore[no-untyped-def]  # Spark reads annotations, and this travels by value
        import importlib
        import pickle

        try:
            importlib.import_module(name)
        except ImportError as error:
            raise ImportError(f"{missing} [{error}]") from error
        importlib.import_module("pathcast.spark.worker.imports").freeze_imports()
        module, function, job = pickle.loads(payload)
        return getattr(importlib.import_module(module), function)(argument, job)

    return run


def shard_files(spark: SparkSession, compiled: Compiled, options: MatchOptions) -> list[ShardFiles]:
    """Where workers find each shard; the files are sent first if workers do not see them."""
    manifest = compiled.manifest
    ship = needs_shipping(spark) if options.ship is None else options.ship
    shipped = None
    if ship and compiled.place == str(compiled.path):
        routing = [manifest.routing.name] if manifest.routing else []
        names = [name for shard in manifest.shards for name in shard.needed(compiled.path)]
        if is_connect(spark):  # the server's Pathcast may be another
            names += [shard.index for shard in manifest.shards]
        shipped = ship_files(spark, compiled.path, names + routing)
    return opened_from(compiled, options, shipped)


def opened_from(
    compiled: Compiled, options: MatchOptions, shipped: Shipped | None = None
) -> list[ShardFiles]:
    """Where workers find each shard that they see or were sent."""
    # Of its own, a worker holds one shard, or those that are asked together; without shards, two versions,
    # for jobs that take turns.
    keep = 2 if compiled.shards == 1 else compiled.shards if _open_together(compiled) else 1
    folder, manifest = compiled.place, compiled.manifest
    share = options.share
    if share is None and manifest.routing:
        # A task asks many small shards, and of its own a worker would open each of them again in every job.
        share = sum(shard.index_bytes for shard in manifest.shards) >= SHARED_BYTES
    return [
        ShardFiles(folder, shard, manifest.settings, options.engine, keep, share, shipped)
        for shard in manifest.shards
    ]


def asked_together(compiled: Compiled, result: Result) -> bool:
    """Whether one task asks all shards, so that documents are read once.

    Where documents are routed, where lists of several shards become one, and where shards stay open together:
    to open others again for every 64 MB of documents would cost more than to read documents again.
    """
    if compiled.manifest.routing or _open_together(compiled):
        return True
    return compiled.shards > 1 and result in ("grouped", "delivered")


def _open_together(compiled: Compiled) -> bool:
    shards = compiled.manifest.shards
    if compiled.manifest.routing:
        return False
    return len(shards) > 1 and sum(shard.index_bytes for shard in shards) <= TOGETHER


def bound_batches(spark: SparkSession, size: int) -> None:
    """Lets Spark cut Arrow batches at this many bytes, unless the session already asks for smaller ones.

    It is a setting of the session and stays: plans are made when results are asked for, not here. Without
    it 10,000 documents of 1 MB would be one batch.
    """
    present = spark.conf.get(_SETTING, None)
    if present is None or not 0 < _bytes(present) <= size:
        try:
            spark.conf.set(_SETTING, str(size))
        except PySparkException as error:
            # Within the functions of a declarative pipeline nothing may be set; its specification can.
            if "SESSION_MUTATION" not in str(error):
                raise


def _bytes(text: str) -> int:
    """Spark's spelling of a size: digits, perhaps with a unit."""
    digits = text.strip().lower().rstrip("b")
    units = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
    if digits and digits[-1] in units:
        return int(digits[:-1]) << units[digits[-1]]
    return int(digits)
