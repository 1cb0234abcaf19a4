"""The columns of answers: as users get them, and as workers send them.

A worker sends a row for each document, with the list of its matches as `found`; Spark makes a row of each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import ArrayType, DataType, LongType, StringType, StructField, StructType

from pathcast.spark.artifact import Manifest
from pathcast.spark.worker.match import Want

__all__ = ["DEAD_COLUMNS", "answers", "columns"]

_DEAD = [
    StructField("reason", StringType()),
    StructField("line", LongType()),
    StructField("column", LongType()),
    StructField("kind", StringType()),
    StructField("excerpt", StringType()),
]
DEAD_COLUMNS = [field.name for field in _DEAD]
"""What a dead letter has beside the document's id."""


def columns(want: Want, id_type: DataType, manifest: Manifest) -> StructType:
    """Matches, dead letters, or both in one table: a row is a dead letter if it has a `reason`."""
    found = [] if want == "dead" else _match(manifest).fields
    dead = [] if want == "matches" else _DEAD
    return StructType([StructField("doc_id", id_type), *found, *dead])


def answers(
    want: Want, documents: DataFrame, function: Callable[[Any], Any], manifest: Manifest
) -> DataFrame:
    """What workers say to documents, given as columns `id` and `document`."""
    id_type = documents.schema["id"].dataType
    if want == "dead":
        return documents.mapInArrow(function, columns(want, id_type, manifest))
    dead = [] if want == "matches" else _DEAD
    found = StructField("found", ArrayType(_match(manifest)))
    sent = documents.mapInArrow(function, StructType([StructField("doc_id", id_type), found, *dead]))
    return sent.select("doc_id", F.inline("found"), *(field.name for field in dead))


def _match(manifest: Manifest) -> StructType:
    fields = [f"subscription_id {manifest.id_type}"]
    if manifest.subscriber_type:
        fields.append(f"subscriber {manifest.subscriber_type}")
    return cast(StructType, StructType.fromDDL(", ".join(fields)))
