"""Images of shards: opened where they fit, done without elsewhere, and kept as long as their version."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pyarrow as pa

import pathcast
from bench.scale import expression
from bench.workloads import WORKLOADS
from pathcast.errors import IndexFormatError
from pathcast.index import IMAGE_LAYOUT, Index
from pathcast.spark import compile_subscriptions, match, remove_unused, update_subscriptions
from pathcast.spark.artifact import Manifest, Shard, sha256
from pathcast.spark.driver.compile import _with_sound_image
from pathcast.spark.store import mirror
from pathcast.spark.worker import shards
from pathcast.spark.worker.compile import IMAGED_BYTES, CompileJob, compile_shard
from pathcast.spark.worker.shards import ShardFiles, open_shard
from tests.spark.shards import ROWS, SETTINGS, published

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANY = 9_000  # different subscriptions: an index file of more than IMAGED_BYTES
DOCUMENTS = list(islice(WORKLOADS["alerts"].documents(3), 400))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is opened how, by workers that have nothing open yet."""
    shards._bases.clear()
    shards._shared.clear()
    calls: list[str] = []

    def told(name: str, real: Any) -> Any:
        def call(path: Any) -> Any:
            calls.append(name)
            return real(path)

        return call

    for name in ("load", "load_image"):
        monkeypatch.setattr(Index, name, told(name, getattr(Index, name)))
    yield calls
    shards._bases.clear()


def compile_rows(folder: Path, xpaths: list[str], previous: Shard | None = None) -> Shard:
    """What a task does that sees the folder; it says what there is to know about the shard."""
    rows = pa.Table.from_pylist([{"id": f"s{n:05}", "xpath": xpath} for n, xpath in enumerate(xpaths)], ROWS)
    for name, value, kind in (
        ("problem", None, pa.string()),
        ("seed", False, pa.bool_()),
        ("shard", 0, pa.int32()),
    ):
        rows = rows.append_column(name, pa.array([value] * len(xpaths), kind))
    (folder / "marker").touch()
    job = CompileJob(str(folder), str(folder / "marker"), SETTINGS, {0: previous} if previous else {}, False)
    (reply,) = [row for row in compile_shard(rows, job).to_pylist() if row["shard"]]
    return Shard(**json.loads(reply["shard"]))


def found(folder: Path, shard: Shard, **more: Any) -> list[list[int]]:
    lists: list[list[int]] = (
        open_shard(files_of(folder, shard, **more)).own.match_many(DOCUMENTS).to_arrow().to_pylist()
    )
    return lists


def files_of(folder: Path, shard: Shard, **more: Any) -> ShardFiles:
    return ShardFiles(str(folder), shard, SETTINGS, share=False, **more)


def test_a_large_shard_has_an_image_and_is_opened_from_it(tmp_path: Path, opened: list[str]) -> None:
    xpaths = [expression(number) for number in range(MANY)]
    shard = compile_rows(tmp_path, xpaths)
    assert shard.index_bytes >= IMAGED_BYTES
    assert shard.image
    image = tmp_path / shard.image
    assert (sha256(image), image.stat().st_size, IMAGE_LAYOUT) == (
        shard.image_sha256,
        shard.image_bytes,
        shard.image_layout,
    )
    index = Index()
    index.add_many(enumerate(xpaths))
    expected = index.match_many(DOCUMENTS).to_arrow().to_pylist()
    assert sum(map(len, expected)) > 10
    (tmp_path / shard.index).rename(tmp_path / "aside")
    assert found(tmp_path, shard) == expected, "the index file is not needed"
    assert opened == ["load_image"]
    (tmp_path / "aside").rename(tmp_path / shard.index)
    image.unlink()
    shards._bases.clear()
    assert found(tmp_path, shard) == expected
    assert opened == ["load_image", "load"]
    assert compile_rows(tmp_path, xpaths[:100]).image is None, "a small one is opened soon enough"


