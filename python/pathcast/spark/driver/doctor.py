"""Looks at a session before it is used: what would fail on executors, or be slow, and what to change.

A worker may lack the very package, so what runs there is shipped by value and imports nothing of ours unless
it can.
"""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.errors import PySparkException

from pathcast import __version__
from pathcast.errors import PathcastError
from pathcast.index import Index
from pathcast.spark.driver.compiled import Compiled
from pathcast.spark.driver.hadoop import spark_folder
from pathcast.spark.driver.workers import opened_from
from pathcast.spark.options import MatchOptions
from pathcast.spark.places import local_path
from pathcast.spark.worker.matcher import INDEX_BYTES
from pathcast.spark.worker.shards import find_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Finding", "Needs", "examine"]

_SCHEMA = (
    "host string, python string, pathcast string, pyarrow string, kafka string, problem string, "
    "sees boolean, memory bigint"
)
_WORKER_BYTES = 150_000_000  # of Python, Arrow and batches
_SHARED_BYTES = 60_000_000  # of the process that holds indexes for all workers, without them
_TAKEN = 2.5  # bytes that the allocator takes for each that an index says it needs
_KEPT = "spark.executorEnv.PATHCAST_INDEX_BYTES"
_SOCKETS = "spark.python.unix.domain.socket.enabled"
_DAEMON = "spark.python.daemon.module"
_OURS = "with pathcast.spark.worker.daemon workers share what they import"
_TASKS_A_CORE = 4  # so that every executor gets one


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    found: str
    advice: str | None = None
    """What to change; None if all is well."""

    @property
    def ok(self) -> bool:
        """Whether nothing has to be changed."""
        return self.advice is None


def examine(spark: SparkSession, index: str | None = None, folders: Sequence[str] = ()) -> list[Finding]:
    """What there is to know about a session and, if given, about an index and about other folders in it."""
    findings = [*_driver(spark)]
    compiled: Compiled | None = None
    if index is not None:
        try:
            compiled = Compiled.open(index, spark)
            findings.append(Finding("index", compiled.told))
        except (PathcastError, ValueError) as error:
            findings.append(Finding("index", index, str(error)))
    stored = compiled is not None and compiled.store is not None
    workers = _workers(spark, compiled.path if compiled and not stored else None)
    findings += _packages(workers)
    findings += _java_of_executors(spark)
    if compiled is not None:
        findings += [_fetched(compiled) if stored else _folder(workers, compiled)]
        findings += [_memory(spark, compiled, min(row.memory for row in workers))]
    return findings + [_shared(spark, folder) for folder in folders]


def _driver(spark: SparkSession) -> Iterator[Finding]:
    yield Finding("Spark", spark.version)
    python = platform.python_version()
    yield Finding("Python of the driver", f"{python} ({sys.executable})")
    java = _setting(spark, "java.version") or _java(spark)
    if java:
        major = java.split(".")[0]
        old = major.isdigit() and int(major) < 17
        yield Finding("Java", java, "install Java 17 or newer, or set JAVA_HOME" if old else None)
    if _setting(spark, _SOCKETS) != "true":
        yield Finding("sockets to workers", f"TCP; {_SOCKETS}=true spares 40 ms of each task")
    yield Finding("daemon of Python workers", _setting(spark, _DAEMON) or f"Spark's own; {_OURS}")
    size = _setting(spark, "spark.sql.execution.arrow.maxRecordsPerBatch") or "10000"
    if int(size) < 1000:
        yield Finding(
            "Arrow batches",
            f"{size} records",
            "spark.sql.execution.arrow.maxRecordsPerBatch=10000: small batches cost more than matching",
        )


def _java(spark: SparkSession) -> str | None:
    jvm = getattr(spark, "_jvm", None) if "connect" not in type(spark).__module__ else None
    return str(jvm.java.lang.System.getProperty("java.version")) if jvm is not None else None


def _setting(spark: SparkSession, name: str) -> str | None:
    return spark.conf.get(name, None)


