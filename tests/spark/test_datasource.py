"""The data source gives what the index gives, from files that never pass through Java."""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from pyspark.sql.streaming.datasource import ReadMaxFiles
from pyspark.sql.types import ArrayType, IntegerType

from pathcast import PathcastError
from pathcast.spark import PathcastDataSource, compile_subscriptions, match, match_files, remove_unused
from pathcast.spark.driver.splits import Found, find_files, plan_splits
from pathcast.spark.worker.splits import Piece, ReadJob, Split, read_split
from pathcast.spark.worker.unpack import UnpackJob, open_file
from tests.spark.data import World, stream_reader, world
from tests.spark.shards import published

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def source(spark: SparkSession, index: Path, path: Path, **options: str) -> DataFrame:
    spark.dataSource.register(PathcastDataSource)
    return spark.read.format("pathcast").options(index=str(index), **options).load(str(path))


def write(folder: Path, here: World, files: int = 3) -> None:
    folder.mkdir()
    for number in range(files):
        ids, cells = zip(*here.documents[number::files], strict=True)
        table = pa.table({"doc_id": pa.array(ids, pa.int64()), "xml": pa.array(cells, pa.binary())})
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=7)


@pytest.mark.parametrize("shards", [1, 2])
def test_it_gives_what_the_index_gives(spark: SparkSession, tmp_path: Path, shards: int) -> None:
    here = world(seed=21, documents=80, subscriptions=90)
    compile_subscriptions(here.frames(spark)[1], tmp_path / "index", shards=shards)
    write(tmp_path / "in", here)
    places = tmp_path / "index", tmp_path / "in"
    rows = source(spark, *places, splitBytes="2000").collect()
    assert sorted((row.doc_id, row.subscription_id) for row in rows) == here.matches()
    names = {row[0]: row[4] for row in here.rows}
    assert all(row.subscriber == names[row.subscription_id] for row in rows)
    dead = source(spark, *places, result="dead").collect()
    letters = sorted((row.doc_id, row.reason, row.line, row.column, row.kind) for row in dead)
    assert letters == here.dead()
    tagged = source(spark, *places, result="tagged")
    assert tagged.where("reason is null").count() == len(here.matches())
    assert tagged.where("reason is not null").count() == len(here.dead())
    called, refused = match_files(spark, places[1], places[0], splitBytes="2000")
    assert sorted(called.collect()) == sorted(rows)
    assert sorted(refused.collect()) == sorted(dead)
    grouped = source(spark, *places, result="grouped").collect()
    assert sorted((row.doc_id, id) for row in grouped for id in row.subscriptions) == here.matches()
    assert len(grouped) == len(here.documents) - len(here.dead())
    delivered = source(spark, *places, result="delivered", splitBytes="2000").collect()
    assert sorted((row.doc_id, id) for row in delivered for id in row.subscriptions) == here.matches()
    assert all({names[id] for id in row.subscriptions} == {row.subscriber} for row in delivered)
    together, _ = match_files(spark, places[1], places[0], result="delivered", splitBytes="2000")
    assert together.count() == len(delivered)


