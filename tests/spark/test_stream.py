"""`stream` writes what `match` gives, once, whatever happens to a batch; versions change between batches."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pyspark.sql import functions as F  # noqa: N812 - its usual name

import pathcast
from pathcast.spark import (
    BatchMetrics,
    FileSink,
    KafkaSink,
    MetricsListener,
    StreamError,
    StreamProgress,
    compile_subscriptions,
    delivery_id,
    document_hash,
    read_deliveries,
    read_documents,
    read_outbox,
    remove_unused,
    stream,
    update_subscriptions,
)
from tests.kafka.topics import consume
from tests.spark.conftest import KIND
from tests.spark.data import World, world

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.kafka.server import KafkaServer

SCHEMA = "doc_id bigint, xml binary"
WAIT = 120


def put(spark: SparkSession, folder: Path, rows: Sequence[tuple[int, bytes | None]], name: str) -> None:
    """One more file of documents, whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table(
        {
            "doc_id": pa.array([row[0] for row in rows], pa.int64()),
            "xml": pa.array([row[1] for row in rows], pa.binary()),
        }
    )
    pq.write_table(table, folder / f".{name}")
    (folder / f".{name}").rename(folder / f"{name}.parquet")


def arriving(spark: SparkSession, folder: Path, files: int = 1000) -> DataFrame:
    return read_documents(
        spark,
        str(folder),
        format="parquet",
        schema=SCHEMA,
        streaming=True,
        options={"maxFilesPerTrigger": str(files)},
    )


def run(documents: DataFrame, place: Path, **options: Any) -> None:
    """Takes what is there."""
    given = {"output": str(place / "out"), "checkpoint": place / "checkpoint", **options}
    query = stream(documents, place / "index", trigger="available", **given)
    assert query.awaitTermination(WAIT)


