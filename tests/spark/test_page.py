"""The Python of docs/spark.md runs, one block after the other, as one session of a reader."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pyarrow as pa
import pyarrow.parquet as pq

from tests.kafka.topics import consume
from tests.spark.conftest import KIND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.kafka.server import KafkaServer

ROOT = Path(__file__).parents[2]
NEWS = ROOT / "examples/news/documents"
ROWS = [
    ("english", "/news/item[@lang = 'en']", "ann"),
    ("headlines", "//headline", "ann"),
    ("sports", "//item[category = 'sports']", "bob"),
]


def prepared(spark: SparkSession, folder: Path) -> None:
    """What a reader has: news, more of it arriving, and tables."""
    for name in ("news", "arriving"):
        shutil.copytree(NEWS, folder / name)
    ids, xpaths, subscribers = (list(column) for column in zip(*ROWS, strict=True))
    table = pa.table({"id": ids, "xpath": xpaths, "subscriber": subscribers})
    pq.write_table(table, folder / "subscriptions.parquet")
    texts = [(path.name, path.read_text(encoding="utf-8")) for path in sorted(NEWS.glob("*.xml"))]
    spark.createDataFrame(texts, "doc_id string, xml string").createOrReplaceTempView("news")
    spark.createDataFrame(
        [("goals", "//goal", "cid")], "id string, xpath string, subscriber string"
    ).createOrReplaceTempView("changed")
    spark.createDataFrame([("sports",)], "id string").createOrReplaceTempView("gone")


@pytest.mark.skipif(KIND == "connect", reason="listeners and callbacks run in the server there")
def test_the_page(
    spark: SparkSession, kafka: KafkaServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepared(spark, tmp_path)
    topics = {name: f"{name}-{uuid4()}" for name in ("matches", "dead", "outbox", "news")}
    for topic in topics.values():
        kafka.create_topic(topic)
    text = (ROOT / "docs/spark.md").read_text(encoding="utf-8")
    here: dict[str, Any] = {}
    for block in re.finditer(r"^```py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if "pipelines as dp" in block[1]:
            continue  # test_pipelines runs it
        code = block[1].replace('"/data', f'"{tmp_path}')
        if "kafka:9092" in code:
            code = code.replace("kafka:9092", kafka.bootstrap)
            for name, topic in topics.items():
                code = code.replace(f'"{name}"', f'"{topic}"')
        line = text.count("\n", 0, block.start()) + 2
        exec(compile("\n" * (line - 1) + code, "docs/spark.md", "exec"), here)
    spark.streams.removeListener(here["listener"])
    told = capsys.readouterr().out
    assert '"matches":' in told  # of metrics.jsonl
    matches = spark.read.parquet(str(tmp_path / "matches")).count()
    # The streams began when the subscriptions had changed.
    streamed = spark.read.parquet(str(tmp_path / "matched/matches"))
    assert {row.subscription_id for row in streamed.collect()} >= {"english", "headlines", "goals"}
    assert matches > 0
    assert len(consume(kafka, topics["matches"])) == streamed.count()
    assert len(consume(kafka, topics["dead"])) == 1
