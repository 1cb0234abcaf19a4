"""The shards that a worker has open.

A small index is opened once in each Python worker and stays open across tasks, batches and jobs. A worker
keeps few of them: with shards, one, so that no worker ever holds all subscriptions. A large index is opened
once for all workers of an executor, by a process of its own (`shared`), which keeps as many as its memory
allows. What is open is known by its contents, never by a name, and only contents that the manifest promised
are opened.
"""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from pathcast.errors import IndexFormatError
from pathcast.index import Index
from pathcast.spark.artifact import Settings, Shard
from pathcast.spark.places import local_path
from pathcast.spark.store import fetched
from pathcast.spark.worker import shared
from pathcast.spark.worker.base import (
    Base,
    Located,
    changed_rows,
    hidden,
    numbered,
    numbered_texts,
    read_rows,
    single,
    verify,
)
from pathcast.spark.worker.shipped import Shipped, find_shipped, forget
from pathcast.spark.worker.vectors import to_numpy

__all__ = [
    "SHARED_BYTES",
    "Batches",
    "OpenShard",
    "ShardFiles",
    "find_file",
    "hidden",
    "numbered",
    "numbered_texts",
    "open_shard",
    "read_rows",
    "single",
    "stored_rows",
    "verify",
]

Batches: TypeAlias = Iterator[Any]
T = TypeVar("T")

_log = logging.getLogger("pathcast.spark")

SHARED_BYTES = 8 << 20
"""Of an index file from which on workers share the index, unless told: 50,000 alerts and more."""
_LISTED = 64  # shards whose rows a worker has mapped, while others hold the indexes


@dataclass(frozen=True)
class ShardFiles:
    """Where a worker finds a shard."""

    folder: str
    shard: Shard
    settings: Settings
    engine: str = "auto"
    keep: int = 1
    """How many indexes a worker may hold open itself, this one included."""
    share: bool | None = None
    """Whether the workers of an executor share one index; if not said, by its size."""
    shipped: Shipped | None = None
    """What the driver still holds of what it sent, if it sent anything."""

    @property
    def shares(self) -> bool:
        """Whether the index is in a process for all workers of an executor, where there can be one."""
        share = self.shard.index_bytes >= SHARED_BYTES if self.share is None else self.share
        return share and self.engine == "auto"


@dataclass(frozen=True)
class OpenShard:
    """An index that answers with row numbers, and the rows."""

    index: Index | shared.SharedIndex
    ids: Any
    subscribers: Any | None

    @property
    def own(self) -> Index:
        """The index, which this worker holds itself."""
        assert isinstance(self.index, Index)
        return self.index

    @cached_property
    def recipients(self) -> tuple[Any, Any]:
        """Who gets what each row matches: a number for each row, and the names that numbers stand for.

        A subscription without a subscriber is its own.
        """
        names = pc.cast(self.ids, pa.string())
        if self.subscribers is not None:
            names = pc.coalesce(pc.cast(self.subscribers, pa.string()), names)
        encoded = names.dictionary_encode()
        return to_numpy(encoded.indices).astype("int64"), encoded.dictionary


_bases: OrderedDict[tuple[str, str, str], tuple[Base, OpenShard]] = OrderedDict()
_shared: OrderedDict[tuple[str, str, str | None], OpenShard] = OrderedDict()


def open_shard(files: ShardFiles, own: bool = False) -> OpenShard:
    """The shard, from this worker's cache if it is there; with an index of this worker's own if told so."""
    if files.shipped:
        forget(files.shipped)
    if files.shares and not own:
        opened = _open_shared(files)
        if opened is not None:
            return opened
    return _open_own(files)


def _open_shared(files: ShardFiles) -> OpenShard | None:
    """None if there is nobody to share with; then this worker does it alone."""
    shard = files.shard
    key = shard.index_sha256, shard.rows_sha256, shard.delta_sha256
    if key not in _shared:
        found = _with_either(files, lambda located: shared.connect(located, lambda: _open_own(files).own))
        if found is None:
            return None
        index, rows, delta = found
        _shared[key] = _opened(index, rows if delta is None else changed_rows(rows, delta))
        while len(_shared) > _LISTED:
            _shared.popitem(last=False)
    _shared.move_to_end(key)
    return _shared[key]


def _open_own(files: ShardFiles) -> OpenShard:
    key = files.shard.index_sha256, files.shard.rows_sha256, files.engine
    if key not in _bases:
        while len(_bases) >= files.keep:
            _bases.popitem(last=False)  # before the new one is loaded: the peak counts
        base = _with_either(files, lambda located: Base(located, files.settings, files.engine))
        _bases[key] = base, _opened(base.index, base.rows)
    _bases.move_to_end(key)
    base, opened = _bases[key]
    if base.applied == files.shard.delta_sha256:
        return opened
    try:
        base.become(_located(files))
    except BaseException:
        del _bases[key]  # it may be half changed
        raise
    _bases[key] = base, _opened(base.index, base.all_rows)
    return _bases[key][1]


def _with_either(files: ShardFiles, open: Callable[[Located], T]) -> T:
    """What is opened with the image, or with the index file if that fails."""
    located = _located(files)
    try:
        return open(located)
    except IndexFormatError as error:
        if not located.image:
            raise
        try:
            plain = _located(replace(files, shard=files.shard.without_image))
        except IndexFormatError:
            raise error from None
        _log.warning("this worker opens an index file in the place of its image (%s)", error)
        return open(plain)


def _located(files: ShardFiles) -> Located:
    shard = files.shard
    index, wanted = _image(files), shard.image_sha256
    is_image = index is not None
    if index is None or wanted is None:
        index, wanted = find_file(files.folder, shard.index), shard.index_sha256
    return Located(
        index,
        wanted,
        find_file(files.folder, shard.rows),
        shard.rows_sha256,
        find_file(files.folder, shard.delta) if shard.delta else None,
        shard.delta_sha256,
        shard.subscriptions,
        is_image,
    )


def _image(files: ShardFiles) -> str | None:
    """Where this worker has an image that it can open."""
    name = files.shard.fitting_image
    try:
        return find_file(files.folder, name) if name else None
    except (IndexFormatError, FileNotFoundError):
        return None


def _opened(index: Index | shared.SharedIndex, rows: Any) -> OpenShard:
    subscribers = single(rows["subscriber"]) if "subscriber" in rows.column_names else None
    return OpenShard(index, single(rows["id"]), subscribers)


def stored_rows(folder: str, shard: Shard) -> Any:
    """The subscriptions of a shard, with its delta, sorted by id."""
    rows = read_rows(find_file(folder, shard.rows))
    if shard.delta is None:
        return rows
    delta = read_rows(find_file(folder, shard.delta))
    kept = rows.filter(pc.invert(pc.is_in(rows["id"], value_set=single(delta["id"]))))
    added = delta.filter(pc.invert(delta["removed"])).select(rows.column_names)
    return pa.concat_tables([kept, added]).sort_by("id")


def find_file(folder: str, name: str) -> str:
    """Where this process has a file of an artifact: fetched, in the folder if it sees it, or shipped."""
    if local_path(folder) is None:
        return str(fetched(folder, name))
    place = os.path.join(folder, name)
    if os.path.exists(place):
        return place
    shipped = find_shipped(name)
    if shipped is not None:
        return shipped
    raise IndexFormatError(
        f"{name} is not in {folder} as this worker sees it, and was not shipped to it: compile to a folder "
        "that all workers see, or call match(..., ship=True). If this was planned before remove_unused() "
        "deleted its version, plan it again"
    )