def test_lists_of_ids_become_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(1, "//a"), (2, "//b"), (3, "/a")]
    compiled = compile_subscriptions(spark.createDataFrame(rows, "id int, xpath string"), tmp_path / "index")
    table = pa.table({"doc_id": ["x", "y", "z", "bad"], "xml": ["<a><b/></a>", "<c/>", "<b/>", "<a>"]})
    pq.write_table(table, tmp_path / "one.parquet")
    pq.write_table(table.slice(0, 1), tmp_path / "two.parquet")
    both = match_files(spark, [tmp_path / "one.parquet", tmp_path / "two.parquet"], compiled)
    assert both.matches.schema.simpleString() == "struct<doc_id:string,subscription_id:int>"
    assert sorted(both.matches.collect()) == sorted([("x", 1), ("x", 2), ("x", 3)] * 2 + [("z", 2)])
    monkeypatch.chdir(tmp_path)  # Java stays where it is
    assert match_files(spark, "two.parquet", Path(compiled.path.name)).matches.count() == 3
    assert [row.doc_id for row in both.dead.collect()] == ["bad"]
    tagged = both.tagged.select("doc_id", "subscription_id", "kind").collect()
    assert [tuple(row) for row in tagged if row.kind] == [("bad", None, "malformed")]
    assert len(tagged) == 8
    lists = source(spark, compiled.path, tmp_path / "one.parquet", shape="lists")
    assert [tuple(row) for row in lists.collect()] == [("x", [1, 2, 3]), ("z", [2])]
    # Java need not look at every member.
    assert lists.schema["found"].dataType == ArrayType(IntegerType(), containsNull=False)
    with pytest.raises(Exception, match="shape must be one of lists, rows"):
        source(spark, compiled.path, tmp_path / "one.parquet", shape="table").collect()


@pytest.mark.parametrize("shards", [1, 2])
def test_columns_go_with_answers(spark: SparkSession, tmp_path: Path, shards: int) -> None:
    rows = [(1, "//a", "x"), (2, "//b", "y"), (3, "/a", "y")]
    table = spark.createDataFrame(rows, "id int, xpath string, subscriber string")
    compiled = compile_subscriptions(table, tmp_path / "index", shards=shards)
    (tmp_path / "in").mkdir()
    numbers, documents = ["n0", "n1", "n2", "n3"], ["<a><b/></a>", "<c/>", "<b/>", "<a>"]
    times = pa.array([1_000, 2_000, None, 3_000], pa.timestamp("us", "UTC"))
    tags = pa.array([["p"], [], None, ["q", "r"]], pa.list_(pa.large_string()))
    # Two files, whose types are the same only to Spark.
    for name, kind in (("one", pa.large_string()), ("two", pa.dictionary(pa.int32(), pa.string()))):
        columns = {
            "number": pa.array([f"{name} {each}" for each in numbers]).cast(kind),
            "body": documents,
            "the.topic": pa.array(["s", "t", "s", None]).cast(kind),
            "id": [7, 8, 9, 10],
            "time": times,
            "tags": tags,
        }
        pq.write_table(pa.table(columns), tmp_path / f"in/{name}.parquet")
    keep = ["the.topic", "id", "time", "tags", "number"]
    told = {"id": "number", "document": "body"}
    read = spark.read.parquet(str(tmp_path / "in"))
    expected = match(read, compiled, document="body", id="number", keep=keep)
    folder = tmp_path / "in"
    found = match_files(spark, folder, compiled, keep=keep, id="number", document="body")

    def same(one: DataFrame, other: DataFrame) -> int:
        assert one.dtypes == other.dtypes
        rows = sorted(map(repr, one.collect()))
        assert rows == sorted(map(repr, other.collect()))
        return len(rows)

    assert same(found.matches, expected.matches) == 8
    assert same(found.dead, expected.dead) == 2
    assert same(found.tagged, expected.tagged) == 10
    source_rows = source(spark, compiled.path, tmp_path / "in", keep=json.dumps(keep), **told)
    assert same(source_rows, expected.matches) == 8
    if shards == 1:
        for result, count in (("grouped", 6), ("delivered", 6)):
            by = match(read, compiled, document="body", id="number", keep=keep, result=result)  # type: ignore[arg-type]
            rows_by = source(
                spark, compiled.path, tmp_path / "in", keep=json.dumps(keep), result=result, **told
            )
            assert same(rows_by, by.matches) == count
    with pytest.raises(Exception, match="document 'one n3' was refused in mode FAILFAST"):
        source(
            spark, compiled.path, tmp_path / "in/one.parquet", keep="tags", mode="failfast", **told
        ).collect()
    with pytest.raises(TypeError, match="keep is a list"):
        match_files(spark, folder, compiled, keep="time")


