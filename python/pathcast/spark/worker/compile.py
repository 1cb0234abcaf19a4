"""Compiles a shard within a worker: parse, refuse, deduplicate, index, save.

Rows are parsed where their shard is compiled, once: a pass of its own over all rows before would parse every
expression twice. So shards are what is compiled in parallel; one parses 200,000 to 380,000 rows a second.

Of rows with equal ids, equal rows are one. Of unequal ones the newest counts, if a column says which that is;
else all of them are refused, because a table has no order that could tell.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pathcast.errors import IndexFormatError, SubscriptionErrors
from pathcast.index import IMAGE_LAYOUT, Index
from pathcast.spark.artifact import Settings, Shard, replace_file, settings_digest, sha256
from pathcast.spark.worker.shards import find_file, numbered, single, stored_rows, verify
from pathcast.subscriptions import variables_from

__all__ = [
    "REPLY",
    "REQUIRED",
    "STORED",
    "CompileJob",
    "Refused",
    "accepted",
    "compile_shard",
    "digest",
    "usual",
]

STORED = ("id", "xpath", "ordered", "namespaces", "variables", "subscriber")
REPLY = pa.schema([("shard", pa.string()), ("name", pa.string()), ("data", pa.binary())])
_LARGE_REPLY = pa.schema(
    [("shard", pa.large_string()), ("name", pa.large_string()), ("data", pa.large_binary())]
)
EVERYTHING = "/*"  # what every document matches
REQUIRED = "required "  # and the number of a shard: the name of a reply that is no file
IMAGED_BYTES = 1 << 20
"""Of an index file from which on there is an image beside it: a smaller one is opened in 20 ms."""
_PART = 4 << 20  # bytes of a file in one row on the way to the driver; Connect caps a message at 128 MiB


@dataclass(frozen=True)
class CompileJob:
    """What a task is to do with the rows of a shard."""

    folder: str
    marker: str
    """A file in that folder: a worker that sees it writes there, another sends its files to the driver."""
    settings: Settings
    previous: dict[int, Shard]
    """The shards that are there already."""
    changes: bool
    """Whether the rows are changes to those, and not all rows."""


@dataclass
class Refused:
    """Rows that make no subscription."""

    ids: list[Any] = field(default_factory=list)
    xpaths: list[str | None] = field(default_factory=list)
    columns: list[int | None] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def add(self, id: Any, xpath: str | None, reason: str, column: int | None = None) -> None:
        """Another one; the column counts characters of the expression."""
        self.ids.append(id)
        self.xpaths.append(xpath)
        self.columns.append(column)
        self.reasons.append(reason)

    def table(self, id_type: Any) -> Any:
        """All of them."""
        return pa.table(
            {
                "id": pa.array(self.ids, id_type),
                "xpath": pa.array(self.xpaths, pa.string()),
                "column": pa.array(self.columns, pa.int32()),
                "reason": pa.array(self.reasons, pa.string()),
            }
        )


def compile_shard(table: Any, job: CompileJob) -> Any:
    """The reply to the driver: parts of files, if the driver must write them, and a row about the shard."""
    given, table = table.schema.field("xpath").type, usual(table)
    number: int = table["shard"][0].as_py()
    rows = table.drop_columns(["shard"]).filter(pc.invert(table["seed"])).drop_columns(["seed"])
    replies = []
    if "required" in rows.column_names:
        replies.append(_requirements(number, rows["required"].unique().drop_null().to_pylist(), job.settings))
        rows = rows.drop_columns(["required"])
    replies += _replies(number, rows, job)
    reply = pa.Table.from_batches([pa.RecordBatch.from_arrays(each, schema=REPLY) for each in replies])
    return reply if given == pa.string() else reply.cast(_LARGE_REPLY)  # as Spark wants it then


def usual(table: Any) -> Any:
    """The table with Arrow's usual types, whatever `spark.sql.execution.arrow.useLargeVarTypes` says."""
    schema = pa.schema([field.with_type(_usual(field.type)) for field in table.schema])
    return table if schema == table.schema else table.cast(schema)


def _usual(kind: Any) -> Any:
    if pa.types.is_map(kind):
        return pa.map_(_usual(kind.key_type), _usual(kind.item_type))
    return pa.string() if pa.types.is_large_string(kind) else kind


def _requirements(number: int, texts: list[str], settings: Settings) -> list[Any]:
    """What the shard's subscriptions require of documents, for the routing index.

    What an index refuses, mostly because the subscription is refused too, is no requirement: every document
    concerns the shard then.
    """
    try:
        settings.index().add_many(list(enumerate(texts)))
    except SubscriptionErrors as errors:
        bad = {at for at, _ in errors.failures}
        texts = [text for at, text in enumerate(texts) if at not in bad]
        texts = sorted({*texts, EVERYTHING})
    buffer = pa.BufferOutputStream()
    table = pa.table({"text": pa.array(texts, pa.string())})
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)
    return _reply(name=f"{REQUIRED}{number}", data=buffer.getvalue().to_pybytes())


