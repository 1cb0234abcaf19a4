"""Spark reads and writes the Kafka of the tests: in batch, and as a stream that goes on where it ended."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.kafka import jars
from tests.kafka.fixtures import unavailable

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

pyspark_sql = pytest.importorskip("pyspark.sql")

pytestmark = pytest.mark.filterwarnings("default")  # Spark's own are not ours to mend


@pytest.fixture(scope="module")
def spark(kafka_available: None) -> Iterator[Any]:
    unavailable(jars.missing_connector())
    session = (
        pyspark_sql.SparkSession.builder.master("local[1]")
        .config("spark.jars", jars.connector())
        .config("spark.driver.memory", "512m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", 1)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture
def topics(kafka: KafkaServer) -> tuple[str, str]:
    one, other = (kafka.create_topic(f"{kind}-{uuid.uuid4()}", partitions=2) for kind in ("in", "out"))
    return one, other


def write(spark: Any, kafka: KafkaServer, topic: str, *values: str) -> None:
    frame = spark.createDataFrame([(value,) for value in values], "value string")
    options = {"kafka.bootstrap.servers": kafka.bootstrap, "topic": topic}
    frame.write.format("kafka").options(**options).save()


def read(spark: Any, kafka: KafkaServer, topic: str) -> list[str]:
    options = {"kafka.bootstrap.servers": kafka.bootstrap, "subscribe": topic}
    frame = spark.read.format("kafka").options(**options).load()
    return sorted(row.value for row in frame.selectExpr("cast(value as string) as value").collect())


def test_batch(spark: Any, kafka: KafkaServer, topics: tuple[str, str]) -> None:
    write(spark, kafka, topics[0], "<a/>", "<b/>", "<ü/>")
    assert read(spark, kafka, topics[0]) == ["<a/>", "<b/>", "<ü/>"]
    assert read(spark, kafka, topics[1]) == []


def test_stream_goes_on_where_it_ended(
    spark: Any, kafka: KafkaServer, topics: tuple[str, str], tmp_path: Path
) -> None:
    source, sink = topics

    def run() -> None:
        arriving = (
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", kafka.bootstrap)
            .option("subscribe", source)
            .option("startingOffsets", "earliest")
            .option("kafka.isolation.level", "read_committed")
            .load()
        )
        query = (
            arriving.selectExpr("key", "concat('<seen>', cast(value as string), '</seen>') as value")
            .writeStream.format("kafka")
            .option("kafka.bootstrap.servers", kafka.bootstrap)
            .option("topic", sink)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120)

    write(spark, kafka, source, "<a/>", "<b/>")
    run()
    assert read(spark, kafka, sink) == ["<seen><a/></seen>", "<seen><b/></seen>"]
    kafka.stop()
    kafka.start()
    write(spark, kafka, source, "<c/>")
    run()
    assert read(spark, kafka, sink) == ["<seen><a/></seen>", "<seen><b/></seen>", "<seen><c/></seen>"]
