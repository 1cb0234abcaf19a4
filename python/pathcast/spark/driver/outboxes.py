"""Outboxes: every subscriber gets each document that it asked for once, unchanged, and is told why.

    matches, dead = match(documents, subscriptions)
    delivered = deliver(matches, documents)
    write_outboxes(delivered, "/data/outboxes")

`deliver` gives a DataFrame; `write_outboxes` puts it into a folder for each subscriber, `send_outboxes` into
a Kafka topic. A subscription without a subscriber is its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import BinaryType, StringType

from pathcast.spark.driver.columns import column_type, quoted
from pathcast.spark.driver.delivery_ids import delivery_column, hash_column

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["deliver", "outbox_name", "read_outbox", "send_outboxes", "write_outboxes"]

_NAME = 76  # bytes: three times as many fit into the name of a folder, should all have to be escaped
_HASHED = "sha256-"
_DEFAULT = "__HIVE_DEFAULT_PARTITION__"
_SPECIAL = re.compile("[\x01-\x1f\x7f\"#%'*/:=?\\\\{\\[\\]^]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")  # Spark escapes most of them in names of folders, but not all


def deliver(
    matches: DataFrame,
    documents: DataFrame,
    document: str = "xml",
    id: str = "doc_id",
    *,
    index_version: str = "",
) -> DataFrame:
    """One row for each subscriber and document: `subscriber`, `doc_id`, `document`, `subscriptions`, ...

    `matches` come from `match` or from a stream, `documents` are what was matched. `subscriptions` is the
    sorted list of those that matched, `document` the bytes or the text as it came; then follow
    `document_hash`, `index_version` (of the matches, else the argument) and `delivery_id`. A document that is
    there twice with equal bytes is delivered once. If it has other bytes each time, the matches of a stream
    tell which is meant; those of `match` do not, and the job fails and says so.
    """
    column_type(matches, "doc_id", "matches")
    column_type(matches, "subscription_id", "matches")
    column_type(documents, id, "documents")
    column_type(documents, document, "documents", (StringType, BinaryType))
    told_apart = "document_hash" in matches.columns
    subscriber = F.col("subscription_id").cast("string")
    if "subscriber" in matches.columns:
        subscriber = F.coalesce(F.col("subscriber").cast("string"), subscriber)
    version = F.col("index_version") if "index_version" in matches.columns else F.lit(index_version)
    keys = ["doc_id", "document_hash"] if told_apart else ["doc_id"]
    # Some names of its own: the two may be made from one another, and both may have null ids.
    wanted = (
        matches.select(
            *keys,
            subscriber.alias("subscriber"),
            version.alias("index_version"),
            F.col("subscription_id"),
        )
        .groupBy(*keys, "subscriber", "index_version")
        .agg(F.array_sort(F.collect_set("subscription_id")).alias("subscriptions"))
        .withColumnsRenamed({key: f"wanted_{key}" for key in keys})
    )
    there = documents.select(
        F.col(quoted(id)).alias("doc_id"),
        F.col(quoted(document)).alias("document"),
        hash_column(F.col(quoted(document))).alias("document_hash"),
    ).dropDuplicates(["doc_id", "document_hash"])
    if not told_apart:
        there = _unambiguous(there)
    condition = F.col("doc_id").eqNullSafe(F.col("wanted_doc_id"))
    if told_apart:
        condition &= F.col("document_hash") == F.col("wanted_document_hash")
    joined = wanted.join(there, condition)
    delivered = delivery_column(
        F.col("doc_id"), F.col("document_hash"), F.col("subscriber"), F.col("index_version")
    )
    return joined.select(
        "subscriber",
        "doc_id",
        "document",
        "subscriptions",
        "document_hash",
        "index_version",
        delivered.alias("delivery_id"),
    )


def _unambiguous(documents: DataFrame) -> DataFrame:
    """Fails when a document is asked for that is there with different contents."""
    count = F.count(F.lit(1)).over(Window.partitionBy("doc_id"))
    message = F.concat(
        F.lit("document "),
        F.coalesce(F.col("doc_id").cast("string"), F.lit("null")),
        F.lit(
            " is there several times with different contents, and the matches do not tell which is meant: "
        ),
        F.lit("make ids unique, or deliver the matches of a stream, which have the column document_hash"),
    )
    counted = documents.withColumn("copies", count)
    sure = F.when(F.col("copies") > 1, F.raise_error(message)).otherwise(F.col("document"))
    return counted.withColumn("document", sure).drop("copies")


def outbox_name(subscriber: str) -> str:
    """What stands behind `subscriber=` in the name of a subscriber's folder, before Spark escapes it.

    >>> outbox_name("Jane Doe"), outbox_name("")[:14]
    ('Jane Doe', 'sha256-e3b0c44')
    """
    short = 0 < len(subscriber.encode()) <= _NAME and not _CONTROL.search(subscriber)
    if short and not subscriber.startswith(_HASHED) and subscriber != _DEFAULT:
        return subscriber
    return _HASHED + hashlib.sha256(subscriber.encode()).hexdigest()


def _outbox_column(subscriber: Column) -> Column:
    length = F.octet_length(subscriber)
    plain = (length > 0) & (length <= _NAME) & (subscriber != _DEFAULT) & ~subscriber.startswith(_HASHED)
    plain &= ~subscriber.rlike(_CONTROL.pattern)
    hashed = F.concat(F.lit(_HASHED), F.sha2(subscriber.cast("binary"), 256))
    return F.when(plain, subscriber).otherwise(hashed)


def write_outboxes(delivered: DataFrame, path: str, *, format: str = "parquet") -> None:
    """Writes `path/subscriber=<name>/`, over what was in `path` before.

    The name is the subscriber's, with what a file name cannot hold escaped by Spark, or a hash of one that is
    empty, long or has control characters; the column `subscriber_name` in the files has it in full.
    `read_outbox` reads one.
    """
    (
        delivered.withColumn("subscriber_name", F.col("subscriber"))
        .withColumn("subscriber", _outbox_column(F.col("subscriber")))
        .repartition("subscriber")
        .write.mode("overwrite")
        .partitionBy("subscriber")
        .format(format)
        .save(path)
    )


def read_outbox(spark: SparkSession, path: str, subscriber: str, *, format: str = "parquet") -> DataFrame:
    """What was written for one subscriber, as `deliver` gave it; nobody else's folders are looked into.

    `path` is what `write_outboxes` got, or the folder `outboxes` of a `FileSink`, which has one a batch.
    """
    top, folder = path.rstrip("/"), f"subscriber={_escaped(outbox_name(subscriber))}"
    # Spark would take some characters of the name for a pattern.
    folder = re.sub(r"([\\*?\[\]{}])", r"\\\1", folder)
    reader = spark.read.format(format)
    for place in (f"{top}/{folder}", f"{top}/batch=*/{folder}"):
        try:
            found = reader.load(place)
            return _outbox(found, found.columns)
        except AnalysisException as error:
            if "PATH_NOT_FOUND" not in str(error):
                raise
    everything = reader.load(path)
    columns = [name for name in everything.columns if name not in ("subscriber", "batch")]
    return _outbox(everything.where(F.lit(False)), columns)


def _outbox(found: DataFrame, columns: list[str]) -> DataFrame:
    rest = [quoted(name) for name in columns if name != "subscriber_name"]
    return found.select(F.col("subscriber_name").alias("subscriber"), *rest)


def _escaped(name: str) -> str:
    """A name as Spark writes it into the name of a folder."""
    return _SPECIAL.sub(lambda found: f"%{ord(found[0]):02X}", name)


def send_outboxes(delivered: DataFrame, topic: str, options: Mapping[str, str]) -> None:
    """Sends every row to a Kafka topic with Spark's connector: at least once.

    The key is the subscriber, the value the document as it came; the headers `delivery_id`, `doc_id`,
    `index_version` and `subscriptions` (a JSON array) say the rest. A consumer that drops delivery ids it has
    seen has each document once. `options` has at least `kafka.bootstrap.servers`.
    """
    outbox_messages(delivered).write.format("kafka").options(**dict(options)).option("topic", topic).option(
        "includeHeaders", "true"
    ).save()


def outbox_messages(delivered: DataFrame) -> DataFrame:
    """The messages: `key`, `value`, `headers`."""
    headers = {
        "delivery_id": F.col("delivery_id"),
        "doc_id": F.coalesce(F.col("doc_id").cast("string"), F.lit("")),
        "index_version": F.col("index_version"),
        "subscriptions": F.to_json(F.col("subscriptions")),
    }
    structs = [
        F.struct(F.lit(name).alias("key"), column.cast("binary").alias("value"))
        for name, column in headers.items()
    ]
    return delivered.select(
        F.col("subscriber").cast("binary").alias("key"),
        F.col("document").cast("binary").alias("value"),
        F.array(*structs).alias("headers"),
    )
