"""Checkpoints, outputs and indexes on file systems that Spark opens and this process does not: here viewfs.

`viewfs` is one of Hadoop's own, with a table that says where its folders are. Its paths go through Hadoop's
calls and nowhere else, so what is written there can only have come through them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.errors import PathcastError
from pathcast.spark import (
    Compiled,
    FileSink,
    compile_subscriptions,
    match,
    remove_unused,
    stream,
    update_subscriptions,
)
from pathcast.spark.driver.hadoop import HadoopFolder, spark_folder
from tests.spark.conftest import KIND

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.skipif(KIND == "connect", reason="Spark Connect has no Hadoop on its client")


@pytest.fixture
def far(spark: SparkSession, tmp_path: Path) -> str:
    """A folder that only Hadoop opens; its files are in `tmp_path/far`."""
    (tmp_path / "far").mkdir()
    name = f"m{uuid4().hex}"
    spark.conf.set(f"fs.viewfs.mounttable.{name}.link./data", (tmp_path / "far").as_uri())
    return f"viewfs://{name}/data"


def told(spark: SparkSession, *rows: tuple[str, str]) -> DataFrame:
    return spark.createDataFrame(rows, "id string, xpath string")


def put(folder: Path, number: int) -> None:
    folder.mkdir(exist_ok=True)
    table = pa.table({"doc_id": [number], "xml": [f"<a n='{number}'/>"]})
    pq.write_table(table, folder / f"{number}.parquet")


def test_a_folder_of_hadoop(spark: SparkSession, far: str, tmp_path: Path) -> None:
    folder = spark_folder(far, spark)
    assert isinstance(folder, HadoopFolder)
    assert folder.names() == folder.names("below") == []
    with pytest.raises(FileNotFoundError):
        folder.read("none")
    for contents in (b"one", bytes(range(256)) * 40, b""):  # over what is there
        folder.write("below/notes.json", contents)
        assert folder.read("below/notes.json") == contents
    assert folder.names("below") == ["notes.json"]
    (tmp_path / "here").write_bytes(b"here")
    folder.put("there", tmp_path / "here")
    folder.fetch("there", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == b"here"
    assert folder.changed("there") == pytest.approx((tmp_path / "far/there").stat().st_mtime, abs=2)
    folder.remove("there")
    folder.remove("there")
    assert folder.names() == []
    assert not list((tmp_path / "far").rglob("*.part"))


def test_a_stream_with_everything_far_away(spark: SparkSession, far: str, tmp_path: Path) -> None:
    index = f"{far}/index"
    one = compile_subscriptions(told(spark, ("s", "//a"), ("t", "//a[@n = 1]")), index, shards=2)
    assert one.manifest.name in {path.name for path in (tmp_path / "far/index").iterdir()}

    def run() -> None:
        arriving = spark.readStream.schema("doc_id bigint, xml string").parquet(str(tmp_path / "in"))
        sink = FileSink(f"{far}/out")
        query = stream(arriving, index, sink, checkpoint=f"{far}/state", trigger="available")
        assert query.awaitTermination(120)

    def matches() -> list[tuple[int, str, str]]:
        rows = spark.read.parquet(f"{far}/out/matches").collect()
        return sorted((row.doc_id, row.subscription_id, row.index_version) for row in rows)

    put(tmp_path / "in", 0)
    run()
    two = update_subscriptions(index, told(spark, ("t", "//a[@n < 9]")))
    put(tmp_path / "in", 1)
    run()
    expected = [(0, "s", one.hash), (1, "s", two.hash), (1, "t", two.hash)]
    assert matches() == expected
    # A batch that Spark asks for again has the version that it began with.
    state = tmp_path / "far/state"
    for path in [state / "commits/1", state / "commits/.1.crc"]:
        path.unlink(missing_ok=True)
    three = compile_subscriptions(told(spark, ("u", "//a")), index, shards=2)
    assert remove_unused(index) == []  # the stream holds leases for one and two, and three is new
    run()
    assert matches() == expected
    put(tmp_path / "in", 2)
    run()
    assert matches() == [*expected, (2, "u", three.hash)]
    assert one.manifest.name in remove_unused(index)
    found = {path.name: json.loads(path.read_text()) for path in (state / "pathcast/metrics").glob("*.json")}
    assert [found[f"{number:08}.json"]["matches"] for number in range(3)] == [1, 2, 1]
    documents = spark.read.parquet(str(tmp_path / "in"))
    assert match(documents, Compiled.open(index)).matches.count() == 3
    # Another checkpoint would write over the batches of this one, there too.
    arriving = spark.readStream.schema("doc_id bigint, xml string").parquet(str(tmp_path / "in"))
    query = stream(arriving, index, f"{far}/out", checkpoint=f"{far}/other", trigger="available")
    with pytest.raises(Exception, match="batches of another stream"):
        query.awaitTermination(120)


@pytest.mark.parametrize("url", ["dbfs:/pathcast/{}", "hdfs:/pathcast/{}", "nowhere://pathcast/{}"])
def test_what_nothing_opens_never_becomes_a_local_folder(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    place = url.format(uuid4().hex)
    rows = told(spark, ("s", "//a"))
    with pytest.raises(PathcastError, match=r"needs fsspec.*Spark cannot use"):
        compile_subscriptions(rows, place)
    with pytest.raises(PathcastError, match=r"needs fsspec.*Spark cannot use"):
        match(spark.createDataFrame([(1, "<a/>")], "doc_id int, xml string"), place)
    compile_subscriptions(rows, tmp_path / "index")
    put(tmp_path / "in", 0)
    arriving = spark.readStream.schema("doc_id bigint, xml string").parquet(str(tmp_path / "in"))
    with pytest.raises(PathcastError, match="Spark cannot use"):
        stream(arriving, tmp_path / "index", tmp_path / "out", checkpoint=place)
    with pytest.raises(PathcastError, match="Spark cannot use"):
        stream(arriving, tmp_path / "index", place, checkpoint=tmp_path / "state")
    assert {path.name for path in tmp_path.iterdir()} <= {"index", "in", "state"}
    assert not Path("/pathcast").exists()
