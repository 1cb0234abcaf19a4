"""Every subscriber gets each document once, byte for byte, with the list of what matched."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pyspark.sql import functions as F  # noqa: N812 - its usual name

from pathcast.spark import (
    acknowledge_outbox,
    deliver,
    delivery_id,
    match,
    read_outbox,
    write_outboxes,
)
from tests.spark.data import world

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_no_name_of_a_subscriber_stops_the_others(spark: SparkSession, tmp_path: Path) -> None:
    names = ["plain", "a\x00b", "line\nbreak", "../up", "=", "007", "7", ".", "x" * 300, "", "1e3", "ü" * 60]
    names += ["a*b", "{a,b}", "50%25", "a b", "a\\b", "^a|b", "a:b", "#1", "__HIVE_DEFAULT_PARTITION__"]
    rows = [(name, 1, b"<a/>") for name in names]
    delivered = spark.createDataFrame(rows, "subscriber string, doc_id int, document binary")
    out = str(tmp_path / "out")
    write_outboxes(delivered, out)
    log = spark.read.parquet(f"{out}/log")
    stored = log.where("kind = 'document'").select("document").collect()
    assert [bytes(row.document) for row in stored] == [b"<a/>"], "one for all"
    found = log.where("kind = 'delivery'").select("subscriber").collect()
    assert sorted(row.subscriber for row in found) == sorted(names)
    for name in ("a\x00b", "", "007", "__HIVE_DEFAULT_PARTITION__"):
        (row,) = read_outbox(spark, out, name).collect()
        assert (row.subscriber, bytes(row.document)) == (name, b"<a/>")
    nobody = read_outbox(spark, out, "nobody")
    assert (nobody.columns, nobody.collect()) == (["subscriber", "doc_id", "document", "document_hash"], [])
    assert read_outbox(spark, str(tmp_path / "nothing yet"), "plain").collect() == []


def test_one_copy_for_each_subscriber(spark: SparkSession) -> None:
    here = world(seed=6, documents=60, subscriptions=80)
    documents, subscriptions = here.frames(spark)
    rows = deliver(match(documents, subscriptions)[0], documents).collect()
    subscriber = {row[0]: row[4] for row in here.rows}
    wanted: dict[tuple[Any, Any], set[str]] = {}
    for doc_id, subscription in here.matches():
        wanted.setdefault((subscriber[subscription], doc_id), set()).add(subscription)
    assert {(row.subscriber, row.doc_id): row.subscriptions for row in rows} == {
        key: sorted(found) for key, found in wanted.items()
    }
    assert len(rows) == len(wanted)
    contents = dict(here.documents)
    for row in rows:
        assert bytes(row.document) == contents[row.doc_id]
        assert row.delivery_id == delivery_id(row.doc_id, contents[row.doc_id], row.subscriber, "")


def test_what_was_acknowledged_is_not_read_again(spark: SparkSession, tmp_path: Path) -> None:
    text = b"<?xml version='1.0' encoding='ISO-8859-1'?>\r\n<a>\xe9</a>\n"
    documents = spark.createDataFrame([("d1", text), ("d2", b"<a/>")], "doc_id string, xml binary")
    rows = [("s1", "//a", "both"), ("s2", "/a", "both"), ("s3", "//a[. = '']", "one"), ("alone", "/a", None)]
    subscriptions = spark.createDataFrame(rows, "id string, xpath string, subscriber string")
    delivered = deliver(match(documents, subscriptions)[0], documents)
    out = str(tmp_path / "out")

    def read(subscriber: str, **options: Any) -> list[Any]:
        return sorted(
            (row.doc_id, bytes(row.document), row.subscriptions)
            for row in read_outbox(spark, out, subscriber, **options).collect()
        )

    write_outboxes(delivered, out)
    both = [("d1", text, ["s1", "s2"]), ("d2", b"<a/>", ["s1", "s2"])]
    assert read("both") == both
    assert read("one") == [("d2", b"<a/>", ["s3"])]
    acknowledge_outbox(read_outbox(spark, out, "both").where("doc_id = 'd1'"), out)
    acknowledge_outbox(read_outbox(spark, out, "both", acknowledged=True).where("doc_id = 'd1'"), out)
    write_outboxes(delivered, out)  # again: the same deliveries
    assert read("both") == both[1:]
    assert read("both", acknowledged=True) == both
    assert len(read("one")) == 1
    assert [found[2] for found in read("alone")] == [["alone"]] * 2
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")  # as many sessions have it
    try:
        write_outboxes(delivered.where("subscriber = 'one'"), out)
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert (len(read("one")), read("both", acknowledged=True), read("alone")) == (1, [], [])
    with pytest.raises(ValueError, match="the deliveries have no column 'delivery_id'"):
        acknowledge_outbox(documents.withColumnRenamed("doc_id", "subscriber"), out)


def test_what_was_persisted_does_not_hide_what_came_later(spark: SparkSession, tmp_path: Path) -> None:
    columns = "subscriber string, doc_id int, document binary, delivery_id string"
    out = str(tmp_path / "out")
    for number in range(3):
        row = ("ann", number, b"<a/>", f"x{number}")
        write_outboxes(spark.createDataFrame([row], columns), out, batch=number)
        taken = read_outbox(spark, out, "ann").persist()
        assert [row.doc_id for row in taken.collect()] == [number]
        acknowledge_outbox(taken, out)
        assert read_outbox(spark, out, "ann").collect() == []


def test_an_outbox_from_which_nothing_was_taken(spark: SparkSession, tmp_path: Path) -> None:
    columns = "subscriber string, doc_id int, document binary, delivery_id string"
    write_outboxes(spark.createDataFrame([("ann", 1, b"<a/>", "x")], columns), str(tmp_path / "out"))
    (row,) = read_outbox(spark, str(tmp_path / "out"), "ann").collect()
    assert (row.doc_id, bytes(row.document)) == (1, b"<a/>")
    assert read_outbox(spark, str(tmp_path / "nothing yet"), "ann").collect() == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [("bigint", 7), ("boolean", True), ("decimal(10, 2)", Decimal("7.50")), ("date", date(2026, 1, 2))],
)
def test_subscribers_of_any_type_have_outboxes(
    spark: SparkSession, tmp_path: Path, kind: str, name: Any
) -> None:
    documents = spark.createDataFrame([("d", "<a/>")], "doc_id string, xml string")
    subscriptions = spark.createDataFrame([("s", "/a", name)], f"id string, xpath string, subscriber {kind}")
    delivered = deliver(match(documents, subscriptions)[0], documents)
    given = documents.selectExpr("doc_id", "xml as document", "'x' as delivery_id").withColumn(
        "subscriber", F.lit(name)
    )
    for number, rows in enumerate((delivered, given)):  # texts, and what somebody made without deliver()
        write_outboxes(rows, str(tmp_path / str(number)))
        assert [row.doc_id for row in read_outbox(spark, str(tmp_path / str(number)), name).collect()] == [
            "d"
        ]


def test_documents_with_one_id(spark: SparkSession) -> None:
    subscriptions = spark.createDataFrame([("s", "//a")], "id string, xpath string")
    same = spark.createDataFrame([(1, "<a/>"), (1, "<a/>"), (2, "<b/>")], "n int, text string")
    (row,) = deliver(match(same, subscriptions, "text", "n")[0], same, "text", "n").collect()
    assert (row.subscriber, row.doc_id, row.document, row.subscriptions) == ("s", 1, "<a/>", ["s"])
    other = spark.createDataFrame([(1, "<a/>"), (1, "<a>2</a>")], "n int, text string")
    with pytest.raises(Exception, match="document 1 is there several times"):
        deliver(match(other, subscriptions, "text", "n")[0], other, "text", "n").collect()
    with pytest.raises(ValueError, match="the matches have no column 'subscription_id'"):
        deliver(same.withColumnRenamed("n", "doc_id"), same, "text", "n")