def _replies(number: int, rows: Any, job: CompileJob) -> Iterator[list[Any]]:
    before = job.previous.get(number)
    refused = Refused()
    if job.changes:
        assert before is not None, "changes go to shards that exist"
        good, index = _merged(before, rows, refused, job)
        source = digest(good, job.settings)
    else:
        rows = rows.sort_by([("id", "ascending"), ("xpath", "ascending")])
        source = digest(rows.drop_columns(["problem"]) if _sound(rows) else rows, job.settings)
        if before is not None and before.source == source:
            yield from _unchanged(before, job)
            return
        good, index = accepted(rows, refused, job.settings)
    with tempfile.TemporaryDirectory(prefix="pathcast-compile-") as folder:
        yield from _saved(number, source, good, index, refused, Path(folder), job)


def _unchanged(shard: Shard, job: CompileJob) -> Iterator[list[Any]]:
    """Its files stay; an image that is missing, or was made by another Pathcast, is made again."""
    wanted = shard.index_bytes >= IMAGED_BYTES and job.settings.schema is None
    if wanted and shard.image_layout != IMAGE_LAYOUT:
        try:
            path = find_file(job.folder, shard.index)
            verify(path, shard.index_sha256)
            index = Index.load(path)
        except IndexFormatError:  # this worker does not see it: it is no worse than it was
            yield _reply(shard=shard)
            return
        with tempfile.TemporaryDirectory(prefix="pathcast-compile-") as folder:
            shard = _imaged(shard, index, Path(folder))
            if shard.image:
                yield from _placed(Path(folder) / "image", shard.image, job)
    yield _reply(shard=shard)


def _imaged(shard: Shard, index: Index, folder: Path) -> Shard:
    """The shard with an image, which is then in the folder, if it is worth one and can have it."""
    image = folder / "image"
    if shard.index_bytes < IMAGED_BYTES or not index.save_image(image):
        return shard.without_image
    size = image.stat().st_size
    return replace(shard, image_sha256=sha256(image), image_bytes=size, image_layout=IMAGE_LAYOUT)


def _placed(file: Path, name: str, job: CompileJob) -> Iterator[list[Any]]:
    """Puts a file where it belongs, or sends it."""
    if os.path.exists(job.marker):
        replace_file(Path(job.folder) / name, file)
        return
    with open(file, "rb") as contents:
        while part := contents.read(_PART):
            yield _reply(name=name, data=part)


def _sound(rows: Any) -> bool:
    return bool(rows["problem"].null_count == rows.num_rows)


def _saved(
    number: int, source: str, good: Any, index: Index, refused: Refused, folder: Path, job: CompileJob
) -> Iterator[list[Any]]:
    """Puts the files where they belong, or sends them; then what there is to know about the shard."""
    index.save(folder / "index")
    _write(folder / "rows", good)
    rejected = None
    if refused.ids:
        table = refused.table(good.schema.field("id").type)
        rejected = f"shard-{number:05}-{digest(table, job.settings)[:20]}.rejected.arrow"
        _write(folder / "rejected", table)
    shard = Shard(
        number=number,
        hash=(hash := digest(good, job.settings)),
        base=hash,
        source=source,
        subscriptions=good.num_rows,
        refused=len(refused.ids),
        rows_sha256=sha256(folder / "rows"),
        index_sha256=sha256(folder / "index"),
        index_bytes=(folder / "index").stat().st_size,
        rejected=rejected,
        on_tree=index.stats()["decided_on_tree"],
    )
    shard = _imaged(shard, index, folder)
    names = {"index": shard.index, "image": shard.image, "rows": shard.rows, "rejected": rejected}
    for file, name in names.items():
        if name is not None:
            yield from _placed(folder / file, name, job)
    yield _reply(shard=shard)


def _reply(shard: Shard | None = None, name: str | None = None, data: bytes | None = None) -> list[Any]:
    text = json.dumps(asdict(shard)) if shard else None
    return [pa.array([text], pa.string()), pa.array([name], pa.string()), pa.array([data], pa.binary())]


def _write(path: Path, table: Any) -> None:
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table.combine_chunks())


def _merged(before: Shard, rows: Any, refused: Refused, job: CompileJob) -> tuple[Any, Index]:
    """The shard's rows with the changes; a change that is refused leaves the subscription as it was."""
    removed = rows.filter(rows["removed"])["id"]
    changed, _ = accepted(
        rows.filter(pc.invert(rows["removed"])).drop_columns(["removed"]), refused, job.settings
    )
    stored = stored_rows(job.folder, before)
    gone = pa.chunked_array([*removed.chunks, *changed["id"].chunks], stored["id"].type)
    kept = stored.filter(pc.invert(pc.is_in(stored["id"], value_set=gone.combine_chunks())))
    good = pa.concat_tables([kept, changed.select(kept.column_names).cast(kept.schema)]).sort_by("id")
    index = job.settings.index()
    index.add_many(numbered(good))
    return good, index


