"""Outboxes: every subscriber gets each document that it asked for once, unchanged, and is told why.

    matches, dead = match(documents, subscriptions)
    delivered = deliver(matches, documents)
    write_outboxes(delivered, "/data/outboxes")

`deliver` gives a DataFrame; `write_outboxes` (`outbox_log`) puts it into files, `send_outboxes` into a Kafka
topic. A subscription without a subscriber is its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import BinaryType, StringType

from pathcast.spark.driver.columns import column_type, quoted
from pathcast.spark.driver.delivery_ids import delivery_column, hash_column

__all__ = ["deliver", "outbox_messages", "send_outboxes"]


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
