"""From matches to deliveries: who gets which document, once, and why."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from pathcast.spark.session import column_type

__all__ = ["deliver"]


def deliver(matches: DataFrame, documents: DataFrame, *, subscriber: str = "subscriber") -> DataFrame:
    """One row for each subscriber and document: `subscriber`, `doc_id`, `xml`, `subscription_ids`.

    A subscriber gets one copy of a document however many of its subscriptions matched, with the sorted list
    of them; the document's column keeps its type and bytes. `matches` is what `match` gives, `documents` has
    the columns `doc_id` and `xml`. Documents meet their deliveries after the grouping, so that their text is
    shuffled once for each document and not once for each match.
    """
    for name in ("doc_id", "subscription_id", subscriber):
        column_type(matches, name, "matches")
    for name in ("doc_id", "xml"):
        column_type(documents, name, "documents")
    chosen = matches.groupBy(F.col(subscriber).alias("subscriber"), "doc_id").agg(
        F.array_sort(F.collect_set("subscription_id")).alias("subscription_ids")
    )
    joined = chosen.join(documents.select("doc_id", "xml"), "doc_id")
    return joined.select("subscriber", "doc_id", "xml", "subscription_ids")
