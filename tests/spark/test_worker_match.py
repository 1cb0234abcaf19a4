"""What workers send: lists of matches, cut where they are long."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pyarrow as pa

import pathcast
from pathcast.spark.artifact import Settings, Shard
from pathcast.spark.worker import answers, deliveries
from pathcast.spark.worker import match as worker
from pathcast.spark.worker.answers import Result, Shape
from pathcast.spark.worker.match import MatchJob, match_batches
from pathcast.spark.worker.route import ShardsJob, match_shards
from pathcast.spark.worker.shards import OpenShard, ShardFiles

DOCUMENTS = ["<none/>", "<a/>", None, "<b/>", "<none/>", "<b><a/></b>", "<bad>", "<a/>", "<none/>"]
ALL = 8  # subscriptions to each of a and b


def sent(
    monkeypatch: pytest.MonkeyPatch, result: Result, subscribers: bool, shape: Shape = "lists"
) -> list[dict[str, Any]]:
    """The rows of all batches, and their sizes checked."""
    index = pathcast.Index()
    index.add_many([(at, f"//{'ab'[at % 2]}") for at in range(2 * ALL)])
    names = pa.array([f"who-{at}" for at in range(2 * ALL)]) if subscribers else None
    shard = OpenShard(index, pa.array([f"s{at}" for at in range(2 * ALL)]), names)
    monkeypatch.setattr(worker, "open_shard", lambda files, own: shard)
    files = ShardFiles("", Shard(0, "", "", "", 2 * ALL, 0, "", "", 0), Settings())
    job = MatchJob(result, files, Settings(), failfast=False, batch_bytes=1 << 20, shape=shape)
    cells = [pa.array(range(len(DOCUMENTS))), pa.array(DOCUMENTS, pa.string())]
    batches = list(match_batches(iter([pa.RecordBatch.from_arrays(cells, names=["id", "document"])]), job))
    rows: list[dict[str, Any]] = []
    for batch in batches:
        if "found" in batch.schema.names:
            assert sum(map(len, batch["found"].to_pylist())) <= answers.SENT
        rows += batch.to_pylist()
    assert all(0 < len(row["found"]) <= answers._LISTED for row in rows if "found" in row)
    return rows


@pytest.mark.parametrize("subscribers", [False, True])
@pytest.mark.parametrize(("listed", "together"), [(3, 6), (1, 1), (5, 10), (1000, 1000)])
def test_lists_of_any_length_are_sent_whole(
    monkeypatch: pytest.MonkeyPatch, listed: int, together: int, subscribers: bool
) -> None:
    monkeypatch.setattr(answers, "_LISTED", listed)
    monkeypatch.setattr(answers, "SENT", together)
    rows = sent(monkeypatch, "matches", subscribers)
    found = [(row["doc_id"], each) for row in rows for each in row["found"]]
    if subscribers:
        found = [(document, each["subscription_id"]) for document, each in found]
        assert all(
            each["subscriber"] == "who-" + each["subscription_id"][1:]
            for row in rows
            for each in row["found"]
        )
    expected = [
        (document, f"s{at}")
        for document, names in ((1, "a"), (3, "b"), (5, "ab"), (7, "a"))
        for at in range(2 * ALL)
        if "ab"[at % 2] in names
    ]
    assert [document for document, _ in found] == [document for document, _ in expected]
    assert sorted(found) == sorted(expected)  # the matches of a document come in no order


def test_a_dead_letter_stays_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = sent(monkeypatch, "tagged", True)
    dead = [row for row in rows if row["reason"] is not None]
    assert [row["doc_id"] for row in dead] == [2, 6]
    assert all(row["found"] == [{"subscription_id": None, "subscriber": None}] for row in dead)
    assert sum(len(row["found"]) for row in rows if row["reason"] is None) == 5 * ALL


@pytest.mark.parametrize("together", [1, 5, 1000])
def test_rows_groups_and_deliveries_say_the_same(monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    monkeypatch.setattr(answers, "SENT", together)
    flat = sent(monkeypatch, "matches", True, "rows")
    pairs = sorted((row["doc_id"], row["subscription_id"]) for row in flat)
    assert len(pairs) == 5 * ALL
    grouped = sent(monkeypatch, "grouped", True)
    assert [row["doc_id"] for row in grouped] == [0, 1, 3, 4, 5, 7, 8]  # the good documents, also without any
    assert sorted((row["doc_id"], id) for row in grouped for id in row["subscriptions"]) == pairs
    delivered = sent(monkeypatch, "delivered", True)
    assert sorted((row["doc_id"], id) for row in delivered for id in row["subscriptions"]) == pairs
    assert all(id == "s" + row["subscriber"][4:] for row in delivered for id in row["subscriptions"])
    tagged = sent(monkeypatch, "tagged", True, "rows")
    assert [row["doc_id"] for row in tagged if row["reason"] is not None] == [2, 6]


def test_a_subscriber_gets_one_row_a_document() -> None:
    index = pathcast.Index()
    index.add_many([(at, "//a") for at in range(6)])
    names = pa.array(["x", "y", "x", None, "y", "x"])
    shard = OpenShard(index, pa.array([10, 11, 12, 13, 14, 15]), names)
    groups = index.match_many(["<a/>", "<bad>", "<b/>", "<a/>"]).to_groups()
    assert deliveries.count(groups) == 12
    (batch,) = deliveries.delivered(pa.array(["p", "q", "r", "s"]), groups, shard)
    one = [("x", [10, 12, 15]), ("y", [11, 14]), ("13", [13])]
    assert [tuple(row.values()) for row in batch.to_pylist()] == [
        (document, *each) for document in ("p", "s") for each in one
    ]


@pytest.mark.parametrize("held", [1, 400, 1 << 20])
@pytest.mark.parametrize("together", [1, 5, 1000])
def test_lists_of_several_shards_become_one(
    monkeypatch: pytest.MonkeyPatch, together: int, held: int
) -> None:
    """Whatever is held at once; two documents may have one id, and a subscriber may be in all shards."""
    monkeypatch.setattr(answers, "SENT", together)
    expressions = ["//a", "//b", "/b/a", "//none", "//a[1]", "//b"]
    shards = []
    for number in range(3):
        index = pathcast.Index()
        index.add_many(list(enumerate(expressions[number::3])))
        ids = [f"s{at}" for at in range(number, 6, 3)]
        names = [["x", "y", None][at % 2 + at // 4] for at in range(number, 6, 3)]
        shards.append(OpenShard(index, pa.array(ids), pa.array(names, pa.string())))
    monkeypatch.setattr(worker, "open_shard", lambda files, own: shards[files.shard.number])
    documents = pa.array(DOCUMENTS, pa.string())
    names_of = {f"s{at}": ["x", "y", None][at % 2 + at // 4] or f"s{at}" for at in range(6)}
    expected = [
        (place // 2, sorted(f"s{at}" for at in matching(expressions, text)))
        for place, text in enumerate(DOCUMENTS)
        if text not in (None, "<bad>")
    ]

    def rows(result: Result, failfast: bool = False) -> list[dict[str, Any]]:
        jobs = tuple(
            MatchJob(
                result,
                ShardFiles("", Shard(number, "", "", "", 2, 0, "", "", 0), Settings()),
                Settings(),
                failfast=failfast,
                batch_bytes=20,
            )
            for number in range(3)
        )
        cells = [pa.array([place // 2 for place in range(len(DOCUMENTS))]), documents]
        batch = pa.RecordBatch.from_arrays(cells, names=["id", "document"])
        job = ShardsJob("", None, Settings(), jobs, held=held)
        return [row for some in match_shards(iter([batch]), job) for row in some.to_pylist()]

    grouped = rows("grouped")
    assert [(row["doc_id"], sorted(row["subscriptions"])) for row in grouped] == expected
    delivered = rows("delivered")
    pairs = [(row["doc_id"], id) for row in delivered for id in row["subscriptions"]]
    assert sorted(pairs) == sorted((document, id) for document, ids in expected for id in ids)
    assert all({names_of[id] for id in row["subscriptions"]} == {row["subscriber"]} for row in delivered)
    wanted = sum(len({names_of[id] for id in ids}) for _, ids in expected)
    assert len(delivered) == wanted
    with pytest.raises(pathcast.DocumentError, match="document 1 was refused in mode FAILFAST"):
        rows("grouped", failfast=True)


def matching(expressions: list[str], text: str | None) -> list[int]:
    assert text is not None
    return [at for at, expression in enumerate(expressions) if pathcast.matches(expression, text)]


def test_files_with_texts_and_files_with_bytes_ask_all_shards() -> None:
    """Jobs that look for bad documents only need no index."""
    jobs = (MatchJob("dead", None, Settings(), failfast=False, batch_bytes=1 << 20),) * 2
    kinds = [pa.string(), pa.string(), pa.binary(), pa.large_string(), pa.string()]
    batches = [
        pa.RecordBatch.from_pydict({"id": pa.array([at]), "document": pa.array(["<a>"], kind)})
        for at, kind in enumerate(kinds)
    ]
    found = list(match_shards(iter(batches), ShardsJob("", None, Settings(), jobs)))
    assert [batch["doc_id"].to_pylist() for batch in found] == [
        each for each in ([0, 1], [2], [3], [4]) for _ in jobs
    ]
