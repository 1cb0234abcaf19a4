"""The columns of answers: as users get them, and as workers send them.

A worker sends a row for each document, with the list of its matches as `found`; Spark makes a row of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from pathcast.spark.artifact import Manifest
from pathcast.spark.driver.columns import quoted
from pathcast.spark.worker.answers import Result
from pathcast.spark.worker.kept import ID

__all__ = ["DEAD_COLUMNS", "NODE_COLUMNS", "answers", "check_kept", "columns", "sent_columns", "unlisted"]

_DEAD = [
    StructField("reason", StringType()),
    StructField("line", LongType()),
    StructField("column", LongType()),
    StructField("kind", StringType()),
    StructField("excerpt", StringType()),
]
DEAD_COLUMNS = [field.name for field in _DEAD]
"""What a dead letter has beside the document's id."""

_NODE = StructType([StructField("path", StringType()), StructField("text", StringType())])
_NODES = [StructField("nodes", ArrayType(_NODE)), StructField("nodes_left_out", LongType())]
NODE_COLUMNS = [field.name for field in _NODES]
"""What a match has beside the subscription, if nodes are asked for."""


_TAKEN = frozenset(
    ["doc_id", "subscription_id", "subscriber", "subscriptions", *NODE_COLUMNS, *DEAD_COLUMNS, ID]
)


def check_kept(names: Sequence[str], more: Sequence[str] = ()) -> None:
    """Columns of documents that are kept stand beside those of the results, so they are called otherwise.

    To Spark `Line` is `line`.
    """
    own, seen = {*_TAKEN, *more}, set[str]()
    for name in names:
        if name.lower() in own:
            raise ValueError(f"the results have a column {name!r} of their own: rename the one to keep")
        if name.lower() in seen:
            raise ValueError(f"keep names the column {name!r} twice")
        seen.add(name.lower())


def columns(result: Result, id_type: DataType, manifest: Manifest, nodes: bool = False) -> StructType:
    """What a result consists of. In `tagged`, a row is a dead letter if it has a `reason`."""
    return StructType([StructField("doc_id", id_type), *_fields(result, manifest, nodes)])


def answers(
    result: Result,
    documents: DataFrame,
    function: Callable[[Any], Any],
    manifest: Manifest,
    nodes: bool = False,
    id_type: DataType | None = None,
) -> DataFrame:
    """What workers say to documents, given as columns `id` and `document`."""
    schema = sent_columns(result, id_type or documents.schema["id"].dataType, manifest, nodes)
    return unlisted(documents.mapInArrow(function, schema), schema)


def sent_columns(result: Result, id_type: DataType, manifest: Manifest, nodes: bool = False) -> StructType:
    """What a result consists of as workers send it: matches are lists, of ids if there is no more to them."""
    if result not in ("matches", "tagged"):
        return columns(result, id_type, manifest, nodes)
    match = _match(manifest, nodes)
    # A dead letter among matches is a list of one null; other lists hold none, and Java need not look.
    found = ArrayType(match if len(match) > 1 else match[0].dataType, containsNull=result == "tagged")
    fields = [StructField("doc_id", id_type), StructField("found", found)]
    return StructType(fields + (_DEAD if result == "tagged" else []))


def unlisted(sent: DataFrame, schema: StructType) -> DataFrame:
    """A row for each match, of lists of them."""
    if "found" not in schema.names:
        return sent
    match = cast(ArrayType, schema["found"].dataType).elementType
    rows = F.inline("found") if isinstance(match, StructType) else F.explode("found").alias("subscription_id")
    rest = (quoted(name) for name in schema.names if name not in ("doc_id", "found"))
    return sent.select("doc_id", rows, *rest)


def _fields(result: Result, manifest: Manifest, nodes: bool) -> list[StructField]:
    match = _match(manifest, nodes)
    ids = ArrayType(match["subscription_id"].dataType, containsNull=False)
    subscriptions = StructField("subscriptions", ids)
    fields = {
        "matches": match.fields,
        "dead": _DEAD,
        "tagged": [*match.fields, *_DEAD],
        "grouped": [subscriptions],
        "delivered": [StructField("subscriber", StringType()), subscriptions],
    }
    return fields[result]


def _match(manifest: Manifest, nodes: bool) -> StructType:
    fields = [StructField("subscription_id", _type(manifest.id_type))]
    if manifest.subscriber_type:
        fields.append(StructField("subscriber", _type(manifest.subscriber_type)))
    return StructType([*fields, *(_NODES if nodes else [])])


def _type(name: str) -> DataType:
    """A type by the name that Spark gives it; the usual ones without a session, which data sources lack."""
    usual = (StringType(), LongType(), IntegerType(), ShortType(), ByteType())
    found = next((kind for kind in usual if kind.simpleString() == name), None)
    return found or cast(StructType, StructType.fromDDL(f"name {name}"))["name"].dataType
