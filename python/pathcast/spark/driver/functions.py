"""SQL functions for a session: `register_functions(spark, "/data/index")`.

pathcast_match(xml)           array<string>   the subscriptions that a document satisfies
pathcast_matches(xpath, xml)  boolean         whether a document satisfies an expression
pathcast_select(xpath, xml)   array<struct>   the nodes that it selects: `path` and `text`
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.pandas.functions import ArrowUDFType, arrow_udf

from pathcast.spark.driver.compiled import Compiled
from pathcast.spark.driver.workers import on_worker, shard_files
from pathcast.spark.options import MatchOptions
from pathcast.spark.worker.functions import FunctionJob, match_column, matches_columns, select_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register_functions"]


def register_functions(
    spark: SparkSession,
    subscriptions: Compiled | str | os.PathLike[str] | None = None,
    *,
    engine: str = "auto",
    ship: bool | None = None,
) -> None:
    """Makes the functions known to a session, for SQL and `F.call_function`.

    `pathcast_match` uses the version that is in the folder now; call this again after a new one was
    compiled. Without a folder it is left out. A bad document gives null, and so does a selection of more
    than 1 MiB.

        register_functions(spark, "/data/index")
        spark.sql("select doc_id, explode(pathcast_match(xml)) from news")
    """
    _register(spark, "pathcast_matches", "boolean", on_worker(matches_columns, FunctionJob()))
    nodes = "array<struct<path: string, text: string>>"
    _register(spark, "pathcast_select", nodes, on_worker(select_columns, FunctionJob()))
    if subscriptions is None:
        return
    compiled = subscriptions if isinstance(subscriptions, Compiled) else Compiled.open(subscriptions)
    # A row is matched with all shards at once, so a worker holds them all.
    files = shard_files(spark, compiled, MatchOptions(engine=engine, ship=ship))
    job = FunctionJob(tuple(replace(each, keep=len(files) + 1) for each in files))
    _register(spark, "pathcast_match", "array<string>", on_worker(match_column, job))


def _register(spark: SparkSession, name: str, result: str, function: Any) -> None:
    with warnings.catch_warnings():
        # It prefers type hints, which what travels by value has none of.
        warnings.simplefilter("ignore", UserWarning)
        made = arrow_udf(function, result, ArrowUDFType.SCALAR_ITER)
    spark.udf.register(name, made)
