"""Shards compiled in this process, without a session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from pathcast.index import IMAGE_LAYOUT
from pathcast.spark.artifact import Manifest, Settings, Shard, sha256
from pathcast.spark.worker.compile import Refused, accepted, digest

SETTINGS = Settings()
Row = dict[str, Any]
ROWS = pa.schema(
    [
        ("id", pa.string()),
        ("xpath", pa.string()),
        ("ordered", pa.bool_()),
        ("namespaces", pa.map_(pa.string(), pa.string())),
        ("variables", pa.string()),
        ("subscriber", pa.string()),
    ]
)


def compiled(folder: Path, rows: list[Row]) -> Shard:
    """A shard without a delta, with an image however small it is."""
    table = pa.Table.from_pylist(rows, ROWS).append_column("problem", pa.nulls(len(rows), pa.string()))
    good, index = accepted(table, Refused(), SETTINGS)
    hash = digest(good, SETTINGS)
    shard = Shard(0, hash, hash, "", good.num_rows, 0, "", "", 0)
    index.save(folder / shard.index)
    with pa.ipc.new_file(folder / shard.rows, good.schema) as file:
        file.write_table(good.combine_chunks())
    image = folder / "image"
    assert index.save_image(image)
    shard = replace(
        shard,
        rows_sha256=sha256(folder / shard.rows),
        index_sha256=sha256(folder / shard.index),
        image_sha256=sha256(image),
        image_bytes=image.stat().st_size,
        image_layout=IMAGE_LAYOUT,
    )
    image.rename(folder / str(shard.image))
    return shard


def published(folder: Path, rows: list[Row]) -> Manifest:
    """A version of one shard, in a folder of compiled subscriptions."""
    folder.mkdir(exist_ok=True)
    manifest = Manifest(SETTINGS, "string", "string", (compiled(folder, rows),))
    manifest.write(folder)
    return manifest
