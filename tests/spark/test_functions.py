"""SQL functions give what the index gives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pathcast
from pathcast.spark import compile_subscriptions, register_functions
from tests.spark.data import world

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("shards", [1, 3])
def test_sql_gives_what_the_index_gives(spark: SparkSession, tmp_path: Path, shards: int) -> None:
    here = world(seed=11, documents=60, subscriptions=80)
    documents, subscriptions = here.frames(spark)
    compile_subscriptions(subscriptions, tmp_path, shards=shards)
    register_functions(spark, tmp_path)
    documents.createOrReplaceTempView("news")
    assert spark.sql("select pathcast_match(null)").collect() == [(None,)]
    rows = spark.sql("select doc_id, pathcast_match(xml) as found from news").collect()
    assert sorted((row.doc_id, id) for row in rows for id in row.found or ()) == here.matches()
    assert sorted(row.doc_id for row in rows if row.found is None) == [each[0] for each in here.dead()]


def test_one_expression_in_sql(spark: SparkSession) -> None:
    register_functions(spark)
    good = [("//a", "<a/>"), ("//b", "<a/>"), ("/a[b]", "<a><b/></a>"), ("//b", "<b/>")]
    rows = [*good, (None, "<a/>"), ("//a", None), ("//a", "<a")]
    spark.createDataFrame(rows, "xpath string, xml string").createOrReplaceTempView("pairs")
    found = spark.sql("select xpath, xml, pathcast_matches(xpath, xml) as fits from pairs").collect()
    fits = {(row.xpath, row.xml): row.fits for row in found}
    assert all(fits[pair] == pathcast.matches(*pair) for pair in good)
    assert [pair for pair in rows if fits[pair] is None] == rows[len(good) :]
    nested = "<a>" * 100 + "x" * 20_000 + "</a>" * 100  # every text is that of the innermost
    rows = [("//b", "<a><b x='1'>one</b><b>two</b></a>"), ("//b/@x", "<a><b x='1'/></a>"), ("//c", "<a/>")]
    rows += [("count(//a)", "<a/>"), ("//a", None), (None, "<a/>"), ("//a", "<a"), ("//a", nested)]
    spark.createDataFrame(rows, "xpath string, xml string").createOrReplaceTempView("pairs")
    found = spark.sql("select xpath, xml, pathcast_select(xpath, xml) as nodes from pairs").collect()
    nodes = {(row.xpath, row.xml): row.nodes and [tuple(node) for node in row.nodes] for row in found}
    expected = [[("/a[1]/b[1]", "one"), ("/a[1]/b[2]", "two")], [("/a[1]/b[1]/@x", "1")], [], []]
    assert [nodes[row] for row in rows] == [*expected, None, None, None, None]
    nulls = ("matches(null, '<a/>')", "matches('//a', null)", "select(null, '<a/>')", "select('//a', null)")
    (row,) = spark.sql(f"select {', '.join(f'pathcast_{each}' for each in nulls)}").collect()
    assert list(row) == [None] * 4
    for function in ("matches", "select"):
        with pytest.raises(Exception, match="expected a step"):
            spark.sql(f"select pathcast_{function}('//a[', '<a/>')").collect()
