"""Outboxes as a log in files: a row for each delivery, every document once, all subscribers in a few files.

    path/log/batch=00000012/kind=delivery/bucket=b7/    who gets what, sorted by subscriber
    path/log/batch=00000012/kind=document/bucket=be/    the documents, by their hash
    path/acknowledged/call=.../bucket=b7/               what subscribers have taken

A bucket is the first digit of a hash, so reading one subscriber looks into a sixteenth of the deliveries, and
from there only at row groups that may have the name. A batch is written by one job and replaces itself.
"""

from __future__ import annotations

import hashlib
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from pathcast.spark.driver.columns import column_type, quoted
from pathcast.spark.driver.delivery_ids import hash_column

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["acknowledge_outbox", "read_outbox", "write_outboxes"]

Subscriber: TypeAlias = str | int | Decimal | date  # a truth value is an int
_DELIVERY, _DOCUMENT = "delivery", "document"
_FIRST = ("subscriber", "doc_id", "document")
_NOTHING = (
    "subscriber string, doc_id string, document binary, subscriptions array<string>, delivery_id string"
)


def _bucket(hash: Column) -> Column:
    return F.concat(F.lit("b"), F.substring(hash, 1, 1))


def _subscriber_bucket() -> Column:
    return _bucket(F.sha2(F.col("subscriber").cast("string").cast("binary"), 256))


def _text(subscriber: Subscriber) -> str:
    """As Spark writes it: in an outbox every name is text."""
    if isinstance(subscriber, bool):
        return str(subscriber).lower()
    return f"{subscriber:f}" if isinstance(subscriber, Decimal) else str(subscriber)


def _bucket_of(subscriber: str) -> str:
    return f"b{hashlib.sha256(subscriber.encode()).hexdigest()[0]}"


def write_outboxes(
    delivered: DataFrame, path: str, *, batch: int | None = None, format: str = "parquet"
) -> None:
    """Writes what `deliver` gave to `path/log`, over what was there; with `batch`, over that batch alone.

    A document that many subscribers get is stored once. `read_outbox` reads what is there for one of them.
    What was acknowledged stays so, since a delivery that is written again has the same id.
    """
    for name in _FIRST:
        column_type(delivered, name, "deliveries")
    if "document_hash" not in delivered.columns:
        delivered = delivered.withColumn("document_hash", hash_column(F.col("document")))
    deliveries = delivered.drop("document").select(
        "*", F.lit(_DELIVERY).alias("kind"), _subscriber_bucket().alias("bucket")
    )
    documents = (
        delivered.groupBy("document_hash")
        .agg(F.first("document").alias("document"))
        .select("*", F.lit(_DOCUMENT).alias("kind"), _bucket(F.col("document_hash")).alias("bucket"))
    )
    parts = ["kind", "bucket"]
    place = f"{path}/log"
    rows = deliveries.unionByName(documents, allowMissingColumns=True)
    if batch is None:
        rows = rows.withColumn("batch", F.lit(0))
    else:
        place += f"/batch={batch:08}"
    (
        rows.repartition(*parts)
        .sortWithinPartitions(*parts, "subscriber")
        .write.mode("overwrite")
        .option("partitionOverwriteMode", "static")  # a session may say that buckets stay
        .partitionBy(*(["batch"] if batch is None else []), *parts)
        .format(format)
        .save(place)
    )


def read_outbox(
    spark: SparkSession,
    path: str,
    subscriber: Subscriber,
    *,
    acknowledged: bool = False,
    format: str = "parquet",
) -> DataFrame:
    """What was written for one subscriber, as `deliver` gave it, without what was acknowledged.

    `path` is what `write_outboxes` got, or the folder `outboxes` of a `FileSink`. With `acknowledged` all of
    it. There is nothing in an outbox that nothing was written to yet.
    """
    log = _load(spark, f"{path}/log", format)
    if log is None:
        return spark.createDataFrame([], _NOTHING)
    name = _text(subscriber)
    mine = (F.col("bucket") == _bucket_of(name)) & (F.col("subscriber").cast("string") == name)
    wanted = log.where((F.col("kind") == _DELIVERY) & mine).drop("kind", "bucket", "document")
    columns = [name for name in wanted.columns if name not in (*_FIRST, "batch")]
    if "delivery_id" in columns and not acknowledged:
        taken = _load(spark, f"{path}/acknowledged", format)
        if taken is not None:
            wanted = wanted.join(taken.where(mine).select("delivery_id"), "delivery_id", "left_anti")
    documents = log.where(F.col("kind") == _DOCUMENT).select(
        F.col("batch").alias("its_batch"),
        F.col("bucket").alias("its_bucket"),
        F.col("document_hash").alias("its_hash"),
        "document",
    )
    # The bucket adds nothing but the folders that need not be read.
    same = (
        (F.col("batch") == F.col("its_batch"))
        & (_bucket(F.col("document_hash")) == F.col("its_bucket"))
        & (F.col("document_hash") == F.col("its_hash"))
    )
    return wanted.join(documents, same).select(*_FIRST, *map(quoted, columns))


def acknowledge_outbox(taken: DataFrame, path: str, *, format: str = "parquet") -> None:
    """Notes that rows of `read_outbox` need not be read again: their columns `subscriber` and `delivery_id`.

    Several subscribers may do so at once. Acknowledging twice changes nothing.
    """
    for name in ("subscriber", "delivery_id"):
        column_type(taken, name, "deliveries")
    rows = taken.select("subscriber", "delivery_id", _subscriber_bucket().alias("bucket")).distinct()
    # A folder of its own: two jobs that write into one take each other's unfinished files away.
    place = f"{path}/acknowledged/call={uuid4().hex}"
    rows.repartition("bucket").write.partitionBy("bucket").format(format).save(place)


def _load(spark: SparkSession, place: str, format: str) -> DataFrame | None:
    try:
        # An option that nobody knows, new each time: of two plans that are equal, Spark answers the second
        # from what was persisted for the first, whatever was written meanwhile.
        found = spark.read.format(format).option("pathcastRead", uuid4().hex).load(place)
        _ = found.schema  # Connect looks for the place when something is asked
        return found
    except AnalysisException as error:
        if any(each in str(error) for each in ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")):
            return None
        raise
