"""Every subscriber gets each document once, byte for byte, with the list of what matched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pathcast.spark import deliver, delivery_id, match, outbox_name, read_outbox, write_outboxes
from tests.spark.data import world

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_no_name_of_a_subscriber_stops_the_others(spark: SparkSession, tmp_path: Path) -> None:
    names = ["plain", "a\x00b", "line\nbreak", "../up", "a/b", "=", "007", ".", "x" * 300]
    names += ["a*b", "a?b", "a[b]c", "{a,b}", "50%", "50%25", "a b", "ü", "a\\b", "^a|b", "a:b", "#1"]
    rows = [(name, 1, b"<a/>") for name in names]
    delivered = spark.createDataFrame(rows, "subscriber string, doc_id int, document binary")
    write_outboxes(delivered, str(tmp_path / "out"))
    for name in names:
        (row,) = read_outbox(spark, str(tmp_path / "out"), name).collect()
        assert row.subscriber == name
    nobody = read_outbox(spark, str(tmp_path / "out"), "nobody")
    assert (nobody.columns, nobody.collect()) == (["subscriber", "doc_id", "document"], [])


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


NAMES = ["Jane Doe", "007", "7", "a/b", "..", "x=y&%2F", "ü" * 60, "n" * 300, "", "sha256-x", "1e3", "."]


def test_outboxes_of_awkward_names(spark: SparkSession, tmp_path: Path) -> None:
    text = b"<?xml version='1.0' encoding='ISO-8859-1'?>\r\n<a>\xe9</a>\n"
    documents = spark.createDataFrame([("d", text)], "doc_id string, xml binary")
    rows: list[tuple[str, str, str | None]] = [
        (f"s{at}", "//a", name) for at, name in enumerate([*NAMES, "__HIVE_DEFAULT_PARTITION__"])
    ]
    rows.append(("alone", "//a", None))
    rows.append(("twice", "/a", "007"))
    subscriptions = spark.createDataFrame(rows, "id string, xpath string, subscriber string")
    delivered = deliver(match(documents, subscriptions)[0], documents)
    write_outboxes(delivered, str(tmp_path / "out"))
    write_outboxes(delivered, str(tmp_path / "out"))
    for at, name in enumerate([*NAMES, "__HIVE_DEFAULT_PARTITION__", "alone"]):
        (row,) = read_outbox(spark, str(tmp_path / "out"), name).collect()
        expected = ["alone"] if name == "alone" else sorted([f"s{at}", *(["twice"] if name == "007" else [])])
        assert (row.subscriber, bytes(row.document), row.subscriptions) == (name, text, expected)
    folders = {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()}
    assert len(folders) == len(NAMES) + 2
    assert {"subscriber=007", "subscriber=7", "subscriber=a%2Fb"} <= folders
    assert all(len(outbox_name(name).encode()) <= 76 for name in NAMES)


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