def _workers(spark: SparkSession, folder: Path | None) -> list[Any]:
    """What each worker says about itself, each host and interpreter once."""
    marker = folder / f".seen-{uuid4().hex}" if folder else None
    if marker is not None:
        try:
            marker.touch()
        except OSError:
            marker = None
    place = str(marker) if marker else None

    def look(batches: Any) -> Any:  # travels by value
        import os
        import platform
        import socket
        from importlib.metadata import PackageNotFoundError, version

        import pyarrow as pa

        for _ in batches:
            found, problem = None, None
            try:
                import pathcast

                found = pathcast.__version__
            except ImportError as error:
                problem = str(error)
            try:
                kafka = version("confluent-kafka")
            except PackageNotFoundError:
                kafka = None
            row = {
                "host": [socket.gethostname()],
                "python": [platform.python_version()],
                "pathcast": pa.array([found], pa.string()),
                "pyarrow": [pa.__version__],
                "kafka": pa.array([kafka], pa.string()),
                "problem": pa.array([problem], pa.string()),
                "sees": pa.array([None if place is None else os.path.exists(place)], pa.bool_()),
                "memory": [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")],
            }
            yield pa.RecordBatch.from_pydict(row)

    look.__annotations__ = {}  # Spark reads annotations, and these would be of this file
    try:
        tasks = _TASKS_A_CORE * max(2, _cores(spark))
        return spark.range(tasks).repartition(tasks).mapInArrow(look, _SCHEMA).distinct().collect()
    finally:
        if marker is not None:
            marker.unlink(missing_ok=True)


def _cores(spark: SparkSession) -> int:
    if "connect" in type(spark).__module__:
        return 8
    return int(spark.sparkContext.defaultParallelism)


def _packages(workers: list[Any]) -> Iterator[Finding]:
    hosts = sorted({row.host for row in workers})
    yield Finding("hosts of executors", ", ".join(hosts[:8]) + (" ..." if len(hosts) > 8 else ""))
    ours = platform.python_version().rpartition(".")[0]
    pythons = sorted({row.python for row in workers})
    differ = any(found.rpartition(".")[0] != ours for found in pythons)
    setting = f"use Python {ours} on executors: set spark.pyspark.python or PYSPARK_PYTHON"
    yield Finding("Python of executors", ", ".join(pythons), setting if differ else None)
    missing = sorted({f"{row.host}: {row.problem}" for row in workers if row.problem})
    found = sorted({row.pathcast for row in workers if row.pathcast})
    advice = None
    if missing:
        advice = "install 'pathcast[spark]' where executors run, or ship an environment with --archives"
    elif found != [__version__]:
        advice = f"install pathcast {__version__}, which the driver has, on all executors"
    yield Finding("pathcast on executors", ", ".join([*found, *missing]), advice)
    try:
        driver = version("pyarrow")
    except PackageNotFoundError:
        driver = "none"
    arrows = sorted({row.pyarrow for row in workers})
    yield Finding("pyarrow of driver and executors", ", ".join([driver, *arrows]))
    kafka = sorted({row.kafka or "none" for row in workers})
    yield Finding("confluent-kafka on executors, which KafkaSink needs", ", ".join(kafka))


def _java_of_executors(spark: SparkSession) -> Iterator[Finding]:
    tasks = _TASKS_A_CORE * max(2, _cores(spark))
    call = "reflect('java.lang.System', 'getProperty', 'java.version')"
    rows = spark.range(tasks).repartition(tasks).selectExpr(f"{call} as java").distinct().collect()
    found = sorted(row.java for row in rows)
    old = any(each.split(".")[0].isdigit() and int(each.split(".")[0]) < 17 for each in found)
    yield Finding(
        "Java of executors", ", ".join(found), "install Java 17 or newer where they run" if old else None
    )


def _fetched(compiled: Compiled) -> Finding:
    how = "workers fetch their shards from it" if compiled.fetches else "the driver fetches it and sends it"
    return Finding("index folder", f"{compiled.store}: {how}")


def _shared(spark: SparkSession, folder: str) -> Finding:
    """Whether what executors write to a folder is there for the driver: as a job writes its output."""
    place = f"{folder.rstrip('/')}/.pathcast-doctor-{uuid4().hex}"
    what = f"folder {folder}"
    try:
        spark_folder(folder, spark)  # or it says why Spark cannot use it
        written = _TASKS_A_CORE * max(2, _cores(spark))
        spark.range(written).repartition(written).write.parquet(place)
        found = spark.read.parquet(place).count()
    except (PathcastError, PySparkException) as error:
        return Finding(what, "cannot be written", str(error).splitlines()[0])
    _removed(spark, place)
    advice = (
        "executors and driver must see the same folder: use a shared disk, or a store"
        if found != written
        else None
    )
    return Finding(what, f"{found} of {written} rows that executors wrote are there", advice)


def _removed(spark: SparkSession, place: str) -> None:
    path = local_path(place)
    if path is not None:
        shutil.rmtree(path, ignore_errors=True)
    elif "connect" not in type(spark).__module__:
        jvm: Any = spark._jvm
        with suppress(Exception):  # it is only a trial's leftover
            target = jvm.org.apache.hadoop.fs.Path(place)
            target.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).delete(target, True)


