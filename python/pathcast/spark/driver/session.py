"""A session for commands: the one that `spark-submit` or `SPARK_REMOTE` gives, or one on this machine.

Of our own session we know that it runs on this machine for one command: workers use this interpreter, all
listeners stay on the loopback interface, and there is no web interface to collide over.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["is_submitted", "session"]

_JAVA = (
    # Batches of megabytes are what the default collector, which works beside the program, is worst at.
    "-XX:+UseParallelGC",
    # Most of Spark runs seldom; to optimise all of that takes longer than a command lasts.
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=10000",
    "-XX:Tier4CompileThreshold=100000",
    # Arrow would check every number that Java takes out of a list, which Spark has done by then.
    "-Darrow.enable_unsafe_memory_access=true",
    "-Darrow.enable_null_check_for_get=false",
)


def is_submitted() -> bool:
    """Whether this process runs under `spark-submit`, or is told to use a Connect server."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ


@contextmanager
def session(
    name: str, *, master: str | None = None, memory: str = "2g", log: Path | None = None
) -> Iterator[SparkSession]:
    """A session that ends with the block if it was started for it.

    Under `spark-submit` its settings hold, and `master` and `memory` are not looked at. Otherwise `master`
    is `local[*]` unless given. With `log`, what Spark and its workers write to standard error goes there.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    if is_submitted():
        # spark-submit names the application after its script, which says nothing.
        yield SparkSession.builder.appName(name).getOrCreate()
        return
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise OSError("Spark needs Java 17 or newer, and there is none: install a JDK, or set JAVA_HOME")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    here = master is None or master.startswith("local")
    settings = {
        "spark.app.name": name,
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": " ".join(_JAVA),
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Spark counts each file as 4 MB unless told, and thirty small ones would be a task.
        "spark.sql.files.openCostInBytes": str(128 << 10),
    }
    if hasattr(socket, "AF_UNIX"):
        # Over TCP every task waits 40 ms in the socket between Java and Python: half of a small job.
        settings["spark.python.unix.domain.socket.enabled"] = "true"
    if here:
        settings["spark.driver.bindAddress"] = "127.0.0.1"
        settings["spark.sql.shuffle.partitions"] = str(2 * (os.cpu_count() or 1))
        if os.environ["PYSPARK_PYTHON"] == sys.executable:  # which has this package
            settings["spark.python.daemon.module"] = "pathcast.spark.worker.daemon"
    # As arguments: the memory of a driver is fixed when its virtual machine starts.
    words = [word for item in settings.items() for word in ("--conf", "{}={}".format(*item))]
    before = os.environ.get("PYSPARK_SUBMIT_ARGS")
    os.environ["PYSPARK_SUBMIT_ARGS"] = " ".join(
        f'"{word}"' for word in ["--master", master or "local[*]", *words]
    ) + (f" {before}" if before else " pyspark-shell")
    builder = SparkSession.builder
    if SparkContext._gateway is not None:  # Java was started by an earlier session, with its arguments
        builder = builder.master(master or "local[*]")
    try:
        with _standard_error(log):
            spark = builder.getOrCreate()
    finally:
        if before is None:
            del os.environ["PYSPARK_SUBMIT_ARGS"]
        else:
            os.environ["PYSPARK_SUBMIT_ARGS"] = before
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _standard_error(log: Path | None) -> Iterator[None]:
    """Processes that start meanwhile, and their children, write standard error to this file."""
    if log is None:
        yield
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    kept = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
