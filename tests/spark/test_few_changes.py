"""A few plain changes are read as they are, and are what Spark would have made of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pathcast.spark.driver.compile import _changes
from pathcast.spark.driver.delta import FEW
from pathcast.spark.driver.few_changes import few_changes
from tests.spark.shards import published

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WHO = "id string, xpath string, subscriber string"


def test_they_are_what_spark_makes_of_them(spark: SparkSession, tmp_path: Path) -> None:
    manifest = published(tmp_path / "index", [])
    plain = replace(manifest, subscriber_type=None)
    rows = [("a", "//a", "ann"), ("b", None, None), (None, "//b", "ann"), ("a", "//c", "bob")]
    for described, given, schema in (
        (manifest, rows, WHO),
        (plain, [row[:2] for row in rows], "id string, xpath string"),
        (plain, [row[1::-1] for row in rows], "xpath string, id string"),
        (plain, [], "id string, xpath string"),
    ):
        frame = spark.createDataFrame(given, schema)
        made = few_changes(frame, described, "id", "xpath")
        assert made is not None
        wanted = _changes(frame, None, described, id="id", xpath="xpath", latest_by=None).toArrow()
        assert made.schema.names == wanted.schema.names
        assert made.cast(wanted.schema).to_pylist() == wanted.to_pylist()


def test_others_are_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    manifest = published(tmp_path / "index", [])
    plain = replace(manifest, subscriber_type=None)
    row = spark.createDataFrame([("a", "//a")], "id string, xpath string")
    assert few_changes(row, plain, "id", "xpath") is not None
    assert few_changes(row, manifest, "id", "xpath") is None, "a subscriber is missing"
    assert few_changes(row, replace(plain, id_type="bigint"), "id", "xpath") is None
    assert few_changes(row, replace(plain, shards=manifest.shards * 2), "id", "xpath") is None
    assert few_changes(row, plain, "number", "xpath") is None
    assert few_changes(row.selectExpr("*", "true as ordered"), plain, "id", "xpath") is None
    assert few_changes(row.selectExpr("*", "id"), plain, "id", "xpath") is None
    many = spark.range(FEW + 1).selectExpr("string(id) as id", "'//a' as xpath")
    assert few_changes(many, plain, "id", "xpath") is None
    made = few_changes(many.limit(FEW), plain, "id", "xpath")
    assert made is not None
    assert made.num_rows == FEW