def _folder(workers: list[Any], compiled: Compiled) -> Finding:
    blind = sorted({row.host for row in workers if row.sees is False})
    if all(row.sees is None for row in workers):
        return Finding("index folder", f"{compiled.path} cannot be written to, so it was not looked for")
    return Finding(
        "index folder",
        "seen by all executors" if not blind else f"not seen by {', '.join(blind)}",
        "put it on a disk that all executors see; or let match() and stream() ship it, which the data source "
        "cannot"
        if blind
        else None,
    )


def _memory(spark: SparkSession, compiled: Compiled, machine: int) -> Finding:
    cores = _cores_of_an_executor(spark)
    needs = Needs.of(compiled, int(_setting(spark, _KEPT) or INDEX_BYTES))
    each = round(cores * needs.worker / 1e6)
    need = each if needs.shared is None else round((cores * _WORKER_BYTES + needs.shared) / 1e6)
    text = f"{cores} worker{'s' * (cores != 1)} of an executor need{'s' * (cores == 1)} up to {need:,} MB "
    text += "outside Java"
    if needs.shared is not None:
        text += f" with one index for all, and {each:,} MB with an index each"
    given = _setting(spark, "spark.executor.memoryOverhead")
    if need * 1e6 > machine:
        more = "compile into more shards, or use fewer cores for each executor"
        return Finding("memory of workers", f"{text}; a machine has {machine / 1e6:,.0f} MB", more)
    if given is None:
        return Finding("memory of workers", f"{text}; a machine has {machine / 1e6:,.0f} MB")
    digits = given.lower().rstrip("b").rstrip("m")
    short = digits.isdigit() and int(digits) < need
    return Finding(
        "memory of workers",
        f"{text}; spark.executor.memoryOverhead is {given}",
        f"spark.executor.memoryOverhead={need}m, or compile into more shards" if short else None,
    )


def _cores_of_an_executor(spark: SparkSession) -> int:
    given = _setting(spark, "spark.executor.cores")
    if given is None and (_setting(spark, "spark.master") or "").startswith("local["):
        return _cores(spark)  # the driver is the executor
    return int(given or 1)


@dataclass(frozen=True)
class Needs:
    """Bytes that indexes and workers take at most, outside Java."""

    worker: int
    """A Python worker that has its own index: the largest, what it remembers, and the rest."""
    shared: int | None
    """The process that holds indexes for all workers; None if each has its own."""

    @classmethod
    def of(cls, compiled: Compiled, kept: int = INDEX_BYTES) -> Needs:
        """`kept` is up to how many bytes of indexes the process keeps, and at least one index."""
        largest = max(compiled.manifest.shards, key=lambda shard: shard.index_bytes)
        stats = Index.load(find_file(compiled.place, largest.index)).stats()
        taken, remembered = _TAKEN * stats["memory_bytes"], max(84_000_000, 320 * stats["distinct"])
        # While jobs go over to a new version both are open; of shards, one.
        versions = 2 if compiled.shards == 1 else 1
        worker = int(versions * (taken + remembered) + _WORKER_BYTES)
        if not all(files.shares for files in opened_from(compiled, MatchOptions())):
            return cls(worker, None)
        files = sum(shard.index_bytes for shard in compiled.manifest.shards)
        wanted = versions * taken * files / largest.index_bytes
        return cls(worker, int(min(wanted, max(kept, taken)) + remembered + _SHARED_BYTES))
