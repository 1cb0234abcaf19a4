"""The Spark session of a command: what is told before it starts, while it works, and when it fails.

A session takes ten seconds to start, so what can be seen to be wrong is said before. What Spark or our own
code refuses later becomes a sentence and status 2.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from rich.console import Console

from pathcast.cli.arguments import fail
from pathcast.errors import PathcastError, printable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_index", "check_paths", "progress", "spark_session", "watched"]

_ELSEWHERE = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "SPARK_CONF_DIR", "HADOOP_CONF_DIR")
_ENDED = (
    "Spark's Java process ended before the work did; what it wrote above says why. If its memory was too "
    "small (OutOfMemoryError), give it more with --memory: a file is read whole, and takes up to ten times "
    "its size"
)


def check_index(index: str) -> None:
    """Says at once what is wrong with an index: a session takes ten seconds to start."""
    try:
        from pathcast.spark import Compiled
        from pathcast.spark.places import local_path

        if local_path(index) is not None:  # a URL may need the session
            Compiled.open(index)
    except ModuleNotFoundError as error:
        fail(_missing(error))
    except (PathcastError, ValueError) as error:
        fail(f"pathcast: {printable(str(error))}")


def check_paths(master: str | None, *read: str, written: Sequence[str] = ()) -> None:
    """Says at once what is not there, or in the way, where a plain path is one of this machine's to Spark."""
    if not _starts_here(master) or any(name in os.environ for name in _ELSEWHERE):
        return
    from pathcast.spark.places import scheme

    for path in read:
        if scheme(path) is None and not set(path) & set("*?[{\\") and not os.path.exists(path):
            fail(f"pathcast: {printable(path)} does not exist")
    for path in written:
        if scheme(path) is None and os.path.exists(path):
            fail(f"pathcast: {printable(path)} is already there: choose another --output, or add --overwrite")


def _starts_here(master: str | None) -> bool:
    return master is None or master.startswith("local")


def _missing(error: ModuleNotFoundError) -> str:
    return f"pathcast: this command needs {error.name}: pip install 'pathcast[spark]'"


@contextmanager
def spark_session(command: str, master: str | None, memory: str) -> Iterator[SparkSession]:
    """A session for a command; what Spark or our own code refuses becomes a sentence and status 2."""
    try:
        from py4j.protocol import Py4JError, Py4JNetworkError
        from pyspark.errors import PySparkException

        from pathcast.spark.driver.session import session
    except ModuleNotFoundError as error:
        fail(_missing(error))
    console = Console(stderr=True)
    if console.is_terminal:  # a line of its own: Java writes to the terminal while it starts
        console.print("Starting Spark")
    try:
        with session(f"pathcast {command}", master=master, memory=memory) as spark:
            yield spark
    except (ConnectionError, Py4JNetworkError):
        fail(f"pathcast: {_ENDED}")
    except (PySparkException, Py4JError) as error:
        fail(f"pathcast: {printable(_reason(str(error)))}")
    except (PathcastError, ValueError, TypeError, OSError) as error:
        fail(f"pathcast: {printable(str(error))}")


def _reason(text: str) -> str:
    """The line of a long message that says what is wrong: our own error, if one is in it.

    >>> _reason("Job aborted\\n  File x\\npathcast.errors.DocumentError: line 1, column 2: torn\\n\\tat java")
    'line 1, column 2: torn'
    >>> _reason("An error occurred while calling o1.save.\\n: Job aborted: [NO_FOOTER] x.parquet is torn")
    '[NO_FOOTER] x.parquet is torn'
    """
    from pathcast.spark.driver.hadoop import unknown_host

    if host := unknown_host(text):
        return host
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines:
        if line.startswith("pathcast.errors."):
            return line.partition(": ")[2]
    if found := re.search(r"\[[A-Z_.]{4,}\] .*", text):
        return found[0]
    told = (line for line in lines if not line.startswith("An error occurred while calling "))
    return next(told, "Spark failed and did not say why").removeprefix(": ")


@contextmanager
def progress(master: str | None) -> Iterator[Path | None]:
    """A folder in which workers tell how far they are, if there is somebody to see it and they are here."""
    from pathcast.spark.progress import VARIABLE

    if not Console(stderr=True).is_terminal or not _starts_here(master):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="pathcast-progress-") as folder:
        os.environ[VARIABLE] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ[VARIABLE]


@contextmanager
def watched(spark: SparkSession, what: str, folder: Path | None = None) -> Iterator[None]:
    """Shows on a terminal that work goes on and, where it is known, how far it is."""
    from pathcast.spark.progress import gathered

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    ended = Event()
    with console.status(what) as status:

        def follow() -> None:
            tracker = None if "connect" in type(spark).__module__ else spark.sparkContext.statusTracker()
            while tracker and not ended.wait(0.5):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                done = sum(stage.numCompletedTasks for stage in stages if stage)
                tasks = sum(stage.numTasks for stage in stages if stage)
                text = f"{what}: {done:,} of {tasks:,} task{'s' * (tasks != 1)}" if tasks else what
                so_far = gathered(folder).line(time.time()) if folder is not None else ""
                status.update(f"{text}; {so_far}" if so_far else text)

        follower = Thread(target=follow, daemon=True)
        follower.start()
        try:
            yield
        finally:
            ended.set()
            follower.join()