def test_folders_archives_and_records(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("a", "//a"), ("b", "//b")]
    compile_subscriptions(spark.createDataFrame(rows, "id string, xpath string"), tmp_path / "index")
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep/one.xml").write_text("<a/>")
    (folder / "two words.xml").write_text("<b/>")
    (folder / "_hidden.xml").write_text("<a/>")
    (folder / "bad.xml").write_text("<a")
    with zipfile.ZipFile(folder / "three.zip", "w") as archive:
        archive.writestr("x.xml", "<a><b/></a>")
    for name, mode in (("four.tar", "w"), ("five.tar.gz", "w:gz"), ("six.tar.bz2", "w:bz2")):
        with tarfile.open(folder / name, mode) as tar:  # type: ignore[call-overload]
            entry = tarfile.TarInfo("y.xml")
            entry.size = 4
            tar.addfile(entry, io.BytesIO(b"<a/>"))
    (tmp_path / "empty").mkdir()
    assert source(spark, tmp_path / "index", tmp_path / "empty").collect() == []
    rows_found = source(spark, tmp_path / "index", folder).collect()
    found = sorted((row.doc_id.rpartition("/in/")[2], row.subscription_id) for row in rows_found)
    assert found == [
        ("deep/one.xml", "a"),
        ("five.tar.gz!y.xml", "a"),
        ("four.tar!y.xml", "a"),
        ("six.tar.bz2!y.xml", "a"),
        ("three.zip!x.xml", "a"),
        ("three.zip!x.xml", "b"),
        ("two words.xml", "b"),
    ]
    assert [row.doc_id for row in source(spark, tmp_path / "index", folder, result="dead").collect()] == [
        f"file:{folder}/bad.xml"
    ]
    (tmp_path / "huge.xml").write_text("<r><a/><b/><a><b/></a></r>")
    records = source(spark, tmp_path / "index", tmp_path / "huge.xml", record="a").collect()
    assert sorted((row.doc_id[-2:], row.subscription_id) for row in records) == [
        ("#1", "a"),
        ("#2", "a"),
        ("#2", "b"),
    ]


def test_documents_are_left_out_by_their_ids_before_they_are_matched(
    spark: SparkSession, tmp_path: Path
) -> None:
    subscriptions = spark.createDataFrame([("a", "//a")], "id string, xpath string")
    compile_subscriptions(subscriptions, tmp_path / "index")
    for name, ids in (("numbers", list(range(10))), ("texts", [f"news/{number}" for number in range(10)])):
        documents = ["<a>" if number == 5 else "<a/>" for number in range(10)]
        pq.write_table(pa.table({"doc_id": ids, "xml": documents}), tmp_path / f"{name}.parquet")

    def found(name: str, where: str) -> list[Any]:
        # A bad document fails the job, unless it was left out before.
        options = {"mode": "FAILFAST", "pushFilters": "true"}
        frame = source(spark, tmp_path / "index", tmp_path / f"{name}.parquet", **options)
        return sorted(row.doc_id for row in frame.where(where).collect())

    setting = "spark.sql.python.filterPushdown.enabled"
    spark.conf.set(setting, "true")
    try:
        assert found("numbers", "doc_id < 3") == [0, 1, 2]
        assert found("numbers", "doc_id >= 2 and doc_id <= 4") == [2, 3, 4]
        assert found("numbers", "doc_id > 7 and subscription_id = 'a'") == [8, 9]
        assert found("numbers", "doc_id in (1, 9, 77)") == [1, 9]
        assert found("numbers", "doc_id = 4 and doc_id % 2 = 0") == [4]
        assert found("texts", "doc_id = 'news/4'") == ["news/4"]
        assert found("texts", "doc_id like 'news/6%'") == ["news/6"]
        with pytest.raises(Exception, match="FAILFAST"):
            found("numbers", "doc_id % 2 = 0")
    finally:
        spark.conf.unset(setting)


