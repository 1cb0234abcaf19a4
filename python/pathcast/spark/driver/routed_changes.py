"""A few changes to shards to which documents are routed: each row goes where what it requires is.

A subscription may have been in another shard before, because it required something else then. Rows of a shard
are sorted by id, so the shards that hold an id are found by a binary search in each. What is new among the
requirements joins the routing index; what nobody requires any more stays in it, and costs a look at a shard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pathcast.errors import SubscriptionErrors
from pathcast.spark.artifact import Manifest, Routing, Settings, Shard
from pathcast.spark.driver.delta import changed_shards
from pathcast.spark.driver.routing import written
from pathcast.spark.worker.compile import EVERYTHING, Refused, accepted
from pathcast.spark.worker.placing import place_of
from pathcast.spark.worker.shards import find_file, read_rows, single

__all__ = ["routed_changes"]


def routed_changes(folder: Path, manifest: Manifest, rows: Any) -> tuple[dict[int, Shard], Routing] | None:
    """The shards that the rows fall into, with deltas, and the routing; None if a delta would be large."""
    routing = manifest.routing
    assert routing is not None
    changes = rows.filter(pc.invert(rows["removed"]))
    shards, texts = _places(changes, routing)
    good, _ = accepted(changes.drop_columns(["removed", "seed", "shard"]), Refused(), manifest.settings)
    taken = {id: shard for id, shard in zip(changes["id"].to_pylist(), shards, strict=True) if id is not None}
    # A row that is refused leaves the subscription where and as it was.
    moved = set(good["id"].to_pylist())
    gone = set(rows.filter(rows["removed"])["id"].to_pylist()) - moved
    parts = [_in_shards(changes, shards)]
    for number, ids in _holding(folder, manifest.shards, sorted(moved | gone)).items():
        leaving = [id for id in ids if id in gone or taken[id] != number]
        some = pa.table(
            {
                "id": pa.array(leaving, rows.schema.field("id").type),
                "removed": pa.array([True] * len(leaving)),
                "seed": pa.array([False] * len(leaving)),
                "shard": pa.array([number] * len(leaving), pa.int32()),
            }
        )
        parts.append(some)
    together = pa.concat_tables(parts, promote_options="default").select(rows.column_names)
    made = changed_shards(
        folder, {shard.number: shard for shard in manifest.shards}, together, manifest.settings
    )
    if made is None:
        return None
    new = {
        (text, shard)
        for id, text, shard in zip(changes["id"].to_pylist(), texts, shards, strict=True)
        if text is not None and id in moved
    }
    return made, _with_requirements(folder, routing, new, manifest.settings)


def _places(changes: Any, routing: Routing) -> tuple[list[int], list[str | None]]:
    """For each row its shard and what it requires, as `worker.placing` says."""
    order = {field.text: at for at, field in enumerate(routing.fields)}
    ids = changes["id"].to_pylist()
    copies = Counter(ids)
    names = ("xpath", "namespaces", "variables")
    shards: list[int] = []
    texts: list[str | None] = []
    for id, xpath, namespaces, variables in zip(
        ids, *(changes[name].to_pylist() for name in names), strict=True
    ):
        known = copies[id] == 1 and xpath is not None and not namespaces and not variables
        text, first, _ = place_of(xpath if known else "", routing, order)
        shards.append(first)
        texts.append(text)
    return shards, texts


def _in_shards(changes: Any, shards: list[int]) -> Any:
    place = changes.schema.get_field_index("shard")
    return changes.set_column(place, "shard", pa.array(shards, pa.int32()))


def _holding(folder: Path, shards: Iterable[Shard], ids: list[Any]) -> dict[int, list[Any]]:
    """The shards that hold some of the ids, in their rows or in their deltas, with those ids."""
    found: dict[int, list[Any]] = {}
    for shard in shards:
        names = [shard.rows, *([shard.delta] if shard.delta else [])]
        held: set[Any] = set()
        for name in names:
            column = single(read_rows(find_file(str(folder), name))["id"])
            held |= {id for id in ids if _holds(column, id)}
        if held:
            found[shard.number] = sorted(held)
    return found


def _holds(column: Any, id: Any) -> bool:
    """Whether a sorted column has a value."""
    first, last = 0, len(column)
    while first < last:
        middle = (first + last) // 2
        if _order(column[middle].as_py()) < _order(id):
            first = middle + 1
        else:
            last = middle
    return first < len(column) and column[first].as_py() == id


def _order(id: Any) -> Any:
    """Arrow sorts text by its bytes."""
    return id.encode() if isinstance(id, str) else id


def _with_requirements(
    folder: Path, routing: Routing, new: set[tuple[str, int]], settings: Settings
) -> Routing:
    rows = read_rows(find_file(str(folder), routing.name))
    known: Mapping[str, list[int]] = dict(
        zip(rows["text"].to_pylist(), rows["shards"].to_pylist(), strict=True)
    )
    texts = {text: list(shards) for text, shards in known.items()}
    for text, shard in sorted(new):
        if text not in texts and not _accepted(text, settings):
            text = EVERYTHING
        if shard not in texts.setdefault(text, []):
            texts[text].append(shard)
    if len(texts) == len(known) and all(len(shards) == len(known[text]) for text, shards in texts.items()):
        return routing
    return written(folder, routing, texts, settings)


def _accepted(text: str, settings: Settings) -> bool:
    try:
        settings.index().add_many([(0, text)])
    except SubscriptionErrors:
        return False
    return True
