"""A few changes as a table of the driver's, as they are: Spark has nothing to work out and no plan to make.

That is so for rows that only say an id, an expression and perhaps a subscriber, where no shard has to be
found. To plan and compile the rest for one row took 50 of 130 ms of processor time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pathcast.spark.driver.delta import FEW

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pathcast.spark.artifact import Manifest

__all__ = ["few_changes"]


def few_changes(changed: DataFrame, manifest: Manifest, id: str, xpath: str) -> Any | None:
    """The rows, each with every column that workers read; None if they are many, or not as plain as that."""
    if len(manifest.shards) > 1 and manifest.routing is None:
        return None  # Spark hashes ids
    wanted = [(id, manifest.id_type), (xpath, "string")]
    if manifest.subscriber_type:
        wanted.append(("subscriber", manifest.subscriber_type))
    if sorted((field.name, field.dataType.simpleString()) for field in changed.schema) != sorted(wanted):
        return None
    rows = changed.limit(FEW + 1).toArrow()
    if rows.num_rows > FEW:
        return None
    columns = {
        "shard": pa.array([0] * rows.num_rows, pa.int32()),
        "id": rows[id],
        "xpath": rows[xpath],
        "ordered": pa.nulls(rows.num_rows, pa.bool_()),
        "namespaces": pa.nulls(rows.num_rows, pa.map_(pa.string(), pa.string())),
        "variables": pa.nulls(rows.num_rows, pa.string()),
    }
    if manifest.subscriber_type:
        columns["subscriber"] = rows["subscriber"]
    columns["problem"] = pa.nulls(rows.num_rows, pa.string())
    columns["seed"] = columns["removed"] = pa.array([False] * rows.num_rows, pa.bool_())
    return pa.table(columns)