def test_files_of_a_store_keep_its_host_and_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Store:
        @staticmethod
        def from_uri(url: str) -> tuple[Any, str]:
            parts = urlsplit(url)
            assert (parts.netloc, parts.query) == ("host:8020", "user=x"), url
            return fs.LocalFileSystem(), str(tmp_path) + unquote(parts.path)

    monkeypatch.setattr(fs, "FileSystem", Store)
    for name in ("a b.xml", "50%25.xml", "é#.xml"):
        (tmp_path / name).write_text("<a/>")
    for url in ("hdfs://host:8020/?user=x", "hdfs://host:8020?user=x"):
        found = find_files([url])
        assert len(found) == 3
        for file in found:
            with open_file(file.path) as source:
                assert source.read() == b"<a/>"
    (again,) = find_files([found[0].path])
    assert again.path == found[0].path


def test_splits_are_packed_and_cut(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"{number:03}.xml").write_text("<a/>")
    table = pa.table({"doc_id": range(1000), "xml": ["<a>" + "x" * 1000 + "</a>"] * 1000})
    pq.write_table(table, tmp_path / "z.parquet", row_group_size=100, use_dictionary=False)
    files = find_files([str(tmp_path)])
    assert len(files) == 101
    splits = plan_splits(files, 250_000)
    pieces = [piece for split in splits for piece in split.pieces]
    assert sum(len(split.pieces) for split in splits if split.pieces[0].row_groups is None) >= 100
    assert 6 <= len(splits) <= 20
    tables = [[piece.row_groups for piece in split.pieces if piece.row_groups] for split in splits]
    assert all(len(each) < 2 for each in tables), "row groups of one file are one piece of a split"
    assert [number for each in tables for groups in each for number in groups] == list(range(10))
    assert len(pieces) == 100 + sum(map(len, tables))


def test_the_last_splits_are_small(tmp_path: Path) -> None:
    names = [f"{number:03}.xml" for number in range(400)]
    files = [Found(number, str(tmp_path / name), 1 << 20) for number, name in enumerate(names)]
    splits = plan_splits(files)
    sizes = [sum(piece.bytes for piece in split.pieces) for split in splits]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (98 << 20, 11 << 20)
    assert [piece.path for split in splits for piece in split.pieces] == [file.path for file in files]


def test_large_documents_do_not_share_the_batches_of_small_ones(tmp_path: Path) -> None:
    small, large = ["<a/>" + " " * 1_000] * 40, ["<a/>" + " " * 100_000] * 10
    schema = pa.schema([("doc_id", pa.int64()), ("xml", pa.string())])
    with pq.ParquetWriter(tmp_path / "x.parquet", schema, use_dictionary=False) as writer:
        for at, documents in enumerate([small, small, large, small]):
            ids = range(100 * at, 100 * at + len(documents))
            writer.write_table(pa.table([pa.array(ids, pa.int64()), documents], schema=schema))
    (split,) = plan_splits(find_files([str(tmp_path)]))
    assert [piece.row_groups for piece in split.pieces] == [(0, 1, 2, 3)]
    job = ReadJob("doc_id", "xml", UnpackJob(None, 1 << 30, 130_000))
    batches = list(read_split(split, job))
    assert [len(batch) for batch in batches] == [64, 16, *[1] * 10, 40]
    assert [id for batch in batches for id in batch["id"].to_pylist()] == [
        100 * at + number for at, count in enumerate([40, 40, 10, 40]) for number in range(count)
    ]


