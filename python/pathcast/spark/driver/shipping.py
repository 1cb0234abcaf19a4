"""Sends the files of a version to workers, and lets them be forgotten.

Spark serves a file that was added to every new executor for as long as the application runs, and fails all
jobs, whosever they are, when it cannot. There is no call that takes a file back. So copies are served, under
names that are used once. A copy is held as long as its folder has the file: `remove_unused` and leases decide
that. Then the copy is replaced by an empty file, which costs a new executor nothing, and every later job
tells workers which copies are still held; they delete the others.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

from pathcast.spark.worker.shipped import Shipped, shipped_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["needs_shipping", "ship_files"]


def needs_shipping(spark: SparkSession) -> bool:
    """Whether workers may be on machines that do not see this one's files."""
    if is_connect(spark):
        return True
    master = spark.conf.get("spark.master", "") or ""
    return not (master == "local" or master.startswith("local["))


def is_connect(spark: SparkSession) -> bool:
    """Whether it is a session of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def ship_files(spark: SparkSession, folder: Path, names: Iterable[str]) -> Shipped:
    """Sends files to all workers, each once; what of all that was sent is still held."""
    with _lock:
        # Batches of a stream each have a session object of their own.
        key = spark.session_id if is_connect(spark) else spark.conf.get("spark.app.id") or ""  # type: ignore[attr-defined]
        sent = _applications.setdefault(key, _Sent())
        sent.forget(spark)
        for name in names:
            sent.send(spark, folder / name)
        return Shipped(sent.sender, sent.last, tuple(sorted(sent.held.values())))


@dataclass
class _Sent:
    """What an application was sent."""

    sender: str = field(default_factory=lambda: uuid4().hex[:12])
    held: dict[Path, int] = field(default_factory=dict)
    """The files of folders whose copies are served, and the numbers of those."""
    last: int = 0
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def send(self, spark: SparkSession, file: Path) -> None:
        """Sends a file; a name stands for one content for ever."""
        if file in self.held:
            return
        number = next(self._numbers)
        copy = self._copy(file, number)
        try:
            os.link(file, copy)  # costs nothing, and outlives the other name
        except OSError:
            shutil.copyfile(file, copy)
        spark.addArtifacts(str(copy), file=True)
        self.held[file], self.last = number, number

    def forget(self, spark: SparkSession) -> None:
        """Serves nothing more of files that their folders do not have any longer."""
        # A folder that is gone as a whole tells nothing: it may come back.
        for file in [file for file in self.held if file.parent.exists() and not file.exists()]:
            copy = self._copy(file, self.held.pop(file))
            empty = copy.with_suffix(".empty")
            empty.touch()
            empty.replace(copy)  # never in place: a hard link may still be read
            if not is_connect(spark):
                from pyspark import SparkFiles

                Path(SparkFiles.get(copy.name)).unlink(missing_ok=True)

    def _copy(self, file: Path, number: int) -> Path:
        return _spool() / shipped_name(self.sender, number, file.name)


_applications: dict[str, _Sent] = {}
_lock = Lock()


@cache
def _spool() -> Path:
    folder = tempfile.mkdtemp(prefix="pathcast-shipped-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
