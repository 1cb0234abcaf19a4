"""Compiled subscriptions in a store that fsspec opens: workers fetch what they need."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("fsspec", reason="fsspec is not installed")

import pyarrow as pa
import pyarrow.parquet as pq

import pathcast
from pathcast.spark import (
    Compiled,
    MatchOptions,
    compile_subscriptions,
    match,
    remove_unused,
    stream,
    update_subscriptions,
)
from pathcast.spark.driver.workers import opened_from
from pathcast.spark.store import mirror
from pathcast.spark.worker.shards import open_shard
from tests.spark.data import world

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A store of fsspec's that is not `file:`, so that it is treated as one far away."""
    place = f"local://{tmp_path}/store"
    yield place
    shutil.rmtree(mirror(place))


@pytest.mark.parametrize("route", [False, True])
def test_a_store_serves_an_index(spark: SparkSession, tmp_path: Path, url: str, route: bool) -> None:
    here = world(seed=8, documents=30, subscriptions=60)
    documents, subscriptions = here.frames(spark)
    made = compile_subscriptions(subscriptions, url, shards=2, route=route)
    stored = {path.name for path in (tmp_path / "store").iterdir()}
    assert stored == {*made.manifest.files, made.manifest.name, "manifest.json"}
    shutil.rmtree(mirror(url))
    compiled = Compiled.open(url)
    assert compiled.hash == made.hash
    assert not list(mirror(url).iterdir())  # workers fetch
    matches, _ = match(documents, compiled)
    assert sorted((row.doc_id, row.subscription_id) for row in matches.collect()) == here.matches()
    assert {path.name for path in mirror(url).iterdir()} >= {
        name for shard in compiled.manifest.shards for name in shard.files
    }


def test_a_new_version_leaves_the_files_of_the_old_one(spark: SparkSession, tmp_path: Path, url: str) -> None:
    def frame(*xpaths: str) -> Compiled:
        rows = [(f"s{number}", xpath) for number, xpath in enumerate(xpaths)]
        return compile_subscriptions(spark.createDataFrame(rows, "id string, xpath string"), url)

    old, new = frame("//a"), frame("//a", "//b")
    stored = {path.name for path in (tmp_path / "store").iterdir()}
    assert stored >= {*old.manifest.files, *new.manifest.files}
    assert Compiled.open(url).hash == new.hash
    documents = spark.createDataFrame([(1, "<a><b/></a>")], "doc_id int, xml string")
    assert match(documents, old).matches.count() == 1
    assert match(documents, url).matches.count() == 2
    damaged = tmp_path / "store" / new.manifest.shards[0].index
    damaged.write_bytes(b"something else")
    shutil.rmtree(mirror(url))
    (files,) = opened_from(Compiled.open(url), MatchOptions())
    with pytest.raises(pathcast.IndexFormatError, match="not what the manifest says"):
        open_shard(files)


def test_a_stored_index_changes_under_a_stream(spark: SparkSession, tmp_path: Path, url: str) -> None:
    def told(*rows: tuple[str, str]) -> DataFrame:
        return spark.createDataFrame(rows, "id string, xpath string")

    with pytest.raises(pathcast.IndexFormatError, match="holds no compiled subscriptions"):
        Compiled.open(url)
    one = compile_subscriptions(told(("s", "//a"), ("t", "//b")), url)
    (tmp_path / "in").mkdir()
    versions = [one]
    for number in range(3):
        if number:
            changed = told(("s", f"//a[@n = {number}]"), (f"s{number}", "//a"))
            versions.append(update_subscriptions(url, changed, told(("t", "")).drop("xpath")))
            assert Compiled.open(url).hash == versions[-1].hash
        pq.write_table(
            pa.table({"doc_id": [str(number)], "xml": [f"<a n='{number}'><b/></a>"]}),
            tmp_path / f"in/{number}.parquet",
        )
        arriving = spark.readStream.schema("doc_id string, xml string").parquet(str(tmp_path / "in"))
        query = stream(arriving, url, tmp_path / "out", checkpoint=tmp_path / "state", trigger="available")
        assert query.awaitTermination(120)
        remove_unused(url)
    rows = spark.read.parquet(str(tmp_path / "out/matches")).collect()
    found = sorted((row.doc_id, row.subscription_id, row.index_version) for row in rows)
    hashes = [each.hash for each in versions]
    assert found == [
        ("0", "s", hashes[0]),
        ("0", "t", hashes[0]),
        ("1", "s", hashes[1]),
        ("1", "s1", hashes[1]),
        ("2", "s", hashes[2]),
        ("2", "s1", hashes[2]),
        ("2", "s2", hashes[2]),
    ]
    # A lease in the store keeps the versions of the last batch and of the one before.
    left = {path.name for path in (tmp_path / "store").iterdir()}
    assert [each.manifest.name in left for each in versions] == [False, True, True]
    assert len([name for name in left if name.startswith("lease-stream-")]) == 1
    assert remove_unused(url, grace=3600) == []
    with pytest.raises(TypeError, match="ids of type string"):
        compile_subscriptions(spark.createDataFrame([(1, "//a")], "id bigint, xpath string"), url)
