"""A few changes to a shard as a small file beside it, made on the driver: nothing is compiled again.

A delta has the rows that are new or different since the shard was compiled, and the ids that are gone. It
replaces the delta before it. When it becomes a large part of its shard, the shard is compiled again.

Where documents are routed, a changed row goes to a shard that sees every document, and what it replaces is
removed from the shard that has it: so the routing stays as it is, and right. Compiling the whole table puts
such rows into their places.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pathcast.spark.artifact import Settings, Shard, replace_file
from pathcast.spark.worker.compile import Refused, accepted, digest
from pathcast.spark.worker.shards import hidden, read_rows, single

__all__ = ["FEW", "changed_shards", "routed_rows"]

FEW = 1_000
"""Changes that are made on the driver at once."""
_PART = 20  # a delta of more than one row in so many is not small, unless it has fewer than FEW


def changed_shards(
    folder: Path, shards: Mapping[int, Shard], rows: Any, settings: Settings
) -> dict[int, Shard] | None:
    """The shards that the rows fall into, with deltas; None if one would be large."""
    changed = {}
    for number in pc.unique(rows["shard"]).to_pylist():
        some = rows.filter(pc.equal(rows["shard"], number)).drop_columns(["shard", "seed"])
        shard = _changed(folder, shards[number], some, settings)
        if shard is None:
            return None
        changed[number] = shard
    return changed


def routed_rows(folder: Path, shards: Mapping[int, Shard], rows: Any, always: int, settings: Settings) -> Any:
    """The changes with the shards that they fall into: the first of those that see every document, and where
    the ids are now."""
    rows = rows.set_column(rows.column_names.index("shard"), "shard", _repeated(always, rows.num_rows))
    changed = rows.filter(pc.invert(rows["removed"]))
    good, _ = accepted(changed.drop_columns(["removed", "shard", "seed"]), Refused(), settings)
    gone = rows.filter(rows["removed"])["id"].unique()
    gone = gone.filter(pc.invert(pc.is_in(gone, value_set=single(changed["id"]))))
    moved = single(good["id"]).cast(gone.type)
    parts = [changed]
    for number, shard in shards.items():
        ids = gone if number == always else pa.concat_arrays([gone, moved])
        there = [read_rows(str(folder / name))["id"] for name in (shard.rows, shard.delta) if name]
        found = [each.filter(pc.is_in(each, value_set=ids)).combine_chunks() for each in there]
        unique = pa.chunked_array(found, ids.type).unique()
        columns = {"shard": _repeated(number, len(unique)), "id": unique}
        columns["removed"] = pa.array([True] * len(unique), pa.bool_())
        parts.append(_as(pa.table(columns), rows.schema))
    return pa.concat_tables([_as(part, rows.schema) for part in parts])


def _repeated(number: int, count: int) -> Any:
    return pa.array([number] * count, pa.int32())


def _changed(folder: Path, before: Shard, rows: Any, settings: Settings) -> Shard | None:
    base = read_rows(str(folder / before.rows))
    refused = Refused()
    good, index = accepted(
        rows.filter(pc.invert(rows["removed"])).drop_columns(["removed"]), refused, settings
    )
    gone = rows.filter(rows["removed"])["id"].unique()
    gone = gone.filter(pc.invert(pc.is_in(gone, value_set=single(good["id"]))))
    schema = base.schema.append(pa.field("removed", pa.bool_()))
    parts = [
        good.append_column("removed", pa.array([False] * good.num_rows, pa.bool_())),
        pa.table({"id": gone, "removed": pa.array([True] * len(gone), pa.bool_())}),
    ]
    if before.delta is not None:
        delta = read_rows(str(folder / before.delta))
        ids = pa.concat_arrays([single(good["id"]).cast(gone.type), gone])
        parts.append(delta.filter(pc.invert(pc.is_in(delta["id"], value_set=ids))))
    # Types as the shard has them, and every column, whatever the changes came with.
    delta = pa.concat_tables([_as(part, schema) for part in parts]).sort_by("id").combine_chunks()
    replaced = hidden(base, delta)
    there = pc.is_in(delta["id"], value_set=single(base["id"].take(replaced)))
    delta = delta.filter(pc.or_(pc.invert(delta["removed"]), there)).combine_chunks()
    if delta.num_rows > max(FEW, base.num_rows // _PART):
        return None
    added = pc.sum(pc.invert(delta["removed"])).as_py() or 0
    shard = replace(
        before,
        refused=len(refused.ids),
        rejected=None,
        source="",
        subscriptions=base.num_rows - len(replaced) + added,
        hash=before.base,
        delta=None,
        delta_sha256=None,
        on_tree=before.on_tree + index.stats()["decided_on_tree"],  # at most
    )
    if refused.ids:
        table = refused.table(base.schema.field("id").type)
        name = f"shard-{before.number:05}-{digest(table, settings)[:20]}.rejected.arrow"
        replace_file(folder / name, _arrow(table))
        shard = replace(shard, rejected=name)
    if not delta.num_rows:
        return shard
    hash = hashlib.sha256(f"{before.base} {digest(delta, settings)}".encode()).hexdigest()
    name, contents = f"shard-{before.number:05}-{hash[:20]}.delta.arrow", _arrow(delta)
    replace_file(folder / name, contents)
    return replace(shard, hash=hash, delta=name, delta_sha256=hashlib.sha256(contents).hexdigest())


def _as(table: Any, schema: Any) -> Any:
    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _arrow(table: Any) -> bytes:
    buffer = io.BytesIO()
    with pa.ipc.new_file(buffer, table.schema) as file:
        file.write_table(table)
    return buffer.getvalue()
