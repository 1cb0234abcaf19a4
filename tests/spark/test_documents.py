"""Documents come from files, archives, tables and huge files, and none is lost."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pathcast.spark import kafka_documents, match, match_tagged, read_documents, split_tagged
from tests.spark.conftest import KIND

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def texts(documents: DataFrame, folder: Path) -> dict[str, bytes]:
    """Ids without the folder to documents."""
    rows = documents.collect()
    assert len({row.doc_id for row in rows}) == len(rows)
    return {row.doc_id.partition(folder.name + "/")[2]: bytes(row.xml) for row in rows}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.xml").write_bytes(b"<a/>")
    (tmp_path / "deep" / "b c+é.xml").write_bytes("<b>é</b>".encode("utf-16"))
    return tmp_path


def test_a_folder_of_files(spark: SparkSession, folder: Path) -> None:
    documents = read_documents(spark, str(folder))
    assert documents.dtypes == [("doc_id", "string"), ("xml", "binary")]
    found = texts(documents, folder)
    assert sorted(found.values()) == sorted([b"<a/>", "<b>é</b>".encode("utf-16")])
    assert list(texts(read_documents(spark, str(folder), glob="a*"), folder)) == ["a.xml"]
    assert len(texts(read_documents(spark, str(folder), recursive=False), folder)) == 1
    subscriptions = spark.createDataFrame([("s", "/b")], "id string, xpath string")
    matches, dead = match(documents, subscriptions)
    assert (matches.count(), dead.count()) == (1, 0)


@pytest.mark.skipif(KIND == "connect", reason="a Connect session does not tell how many tasks there are")
def test_small_files_share_tasks(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / f"{number}.xml").write_text("<a/>")
    name = "spark.sql.files.openCostInBytes"
    before = spark.conf.get(name, "4194304") or ""
    spark.conf.set(name, "131072")  # as sessions of the commands have it
    try:
        for format in ("xml", "archive"):
            documents = read_documents(spark, str(tmp_path), format=format)
            assert documents.rdd.getNumPartitions() <= 3  # one for each core, one that looks for long files
            assert len(texts(documents, tmp_path)) == 400
    finally:
        spark.conf.set(name, before)


def test_a_file_beyond_the_limit_becomes_a_dead_letter(spark: SparkSession, folder: Path) -> None:
    (folder / "long.xml").write_bytes(b"<a>" + b"x" * 1000 + b"</a>")
    (folder / "long.xml.gz").write_bytes(gzip.compress(b"<a>" + b"x" * 1000 + b"</a>"))
    for format in ("xml", "archive"):
        documents = read_documents(spark, str(folder), format=format, glob="long.xml*", max_bytes=100)
        _, dead = match(documents, spark.createDataFrame([("s", "/b")], "id string, xpath string"))
        quotes = [row.excerpt for row in dead.collect()]
        assert len(quotes) == 2
        assert any("longer than 100 bytes" in quote for quote in quotes)


def test_archives(spark: SparkSession, folder: Path) -> None:
    (folder / "c.xml.gz").write_bytes(gzip.compress(b"<c/>"))
    (folder / "broken.gz").write_bytes(gzip.compress(b"<d>" + bytes(range(256)) * 50)[:-20])
    with zipfile.ZipFile(folder / "many.zip", "w") as archive:
        archive.writestr("in/1.xml", "<one/>")
        archive.writestr("in/2.xml", "<two/>")
        archive.writestr("in/3.xml.gz", gzip.compress(b"<three/>"))
    (folder / "broken.zip").write_bytes((folder / "many.zip").read_bytes()[:-30])
    found = texts(read_documents(spark, str(folder)), folder)
    assert found["c.xml.gz"] == b"<c/>"
    assert found["a.xml"] == b"<a/>"
    entries = {name: text for name, text in found.items() if name.startswith("many.zip")}
    assert entries == {
        "many.zip!in/1.xml": b"<one/>",
        "many.zip!in/2.xml": b"<two/>",
        "many.zip!in/3.xml.gz": b"<three/>",
    }
    assert found["broken.gz"].startswith(b"not a document: ")
    assert found["broken.zip"].startswith(b"not a document: ")
    assert len(found) == 8


def test_one_huge_file_is_cut_into_records(spark: SparkSession, tmp_path: Path) -> None:
    records = [f"<p:Entry n='{at}'><!-- </p:Entry> -->{'x' * at}</p:Entry>" for at in range(3000)]
    text = f"<db xmlns:p='urn:p'>{''.join(records)}</db>"
    (tmp_path / "db.xml").write_text(text)
    (tmp_path / "db.xml.gz").write_bytes(gzip.compress(text.encode()))
    documents = read_documents(spark, str(tmp_path), record="Entry", partitions=2)
    found = texts(documents, tmp_path)
    assert len(found) == 6000
    assert found["db.xml#11"] == b"<p:Entry xmlns:p='urn:p' n='10'><!-- </p:Entry> -->xxxxxxxxxx</p:Entry>"
    assert found["db.xml.gz#11"] == found["db.xml#11"]
    namespaces = {"p": "urn:p"}
    subscriptions = spark.createDataFrame([("s", "/p:Entry[@n >= 2990]")], "id string, xpath string")
    matches, dead = match(documents, subscriptions, namespaces=namespaces)
    assert (matches.count(), dead.count()) == (20, 0)
    (tmp_path / "db.xml").write_text(text[:-1000])
    _, dead = match(
        read_documents(spark, str(tmp_path / "db.xml"), record="{urn:p}Entry"),
        subscriptions,
        namespaces=namespaces,
    )
    assert [row.doc_id[-5:] for row in dead.collect()] == ["#3000"]


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_tables(spark: SparkSession, tmp_path: Path, format: str) -> None:
    place = str(tmp_path / "table")
    frame = spark.createDataFrame([(1, "<a/>", 0), (2, None, 0)], "nr int, text string, more int")
    frame.write.format(format).save(place)
    documents = read_documents(spark, place, id="nr", document="text")
    assert sorted(tuple(row) for row in documents.collect()) == [(1, "<a/>"), (2, None)]
    with pytest.raises(ValueError, match=r"have no column 'doc_id'; there are: .*nr \("):
        read_documents(spark, place)


def test_files_stream(spark: SparkSession, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (folder / "bad.xml").write_bytes(b"<b>")
    documents = read_documents(spark, str(folder), format="xml", streaming=True)
    subscriptions = spark.createDataFrame([("s", "//*")], "id string, xpath string")
    out = str(tmp_path_factory.mktemp("out"))
    options = {"path": f"{out}/rows", "checkpointLocation": f"{out}/checkpoint"}
    tagged = match_tagged(documents, subscriptions, shards=2)
    tagged.writeStream.format("parquet").options(**options).trigger(
        availableNow=True
    ).start().awaitTermination()
    matches, dead = split_tagged(spark.read.parquet(f"{out}/rows"))
    assert (matches.count(), [row.doc_id[-7:] for row in dead.collect()]) == (2, ["bad.xml"])


def test_what_cannot_be_is_told(spark: SparkSession, folder: Path) -> None:
    with pytest.raises(ValueError, match="there is no format 'csv'"):
        read_documents(spark, str(folder), format="csv")
    with pytest.raises(ValueError, match="record= cuts files of XML, not parquet"):
        read_documents(spark, str(folder), format="parquet", record="a")
    with pytest.raises(ValueError, match="a stream needs its format"):
        read_documents(spark, str(folder), streaming=True)
    with pytest.raises(ValueError, match="record must be"):
        read_documents(spark, str(folder), record="")
    assert read_documents(spark, folder).columns == ["doc_id", "xml"]  # a Path, as elsewhere
    (folder / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"several formats \(parquet, xml\)"):
        read_documents(spark, str(folder))


def test_records_of_a_topic_are_documents(spark: SparkSession) -> None:
    records = spark.createDataFrame(
        [(b"k", b"<a/>", "news", 3, 17)],
        "key binary, value binary, topic string, partition int, offset bigint",
    )
    kept = kafka_documents(records, keep=["topic", "offset"])
    assert kept.columns == ["doc_id", "xml", "topic", "offset"]
    with pytest.raises(ValueError, match="records have no column 'headers'"):
        kafka_documents(records, keep=["headers"])
    documents = kafka_documents(records)
    assert [(row.doc_id, bytes(row.xml)) for row in documents.collect()] == [("news/3/17", b"<a/>")]
