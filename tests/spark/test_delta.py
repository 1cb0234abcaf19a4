"""A few changes as a delta: answers are those of all rows compiled at once, in every order of versions."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pyarrow as pa

import pathcast
from pathcast.spark.artifact import Shard
from pathcast.spark.driver import delta
from pathcast.spark.driver.delta import changed_shards
from pathcast.spark.worker.shards import ShardFiles, numbered, open_shard, stored_rows
from tests.property.generate import draw_document, draw_subscription
from tests.spark.shards import ROWS, SETTINGS, Row, compiled


def table(rows: list[Row], **more: Any) -> Any:
    """Rows as Spark gives them to the driver."""
    made = pa.Table.from_pylist(rows, ROWS)
    count = made.num_rows
    made = made.append_column("problem", pa.nulls(count, pa.string()))
    for name, kind in (("removed", pa.bool_()), ("seed", pa.bool_()), ("shard", pa.int32())):
        made = made.append_column(name, pa.array([more.get(name, kind == pa.int32() and 0)] * count, kind))
    return made


def found(folder: Path, shard: Shard, documents: list[str]) -> list[tuple[int, str]]:
    """What a worker answers with that version."""
    opened = open_shard(ShardFiles(str(folder), shard, SETTINGS))
    lists = opened.index.match_many(documents).to_arrow().to_pylist()
    ids = opened.ids.to_pylist()
    return sorted((at, ids[row]) for at, rows in enumerate(lists) for row in rows)


def expected(rows: dict[str, Row], documents: list[str]) -> list[tuple[int, str]]:
    index = pathcast.Index()
    names = list(rows)
    index.add_many(numbered(pa.Table.from_pylist(list(rows.values()), ROWS)))
    return sorted((at, names[int(row)]) for at, each in enumerate(documents) for row in index.match(each))


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_changes_and_versions(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    drawn = [draw_document(random) for _ in range(25)]
    documents = [each.text for each in drawn]

    def row(id: str) -> Row:
        while True:
            each = draw_subscription(random, random.choice(drawn))
            try:
                pathcast.Index().add(id, each.xpath, ordered=each.ordered, namespaces=each.namespaces)
            except pathcast.XPathError:
                continue
            spaces = list(each.namespaces.items())
            return {
                "id": id,
                "xpath": each.xpath,
                "ordered": each.ordered,
                "namespaces": spaces,
                "subscriber": id,
            }

    rows = {f"s{at:03}": row(f"s{at:03}") for at in range(40)}
    shard = compiled(tmp_path, list(rows.values()))
    versions = [(shard, dict(rows))]
    for _ in range(6):
        gone = [*random.sample(sorted(rows), 3), "never there"]
        new = [row(random.choice([f"n{random.randrange(9)}", random.choice(sorted(rows))])) for _ in range(4)]
        new = list({each["id"]: each for each in new}.values())
        changes = pa.concat_tables([table(new), table([{"id": id} for id in gone], removed=True)])
        made = changed_shards(tmp_path, {0: shard}, changes, SETTINGS)
        assert made is not None
        shard = made[0]
        rows = {id: each for id, each in rows.items() if id not in gone} | {each["id"]: each for each in new}
        assert shard.subscriptions == len(rows)
        assert stored_rows(str(tmp_path), shard)["id"].to_pylist() == sorted(rows)
        versions.append((shard, dict(rows)))
    assert len({version.hash for version, _ in versions}) == len(versions)
    for version, subscribed in random.sample(versions * 2, 2 * len(versions)):
        assert found(tmp_path, version, documents) == expected(subscribed, documents)


def test_a_change_that_is_refused_leaves_the_subscription(tmp_path: Path) -> None:
    shard = compiled(tmp_path, [{"id": "a", "xpath": "//a"}, {"id": "b", "xpath": "//b"}])
    made = changed_shards(tmp_path, {0: shard}, table([{"id": "a", "xpath": "//a["}]), SETTINGS)
    assert made is not None
    assert (made[0].refused, made[0].delta, made[0].hash) == (1, None, shard.hash)
    assert found(tmp_path, made[0], ["<a/>"]) == [(0, "a")]


def test_changes_that_take_each_other_back_leave_no_delta(tmp_path: Path) -> None:
    shard = compiled(tmp_path, [{"id": "a", "xpath": "//a"}])
    one = changed_shards(tmp_path, {0: shard}, table([{"id": "b", "xpath": "//b"}]), SETTINGS)
    assert one is not None
    two = changed_shards(tmp_path, one, table([{"id": "b"}], removed=True), SETTINGS)
    assert two is not None
    assert (two[0].delta, two[0].hash) == (None, shard.hash)


def test_a_large_delta_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta, "FEW", 3)
    shard = compiled(tmp_path, [{"id": f"s{at}", "xpath": "//a"} for at in range(40)])
    some = [{"id": f"s{at}", "xpath": "//b"} for at in range(4)]
    assert changed_shards(tmp_path, {0: shard}, table(some[:3]), SETTINGS) is not None
    assert changed_shards(tmp_path, {0: shard}, table(some), SETTINGS) is None


def test_a_damaged_delta_is_told_and_the_base_still_answers(tmp_path: Path) -> None:
    shard = compiled(tmp_path, [{"id": "a", "xpath": "//a"}])
    made = changed_shards(tmp_path, {0: shard}, table([{"id": "b", "xpath": "//a"}]), SETTINGS)
    assert made is not None
    assert found(tmp_path, made[0], ["<a/>"]) == [(0, "a"), (0, "b")]
    assert found(tmp_path, shard, ["<a/>"]) == [(0, "a")]
    assert made[0].delta is not None
    data = bytearray((tmp_path / made[0].delta).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / made[0].delta).write_bytes(data)
    with pytest.raises(pathcast.IndexFormatError, match="not what the manifest says"):
        found(tmp_path, made[0], ["<a/>"])
    assert found(tmp_path, shard, ["<a/>"]) == [(0, "a")]
