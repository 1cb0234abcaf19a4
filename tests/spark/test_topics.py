"""The data source reads Kafka topics itself: what the index gives, each message once, also after a crash."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")

import pyarrow.parquet as pq
from pyspark.sql.functions import unix_millis
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from pathcast.errors import PathcastError
from pathcast.spark import PathcastDataSource, compile_subscriptions, remove_unused
from pathcast.spark.driver.topics import at_most
from tests.kafka.topics import publish
from tests.spark.data import stream_reader, world
from tests.spark.shards import published

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.kafka.server import KafkaServer


def options(kafka: KafkaServer, topic: str, index: Path, **more: str) -> dict[str, str]:
    named = {"kafka.bootstrap.servers": kafka.bootstrap, "subscribe": topic, "index": str(index)}
    return {**named, "startingOffsets": "earliest", **more}


@pytest.mark.parametrize("route", [False, True])
def test_topics_give_what_the_index_gives(
    spark: SparkSession, kafka: KafkaServer, tmp_path: Path, route: bool
) -> None:
    here = world(seed=31, documents=80, subscriptions=60)
    compile_subscriptions(here.frames(spark)[1], tmp_path / "index", shards=1 + 2 * route, route=route)
    topic = kafka.create_topic(f"in-{uuid4()}", partitions=1)
    publish(kafka, topic, [(id, document or b"") for id, document in here.documents])
    spark.dataSource.register(PathcastDataSource)
    nothing = options(kafka, kafka.create_topic(f"in-{uuid4()}"), tmp_path / "index")
    assert spark.read.format("pathcast").options(**nothing).load().collect() == []
    number = {f"{topic}/0/{at}": id for at, (id, _) in enumerate(here.documents)}
    reader = spark.read.format("pathcast").options(**options(kafka, topic, tmp_path / "index"))
    rows = reader.load().collect()
    assert sorted((number[row.doc_id], row.subscription_id) for row in rows) == here.matches()
    dead = reader.option("result", "dead").load().collect()
    assert sorted(number[row.doc_id] for row in dead) == [letter[0] for letter in here.dead()]


def test_keys_and_headers_go_with_answers(spark: SparkSession, kafka: KafkaServer, tmp_path: Path) -> None:
    from confluent_kafka import Producer

    published(tmp_path / "index", [{"id": "s", "xpath": "//a"}])
    topic = kafka.create_topic(f"in-{uuid4()}", partitions=1)
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    headers: list[tuple[str, str | bytes | None]] = [("lang", b"en"), ("lang", b"fr"), ("none", None)]
    producer.produce(topic, b"<a/>", key=b"k", headers=headers, timestamp=1_700_000_000_123)
    producer.produce(topic, b"<a>", timestamp=1_700_000_000_456)
    assert producer.flush(60) == 0
    spark.dataSource.register(PathcastDataSource)
    keep = "key, headers, timestamp, topic, partition, offset"
    given = options(kafka, topic, tmp_path / "index", keep=keep)
    frame = spark.read.format("pathcast").options(**given).load()
    kinds = "binary, array<struct<key:string,value:binary>>, timestamp, string, int, bigint"  # Spark's own
    assert frame.dtypes[3:] == list(zip(keep.split(", "), kinds.split(", "), strict=True))
    (found,) = frame.withColumn("milliseconds", unix_millis("timestamp")).collect()
    assert found.doc_id == f"{topic}/0/0"
    assert bytes(found.key) == b"k"
    assert [(each.key, each.value and bytes(each.value)) for each in found.headers] == headers
    assert found.milliseconds == 1_700_000_000_123
    assert (found.topic, found.partition, found.offset) == (topic, 0, 0)
    (letter,) = spark.read.format("pathcast").options(**given, result="dead").load().collect()
    assert (letter.key, letter.headers, letter.offset, letter.kind) == (None, [], 1, "malformed")


def test_a_stream_of_messages_goes_on_where_it_ended(
    spark: SparkSession, kafka: KafkaServer, tmp_path: Path
) -> None:
    topic = kafka.create_topic(f"in-{uuid4()}", partitions=3)

    def compiled(*xpaths: str) -> None:
        table = spark.createDataFrame([(each, each) for each in xpaths], "id string, xpath string")
        compile_subscriptions(table, tmp_path / "index")
        remove_unused(tmp_path / "index")

    def put(*names: str) -> None:
        publish(kafka, topic, [(0, f"<a><{name}/></a>".encode()) for name in names])

    def run() -> list[tuple[str, int]]:
        spark.dataSource.register(PathcastDataSource)
        settings = options(kafka, topic, tmp_path / "index", maxOffsetsPerTrigger="2")
        frame = spark.readStream.format("pathcast").options(**settings).load()
        writer = frame.writeStream.format("parquet").option("path", str(tmp_path / "out"))
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        found = pq.read_table(tmp_path / "out").to_pylist()
        assert len({(row["doc_id"], row["subscription_id"]) for row in found}) == len(found)
        names = {row["subscription_id"] for row in found}
        return sorted((name, sum(row["subscription_id"] == name for row in found)) for name in names)

    compiled("//a", "//b")
    put("b", "c", "b", "c", "d")
    assert run() == [("//a", 5), ("//b", 2)]
    assert run() == [("//a", 5), ("//b", 2)]
    compiled("//e")
    put("e", "f")
    assert run() == [("//a", 5), ("//b", 2), ("//e", 1)]
    # A batch that is asked for again has its own messages and its own version, whatever there is now.
    compiled("//f")
    put("f")
    last = max(int(path.name) for path in (tmp_path / "checkpoint/commits").iterdir() if path.name.isdigit())
    for name in (f"{last}", f".{last}.crc"):
        (tmp_path / "checkpoint/commits" / name).unlink(missing_ok=True)
    shutil.rmtree(tmp_path / "out")
    assert run() == [("//e", 1), ("//f", 1)]


def test_offsets_name_the_messages_of_a_batch(kafka: KafkaServer, tmp_path: Path) -> None:
    """The reader of a stream without Spark: every offset goes through JSON, and readers are forgotten."""
    from confluent_kafka import Producer

    topic = kafka.create_topic(f"in-{uuid4()}", partitions=1)
    published(tmp_path / "index", [{"id": "s", "xpath": "//a"}])

    def reader(**more: str) -> Any:
        settings = options(kafka, topic, tmp_path / "index", result="tagged", **more)
        return stream_reader(settings)

    def after(start: dict[str, Any], limit: Any) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(json.dumps(reader().latestOffset(start, limit)))
        return made

    def found(start: dict[str, Any], end: dict[str, Any]) -> list[tuple[int, str | None]]:
        tasks = reader().partitions(start, end)
        rows = [row for task in tasks for batch in reader().read(task) for row in batch.to_pylist()]
        return sorted((int(row["doc_id"].rpartition("/")[2]), row["kind"]) for row in rows)

    offsets = [reader().initialOffset()]
    assert after(offsets[0], ReadAllAvailable()) == offsets[0]
    publish(kafka, topic, [(0, b"<a/>")] * 3)
    offsets.append(after(offsets[0], ReadMaxRows(2)))
    offsets.append(after(offsets[1], ReadMaxRows(2)))
    # What was given up is no document, nor are the marks that transactions leave behind.
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": topic, "log_level": 0})
    producer.init_transactions(60)
    for kept in (False, True):
        producer.begin_transaction()
        for value in (b"<a/>", b"<a>", None):
            producer.produce(topic, value)
        producer.flush(60)
        (producer.commit_transaction if kept else producer.abort_transaction)(60)
    offsets.append(after(offsets[2], ReadAllAvailable()))
    assert after(offsets[3], ReadAllAvailable()) == offsets[3]
    wanted = [[(0, None), (1, None)], [(2, None)], [(7, None), (8, "malformed"), (9, "malformed")]]
    for at in (2, 0, 1, 0):  # in any order, as often as asked
        assert found(offsets[at], offsets[at + 1]) == wanted[at]
    latest = stream_reader(options(kafka, topic, tmp_path / "index", startingOffsets="latest"))
    assert latest.initialOffset()["to"] == offsets[3]["to"]
    with pytest.raises(PathcastError, match="there is no topic 'nowhere'"):
        reader(subscribe="nowhere").initialOffset()


def test_what_no_longer_is_there_is_told(kafka: KafkaServer, tmp_path: Path) -> None:
    from confluent_kafka import TopicPartition

    topic = kafka.create_topic(f"in-{uuid4()}", partitions=1)
    published(tmp_path / "index", [{"id": "s", "xpath": "//a"}])
    reader = stream_reader(options(kafka, topic, tmp_path / "index"))
    publish(kafka, topic, [(0, b"<a/>")] * 3)
    start = {"stream": "x", "from": "{}", "to": json.dumps({f"{topic}/0": 0}), "version": ""}
    end = reader.latestOffset(start, ReadAllAvailable())
    admin = kafka.admin()
    for done in admin.delete_records([TopicPartition(topic, 0, 2)]).values():
        done.result(60)
    (task,) = reader.partitions(start, end)
    with pytest.raises(PathcastError, match="messages are gone before they were read"):
        list(reader.read(task))


def test_a_batch_has_something_of_every_partition() -> None:
    start, end = {"t/0": 0, "t/1": 10, "t/2": 7}, {"t/0": 100, "t/1": 12, "t/2": 7}
    assert at_most(start, end, None) == end
    seen = dict(start)
    while seen != end:
        then = at_most(seen, end, 5)
        assert 0 < sum(then.values()) - sum(seen.values()) <= 5
        assert all(seen[place] <= then[place] <= end[place] for place in end)
        seen = then


def test_mistakes_are_told(tmp_path: Path) -> None:
    calls: list[tuple[dict[str, str], str]] = [
        ({"subscribe": "t"}, "say where Kafka is"),
        ({"subscribe": " ", "kafka.bootstrap.servers": "x"}, "which topics"),
        ({"subscribe": "t", "kafka.bootstrap.servers": "x", "path": "/in"}, "in files or in topics"),
        ({"subscribe": "t", "kafka.bootstrap.servers": "x", "startingOffsets": "7"}, "earliest or latest"),
        ({"subscribe": "t", "kafka.bootstrap.servers": "x", "maxOffsetsPerTrigger": "0"}, "at least 1"),
        (
            {"subscribe": "t", "kafka.bootstrap.servers": "x", "keep": "colour"},
            "no 'colour' to keep; it has: key",
        ),
        ({}, "say where the documents are"),
    ]
    for given, message in calls:
        with pytest.raises(ValueError, match=message):
            PathcastDataSource({"index": str(tmp_path), **given}).schema()
