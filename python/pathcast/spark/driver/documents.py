"""Reads documents into a DataFrame of ids and XML wherever they are: files, archives, tables, a topic."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import BinaryType, StringType, StructType

from pathcast.spark.driver.columns import column_type, quoted
from pathcast.spark.driver.workers import bound_batches, on_worker
from pathcast.spark.options import BATCH_BYTES
from pathcast.spark.worker.split import MAX_RECORD, Splitter, problem
from pathcast.spark.worker.unpack import UnpackJob, unpack_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["kafka_documents", "read_documents"]

_FILES = "path string, modificationTime timestamp, length bigint, content binary"  # as binaryFile gives them
_SUFFIXES = {
    **dict.fromkeys(("zip", "tar", "gz", "gzip", "tgz", "bz2", "tbz2", "xz", "txz"), "archive"),
    "parquet": "parquet",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "orc": "orc",
    "avro": "avro",
}
_TABLES = ("parquet", "json", "delta", "orc", "avro")
FORMATS = ("xml", "archive", *_TABLES, "kafka")


def read_documents(
    spark: SparkSession,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    id: str = "doc_id",
    document: str = "xml",
    record: str | None = None,
    glob: str | None = None,
    recursive: bool = True,
    max_bytes: int = MAX_RECORD,
    partitions: int | None = None,
    keep: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    schema: StructType | str | None = None,
    streaming: bool = False,
) -> DataFrame:
    """A DataFrame with the columns `id` and `document`.

    `path` is a file, a folder or a pattern as Spark takes it. `format` is one of:

    - `xml`: every file is a document, its path is the id;
    - `archive`: the same, and every entry of a zip or tar file; all may be compressed with gzip, bzip2 or xz;
    - `parquet`, `json`, `orc`, `avro`, or `delta` where the session has it: tables that hold the columns;
    - `kafka`: `path` is the topic, the id is `topic/partition/offset`; `options` has at least
      `kafka.bootstrap.servers`.

    Without it, the names of the files tell. With `record`, files are cut into records: every outermost
    element of that name (a local name, or `{uri}name`) is a document with the id `path#1`, `path#2` and so
    on, namespace declarations of its ancestors included. One file is cut by one task; its records are then
    spread over `partitions` (Spark's `spark.sql.shuffle.partitions`, if not given).

    A file or record of more than `max_bytes` is replaced by text that says so, which becomes a dead letter;
    files of no bytes at all are the one thing missing, because Spark's sources leave them out.
    With `glob`, only files whose name fits count. `keep` names further columns of tables, or of Kafka's
    records (`key`, `headers`, `timestamp`, ...), that are read too, for `match(..., keep=...)`.

    `streaming` reads files or a topic as they arrive; then `format` must be given and, for tables, `schema`.
    """
    path = os.fspath(path)
    if record is not None:
        Splitter(record)  # refuses a name that cannot be one
    if format is None:
        if streaming:
            raise ValueError(f"a stream needs its format: one of {', '.join(FORMATS)}")
        format = _guessed(spark, path, glob, recursive)
    if format not in FORMATS:
        raise ValueError(f"there is no format {format!r}; there are {', '.join(FORMATS)}")
    if record is not None and format not in ("xml", "archive"):
        raise ValueError(f"record= cuts files of XML, not {format}")
    reader = (spark.readStream if streaming else spark.read).options(**dict(options or {}))
    if format == "kafka":
        reader = reader.format("kafka")
        return kafka_documents(
            (reader if path == "" else reader.option("subscribe", path)).load(), id, document, keep
        )
    if format in _TABLES:
        table = (reader.schema(schema) if schema is not None else reader).format(format).load(path)
        column_type(table, id, f"documents in {path}")
        column_type(table, document, f"documents in {path}", (StringType, BinaryType))
        for name in keep:
            column_type(table, name, f"documents in {path}")
        return table.select(*(F.col(quoted(name)) for name in (id, document, *keep)))
    if keep:
        raise ValueError(f"files of {format} have no columns to keep, such as {keep[0]!r}")
    reader = reader.format("binaryFile").option("recursiveFileLookup", str(recursive).lower())
    if streaming:
        reader = reader.schema(_FILES)
    files = (reader if glob is None else reader.option("pathGlobFilter", glob)).load(path)
    bound_batches(spark, BATCH_BYTES)
    if format == "xml" and record is None:
        return _whole(files, max_bytes).toDF(id, document)
    job = UnpackJob(record, max_bytes, BATCH_BYTES)
    paths = files.select("path")
    documents = paths.mapInArrow(on_worker(unpack_files, job), "id string, document binary")
    if record is not None and not streaming:
        # By id and not round robin: a task that runs again must give the same rows to the same places.
        documents = (
            documents.repartition("id") if partitions is None else documents.repartition(partitions, "id")
        )
    return documents.toDF(id, document)


def kafka_documents(
    records: DataFrame, id: str = "doc_id", document: str = "xml", keep: Sequence[str] = ()
) -> DataFrame:
    """The documents of a DataFrame or stream as Spark's Kafka source gives it.

    `keep` names columns of the records that stay: `key`, `headers` (with the source's option
    `includeHeaders`), `timestamp`, `topic`, `partition`, `offset`.
    """
    for each in keep:
        column_type(records, each, "records")
    name = F.concat_ws("/", F.col("topic"), F.col("partition").cast("string"), F.col("offset").cast("string"))
    kept = [F.col(quoted(each)) for each in keep]
    return records.select(name.alias(id), F.col("value").alias(document), *kept)


def _whole(files: DataFrame, max_bytes: int) -> DataFrame:
    """Each file as a cell. Spark fails on one beyond 2 GiB, so long ones are told apart without reading.

    One task looks for them, at lengths only. The others are not put together here: that copies each file
    once more.
    """
    small = files.where(F.col("length") <= max_bytes).select("path", "content")
    note = problem(f"longer than {max_bytes:,} bytes")
    long = files.where(F.col("length") > max_bytes).select("path", F.lit(note).alias("content"))
    return small.union(long.coalesce(1))


def _guessed(spark: SparkSession, path: str, glob: str | None, recursive: bool) -> str:
    """The format that the names of the files suggest."""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", str(recursive).lower())
    files = (reader if glob is None else reader.option("pathGlobFilter", glob)).load(path)
    suffix = F.lower(F.regexp_extract("path", r"\.([A-Za-z0-9]+)$", 1))
    found = {row[0] for row in files.select(suffix).distinct().limit(100).collect()}
    formats = {_SUFFIXES.get(each, "xml") for each in found}
    if formats <= {"xml"}:
        return "xml"
    if formats <= {"xml", "archive"}:
        return "archive"
    if len(formats) == 1:
        return formats.pop()
    raise ValueError(
        f"{path} holds files of several formats ({', '.join(sorted(found))}): say which with format=, or "
        "choose files with glob="
    )
