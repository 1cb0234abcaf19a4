"""Variables of subscriptions, the nodes that matches select, and pairs that are not decided, on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pathcast import Limits
from pathcast.spark import (
    PathcastDataSource,
    compile_subscriptions,
    match,
    match_tagged,
    register_functions,
    split_tagged,
    stream,
    update_subscriptions,
)
from pathcast.spark.worker import nodes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DOCUMENTS = [
    ("d1", "<r><type>x</type><a t='x'>one</a><a t='y'>two</a></r>"),
    ("d2", "<r><type>y</type><a t='x'>3</a></r>"),
    ("d3", "<r><a"),
]


def documents(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(DOCUMENTS, "doc_id string, xml string")


def pairs(matches: DataFrame) -> list[tuple[Any, Any]]:
    return sorted((row.doc_id, row.subscription_id) for row in matches.collect())


@pytest.mark.parametrize("shards", [1, 3])
def test_a_map_binds_strings(spark: SparkSession, shards: int) -> None:
    rows = [("s1", "//a[@t = $t]", {"t": "y"}), ("s2", "//a[@t = $t]", {"t": "x"}), ("s3", "//a", None)]
    table = spark.createDataFrame(rows, "id string, xpath string, variables map<string,string>")
    matches, _ = match(documents(spark), table, shards=shards)
    assert pairs(matches) == [("d1", "s1"), ("d1", "s2"), ("d1", "s3"), ("d2", "s2"), ("d2", "s3")]


def test_maps_of_numbers_and_booleans_bind_those(spark: SparkSession) -> None:
    numbers = spark.createDataFrame(
        [("n", "//a[$n]/@t = 'y'", {"n": 2.0})], "id string, xpath string, variables map<string,double>"
    )
    assert pairs(match(documents(spark), numbers).matches) == [("d1", "n")]
    flags = spark.createDataFrame(
        [("b", "//a[$b]/@t = 'x'", {"b": True})], "id string, xpath string, variables map<string,boolean>"
    )
    assert pairs(match(documents(spark), flags).matches) == [("d1", "b"), ("d2", "b")]


def test_json_binds_everything_and_what_is_none_is_rejected(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        ("text", "//a[@t = $t]", '{"t": "y"}'),
        ("number", "count(//a) = $n", '{"n": 1}'),
        ("expression", "//a[@t = $t]", '{"t": {"xpath": "/r/type"}}'),
        ("plain", "//type", ""),
        ("broken", "//a[@t = $t]", "{t: y}"),
        ("list", "//a[@t = $t]", '["y"]'),
        ("unbound", "//a[@t = $u]", '{"t": "y"}'),
    ]
    table = spark.createDataFrame(rows, "id string, xpath string, variables string")
    compiled = compile_subscriptions(table, tmp_path / "index", shards=2)
    expected = [("d1", "expression"), ("d1", "plain"), ("d1", "text"), ("d2", "number"), ("d2", "plain")]
    assert pairs(match(documents(spark), compiled).matches) == expected
    rejected = {row.id: row.reason for row in compiled.rejected.collect()}
    assert rejected.keys() == {"broken", "list", "unbound"}
    assert "variables must be a JSON object" in rejected["broken"]
    assert "`$u` is not bound" in rejected["unbound"]

    changed = spark.createDataFrame(
        [("text", "//a[@t = $t]", '{"t": "none"}'), ("new", "//a[. = $n]", '{"n": 3}')], table.schema
    )
    updated = update_subscriptions(compiled, changed)
    expected = [("d1", "expression"), ("d1", "plain"), ("d2", "new"), ("d2", "number"), ("d2", "plain")]
    assert pairs(match(documents(spark), updated).matches) == expected


def test_a_column_that_cannot_be_variables_is_told(spark: SparkSession) -> None:
    table = spark.createDataFrame([("s", "//a", 1)], "id string, xpath string, variables long")
    with pytest.raises(TypeError, match="the column 'variables' must be a map or a JSON object"):
        match(documents(spark), table)


SELECTING = [("s1", "//a", "ann"), ("s2", "//a[@t = 'y']/@t", "bob"), ("s3", "count(//a) = 1", "ann")]
SELECTED = [
    ("d1", "s1", "ann", [("/r[1]/a[1]", "one"), ("/r[1]/a[2]", "two")], 0),
    ("d1", "s2", "bob", [("/r[1]/a[2]/@t", "y")], 0),
    ("d2", "s1", "ann", [("/r[1]/a[1]", "3")], 0),
    ("d2", "s3", "ann", [], 0),
]


def selecting(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(SELECTING, "id string, xpath string, subscriber string")


def selected(matches: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(
        (
            row.doc_id,
            row.subscription_id,
            row.subscriber,
            [tuple(node) for node in row.nodes],
            row.nodes_left_out,
        )
        for row in matches.collect()
    )


@pytest.mark.parametrize("shards", [1, 2])
def test_matches_have_the_nodes_that_they_select(spark: SparkSession, shards: int) -> None:
    matches, dead = match(documents(spark), selecting(spark), shards=shards, nodes=True)
    assert matches.columns == ["doc_id", "subscription_id", "subscriber", "nodes", "nodes_left_out"]
    assert selected(matches) == SELECTED
    assert [row.doc_id for row in dead.collect()] == ["d3"]
    both = split_tagged(match_tagged(documents(spark), selecting(spark), shards=shards, nodes=True))
    assert selected(both[0]) == SELECTED
    assert [row.doc_id for row in both[1].collect()] == ["d3"]
    kept = match(documents(spark), selecting(spark), nodes=True, keep=["xml"]).matches
    assert {row.doc_id: row.xml for row in kept.collect()} == dict(DOCUMENTS[:2])


def test_nodes_need_a_row_for_each_match(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="needs a row for each match, and result='grouped' has none"):
        match(documents(spark), selecting(spark), nodes=True, result="grouped")


def test_nodes_beyond_the_bound_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa

    import pathcast
    from pathcast.spark.worker.shards import OpenShard

    monkeypatch.setattr(nodes, "NODE_BYTES", 30)
    monkeypatch.setattr(nodes, "_SENT", 20)
    index = pathcast.Index()
    index.add(0, "//a")
    texts = pa.array([text for _, text in DOCUMENTS] * 2)
    lists = index.match_many(texts).to_arrow()
    runs = list(nodes.selected(texts, lists, OpenShard(index, pa.array(["s"]), None)))
    assert [(start, end) for start, end, _, _ in runs] == [(0, 1), (1, 4), (4, 6)]
    columns = [(part["nodes"].to_pylist(), part["nodes_left_out"].to_pylist()) for _, _, _, part in runs]
    assert columns[0] == (
        [[{"path": "/r[1]/a[1]", "text": "one"}, {"path": "/r[1]/a[2]", "text": "two"}]],
        [0],
    )
    monkeypatch.setattr(nodes, "NODE_BYTES", 20)
    (_, _, _, part), *_ = nodes.selected(texts, lists, OpenShard(index, pa.array(["s"]), None))
    assert part["nodes"].to_pylist()[0] == [{"path": "/r[1]/a[1]", "text": "one"}]
    assert part["nodes_left_out"].to_pylist()[0] == 1


def test_the_data_source_and_streams_have_them(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, text in DOCUMENTS:
        (folder / f"{name}.xml").write_text(text)
    compile_subscriptions(selecting(spark), tmp_path / "index")
    spark.dataSource.register(PathcastDataSource)
    source = spark.read.format("pathcast").option("index", str(tmp_path / "index")).option("nodes", "true")
    found = source.load(str(folder))
    texts = [
        [node.text for node in row.nodes] for row in found.orderBy("doc_id", "subscription_id").collect()
    ]
    assert texts == [["one", "two"], ["y"], ["3"], []]

    documents(spark).write.parquet(str(tmp_path / "table"))
    arriving = spark.readStream.schema("doc_id string, xml string").parquet(str(tmp_path / "table"))
    query = stream(
        arriving,
        tmp_path / "index",
        tmp_path / "answers",
        checkpoint=tmp_path / "checkpoint",
        trigger="available",
        nodes=True,
    )
    query.awaitTermination()
    written = spark.read.parquet(str(tmp_path / "answers" / "matches"))
    assert selected(written) == SELECTED


SLOW = "//*[count(preceding::*) > count(following::*)]"
LONG = "<r>" + "<a/>" * 300 + "</r>"


@pytest.mark.parametrize("shards", [1, 3])
def test_a_pair_that_is_not_decided_is_a_dead_letter(
    spark: SparkSession, tmp_path: Path, shards: int
) -> None:
    rows = [(f"slow {number}", f"{SLOW}[{number}]") for number in (1, 2)] + [("quick", "//a")]
    table = spark.createDataFrame(rows, "id string, xpath string")
    frame = spark.createDataFrame([*DOCUMENTS, ("long", LONG)], "doc_id string, xml string")
    limits = Limits(evaluation_steps=10_000)
    compiled = compile_subscriptions(table, tmp_path / "index", shards=shards, limits=limits)
    result = match(frame, compiled)
    quick = [("d1", "quick"), ("d2", "quick"), ("long", "quick")]
    assert [pair for pair in pairs(result.matches) if pair[1] == "quick"] == quick
    for dead in (result.dead, split_tagged(result.tagged)[1]):
        letters = sorted((row.doc_id, row.kind, row.reason) for row in dead.collect())
        assert [letter[:2] for letter in letters] == [
            ("d3", "malformed"),
            ("long", "undecided"),
            ("long", "undecided"),
        ]
        assert letters[1][2] == "deciding the subscription 'slow 1' takes more than 10,000 steps"
    assert match(frame, compiled, mode="DROPMALFORMED").dead.count() == 0
    with pytest.raises(Exception, match="takes more than 10,000 steps"):
        match(frame.where("doc_id = 'long'"), compiled, mode="FAILFAST").matches.collect()
    register_functions(spark, tmp_path / "index")
    frame.createOrReplaceTempView("documents_to_match")
    found = spark.sql("SELECT doc_id, pathcast_match(xml) AS ids FROM documents_to_match").collect()
    lists = {row.doc_id: row.ids for row in found}
    assert lists["long"] is None
    assert lists["d3"] is None
    assert "quick" in lists["d1"]


def test_documents_use_the_entities_that_were_compiled_in(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame([("s", "//a[. = 'x\xa0y']"), ("t", "//a")], "id string, xpath string")
    given = spark.createDataFrame([("d", "<r><a>x&nbsp;y</a></r>")], "doc_id string, xml string")
    compiled = compile_subscriptions(table, tmp_path / "html", entities="html")
    assert pairs(match(given, compiled)[0]) == [("d", "s"), ("d", "t")]
    assert pairs(match(given, tmp_path / "html").matches) == [("d", "s"), ("d", "t")]
    assert pairs(match(given, table, entities={"nbsp": "z"})[0]) == [("d", "t")]
    plain = compile_subscriptions(table, tmp_path / "plain")
    assert [row.kind for row in match(given, plain)[1].collect()] == ["entity"]
    assert plain.hash != compiled.hash
    with pytest.raises(ValueError, match="entities and latest_by were fixed"):
        match(given, compiled, entities="html")