def accepted(rows: Any, refused: Refused, settings: Settings) -> tuple[Any, Index]:
    """The rows that make subscriptions, sorted by id, and the index of them."""
    rows = _bound(_single(_complete(rows, refused), refused), refused)
    good = rows.select([name for name in STORED if name in rows.column_names]).combine_chunks()
    index = settings.index()
    try:
        index.add_many(numbered(good))
    except SubscriptionErrors as errors:
        keep = [True] * good.num_rows
        for at, error in errors.failures:
            assert isinstance(at, int)
            keep[at] = False
            refused.add(good["id"][at].as_py(), error.expression, error.message, error.column)
        good = good.filter(pa.array(keep)).combine_chunks()
        index = settings.index()
        index.add_many(numbered(good))
    return good, index


def _complete(rows: Any, refused: Refused) -> Any:
    """The rows that have an id and an expression, and whose other cells could be read."""
    empty = pc.equal(rows["id"], "") if pa.types.is_string(rows["id"].type) else pc.is_null(rows["id"])
    bad = pc.or_(
        pc.or_(pc.is_null(rows["id"]), pc.fill_null(empty, False)),
        pc.or_(pc.is_null(rows["xpath"]), pc.is_valid(rows["problem"])),
    )
    if pc.any(bad).as_py():
        for row in rows.filter(bad).select(["id", "xpath", "problem"]).to_pylist():
            reason = "there is no xpath (null)" if row["problem"] is None else row["problem"]
            if row["id"] in (None, ""):
                reason = "the id is empty" if row["id"] == "" else "there is no id (null)"
            refused.add(row["id"], row["xpath"], reason)
        rows = rows.filter(pc.invert(bad))
    return rows.drop_columns(["problem"])


def _bound(rows: Any, refused: Refused) -> Any:
    """The rows whose variables can be read."""
    bad = []
    for at in pc.indices_nonzero(pc.is_valid(rows["variables"])).to_pylist():
        try:
            variables_from(rows["variables"][at].as_py())
        except ValueError as error:
            refused.add(rows["id"][at].as_py(), rows["xpath"][at].as_py(), str(error))
            bad.append(at)
    if not bad:
        return rows
    keep = [True] * rows.num_rows
    for at in bad:
        keep[at] = False
    return rows.filter(pa.array(keep)).combine_chunks()


def _single(rows: Any, refused: Refused) -> Any:
    """One row for each id, sorted by id."""
    ranked = "rank" in rows.column_names
    keys = [("id", "ascending"), ("xpath", "ascending")]
    rows = rows.sort_by([keys[0], ("rank", "descending"), keys[1]] if ranked else keys).combine_chunks()
    if rows.num_rows < 2:
        return rows
    ids = single(rows["id"])
    repeats = pc.indices_nonzero(pc.equal(ids.slice(1), ids.slice(0, len(ids) - 1))).to_pylist()
    if not repeats:
        return rows
    keep = [True] * rows.num_rows
    last = -1
    for first in repeats:  # row first + 1 has the id of row first
        if first <= last:
            continue
        last = first + 1
        while last + 1 < rows.num_rows and ids[last + 1] == ids[first]:
            last += 1
        run = rows.slice(first, last + 1 - first).to_pylist()
        newest = [row for row in run if not ranked or row["rank"] == run[0]["rank"]]
        keep[first + 1 : last + 1] = [False] * (last - first)
        if any(row != newest[0] for row in newest):
            keep[first] = False
            for row in newest:
                refused.add(row["id"], row["xpath"], f"{len(newest)} different rows have this id; {_NEWEST}")
    return rows.filter(pa.array(keep))


_NEWEST = "keep one, or name a column whose highest value tells the newest with latest_by="


def digest(table: Any, settings: Settings) -> str:
    """A hash of the settings and of what the table says, whatever Arrow's layout of it."""
    sha = hashlib.sha256(settings_digest(settings))
    for name in table.column_names:
        column = single(table[name])
        sha.update(f"{name} {len(column)} ".encode())
        _feed(sha, pc.cast(pc.is_valid(column), pa.int8()))
        if pa.types.is_map(column.type):
            if column.null_count < len(column):
                maps = [value and sorted(value) for value in column.to_pylist()]
                sha.update(json.dumps(maps).encode())
            continue
        text = pc.fill_null(pc.cast(column, pa.large_string()), "")
        _feed(sha, pc.binary_length(text))
        _feed(sha, text)
    return sha.hexdigest()


def _feed(sha: Any, array: Any) -> None:
    """The bytes of a column of small integers, or of strings."""
    if not len(array):
        return
    if pa.types.is_large_string(array.type):
        offsets = memoryview(array.buffers()[1]).cast("q")
        start, end = offsets[array.offset], offsets[array.offset + len(array)]
        if end > start:
            sha.update(memoryview(array.buffers()[2])[start:end])
    else:
        width = array.type.bit_width // 8
        sha.update(memoryview(array.buffers()[1])[array.offset * width : (array.offset + len(array)) * width])
