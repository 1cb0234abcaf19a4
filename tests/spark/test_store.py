"""Compiled subscriptions in a store that fsspec opens: workers fetch what they need."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("fsspec", reason="fsspec is not installed")

import pathcast
from pathcast.spark import Compiled, MatchOptions, compile_subscriptions, match, stream, update_subscriptions
from pathcast.spark.driver.workers import opened_from
from pathcast.spark.store import mirror
from pathcast.spark.worker.shards import open_shard
from tests.spark.data import world

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    assert [path.name for path in mirror(url).iterdir()] == ["manifest.json"]
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


def test_what_a_store_cannot_do_is_told(spark: SparkSession, tmp_path: Path, url: str) -> None:
    with pytest.raises(pathcast.IndexFormatError, match="holds no compiled subscriptions"):
        Compiled.open(url)
    rows = spark.createDataFrame([("s", "//a")], "id string, xpath string")
    compiled = compile_subscriptions(rows, url)
    with pytest.raises(ValueError, match="changed by compiling the whole table again"):
        update_subscriptions(compiled, changed=rows)
    (tmp_path / "in").mkdir()
    arriving = spark.readStream.schema("doc_id string, xml string").parquet(str(tmp_path / "in"))
    with pytest.raises(ValueError, match="needs a folder that this process can open"):
        stream(arriving, url, tmp_path / "out", checkpoint=tmp_path / "state")
