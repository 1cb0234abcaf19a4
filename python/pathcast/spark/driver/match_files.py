"""Matches files: the data source, asked for lists of matches that Spark makes rows of.

A row for each match costs Spark more on its way from Python to Java than making it there from a list.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from pathcast.spark.driver.answers import unlisted
from pathcast.spark.driver.compiled import Compiled
from pathcast.spark.driver.datasource import OPTIONS, PathcastDataSource
from pathcast.spark.driver.match import Matched
from pathcast.spark.places import local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pathcast.spark.worker.answers import Result

__all__ = ["match_files"]


def match_files(
    spark: SparkSession,
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    subscriptions: Compiled | str | os.PathLike[str],
    *,
    result: Result = "matches",
    keep: Sequence[str] = (),
    **options: str,
) -> Matched:
    """What `match` gives, of documents in files, which workers read themselves.

    `subscriptions` are compiled, in a folder that all workers see; `keep` names columns of the files that go
    with every match and every dead letter; `options` are those of the data source, as text:
    `match_files(spark, "/data/news", "/data/index", id="number", document="body")`.
    """
    if isinstance(keep, str):
        raise TypeError(f"keep is a list of columns: keep=[{keep!r}]")
    if unknown := [name for name in options if name not in OPTIONS]:
        raise TypeError(f"there is no option {unknown[0]!r}; there are {', '.join(sorted(OPTIONS))}")
    if keep:
        options["keep"] = json.dumps(list(keep))
    spark.dataSource.register(PathcastDataSource)
    folder = subscriptions.place if isinstance(subscriptions, Compiled) else _whole(subscriptions)
    places = [paths] if isinstance(paths, str | os.PathLike) else paths
    load = partial(_load, spark, folder, [_whole(place) for place in places], options)
    return Matched(load(result), load("dead"), partial(load, "tagged"))


def _whole(place: str | os.PathLike[str]) -> str:
    """Java may have started in another folder than the one that we are in now."""
    return os.fspath(local_path(place) or place)


def _load(
    spark: SparkSession, folder: str, places: list[str], options: dict[str, str], result: Result
) -> DataFrame:
    if result == "dead":  # there are no matches that could have nodes
        options = {name: value for name, value in options.items() if name != "nodes"}
    reader = spark.read.format("pathcast").options(**options, index=folder, result=result, shape="lists")
    found = reader.load(places)
    return unlisted(found, found.schema)