def test_mistakes_are_told(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("a", "//a")]
    compile_subscriptions(spark.createDataFrame(rows, "id string, xpath string"), tmp_path / "index")
    (tmp_path / "in").mkdir()
    odd = pa.array([1], pa.uint64())
    pq.write_table(pa.table({"number": [1], "xml": ["<a/>"], "odd": odd}), tmp_path / "in/a.parquet")
    calls: list[tuple[dict[str, str], str]] = [
        ({}, "has no column 'doc_id'; there are: number, xml, odd"),
        ({"id": "number", "document": "number"}, "must be text or binary, not int64"),
        ({"id": "number", "result": "most"}, "result must be one of matches, dead"),
        ({"id": "number", "engine": "quick"}, "there is no engine 'quick'"),
        ({"id": "number", "keep": "topic"}, "has no column 'topic'; there are: number, xml, odd"),
        ({"id": "number", "keep": "number, line"}, "have a column 'line' of their own"),
        ({"id": "number", "keep": "found", "shape": "lists"}, "have a column 'found' of their own"),
        ({"id": "number", "keep": "Reason"}, "have a column 'Reason' of their own"),
        ({"id": "number", "keep": "xml, XML"}, "keep names the column 'XML' twice"),
        ({"id": "number", "keep": "odd"}, "Spark has no type for the column 'odd', uint64"),
        ({"id": "number", "splitBytes": "4 MB"}, "splitBytes must be a whole number of .* 1, not '4 MB'"),
        ({"id": "number", "nodes": "yes"}, "nodes must be true or false, not 'yes'"),
        ({"id": "number", "maxFilesPerTrigger": "0"}, "maxFilesPerTrigger must be a whole number"),
    ]
    for options, message in calls:
        with pytest.raises(Exception, match=message):
            source(spark, tmp_path / "index", tmp_path / "in", **options)
    with pytest.raises(TypeError, match="there is no option 'split_bytes'; there are batchBytes, document"):
        match_files(spark, tmp_path / "in", tmp_path / "index", split_bytes="2000")
    with pytest.raises(Exception, match="does not exist"):
        source(spark, tmp_path / "index", tmp_path / "nowhere")
    with pytest.raises(Exception, match=r"in/\*\.parquet does not exist: patterns are for names"):
        source(spark, tmp_path / "index", tmp_path / "in/*.parquet")
    said = spark.read.format("pathcast").option("index", str(tmp_path / "index")).option("id", "number")
    with pytest.raises(Exception, match=r"must have the columns doc_id, subscription_id, in .* not doc_id\b"):
        said.schema("doc_id bigint").load(str(tmp_path / "in")).collect()
    (tmp_path / "one.xml").write_text("<a/>")
    with pytest.raises(Exception, match=r"one\.xml is no table: it has no column to keep, such as 'topic'"):
        source(spark, tmp_path / "index", tmp_path / "one.xml", keep="topic")
    with pytest.raises(Exception, match="holds no compiled subscriptions"):
        source(spark, tmp_path, tmp_path / "in", id="number")


def test_a_stream_of_files_goes_on_where_it_ended(spark: SparkSession, tmp_path: Path) -> None:
    def compiled(*xpaths: str) -> str:
        table = spark.createDataFrame([(each, each) for each in xpaths], "id string, xpath string")
        return compile_subscriptions(table, tmp_path / "index").hash

    def put(*names: str) -> None:
        for name in names:
            (tmp_path / "in" / f"{name}.xml").write_text(f"<a><{name}/></a>")

    def rows() -> list[Any]:
        files = pq.read_table(tmp_path / "out").to_pylist()
        return sorted((Path(row["doc_id"]).stem, row["subscription_id"]) for row in files)

    def run() -> list[Any]:
        spark.dataSource.register(PathcastDataSource)
        stream = spark.readStream.format("pathcast").option("index", str(tmp_path / "index"))
        frame = stream.option("maxFilesPerTrigger", "2").load(str(tmp_path / "in"))
        writer = frame.writeStream.format("parquet").option("path", str(tmp_path / "out"))
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        return rows()

    (tmp_path / "in").mkdir()
    compiled("//a", "//b")
    put("b", "c", "d")
    first = [("b", "//a"), ("b", "//b"), ("c", "//a"), ("d", "//a")]
    assert run() == first
    assert run() == first
    compiled("//e")
    remove_unused(tmp_path / "index")
    put("e")
    assert run() == [*first, ("e", "//e")]
    # A batch that is asked for again uses its own version, whatever there is now.
    compiled("//a")
    remove_unused(tmp_path / "index")
    last = max(int(path.name) for path in (tmp_path / "checkpoint/commits").iterdir() if path.name.isdigit())
    for name in (f"{last}", f".{last}.crc"):
        (tmp_path / "checkpoint/commits" / name).unlink(missing_ok=True)
    shutil.rmtree(tmp_path / "out")
    assert run() == [("e", "//e")]