def lines(place: Path) -> list[dict[str, Any]]:
    text = (place / "checkpoint/pathcast/metrics.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def pairs(frame: DataFrame) -> list[tuple[Any, Any]]:
    return sorted((row.doc_id, row.subscription_id) for row in frame.collect())


def the_world() -> World:
    return world(seed=5, documents=120, subscriptions=150)


def simple(spark: SparkSession, place: Path, *xpaths: str) -> str:
    rows = [(xpath, xpath) for xpath in xpaths]
    return compile_subscriptions(spark.createDataFrame(rows, "id string, xpath string"), place / "index").hash


@pytest.mark.parametrize(("shards", "route"), [(1, False), (3, False), (4, True)])
def test_a_stream_gives_what_the_index_gives(
    spark: SparkSession, tmp_path: Path, shards: int, route: bool
) -> None:
    here = the_world()
    _, subscriptions = here.frames(spark)
    compiled = compile_subscriptions(subscriptions, tmp_path / "index", shards=shards, route=route)
    assert (compiled.manifest.routing is not None) == route
    for at in range(0, len(here.documents), 50):
        put(spark, tmp_path / "in", here.documents[at : at + 50], f"{at:04}")
    run(arriving(spark, tmp_path / "in", 1), tmp_path)
    matches = spark.read.parquet(str(tmp_path / "out/matches"))
    names = ["doc_id", "subscription_id", "subscriber", "document_hash", "index_version", "delivery_id"]
    assert matches.columns == [*names, "batch"]
    assert pairs(matches) == here.matches()
    contents = dict(here.documents)
    for row in matches.limit(20).collect():
        document = contents[row.doc_id]
        assert row.index_version == compiled.hash
        assert row.document_hash == document_hash(document)
        assert row.delivery_id == delivery_id(row.doc_id, document, row.subscription_id, compiled.hash)
    dead = spark.read.parquet(str(tmp_path / "out/dead"))
    found = sorted((row.doc_id, row.reason, row.line, row.column, row.kind) for row in dead.collect())
    assert found == here.dead()
    told = lines(tmp_path)
    assert [line["batch"] for line in told] == [0, 1, 2]  # the limit of one file a batch holds
    assert sum(line["documents"] for line in told) == len(here.documents)
    assert sum(line["bytes"] for line in told) == sum(len(text or b"") for _, text in here.documents)
    assert sum(line["matches"] for line in told) == len(here.matches())
    assert sum(line["dead_letters"] for line in told) == len(here.dead())
    assert {line["index_version"] for line in told} == {compiled.hash}
    assert all(0 <= line["core_milliseconds"] <= 2 * line["milliseconds"] for line in told)
    # The first five documents came twice: the same bytes have the same delivery ids.
    assert len(set(here.matches())) == read_deliveries(spark, tmp_path / "out").count()


@pytest.mark.parametrize(("shards", "outboxes"), [(3, False), (1, True), (3, True)])
def test_the_source_is_read_once(spark: SparkSession, tmp_path: Path, shards: int, outboxes: bool) -> None:
    rows = spark.createDataFrame([(each, each) for each in ("//a", "//b", "//c")], "id string, xpath string")
    compile_subscriptions(rows, tmp_path / "index", shards=shards)
    put(spark, tmp_path / "in", [(number, f"<a n='{number}'/>".encode()) for number in range(40)], "1")
    read = str(tmp_path / "read")

    def counted(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            with open(read, "a") as lines:
                lines.write(f"{batch.num_rows}\n")
            yield batch

    counted.__annotations__ = {}  # Spark reads annotations
    documents = arriving(spark, tmp_path / "in").mapInArrow(counted, SCHEMA)
    run(documents, tmp_path, output=FileSink(str(tmp_path / "out"), outboxes=outboxes))
    assert sum(map(int, Path(read).read_text().split())) == 40
    assert len(pairs(spark.read.parquet(str(tmp_path / "out/matches")))) == 40


def test_jobs_and_listeners_tell_of_a_batch(spark: SparkSession, tmp_path: Path) -> None:
    if KIND == "connect":
        pytest.skip("both are of the driver")
    version = simple(spark, tmp_path, "//a")
    put(spark, tmp_path / "in", [(1, b"<a/>"), (2, b"<a>")], "1")
    put(spark, tmp_path / "in", [(3, b"<a/>")], "2")
    seen: list[StreamProgress] = []
    listener = MetricsListener(seen.append)
    spark.streams.addListener(listener)
    try:
        run(arriving(spark, tmp_path / "in", 1), tmp_path, name="told")
        deadline = monotonic() + WAIT
        while len(seen) < 2:  # Spark tells later
            assert monotonic() < deadline
    finally:
        spark.streams.removeListener(listener)
    assert [(each.name, each.batch.batch, each.batch.documents) for each in seen] == [
        ("told", 0, 2),
        ("told", 1, 1),
    ]
    first = json.loads(seen[0].line())
    assert (first["matches"], first["dead_letters"], first["index_version"]) == (1, 1, version)
    assert seen[0].documents_per_second > 0
    assert seen[0].trigger_milliseconds >= seen[0].batch.milliseconds
    jvm: Any = spark._jvm
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(jvm.java.util.ArrayList())
    described = {
        jobs.apply(at).description().get()
        for at in range(jobs.size())
        if jobs.apply(at).description().isDefined()
    }
    assert f"pathcast: batch 1 with index version {version[:12]}" in described


def test_a_new_version_takes_effect_with_the_next_batch(spark: SparkSession, tmp_path: Path) -> None:
    one = simple(spark, tmp_path, "//a", "//b")
    put(spark, tmp_path / "in", [(1, b"<a><b/></a>")], "1")
    put(spark, tmp_path / "in", [(0, b"<a/>")], "0")
    run(arriving(spark, tmp_path / "in", 1), tmp_path, ship=True)
    changed = spark.createDataFrame([("//c", "//c")], "id string, xpath string")
    removed = spark.createDataFrame([("//b",)], "id string")
    two = update_subscriptions(tmp_path / "index", changed, removed).hash
    put(spark, tmp_path / "in", [(2, b"<a><b/><c/></a>")], "2")
    run(arriving(spark, tmp_path / "in", 1), tmp_path, ship=True)
    rows = spark.read.parquet(str(tmp_path / "out/matches")).collect()
    assert sorted((row.doc_id, row.subscription_id, row.index_version) for row in rows) == sorted(
        [(0, "//a", one), (1, "//a", one), (1, "//b", one), (2, "//a", two), (2, "//c", two)]
    )


def again(place: Path, number: int) -> None:
    """Makes Spark forget that a batch was done, as if the driver had died just before it was noted."""
    for name in (f"{number}", f".{number}.crc"):
        (place / "checkpoint/commits" / name).unlink(missing_ok=True)


def test_a_batch_asked_for_again_uses_its_version_and_changes_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    one = simple(spark, tmp_path, "//a", "//b")
    put(spark, tmp_path / "in", [(1, b"<a><b/></a>"), (2, b"<a>")], "1")
    run(arriving(spark, tmp_path / "in"), tmp_path)

    def all_rows() -> list[Any]:
        return sorted(
            tuple(row)
            for kind in ("matches", "dead")
            for row in spark.read.parquet(str(tmp_path / "out" / kind))
            .select("doc_id", "delivery_id")
            .collect()
        )

    before = all_rows()
    simple(spark, tmp_path, "//c")
    shutil.rmtree(tmp_path / "out/matches/batch=00000000")  # it died while it wrote
    again(tmp_path, 0)
    run(arriving(spark, tmp_path / "in"), tmp_path)
    assert all_rows() == before
    again(tmp_path, 0)
    run(arriving(spark, tmp_path / "in"), tmp_path)
    assert all_rows() == before
    assert [line["index_version"] for line in lines(tmp_path)] == [one]
    # Nobody removes the files of that version: the stream has a lease.
    assert remove_unused(tmp_path / "index") == []
    again(tmp_path, 0)
    run(arriving(spark, tmp_path / "in"), tmp_path)
    assert all_rows() == before
    # Without them it says which, and what to do.
    for lease in (tmp_path / "index").glob("lease-*"):
        lease.unlink()
    assert remove_unused(tmp_path / "index") != []
    again(tmp_path, 0)
    with pytest.raises(Exception, match="batch 0 began with version"):
        run(arriving(spark, tmp_path / "in"), tmp_path)


def test_versions_are_removed_while_a_stream_runs(spark: SparkSession, tmp_path: Path) -> None:
    expected = []
    for number in range(7):
        version = simple(spark, tmp_path, "//a", f"//a[@n = {number}]")
        remove_unused(tmp_path / "index")
        put(spark, tmp_path / "in", [(number, f"<a n='{number}'/>".encode())], str(number))
        run(arriving(spark, tmp_path / "in"), tmp_path)
        expected += [(number, "//a", version), (number, f"//a[@n = {number}]", version)]
        remove_unused(tmp_path / "index")
    rows = spark.read.parquet(str(tmp_path / "out/matches")).collect()
    assert sorted((row.doc_id, row.subscription_id, row.index_version) for row in rows) == sorted(expected)
    kept = {path.name for path in (tmp_path / "index").glob("manifest-*")}
    assert len(kept) == 2  # of the last batch and the one before


def test_a_transaction_that_was_committed_is_not_sent_again(
    spark: SparkSession, kafka: KafkaServer, tmp_path: Path
) -> None:
    simple(spark, tmp_path, "//a", "//b")
    put(spark, tmp_path / "in", [(1, b"<a><b/></a>"), (2, b"<a>")], "1")
    topic, outbox, dead = (kafka.create_topic(f"{kind}-{uuid4()}") for kind in ("out", "outbox", "dead"))
    sink = KafkaSink(kafka.bootstrap, topic, dead, outbox, producers=3)
    run(arriving(spark, tmp_path / "in"), tmp_path, output=sink)
    again(tmp_path, 0)
    # In as many parts as it began with, whatever was set since.
    run(arriving(spark, tmp_path / "in"), tmp_path, output=replace(sink, producers=5))
    rows = [json.loads(value) for _, value, _ in consume(kafka, topic)]
    assert sorted(row["subscription_id"] for row in rows) == ["//a", "//b"]
    assert [key.decode() for key, _, _ in consume(kafka, topic)] == [row["delivery_id"] for row in rows]
    assert [json.loads(value)["doc_id"] for _, value, _ in consume(kafka, dead)] == [2]
    sent = consume(kafka, outbox)
    assert sorted((key, value, headers["subscriptions"]) for key, value, headers in sent) == [
        (b"//a", b"<a><b/></a>", b'["//a"]'),
        (b"//b", b"<a><b/></a>", b'["//b"]'),
    ]
    # The next batch is sent, and a topic that is not there is told.
    put(spark, tmp_path / "in", [(3, b"<b/>")], "2")
    run(arriving(spark, tmp_path / "in"), tmp_path, output=sink)
    assert len(consume(kafka, topic)) == 3
    nowhere = KafkaSink(kafka.bootstrap, f"nowhere-{uuid4()}", timeout=5)
    put(spark, tmp_path / "in", [(4, b"<b/>")], "3")
    with pytest.raises(Exception, match="did not take a message"):
        run(arriving(spark, tmp_path / "in"), tmp_path, output=nowhere)


def test_same_id_other_bytes_and_repeated_documents(spark: SparkSession, tmp_path: Path) -> None:
    simple(spark, tmp_path, "//a")
    put(spark, tmp_path / "in", [(1, b"<a/>"), (1, b"<a>2</a>")], "1")
    put(spark, tmp_path / "in", [(1, b"<a/>")], "2")
    sink = FileSink(str(tmp_path / "out"), outboxes=True)
    run(arriving(spark, tmp_path / "in", 1), tmp_path, output=sink)
    assert spark.read.parquet(str(tmp_path / "out/matches")).count() == 3
    assert read_deliveries(spark, tmp_path / "out").count() == 2
    outbox = read_outbox(spark, str(tmp_path / "out/outboxes"), "//a")
    assert sorted(bytes(row.document) for row in outbox.collect()) == [b"<a/>", b"<a/>", b"<a>2</a>"]
    # Spark remembers documents across batches, if asked to.
    other = tmp_path / "other"
    shutil.copytree(tmp_path / "index", other / "index")
    run(arriving(spark, tmp_path / "in", 1).dropDuplicates(["doc_id", "xml"]), other)
    assert spark.read.parquet(str(other / "out/matches")).count() == 2


def test_modes(spark: SparkSession, tmp_path: Path) -> None:
    simple(spark, tmp_path, "//a")
    put(spark, tmp_path / "in", [(1, b"<a/>"), (2, b"<a>"), (3, None), (4, b"")], "1")
    run(arriving(spark, tmp_path / "in"), tmp_path, mode="DROPMALFORMED")
    assert pairs(spark.read.parquet(str(tmp_path / "out/matches"))) == [(1, "//a")]
    assert not (tmp_path / "out/dead").exists()
    assert lines(tmp_path)[0]["documents"] == 4
    with pytest.raises(Exception, match="document 2 was refused in mode FAILFAST"):
        run(
            arriving(spark, tmp_path / "in"),
            tmp_path,
            mode="FAILFAST",
            output=str(tmp_path / "out2"),
            checkpoint=tmp_path / "checkpoint2",
        )


def test_columns_go_with_answers(spark: SparkSession, tmp_path: Path) -> None:
    simple(spark, tmp_path, "//a")
    put(spark, tmp_path / "in", [(1, b"<a/>"), (2, b"<a>"), (3, b"<b/>")], "1")
    documents = arriving(spark, tmp_path / "in").withColumns(
        {"id": F.col("doc_id") * 10, "my key": F.col("doc_id").cast("string").cast("binary")}
    )
    run(documents, tmp_path, keep=["my key", "id"], output=FileSink(str(tmp_path / "out"), outboxes=True))
    for name, number in (("matches", 1), ("dead", 2)):
        (row,) = spark.read.parquet(str(tmp_path / "out" / name)).collect()
        assert (row["doc_id"], row["id"], bytes(row["my key"])) == (number, 10 * number, b"%d" % number)
        assert row["delivery_id"] == delivery_id(
            number, [b"<a/>", b"<a>"][number - 1], "//a" if number == 1 else None, row["index_version"]
        )
    assert read_outbox(spark, str(tmp_path / "out/outboxes"), "//a").count() == 1
    with pytest.raises(ValueError, match="have a column 'document_hash' of their own"):
        run(documents.withColumn("document_hash", F.lit(1)), tmp_path, keep=["document_hash"])
    with pytest.raises(ValueError, match="the documents have no column 'topic'"):
        run(documents, tmp_path, keep=["topic"])


def test_files_of_xml_and_the_callback(spark: SparkSession, tmp_path: Path) -> None:
    simple(spark, tmp_path, "//a")
    (tmp_path / "in").mkdir()
    for number in range(3):
        (tmp_path / f"in/{number}.xml").write_text(f"<a>{number}</a>")
    documents = read_documents(
        spark, str(tmp_path / "in"), format="xml", streaming=True, options={"maxFilesPerTrigger": "2"}
    )
    seen: list[BatchMetrics] = []
    run(documents, tmp_path, on_batch=seen.append)
    rows = spark.read.parquet(str(tmp_path / "out/matches")).collect()
    assert sorted(row.doc_id.rsplit("/", 1)[1] for row in rows) == ["0.xml", "1.xml", "2.xml"]
    assert sum(line["documents"] for line in lines(tmp_path)) == 3
    if KIND == "classic":
        assert [each.batch for each in seen] == list(range(len(lines(tmp_path))))
        assert sum(each.matches for each in seen) == 3


def test_what_cannot_be_is_told(spark: SparkSession, tmp_path: Path) -> None:
    simple(spark, tmp_path, "//a")
    put(spark, tmp_path / "in", [(1, b"<a/>")], "1")
    documents = arriving(spark, tmp_path / "in")
    with pytest.raises(ValueError, match="are not a stream"):
        run(spark.createDataFrame([(1, b"<a/>")], SCHEMA), tmp_path)
    with pytest.raises(TypeError, match="documents must be a DataFrame of Spark's, not str"):
        run("/data/news", tmp_path)  # type: ignore[arg-type]
    state = tmp_path / "unused"
    with pytest.raises(TypeError, match=r"a folder, or a sink with write\(batch\), not object"):
        stream(documents, tmp_path / "index", object(), checkpoint=state)  # type: ignore[arg-type]
    if KIND != "connect":  # of what its server opens, the client knows nothing
        with pytest.raises(pathcast.PathcastError, match=r"there is no host 'nowhere\.invalid'"):
            stream(documents, tmp_path / "index", "hdfs://nowhere.invalid/out", checkpoint=state)
    with pytest.raises(ValueError, match="have no column 'text'"):
        run(documents, tmp_path, document="text")
    with pytest.raises(ValueError, match="mode must be"):
        run(documents, tmp_path, mode="LENIENT")
    with pytest.raises(pathcast.PathcastError, match="s3://bucket/checkpoint"):
        run(documents, tmp_path, checkpoint="s3://bucket/checkpoint")
    run(documents, tmp_path)
    # Another checkpoint would write its batch 0 over that of this one.
    with pytest.raises(Exception, match="batches of another stream"):
        run(documents, tmp_path, checkpoint=tmp_path / "other")
    numbers = spark.createDataFrame([(1, "//a")], "id bigint, xpath string")
    with pytest.raises(TypeError, match=r"with ids of type string.*have ids of type bigint"):
        compile_subscriptions(numbers, tmp_path / "index")  # the stream holds a lease
    for lease in (tmp_path / "index").glob("lease-*"):
        lease.unlink()
    compile_subscriptions(numbers, tmp_path / "index")
    put(spark, tmp_path / "in", [(2, b"<a/>")], "2")
    with pytest.raises(Exception, match="start a new stream"):
        run(documents, tmp_path)
    simple(spark, tmp_path, "//a", "//b")  # mended: the batch that failed is not tied to the misfit
    run(documents, tmp_path)
    assert pairs(spark.read.parquet(str(tmp_path / "out/matches"))) == [(1, "//a"), (2, "//a")]
    put(spark, tmp_path / "in", [(3, b"<a/>")], "3")
    (tmp_path / "index/manifest.json").write_text("{")
    with pytest.raises(Exception, match=r"manifest\.json cannot be read"):
        run(documents, tmp_path)


def test_errors_have_their_place() -> None:
    assert issubclass(StreamError, pathcast.PathcastError)
