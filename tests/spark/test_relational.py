"""The relational matcher on Spark SQL: verdicts, random pairs, and DataFrames in and out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pathcast.errors import SubscriptionErrors
from pathcast.relational import Relational
from pathcast.relational.spark import SparkRelational
from tests.relational.agreement import run
from tests.relational.backends import Make
from tests.relational.verdicts import wrong_verdicts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAIRS = int(os.environ.get("PATHCAST_SPARK_PAIRS", "0"))


@pytest.fixture
def make(spark: SparkSession) -> Iterator[Make]:
    made: list[Relational] = []

    def new(ignore: bool = False) -> Relational:
        # Every level is a job or more: what is higher than four is decided by the expression itself.
        made.append(Relational(spark, ignore_namespaces=ignore, levels=4))
        return made[-1]

    yield new
    for database in made:
        database.close()


def test_the_verdicts_of_testdata(make: Make) -> None:
    wrong = wrong_verdicts(make, modes=(False,))
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.skipif(not PAIRS, reason="two minutes and more: PATHCAST_SPARK_PAIRS says how many pairs")
def test_random_pairs(make: Make) -> None:
    pairs, wrong = run(31, range(PAIRS // 200), make)
    print(f"seed 31, {pairs} pairs")
    assert not wrong, "\n".join(wrong[:3])


def test_data_frames_in_and_out(spark: SparkSession, tmp_path: object) -> None:
    database = SparkRelational(spark, path=str(tmp_path))
    subscriptions = spark.createDataFrame(
        [(f"s{number}", f"/a/b[c = {number}]") for number in range(50)] + [("not", "//b[not(c)]")],
        "id string, xpath string",
    )
    database.subscribe(subscriptions)
    documents = spark.createDataFrame(
        [(10, "<a><b><c>7</c></b></a>"), (11, "<a>"), (12, "<b/>"), (13, None)], "doc_id int, xml string"
    )
    matches = database.match(documents)
    assert matches.columns == ["doc_id", "subscription_id"]
    assert {tuple(row) for row in matches.collect()} == {(10, "s7"), (12, "not")}
    dead = database.dead_letters.collect()
    assert {row["doc_id"]: row["line"] for row in dead} == {11: 1, 13: 0}
    for name, plan in database.plans.items():
        assert "CartesianProduct" not in plan, name
        assert "BroadcastNestedLoopJoin" not in plan, name

    database.unsubscribe(["s7"])
    database.subscribe([("s8", "/a/b[c = 7]"), (9, "//b")])
    again = SparkRelational(spark, path=str(tmp_path))
    assert len(again) == 51
    found = again.match([("x", b"<a><b><c>7</c></b></a>"), ("y", b"<a><b><c>8</c></b></a>")])
    assert found == [("x", 9), ("x", "s8"), ("y", 9)]
    # What was read before the change was seen is still there to be read.
    assert matches.count() == 2
    with pytest.raises(KeyError):
        again.unsubscribe(["s7"])
    bad = spark.createDataFrame([("t", "//a["), ("u", "//a")], "id string, xpath string")
    with pytest.raises(SubscriptionErrors) as caught:
        again.subscribe(bad)
    assert [json.dumps(id) for id, _ in caught.value.failures] == ['"t"']
    assert len(again) == 51