@pytest.mark.parametrize("how", ["off", "other layout", "damaged", "swapped", "none"])
def test_without_an_image_that_fits_the_index_file_is_opened(
    tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    (shard,) = published(
        tmp_path, [{"id": f"s{n}", "xpath": f"/item[priority >= {n % 9}]"} for n in range(50)]
    ).shards
    expected = found(tmp_path, shard)
    assert (opened, sum(map(len, expected)) > 100) == (["load_image"], True)
    opened.clear()
    shards._bases.clear()
    image = tmp_path / str(shard.image)
    if how == "off":
        monkeypatch.setenv("PATHCAST_IMAGES", "off")
    elif how == "other layout":
        shard = replace(shard, image_layout="0.1.0-7")
    elif how == "none":
        shard = shard.without_image
    else:
        contents = bytearray(image.read_bytes())
        contents[len(contents) // 2] ^= 1
        image.write_bytes(contents)
        if how == "damaged":  # and the manifest says that this is what was made
            shard = replace(shard, image_sha256=sha256(image))
            image.rename(tmp_path / str(shard.image))
    assert found(tmp_path, shard) == expected
    assert opened == (["load_image", "load"] if how == "damaged" else ["load"])
    if how in ("damaged", "swapped"):
        shards._bases.clear()
        (tmp_path / shard.index).unlink()
        with pytest.raises(IndexFormatError, match="compile them again"):
            found(tmp_path, shard)


def test_other_engines_make_their_own_index(tmp_path: Path, opened: list[str]) -> None:
    (shard,) = published(tmp_path, [{"id": "a", "xpath": "/item[priority >= 3]"}]).shards
    assert found(tmp_path, shard, engine="yfilter") == found(tmp_path, shard)
    assert opened == ["load_image"]


def test_manifests_from_before_there_were_images_are_read(tmp_path: Path, opened: list[str]) -> None:
    manifest = published(tmp_path, [{"id": "a", "xpath": "/item"}])
    contents = json.loads((tmp_path / "manifest.json").read_text())
    for shard in contents["shards"]:
        for name in ("image_sha256", "image_bytes", "image_layout"):
            del shard[name]
    del contents["crc32"]
    contents["crc32"] = zlib.crc32(json.dumps(contents, sort_keys=True).encode())
    (tmp_path / "manifest.json").write_text(json.dumps(contents))
    old = Manifest.read(tmp_path)
    assert old.shards == tuple(shard.without_image for shard in manifest.shards)
    assert old.hash == manifest.hash
    assert found(tmp_path, old.shards[0]) == [[0]] * len(DOCUMENTS)
    assert opened == ["load"]


def test_an_image_that_is_missing_is_made_again(
    tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    xpaths = [expression(number) for number in range(MANY)]
    shard = compile_rows(tmp_path, xpaths)
    image, index = tmp_path / str(shard.image), tmp_path / shard.index
    times = index.stat().st_mtime_ns, image.stat().st_mtime_ns
    assert compile_rows(tmp_path, xpaths, _with_sound_image(tmp_path, shard)) == shard
    assert (index.stat().st_mtime_ns, image.stat().st_mtime_ns) == times, "nothing is written"
    monkeypatch.setenv("PATHCAST_IMAGES", "off")
    assert compile_rows(tmp_path, xpaths, _with_sound_image(tmp_path, shard)) == shard
    assert not opened, "nor is anything opened, whoever may use it"
    monkeypatch.delenv("PATHCAST_IMAGES")
    image.write_bytes(b"")
    assert _with_sound_image(tmp_path, shard) == shard.without_image
    for before in (_with_sound_image(tmp_path, shard), replace(shard, image_layout="0.1.0-7")):
        image.unlink()
        assert compile_rows(tmp_path, xpaths, before) == shard
        assert sha256(image) == shard.image_sha256
    assert index.stat().st_mtime_ns == times[0]


@pytest.mark.parametrize("route", [False, True])
def test_spark_answers_with_images_as_without(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, route: bool
) -> None:
    rows = [(number, expression(number)) for number in range(2 * MANY)]
    table = spark.createDataFrame(rows, "id bigint, xpath string")
    folder = tmp_path / "index"
    compiled = compile_subscriptions(table, folder, shards=2, route=route)
    images = [str(shard.image) for shard in compiled.manifest.shards if shard.image]
    assert images
    documents = spark.createDataFrame(list(enumerate(DOCUMENTS)), "doc_id int, xml binary")

    def matched(**more: Any) -> list[tuple[int, int]]:
        matches, _ = match(documents, str(folder), **more)
        return sorted((row.doc_id, row.subscription_id) for row in matches.collect())

    def expected(rows: list[tuple[int, str]]) -> list[tuple[int, int]]:
        index = pathcast.Index()
        index.add_many(rows)
        return sorted((at, int(id)) for at, each in enumerate(DOCUMENTS) for id in index.match(each))

    before = expected(rows)
    assert len(before) > 40
    assert matched() == matched(share=False) == before
    # Without index files, images alone do; without images, index files.
    for shard in compiled.manifest.shards:
        if shard.image:
            (folder / shard.index).rename(tmp_path / shard.index)
            assert shard.needed(folder) == [shard.image, shard.rows]
    compiled_again = replace(compiled, path=folder)
    matches, _ = match(documents, compiled_again, share=False)
    assert matches.count() == len(before)
    for shard in compiled.manifest.shards:
        if shard.image:
            (tmp_path / shard.index).rename(folder / shard.index)
    changed = [(0, "/item[headline]"), (1, "/item[region]"), (10**6, "/item")]
    updated = update_subscriptions(
        compiled,
        changed=spark.createDataFrame(changed, "id bigint, xpath string"),
        removed=spark.createDataFrame([(number,) for number in range(2, 40)], "id bigint"),
    )
    assert [shard.image for shard in updated.manifest.shards if shard.image] == images, (
        "a delta builds nothing"
    )
    after = expected([*changed, *rows[40:]])
    assert after != before
    assert matched() == matched(share=False) == after
    # A version of its own, after which the images of the one before go.
    newer = compile_subscriptions(table.where("id > 500"), folder, shards=2, route=route)
    removed = remove_unused(folder)
    kept = [str(shard.image) for shard in newer.manifest.shards if shard.image]
    assert set(images) - set(kept) <= set(removed)
    assert all((folder / name).exists() for name in kept)
    assert not any(path.suffix == ".image" and path.name not in kept for path in folder.iterdir())
    assert matched() == expected(rows[501:])


def test_a_store_sends_images_where_they_fit(spark: SparkSession, tmp_path: Path) -> None:
    import shutil

    url = f"local://{tmp_path}/store"
    table = spark.createDataFrame(
        [(number, expression(number)) for number in range(MANY)], "id bigint, xpath string"
    )
    compiled = compile_subscriptions(table, url)
    (shard,) = compiled.manifest.shards
    documents = spark.createDataFrame(list(enumerate(DOCUMENTS)), "doc_id int, xml binary")
    shutil.rmtree(mirror(url))
    try:
        assert match(documents, url, share=False).matches.count() > 10
        fetched = {path.name for path in mirror(url).iterdir()}
        assert fetched == {shard.image, shard.rows}
        (tmp_path / "store" / str(shard.image)).unlink()
        shutil.rmtree(mirror(url))
        shards._bases.clear()
        assert len(open_shard(ShardFiles(url, shard, SETTINGS, share=False)).own) == MANY
        assert shard.index in {path.name for path in mirror(url).iterdir()}
    finally:
        shutil.rmtree(mirror(url))
