"""Rows of subscriptions on their way to shards by what they require, and the file that routes documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from pathcast.spark.artifact import Routing, Settings, replace_file, sha256
from pathcast.spark.driver.placement import SAMPLE, placement
from pathcast.spark.driver.workers import on_worker
from pathcast.spark.worker.compile import digest
from pathcast.spark.worker.placing import PlacingJob, place_rows

__all__ = ["Ids", "count_ids", "placed", "sampled", "written"]

_BROADCAST = 100_000  # ids that are there several times, which every worker may hold


class Ids(NamedTuple):
    """How many rows there are, and how many ids that several of them have."""

    rows: int
    repeated: int


def count_ids(rows: DataFrame) -> Ids:
    """Only ids are read and shuffled for it."""
    found = _copies(rows).agg(F.sum("copies"), F.count_if(F.col("copies") > 1)).collect()[0]
    return Ids(found[0] or 0, found[1])


def _copies(rows: DataFrame) -> DataFrame:
    return rows.groupBy("id").agg(F.count(F.lit(1)).alias("copies"))


def sampled(rows: DataFrame, ids: Ids, shards: int) -> Routing:
    """Where the rows are to go, decided from some of them: equal tables give equal samples."""
    some = rows.where(
        "xpath is not null and variables is null and (namespaces is null or size(namespaces) = 0)"
    )
    every = ids.rows // SAMPLE
    if every > 1:
        some = some.where(F.pmod(F.xxhash64("id"), F.lit(every)) == 0)
    table = some.select("xpath").orderBy("xpath").limit(2 * SAMPLE).toArrow()
    return placement(table["xpath"].to_pylist(), shards)


def placed(rows: DataFrame, ids: Ids, routing: Routing) -> DataFrame:
    """The rows, each with its shard and with what it requires."""
    spread = F.pmod(F.xxhash64("id"), F.lit(1 << 30)).cast("int")
    bare = rows.drop("shard")
    # Spark would shuffle all rows to join them with the ids that are there several times: mostly none are.
    if ids.repeated:
        several = _copies(rows).where("copies > 1")
        few = ids.repeated <= _BROADCAST
        counted = bare.join(F.broadcast(several) if few else several, "id", "left")
    else:
        counted = bare.withColumn("copies", F.lit(None).cast("bigint"))
    counted = counted.withColumn("spread", spread)
    names = [f"`{name}` {kind}" for name, kind in counted.dtypes if name not in ("spread", "copies")]
    schema = ", ".join(["shard int", *names, "required string"])
    return counted.mapInArrow(on_worker(place_rows, PlacingJob(routing)), schema)


def written(folder: Path, routing: Routing, texts: Mapping[str, list[int]], settings: Settings) -> Routing:
    """Writes the requirements with their shards beside the shards."""
    ordered = sorted(texts)
    table = pa.table(
        {
            "text": pa.array(ordered, pa.string()),
            "shards": pa.array([sorted(texts[text]) for text in ordered], pa.list_(pa.int32())),
        }
    )
    name = f"routing-{_content(table, settings)[:20]}.arrow"
    buffer = pa.BufferOutputStream()
    with pa.ipc.new_file(buffer, table.schema) as file:
        file.write_table(table)
    replace_file(folder / name, buffer.getvalue().to_pybytes())
    return replace(routing, name=name, sha256=sha256(folder / name), requirements=len(ordered))


def _content(table: pa.Table, settings: Settings) -> str:
    shards = [" ".join(map(str, each)) for each in table["shards"].to_pylist()]
    return digest(pa.table({"text": table["text"], "shards": pa.array(shards, pa.string())}), settings)
