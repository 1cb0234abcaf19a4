"""Artifacts: the same for the same subscriptions, whole or not at all, built again where rows changed."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pathcast
from pathcast.schema import Schema
from pathcast.spark import Compiled, compile_subscriptions, match, remove_unused, update_subscriptions
from pathcast.spark.driver.splits import find_files
from tests.spark.conftest import KIND
from tests.spark.data import SUBSCRIPTIONS, Row, world
from tests.spark.shards import compiled as compiled_here

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SIMPLE = "id string, xpath string"


def rejected(compiled: Compiled) -> list[tuple[Any, ...]]:
    return sorted(
        ((row.id, row.xpath, row.column, row.reason) for row in compiled.rejected.collect()),
        key=lambda row: str(row),
    )


def test_bad_rows_are_rejected_with_column_and_reason(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        ("good", "/a", "true", '{"p": "urn:p"}'),
        ("prefix", "/p:a", None, '{"p": "urn:p"}'),
        ("no prefix", "/p:a", "", None),
        ("step", "//a[", "false", ""),
        ("", "/a", None, None),
        (None, "/a", None, None),
        ("none", None, None, None),
        ("maybe", "/a", "maybe", None),
        ("json", "/a", None, "{p: 1"),
        ("same", "/a", None, None),
        ("same", "/a", None, None),
        ("twice", "/a", None, None),
        ("twice", "/b", None, None),
    ]
    frame = spark.createDataFrame(rows, "id string, xpath string, ordered string, namespaces string")
    compiled = compile_subscriptions(frame, tmp_path, shards=3)
    assert (compiled.subscriptions, compiled.refused) == (3, 9)
    newest = "keep one, or name a column whose highest value tells the newest with latest_by="
    assert rejected(compiled) == [
        ("", "/a", None, "the id is empty"),
        ("json", "/a", None, "namespaces must be a JSON object of prefix to URI"),
        ("maybe", "/a", None, "ordered must be true or false"),
        (
            "no prefix",
            "/p:a",
            2,
            "no namespace is bound to the prefix 'p'; bind it with namespaces= or --namespace",
        ),
        ("none", None, None, "there is no xpath (null)"),
        ("step", "//a[", 5, "expected a step, found the end"),
        ("twice", "/a", None, f"2 different rows have this id; {newest}"),
        ("twice", "/b", None, f"2 different rows have this id; {newest}"),
        (None, "/a", None, "there is no id (null)"),
    ]
    assert rejected(Compiled.open(tmp_path)) == rejected(compiled)


def test_names_of_columns_in_capitals(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        ("s", "/p:a[b][c]", "ann", "true", '{"p": "urn:p"}', None),
        ("t", "/*[@n = $n]", None, "", "", '{"n": 5}'),
    ]
    names = "ID string, XPATH string, SUBSCRIBER string, ORDERED string, NAMESPACES string, VARIABLES string"
    frame = spark.createDataFrame(rows, names)
    compiled = compile_subscriptions(frame, tmp_path, id="ID", xpath="XPATH")
    inside = ["<b xmlns=''/>", "<c xmlns=''/>"]
    documents = [
        (1, f"<a xmlns='urn:p' n='5'>{''.join(inside)}</a>"),
        (2, f"<a xmlns='urn:p'>{''.join(reversed(inside))}</a>"),
    ]
    found = match(spark.createDataFrame(documents, "doc_id int, xml string"), compiled).matches.collect()
    assert sorted(map(tuple, found)) == [(1, "s", "ann"), (1, "t", None)]


def test_variables_that_are_no_finite_numbers(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("nan", "/a[@t = $x]", {"x": float("nan")}), ("most", "/a[@n < $x]", {"x": float("inf")})]
    frame = spark.createDataFrame(rows, "id string, xpath string, variables map<string,double>")
    compiled = compile_subscriptions(frame, tmp_path)
    documents = spark.createDataFrame([(1, "<a t='NaN' n='5'/>")], "doc_id int, xml string")
    assert [row.subscription_id for row in match(documents, compiled).matches.collect()] == ["most"]


def test_the_newest_row_counts_if_a_column_tells(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("s", "/a", 1), ("s", "/b", 3), ("s", "/c", 2), ("t", "/a", 1), ("t", "/b", 1), ("u", "/a", None)]
    frame = spark.createDataFrame(rows, "id string, xpath string, version int")
    compiled = compile_subscriptions(frame, tmp_path, latest_by="version")
    assert [row[0] for row in rejected(compiled)] == ["t", "t"]
    documents = spark.createDataFrame([(1, "<b/>"), (2, "<a/>")], "doc_id int, xml string")
    found = sorted((row.doc_id, row.subscription_id) for row in match(documents, compiled)[0].collect())
    assert found == [(1, "s"), (2, "u")]


def test_sessions_with_large_texts(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("s", "/p:a", {"p": "urn:p"}), ("t", "//b", None), ("", "/a", None)]
    frame = spark.createDataFrame(rows, "id string, xpath string, namespaces map<string,string>")
    plain = compile_subscriptions(frame, tmp_path / "plain")
    changed = spark.createDataFrame([("", "/a"), ("t", "//c")], "id string, xpath string")
    pairs = [(1, "<a xmlns='urn:p'><c/></a>"), (2, "<b/>")]
    documents = spark.createDataFrame(pairs, "doc_id int, xml string")
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    try:
        large = compile_subscriptions(frame, tmp_path / "large")
        assert (large.hash, rejected(large)) == (plain.hash, rejected(plain))
        found = match(documents, large).matches.collect()
        assert sorted(map(tuple, found)) == [(1, "s"), (2, "t")]
        update = update_subscriptions(large, changed)
        assert [row[:2] for row in rejected(update)] == [("", "/a")]
        spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "false")
        assert update.hash == update_subscriptions(plain, changed).hash
    finally:
        spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")


def test_order_and_partitions_make_no_difference(spark: SparkSession, tmp_path: Path) -> None:
    given = world(seed=1, documents=20, subscriptions=60)
    _, frame = given.frames(spark)
    first = compile_subscriptions(frame, tmp_path / "a", shards=2)
    rows = list(given.rows)
    Random(2).shuffle(rows)
    second = compile_subscriptions(
        spark.createDataFrame(rows, SUBSCRIPTIONS).repartition(5), tmp_path / "b", shards=2
    )
    assert first.manifest == second.manifest
    files = sorted(path.name for path in first.path.iterdir())
    assert files == sorted(path.name for path in second.path.iterdir())
    for name in files:
        assert (first.path / name).read_bytes() == (second.path / name).read_bytes(), name
    third = compile_subscriptions(frame, tmp_path / "c", shards=2, ordered=True)
    assert third.hash != first.hash


@pytest.mark.parametrize("few", [True, False])
def test_changes_alone_give_what_all_rows_give(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: bool
) -> None:
    from pathcast.spark.driver import compile

    if not few:
        monkeypatch.setattr(compile, "FEW", 0)
    given = world(seed=3, documents=30, subscriptions=80)
    documents, frame = given.frames(spark)
    before = compile_subscriptions(frame, tmp_path / "a", shards=8)
    times = {path.name: path.stat().st_mtime_ns for path in before.path.glob("shard*")}

    rows = {row[0]: row for row in given.rows}
    gone = list(rows)[5]
    kept = list(rows)[6]
    del rows[gone]
    changes: list[Row] = [("s1", "//a", None, None, "new"), ("fresh", "//b", False, {}, "new")]
    rows |= {row[0]: row for row in changes}
    bad = (kept, "//a[", None, None, None)
    after = update_subscriptions(
        before.path,
        spark.createDataFrame([*changes, bad], SUBSCRIPTIONS),
        spark.createDataFrame([(gone,), ("never there",)], "id string"),
    )
    assert [row[:2] for row in rejected(after)] == [(kept, "//a[")]
    whole = compile_subscriptions(
        spark.createDataFrame(list(rows.values()), SUBSCRIPTIONS), tmp_path / "b", shards=8
    )
    assert after.subscriptions == whole.subscriptions
    assert after.hash != before.hash
    if not few:
        assert after.hash == whole.hash
    touched = [
        new.number
        for old, new in zip(before.manifest.shards, after.manifest.shards, strict=True)
        if old.hash != new.hash
    ]
    assert 1 <= len(touched) <= 3
    for shard in after.manifest.shards:
        if shard.number not in touched:
            assert (after.path / shard.index).stat().st_mtime_ns == times[shard.index]

    # The older version still answers until its files are removed; then only the newer one does.
    one = documents.where("doc_id = 0")
    match(one, before)[0].collect()
    removed = remove_unused(after.path)
    assert len(removed) == (1 if few else 1 + 2 * len(touched))
    assert match(documents, after)[0].count() == match(documents, whole)[0].count()

    # All rows once more, at the same place: nothing is built again.
    times = {path.name: path.stat().st_mtime_ns for path in after.path.glob("shard*.pathcast")}
    again = compile_subscriptions(
        spark.createDataFrame(list(rows.values()), SUBSCRIPTIONS), after.path, shards=8
    )
    assert again.hash == whole.hash
    if few:
        return  # with deltas, the shards that changed are built now
    unchanged = {name for name, time in times.items() if (after.path / name).stat().st_mtime_ns == time}
    assert unchanged == set(times)


def test_subscribers_are_names(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([("s", "/a")], "id string, xpath string")
    for kind in ("double", "timestamp", "binary", "array<string>"):
        odd = frame.selectExpr("*", f"cast(null as {kind}) as subscriber")
        with pytest.raises(TypeError, match="the column 'subscriber' of the subscriptions must be string or"):
            compile_subscriptions(odd, tmp_path)


def test_a_column_of_nothing_is_of_texts(spark: SparkSession, tmp_path: Path) -> None:
    nobody = spark.sql("select 's' as id, '/a' as xpath, null as subscriber")
    compile_subscriptions(nobody, tmp_path / "index")
    documents = spark.createDataFrame([(1, "<a/>")], "doc_id int, xml string")
    match(documents, tmp_path / "index").matches.write.parquet(str(tmp_path / "out"))
    (row,) = spark.read.parquet(str(tmp_path / "out")).collect()
    assert (row.subscription_id, row.subscriber) == ("s", None)
    somebody = spark.sql("select 't' as id, '/a' as xpath, 'ann' as subscriber")
    for changed in (somebody, nobody):
        update_subscriptions(tmp_path / "index", changed)
    found = match(documents, tmp_path / "index").matches.collect()
    assert sorted((row.subscription_id, row.subscriber) for row in found) == [("s", None), ("t", "ann")]


def test_changes_must_fit(spark: SparkSession, tmp_path: Path) -> None:
    compiled = compile_subscriptions(spark.createDataFrame([("s", "/a")], SIMPLE), tmp_path)
    with pytest.raises(TypeError, match="ids of these subscriptions are string, not int"):
        update_subscriptions(compiled, spark.createDataFrame([(1, "/a")], "id int, xpath string"))
    with pytest.raises(ValueError, match="give rows that changed"):
        update_subscriptions(compiled)
    rows = spark.createDataFrame([(1, "/a", 1)], "id int, xpath string, subscriber int")
    numbers = compile_subscriptions(rows, tmp_path / "numbers")
    gone = spark.createDataFrame([(1 + (1 << 32),)], "id bigint")
    changed = spark.createDataFrame(
        [(2, "/a", "1"), (3, "/a", "x")], "id int, xpath string, subscriber string"
    )
    for ansi in ("true", "false"):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        try:
            numbers = update_subscriptions(numbers, changed, gone)
        finally:
            spark.conf.unset("spark.sql.ansi.enabled")
        assert numbers.subscriptions == 2
        assert rejected(numbers) == [(3, "/a", None, "the subscriber must be int")]
    for kind in ("double", "boolean", "decimal(3,1)"):
        one = spark.sql(f"select cast(1.5 as {kind}) as id")
        with pytest.raises(TypeError, match="'id' of the subscriptions to remove must be string or bigint"):
            update_subscriptions(numbers, removed=one)
    for kind in ("boolean", "date"):
        with pytest.raises(TypeError, match=f"the subscribers of these subscriptions are int, not {kind}"):
            update_subscriptions(
                numbers, rows.selectExpr("id", "xpath", f"cast(null as {kind}) as subscriber")
            )
    halves = rows.selectExpr("explode(array(1, 4)) as id", "xpath").selectExpr(
        "*", "cast(1 + id / 8 as decimal(3,1)) as subscriber"
    )
    numbers = update_subscriptions(numbers, halves.union(rows.selectExpr("5", "xpath", "7.0")))
    assert rejected(numbers) == [(id, "/a", None, "the subscriber must be int") for id in (1, 4)]
    documents = spark.createDataFrame([(1, "<a/>")], "doc_id int, xml string")
    found = match(documents, numbers).matches.collect()
    assert sorted((row.subscription_id, row.subscriber) for row in found) == [(1, 1), (2, 1), (5, 7)]


def test_no_change_is_lost_when_two_are_made_at_once(spark: SparkSession, tmp_path: Path) -> None:
    first = compile_subscriptions(spark.createDataFrame([("s", "/a")], SIMPLE), tmp_path)
    changes = [spark.createDataFrame([(f"t{number}", "/a")], SIMPLE) for number in range(4)]

    def update(change: DataFrame) -> str:
        try:
            update_subscriptions(tmp_path, change)
        except ValueError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(update, changes))
    assert all("nothing was written; call again with the folder" in each for each in told if each)
    assert Compiled.open(tmp_path).subscriptions == 1 + told.count("") > 1
    with pytest.raises(ValueError, match=f"these changes are to {first.hash[:12]}"):
        update_subscriptions(first, changes[0])


def test_a_null_among_namespaces_beside_variables(tmp_path: Path) -> None:
    row = {"id": "s", "xpath": "//a[@n = $n]", "namespaces": [("p", None)], "variables": '{"n": 5}'}
    assert compiled_here(tmp_path, [row]).subscriptions == 1


def test_workers_that_do_not_see_the_folder_send_their_files(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathcast.spark.driver import compile
    from pathcast.spark.worker.compile import CompileJob

    def blind(*values: Any) -> CompileJob:
        return CompileJob(values[0], values[1] + "-unseen", *values[2:])

    frame = spark.createDataFrame([(f"s{at}", f"/a{at}/b") for at in range(500)], SIMPLE)
    seen = compile_subscriptions(frame, tmp_path / "a", shards=2)
    monkeypatch.setattr(compile, "CompileJob", blind)
    sent = compile_subscriptions(frame, tmp_path / "b", shards=2)
    assert sent.manifest == seen.manifest
    assert all((sent.path / path.name).read_bytes() == path.read_bytes() for path in seen.path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 5, "pathcast": "9.0"}, r"format version 5, .* reads up to 4: upgrade Pathcast to 9\.0"),
        ({"format": 2}, r"format version 2, from an older Pathcast.*compile the subscriptions again"),
        ({"id_type": "int"}, "is damaged .*checksum.*compile the subscriptions again"),
        ({"shards": []}, "is damaged"),
    ],
)
def test_a_damaged_or_newer_manifest_is_told(
    spark: SparkSession, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    compile_subscriptions(spark.createDataFrame([("s", "/a")], SIMPLE), tmp_path)
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(pathcast.IndexFormatError, match=message):
        Compiled.open(tmp_path)


def test_a_folder_without_its_files_is_told(spark: SparkSession, tmp_path: Path) -> None:
    compiled = compile_subscriptions(spark.createDataFrame([("s", "/a")], SIMPLE), tmp_path)
    assert re.fullmatch(r"Compiled\('.*': 1 subscription, 1 shard, version [0-9a-f]{12}\)", repr(compiled))
    (tmp_path / "manifest.json").rename(tmp_path / "elsewhere")
    where = r"holds no compiled subscriptions .*: give the folder that compile_subscriptions\(\) or `pathcast"
    for place in (tmp_path, tmp_path / "elsewhere"):  # a file of subscriptions, say, is no folder
        with pytest.raises(pathcast.IndexFormatError, match=where):
            Compiled.open(place)
    (tmp_path / "elsewhere").write_text("{")
    (tmp_path / "elsewhere").rename(tmp_path / "manifest.json")
    with pytest.raises(pathcast.IndexFormatError, match="cannot be read"):
        Compiled.open(tmp_path)
    compiled.manifest.write(tmp_path)
    (tmp_path / compiled.manifest.shards[0].index).unlink()
    with pytest.raises(pathcast.IndexFormatError, match=r"is missing: compile the subscriptions again"):
        Compiled.open(tmp_path)


def test_where_it_cannot_go_is_told(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("s", "/a")], SIMPLE)
    for place in ("nosuch://bucket/index", "dbfs:/data/index", "hdfs:/data/index"):
        with pytest.raises(pathcast.PathcastError, match=f"{place} needs fsspec"):
            compile_subscriptions(frame, place)
        with pytest.raises(pathcast.PathcastError, match=f"{place} needs fsspec"):
            Compiled.open(place)
    if KIND != "connect":  # there fsspec alone opens it
        unknown = (
            r"^Spark cannot use hdfs://nowhere\.invalid/index: there is no host 'nowhere\.invalid': correct"
        )
        with pytest.raises(pathcast.PathcastError, match=unknown):
            Compiled.open("hdfs://nowhere.invalid/index")
    with pytest.raises(OSError, match="cannot open hdfs://nowhere") as told:
        find_files(["hdfs://nowhere.invalid/documents"])
    assert len(str(told.value)) < 500, "not every place where libhdfs looked for Java"
    with pytest.raises(ValueError, match="shards must be at least 1"):
        compile_subscriptions(frame, "/nowhere", shards=0)


def test_a_schema_prunes_and_its_breakers_are_dead_letters(spark: SparkSession, tmp_path: Path) -> None:
    schema = Schema.from_text("<!ELEMENT a (b*)> <!ELEMENT b (c*)> <!ELEMENT c EMPTY>")
    rows = [("deep", "//c"), ("any", "/*/*"), ("never", "/a/c"), ("odd", "/a[not(b)]")]
    cells = ["<a><b><c/></b></a>", "<a/>", "<a><c/></a>", "<a><b/>"]
    documents = spark.createDataFrame(list(enumerate(cells)), "doc_id int, xml string")
    subscriptions = spark.createDataFrame(rows, SIMPLE)
    index = pathcast.Index(schema=schema, prune=True, impossible="ignore")
    index.add_many(rows)
    results = list(index.match_many(cells))
    assert [isinstance(each, pathcast.DocumentError) for each in results] == [False, False, True, True]
    for shards in (1, 3):
        compiled = compile_subscriptions(subscriptions, tmp_path / str(shards), shards=shards, schema=schema)
        assert compiled.refused == 0
        for form in (compiled, Compiled.open(tmp_path / str(shards))):
            matches, dead = match(documents, form)
            found = sorted((row.doc_id, row.subscription_id) for row in matches.collect())
            by_pma = match(documents, form, engine="pma")[0].collect()
            assert found == sorted((row.doc_id, row.subscription_id) for row in by_pma)
            assert found == [(0, "any"), (0, "deep"), (1, "odd")]
            assert found == sorted((at, str(id)) for at in (0, 1) for id in index.match(cells[at]))
            assert sorted((row.doc_id, row.kind) for row in dead.collect()) == [
                (2, "invalid"),
                (3, "malformed"),
            ]
    strict = compile_subscriptions(subscriptions, tmp_path / "1", schema=schema, impossible="reject")
    assert [row[0] for row in rejected(strict)] == ["never"]
    assert "can never match" in rejected(strict)[0][3]
    assert strict.hash != compile_subscriptions(subscriptions, tmp_path / "1").hash
    with pytest.raises(ValueError, match="needs a schema"):
        compile_subscriptions(subscriptions, tmp_path, impossible="reject")
