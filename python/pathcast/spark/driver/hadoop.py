"""Folders that Spark's own file systems open: `hdfs:`, `dbfs:`, `s3a:` and whatever else the session has.

The driver of a classic session reaches them through its virtual machine. In Spark Connect there is none, and
`fsspec` must open the URL. A URL that nothing opens is an error; it never becomes a folder of this machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pathcast.errors import PathcastError
from pathcast.spark.folders import Folder, LocalFolder, StoredFolder
from pathcast.spark.places import local_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["HadoopFolder", "check_output", "index_folder", "spark_folder", "unknown_host"]


class UnknownHost(PathcastError):  # noqa: N818 - it is what is wrong
    """A URL whose host there is not."""


def unknown_host(text: str) -> str | None:
    """What to say of an error of Java's about a host that there is not; None if it is about something else.

    >>> unknown_host("java.net.UnknownHostException: nowhere.invalid")
    "there is no host 'nowhere.invalid': correct the URL, or spark.hadoop.fs.defaultFS if that has it"
    """
    found = re.search(r"UnknownHostException: ([^\s:;,]+)", text)
    return found and (
        f"there is no host {found[1]!r}: correct the URL, or spark.hadoop.fs.defaultFS if that has it"
    )


def spark_folder(place: str | os.PathLike[str], spark: SparkSession) -> Folder:
    """A folder that Spark writes to as well: opened as Spark does, so that both mean the same."""
    path = local_path(place)
    if path is not None:
        return LocalFolder(path)
    url = os.fspath(place)
    return StoredFolder(url).check() if _is_connect(spark) else HadoopFolder.open(url, spark)


def check_output(place: str | os.PathLike[str], spark: SparkSession) -> None:
    """Says before any work that the session cannot open a place; of a Connect server's, nothing is known."""
    if not _is_connect(spark):
        spark_folder(place, spark)


def index_folder(place: str | os.PathLike[str], spark: SparkSession | None) -> Folder:
    """A folder of compiled subscriptions: through `fsspec`, as workers can, or else as Spark opens it."""
    path = local_path(place)
    if path is not None:
        return LocalFolder(path)
    url = os.fspath(place)
    try:
        return StoredFolder(url).check()
    except PathcastError as error:
        if spark is None or _is_connect(spark):
            raise
        try:
            return HadoopFolder.open(url, spark)
        except UnknownHost:
            raise  # what opens the others is of no interest
        except PathcastError as other:
            raise PathcastError(f"{error}; and {other}") from None


def _is_connect(spark: SparkSession) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


@dataclass(frozen=True)
class HadoopFolder:
    """A folder in one of Hadoop's file systems."""

    url: str
    _jvm: Any
    _system: Any
    _conf: Any

    @classmethod
    def open(cls, url: str, spark: SparkSession) -> HadoopFolder:
        """`PathcastError` if the session has no such file system."""
        jvm: Any = spark._jvm
        conf = spark._jsparkSession.sessionState().newHadoopConf()
        with _told(url):
            return cls(url.rstrip("/"), jvm, jvm.org.apache.hadoop.fs.Path(url).getFileSystem(conf), conf)

    @property
    def place(self) -> str:
        return self.url

    def read(self, name: str) -> bytes:
        with _told(self.url):
            stream = self._system.open(self._path(name))
            try:
                return bytes(stream.readAllBytes())
            finally:
                stream.close()

    def write(self, name: str, contents: bytes) -> None:
        with _told(self.url), self._whole(name) as place:
            stream = self._system.create(place, True)
            stream.write(bytearray(contents))
            stream.close()

    def remove(self, name: str) -> None:
        with _told(self.url):
            self._system.delete(self._path(name), False)

    def names(self, below: str = "") -> list[str]:
        with _told(self.url):
            place = self._path(below)
            if not self._system.exists(place):
                return []
            found = self._system.listStatus(place)
            return sorted(each.getPath().getName() for each in found if each.isFile())

    def changed(self, name: str) -> float:
        with _told(self.url):
            return float(self._system.getFileStatus(self._path(name)).getModificationTime()) / 1000

    def fetch(self, name: str, to: Path) -> None:
        part = to.with_name(f".{to.name}.{uuid4().hex}.part")
        try:
            with _told(self.url):
                local = self._jvm.org.apache.hadoop.fs.Path(part.as_uri())
                self._system.copyToLocalFile(False, self._path(name), local, True)
            part.replace(to)
        finally:
            part.unlink(missing_ok=True)

    def put(self, name: str, file: Path) -> None:
        with _told(self.url), self._whole(name) as place:
            local = self._jvm.org.apache.hadoop.fs.Path(file.as_uri())
            self._system.copyFromLocalFile(False, True, local, place)

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.url}/{name}".rstrip("/"))

    @contextmanager
    def _whole(self, name: str) -> Iterator[Any]:
        """Where to write a file so that it shows when it is complete: as Spark's checkpoints do."""
        from py4j.protocol import Py4JJavaError
        from pyspark import SparkContext

        fs: Any = self._jvm.org.apache.hadoop.fs
        target = self._path(name)
        try:
            context = fs.FileContext.getFileContext(target.toUri(), self._conf)
        except Py4JJavaError as error:
            if "UnsupportedFileSystem" not in error.java_exception.getClass().getName():
                raise
            yield target  # object stores, which show nothing before it is complete
            return
        above, _, last = name.rpartition("/")
        part = self._path(f"{above}/.{last}.{uuid4().hex}.part".lstrip("/"))
        try:
            yield part
        except BaseException:
            self._system.delete(part, False)
            raise
        gateway: Any = SparkContext._gateway
        kind = getattr(fs, "Options$Rename")
        options = gateway.new_array(kind, 1)
        options[0] = kind.OVERWRITE
        context.rename(part, target, options)


@contextmanager
def _told(url: str) -> Iterator[None]:
    """Java's errors as ours."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:  # what PySpark knows by name, such as a host that there is not
        reason = str(error).partition("\n")[0]
        if told := unknown_host(reason):
            raise UnknownHost(f"Spark cannot use {url}: {told}") from None
        raise PathcastError(f"Spark cannot use {url}: {reason}") from None
    except Py4JJavaError as error:
        kind = error.java_exception.getClass().getName()
        message = error.java_exception.getMessage()
        if kind.endswith(("FileNotFoundException", "NoSuchFileException")):
            raise FileNotFoundError(str(message)) from None
        if told := unknown_host(str(error)):
            raise UnknownHost(f"Spark cannot use {url}: {told}") from None
        raise PathcastError(f"Spark cannot use {url}: {kind.rpartition('.')[2]}: {message}") from None