def test_offsets_name_the_files_and_the_version_of_a_batch(tmp_path: Path) -> None:
    """The reader of a stream without Spark: every offset goes through JSON, and readers are forgotten."""
    index, folder = tmp_path / "index", tmp_path / "in"
    folder.mkdir()

    def reader() -> Any:
        options = {"index": str(index), "path": str(folder), "maxFilesPerTrigger": "2"}
        return stream_reader(options)

    def put(name: str) -> None:
        (folder / f"{name}.xml").write_text(f"<a><{name}/></a>")

    def found(start: dict[str, Any], end: dict[str, Any]) -> list[tuple[str, str]]:
        tasks = reader().partitions(start, end)
        rows = [row for task in tasks for batch in reader().read(task) for row in batch.to_pylist()]
        return sorted((Path(row["doc_id"]).stem, row["subscription_id"]) for row in rows)

    def after(start: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(json.dumps(reader().latestOffset(start, ReadMaxFiles(2))))
        return made

    published(index, [{"id": "s", "xpath": "//a"}])
    offsets = [reader().initialOffset()]
    assert after(offsets[0]) == offsets[0]  # there is nothing
    for name in ("x", "y", "z"):
        put(name)
    offsets += [after(offsets[0])]
    offsets += [after(offsets[1])]
    assert after(offsets[2]) == offsets[2]
    published(index, [{"id": "t", "xpath": "//w"}])
    os.utime(folder / "x.xml", (1, 1))  # older than anything seen, and known
    put("w")
    os.utime(folder / "w.xml", (1, 1))  # written long ago, but here only now
    offsets += [after(offsets[2])]
    remove_unused(index)
    batches = [("x", "s"), ("y", "s")], [("z", "s")], [("w", "t")]
    for number in (2, 0, 1, 0, 2):  # in any order, as often as asked
        assert found(offsets[number], offsets[number + 1]) == batches[number]
    assert found(offsets[3], offsets[3]) == []
    assert len({offset["stream"] for offset in offsets}) == 1


def read_all(index: Path, path: Path, **options: str) -> list[dict[str, Any]]:
    """What tasks give, without Spark."""
    made = PathcastDataSource({"index": str(index), "path": str(path), **options})
    reader: Any = made.reader(made.schema())
    tasks = reader.partitions()
    return [row for task in tasks for batch in reader.read(task) for row in batch.to_pylist()]


def test_columns_as_other_writers_hold_them(tmp_path: Path) -> None:
    published(tmp_path / "index", [{"id": "s", "xpath": "//a"}])
    kinds = [pa.string_view(), pa.binary_view(), pa.large_binary(), pa.dictionary(pa.int32(), pa.string())]
    (tmp_path / "in").mkdir()
    for number, kind in enumerate(kinds):
        times = pa.array([1_001, 2_999], pa.timestamp("ns"))  # Spark has microseconds
        columns = {"doc_id": [str(number), "bad"], "xml": pa.array(["<a/>", "<a>"]).cast(kind), "time": times}
        pq.write_table(pa.table(columns), tmp_path / f"in/{number}.parquet")
    found = read_all(tmp_path / "index", tmp_path / "in", keep="time")
    assert sorted((row["doc_id"], row["time"].microsecond) for row in found) == [
        (str(number), 1) for number in range(len(kinds))
    ]
    dead = read_all(tmp_path / "index", tmp_path / "in", result="dead")
    assert [row["kind"] for row in dead] == ["malformed"] * len(kinds)


def test_instants_as_spark_writes_them(spark: SparkSession, tmp_path: Path) -> None:
    compiled = compile_subscriptions(
        spark.createDataFrame([("s", "//a")], "id string, xpath string"), tmp_path / "index"
    )
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        for stored in ("INT96", "TIMESTAMP_MICROS"):
            spark.conf.set("spark.sql.parquet.outputTimestampType", stored)
            documents = spark.sql(
                "select t as doc_id, array(t) as times, map(1, t) as by, struct(1 as n, t) as both, "
                "'<a/>' as xml from values (timestamp'2020-01-01 01:02:03.000004'), "
                "(timestamp'9999-12-31') as v(t)"
            )
            documents.write.parquet(str(tmp_path / stored))
            keep = ["times", "by", "both"]
            read = spark.read.parquet(str(tmp_path / stored))
            wanted, _ = match(read, compiled, keep=keep)
            found, _ = match_files(spark, tmp_path / stored, compiled, keep=keep)
            assert found.dtypes == wanted.dtypes
            assert sorted(found.collect()) == sorted(wanted.collect())
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
        spark.conf.unset("spark.sql.parquet.outputTimestampType")


def test_matches_in_files_have_the_nodes_that_they_select(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame([("s", "//b")], "id string, xpath string")
    compiled = compile_subscriptions(table, tmp_path / "index")
    columns = {"doc_id": [1, 2, 3], "xml": ["<a><b>x</b><b/></a>", "<a/>", "<a>"]}
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    found = match_files(spark, tmp_path / "in.parquet", compiled, nodes="true")
    (row,) = found.matches.collect()
    assert [tuple(node) for node in row.nodes] == [("/a[1]/b[1]", "x"), ("/a[1]/b[2]", "")]
    assert [row.doc_id for row in found.dead.collect()] == [3]
    assert found.tagged.where("reason is null").collect()[0].nodes == row.nodes
    with pytest.raises(Exception, match="nodes needs a row for each match"):
        match_files(spark, tmp_path / "in.parquet", compiled, nodes="true", result="grouped")


def test_long_documents_are_told_wherever_they_are(tmp_path: Path) -> None:
    published(tmp_path / "index", [{"id": "s", "xpath": "//a"}])
    documents = ["<a/>", None, "<a>" + "x" * 1_000 + "</a>"]
    for kind in (pa.string(), pa.binary()):
        pq.write_table(
            pa.table({"doc_id": [1, 2, 3], "xml": pa.array(documents, kind)}), tmp_path / "x.parquet"
        )
        found = read_all(tmp_path / "index", tmp_path / "x.parquet", maxBytes="1000", result="tagged")
        letters = {row["doc_id"]: row["excerpt"] for row in found if row["reason"]}
        assert letters == {2: None, 3: "not a document: longer than 1,000 bytes"}
        assert [row["doc_id"] for row in found if not row["reason"]] == [1]


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    published(tmp_path / "index", [{"id": "s", "xpath": "//a"}])
    pq.write_table(pa.table({"doc_id": [1], "xml": ["<a/>"]}), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    for name, contents in (("empty", b""), ("torn", whole[: len(whole) // 2]), ("other", b"<a/>" * 100)):
        (tmp_path / f"{name}.parquet").write_bytes(contents)
        with pytest.raises(PathcastError, match=rf"{name}\.parquet cannot be read as Parquet"):
            read_all(tmp_path / "index", tmp_path / f"{name}.parquet")
    gone = [Found(0, f"file:{tmp_path}/gone.parquet", 1)]
    with pytest.raises(PathcastError, match=r"gone\.parquet cannot be read as Parquet"):
        plan_splits(gone)
    split = Split((Piece(gone[0].path, 1, (0,)),))
    with pytest.raises(PathcastError, match=r"gone\.parquet cannot be read as Parquet"):
        list(read_split(split, ReadJob("doc_id", "xml", UnpackJob(None, 1, 1))))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / os.fsdecode(b"\xff.xml")).write_text("<a/>")
    with pytest.raises(PathcastError, match=r"rename b'.*\\xff\.xml': its name is not UTF-8"):
        read_all(tmp_path / "index", tmp_path / "in")
