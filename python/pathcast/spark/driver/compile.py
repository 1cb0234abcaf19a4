"""Compiles a table of subscriptions into an artifact that jobs and streams match with.

`compile_subscriptions` takes all rows, `update_subscriptions` only what changed. Rows go to shards by a hash
of their id and never to the driver, except for a few changes, which `delta` puts beside the shards.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructType,
)

import pathcast
from pathcast.errors import IndexFormatError
from pathcast.limits import Limits
from pathcast.spark.artifact import Manifest, Settings, Shard, replace_file, sha256
from pathcast.spark.driver.columns import column_like, column_type, quoted
from pathcast.spark.driver.compiled import Compiled
from pathcast.spark.driver.delta import FEW, changed_shards
from pathcast.spark.driver.few_changes import few_changes
from pathcast.spark.driver.hadoop import index_folder
from pathcast.spark.driver.routed_changes import routed_changes
from pathcast.spark.driver.routing import count_ids, placed, sampled, written
from pathcast.spark.driver.shipping import needs_shipping, ship_files
from pathcast.spark.driver.workers import on_worker
from pathcast.spark.folders import Folder, LocalFolder
from pathcast.spark.leases import alone, check_types, unchanged, writing
from pathcast.spark.store import fetched, mirrored, publish
from pathcast.spark.worker.compile import REQUIRED, CompileJob, compile_shard, usual

if TYPE_CHECKING:
    from pathcast.schema import Schema
    from pathcast.types import Namespaces

__all__ = ["compile_subscriptions", "update_subscriptions"]

_IDS = (StringType, LongType, IntegerType, ShortType, ByteType)
_NAMES = (*_IDS, BooleanType, DateType, DecimalType, NullType)
"""Of subscribers: what Arrow and Spark write as the same text."""
_REPLY = "shard string, name string, data binary"
_NAMESPACES = "map<string,string>"


def compile_subscriptions(
    subscriptions: DataFrame,
    path: str | os.PathLike[str],
    *,
    shards: int = 1,
    namespaces: Namespaces | None = None,
    ordered: bool = False,
    ignore_namespaces: bool = False,
    limits: Limits | None = None,
    latest_by: str | None = None,
    schema: Schema | None = None,
    impossible: Literal["ignore", "reject"] = "ignore",
    entities: Literal["html"] | Mapping[str, str] | None = None,
    route: bool = False,
    id: str = "id",
    xpath: str = "xpath",
) -> Compiled:
    """Parses and checks all rows and writes an artifact to the folder `path`.

    The table has the columns `id` (string or integer) and `xpath`, and perhaps `subscriber`, `ordered`,
    `namespaces` (a map, or a JSON object as text) and `variables` (a map, or a JSON object as text, in which
    an expression is `{"xpath": "/*/type"}`). Bad rows do not stop it: see `Compiled.rejected`.
    Rows with equal ids must be equal, or `latest_by` must name a column whose highest value tells the newest;
    else all rows of that id are rejected.

    With a `schema` subscriptions are pruned by it, and a document that breaks it is a dead letter of the kind
    ``invalid``. With `impossible="reject"` subscriptions that no valid document can match are bad rows.
    `entities` are those that documents may use without declaring them, as in `pathcast.Index`.

    With `route` subscriptions that require the same of a document share a shard, and `match`, `match_files`
    and `stream` ask only the shards that a document can concern. `update_subscriptions` makes few changes at
    once to such a folder; many are made by compiling the whole table again.

    The folder may hold an older artifact: shards whose rows are the same are not built again, and jobs that
    use the old one are not disturbed. Best is a folder that all workers see; otherwise the indexes travel
    through the driver. `path` may be a URL that `fsspec` opens; workers then fetch their shards from there. A
    URL that only Spark opens, such as `hdfs:`, is read and written by the driver.
    """
    if shards < 1:
        raise ValueError(f"shards must be at least 1, not {shards}")
    home = index_folder(path, subscriptions.sparkSession)
    folder = home.path if isinstance(home, LocalFolder) else mirrored(home)
    folder.mkdir(parents=True, exist_ok=True)
    if impossible not in ("ignore", "reject"):
        raise ValueError(f"impossible must be 'ignore' or 'reject', not {impossible!r}")
    if schema is None and impossible == "reject":
        raise ValueError("impossible='reject' needs a schema: without one every expression is possible")
    settings = Settings(
        ordered,
        dict(namespaces) if namespaces else None,
        ignore_namespaces,
        limits or Limits(),
        schema.portable.text if schema else None,
        "error" if impossible == "reject" else "ignore",
        entities if entities is None or isinstance(entities, str) else dict(entities),
    )
    settings.index()  # refuses what cannot be before any job starts
    rows = _rows(subscriptions, shards, id=id, xpath=xpath, latest_by=latest_by)
    id_type = rows.schema["id"].dataType.simpleString()
    subscriber_type = (
        rows.schema["subscriber"].dataType.simpleString() if "subscriber" in rows.columns else None
    )
    # Every shard gets a row, so that every shard is built, with Arrow's types as Spark gives them.
    seeds = subscriptions.sparkSession.range(shards).select(
        F.col("id").cast("int").alias("shard"),
        *(F.lit(None).cast(kind).alias(name) for name, kind in rows.dtypes if name not in ("shard", "seed")),
        F.lit(True).alias("seed"),
    )
    check_types(home, {"id_type": id_type, "subscriber_type": subscriber_type})
    before = _reusable(folder, settings, id_type, subscriber_type, shards)
    sound = [shard for shard in before.shards if _sound(folder, shard)] if before else []
    previous = {shard.number: _with_sound_image(folder, shard) for shard in sound}
    routing = None
    if route and shards > 1:
        ids = count_ids(rows)
        routing = (before.routing if before else None) or sampled(rows, ids, shards)
        rows = placed(rows, ids, routing)
        seeds = seeds.withColumn("required", F.lit(None).cast("string"))
    with writing(home):
        built, texts = _build(rows.unionByName(seeds), folder, settings, previous, shards, changes=False)
        made = tuple(built[number] for number in range(shards))
        if routing:
            routing = written(folder, routing, texts, settings)
        manifest = Manifest(settings, id_type, subscriber_type, made, routing=routing)
        check_types(home, manifest.types)  # a stream may have begun meanwhile
        with alone(home):
            manifest.write(folder)
            _published(home, folder, manifest)
    return Compiled.of(home, manifest, subscriptions.sparkSession)


def _published(home: Folder, folder: Path, manifest: Manifest) -> None:
    if not isinstance(home, LocalFolder):
        publish(folder, [*manifest.files, manifest.name], home)


def update_subscriptions(
    compiled: Compiled | str | os.PathLike[str],
    changed: DataFrame | None = None,
    removed: DataFrame | None = None,
    *,
    latest_by: str | None = None,
    id: str = "id",
    xpath: str = "xpath",
) -> Compiled:
    """Compiles again from changes only: rows that are new or different, and a table with the ids to remove.

    A few changes become a small delta beside the shards that they fall into, and nothing is built; many build
    those shards again. A changed row that is refused leaves the subscription as it was; an id to remove that
    is not there is no error; an id in both tables is changed, or removed if the change is refused.

    Changes are to the newest version in the folder: if `compiled` is another, or somebody else changes the
    folder meanwhile, it is an error and nothing is written.
    """
    if not isinstance(compiled, Compiled):
        compiled = Compiled.open(compiled)
    manifest, count = compiled.manifest, compiled.shards
    given = changed if changed is not None else removed
    if given is None:
        raise ValueError("give rows that changed, or ids to remove, or both")
    spark = given.sparkSession
    few = None
    if changed is not None and removed is None and latest_by is None:
        few = few_changes(changed, manifest, id, xpath)
    rows = None
    if few is None:
        rows = _changes(changed, removed, manifest, id=id, xpath=xpath, latest_by=latest_by)
        few = rows.limit(FEW + 1).toArrow()
    few = usual(few)
    previous = {shard.number: shard for shard in manifest.shards}
    home = index_folder(compiled.store or compiled.path, spark)
    routing = manifest.routing
    stored = [name for shard in manifest.shards for name in (shard.rows, shard.delta) if name]
    if compiled.store:
        for name in [*stored, *([routing.name] if routing else [])]:
            fetched(home, name)
    with unchanged(home, manifest):
        pass  # better now than when shards are built
    with writing(home):
        built = None
        if few.num_rows <= FEW and routing is None:
            built = changed_shards(compiled.path, previous, few, manifest.settings)
        elif few.num_rows <= FEW and (changes := routed_changes(compiled.path, manifest, few)):
            built, routing = changes
        if built is None and routing is not None:
            raise ValueError(
                "these are many changes, and subscriptions that were compiled with route=True take few at "
                "once: compile the whole table again; shards whose rows are the same are kept"
            )
        if built is None:
            if rows is None:
                rows = _changes(changed, removed, manifest, id=id, xpath=xpath, latest_by=latest_by)
            if needs_shipping(spark):
                ship_files(spark, compiled.path, stored)
            built, _ = _build(rows, compiled.path, manifest.settings, previous, count, changes=True)
        shards = tuple(built.get(shard.number, shard) for shard in manifest.shards)
        renewed = replace(manifest, shards=shards, routing=routing, pathcast=pathcast.__version__)
        with unchanged(home, manifest):
            renewed.write(compiled.path)
            _published(home, compiled.path, renewed)
    return Compiled.of(home, renewed, spark)


def _changes(
    changed: DataFrame | None,
    removed: DataFrame | None,
    manifest: Manifest,
    *,
    id: str,
    xpath: str,
    latest_by: str | None,
) -> DataFrame:
    """What changed and what is gone, in the form that workers read."""
    count = len(manifest.shards)
    frames = []
    if changed is not None:
        rows = _rows(changed, count, id=id, xpath=xpath, latest_by=latest_by, manifest=manifest)
        frames.append(rows.withColumn("removed", F.lit(False)))
    if removed is not None:
        column_type(removed, id, "subscriptions to remove", _IDS)
        # What does not fit is not there. Without ANSI mode a cast would make another number of it.
        fitting = F.col(quoted(id)).try_cast(manifest.id_type)
        bare = removed.select(fitting.alias("id")).where("id is not null")
        wanted = bare.withColumn("xpath", F.lit(None).cast("string"))
        rows = _rows(wanted, count, id="id", xpath="xpath", latest_by=None, manifest=manifest)
        frames.append(rows.withColumn("removed", F.lit(True)))
    rows = frames[0]
    for frame in frames[1:]:
        rows = rows.unionByName(frame, allowMissingColumns=True)
    return rows


def _rows(
    frame: DataFrame,
    shards: int,
    *,
    id: str,
    xpath: str,
    latest_by: str | None,
    manifest: Manifest | None = None,
) -> DataFrame:
    """The rows in the form that workers read, each with its shard."""
    id_type = column_type(frame, id, "subscriptions", _IDS)
    if manifest is not None and id_type.simpleString() != manifest.id_type:
        raise TypeError(
            f"the ids of these subscriptions are {manifest.id_type}, not {id_type.simpleString()}"
        )
    column_type(frame, xpath, "subscriptions", (StringType,))
    problem = F.lit(None).cast("string")
    ordered, namespaces = F.lit(None).cast("boolean"), F.lit(None).cast(_NAMESPACES)
    variables = F.lit(None).cast("string")
    if name := column_like(frame, "ordered"):
        ordered, problem = _ordered(name, column_type(frame, name, "subscriptions"), problem)
    if name := column_like(frame, "namespaces"):
        namespaces, problem = _namespaces(name, column_type(frame, name, "subscriptions"), problem)
    if name := column_like(frame, "variables"):
        variables = _variables(name, column_type(frame, name, "subscriptions"))
    columns = [
        F.col(quoted(id)).alias("id"),
        F.col(quoted(xpath)).alias("xpath"),
        ordered.alias("ordered"),
        namespaces.alias("namespaces"),
        variables.alias("variables"),
    ]
    subscriber = manifest.subscriber_type if manifest else None
    name = column_like(frame, "subscriber")
    if name and not (manifest and subscriber is None):
        kind = column_type(frame, name, "subscriptions", _NAMES)
        value = column = F.col(quoted(name))
        if subscriber:
            _check_subscribers(kind, subscriber)
            value = column.try_cast(subscriber)
            wrong = column.isNotNull() & value.isNull()
            if isinstance(kind, DecimalType) and subscriber != "string":
                wrong |= value.try_cast(kind) != column  # a cast rounds
            problem = F.when(wrong, F.lit(f"the subscriber must be {subscriber}")).otherwise(problem)
        elif isinstance(kind, NullType):
            value = column.cast("string")  # Parquet has no such type, and names may come
        columns.append(value.alias("subscriber"))
    elif subscriber:
        columns.append(F.lit(None).cast(subscriber).alias("subscriber"))
    if latest_by is not None:
        column_type(frame, latest_by, "subscriptions")
        columns.append(F.col(quoted(latest_by)).alias("rank"))
    shard = F.pmod(F.xxhash64(F.col(quoted(id))), F.lit(shards)).cast("int")
    return frame.select(shard.alias("shard"), *columns, problem.alias("problem"), F.lit(False).alias("seed"))


def _check_subscribers(kind: DataType, subscriber: str) -> None:
    """Numbers are changed by numbers, what else there is by its like; texts say anything."""
    given = kind.simpleString()
    numbers = ("decimal", "bigint", "int", "smallint", "tinyint")
    both_numbers = given.startswith(numbers) and subscriber.startswith(numbers)
    texts = given.startswith("string") or subscriber.startswith("string")
    if not (both_numbers or texts or given in ("void", subscriber)):
        raise TypeError(
            f"the subscribers of these subscriptions are {subscriber}, not {given}: cast them first"
        )


def _ordered(name: str, kind: DataType, problem: Column) -> tuple[Column, Column]:
    column = F.col(quoted(name))
    if isinstance(kind, BooleanType):
        return column, problem
    value = column.cast("string").try_cast("boolean")
    wrong = column.isNotNull() & (F.trim(column.cast("string")) != "") & value.isNull()
    return value, F.when(wrong, F.lit("ordered must be true or false")).otherwise(problem)


def _namespaces(name: str, kind: DataType, problem: Column) -> tuple[Column, Column]:
    column = F.col(quoted(name))
    if isinstance(kind, MapType):
        return column.cast(_NAMESPACES), problem
    if isinstance(kind, StructType):
        return F.from_json(F.to_json(column), _NAMESPACES), problem
    if not isinstance(kind, StringType):
        raise TypeError(
            f"the column 'namespaces' must be {_NAMESPACES} or a JSON object as string, "
            f"not {kind.simpleString()}: cast it first"
        )
    value = F.from_json(column, _NAMESPACES)
    wrong = column.isNotNull() & (F.trim(column) != "") & value.isNull()
    return value, F.when(wrong, F.lit("namespaces must be a JSON object of prefix to URI")).otherwise(problem)


def _variables(name: str, kind: DataType) -> Column:
    """As JSON, which tells strings, numbers and booleans apart; workers read it."""
    column = F.col(quoted(name))
    if isinstance(kind, MapType) and isinstance(kind.valueType, FloatType | DoubleType):
        # Spark writes these as texts.
        return F.regexp_replace(F.to_json(column), ':"(NaN|-?Infinity)"', ":$1")
    if isinstance(kind, MapType | StructType):
        return F.to_json(column)
    if not isinstance(kind, StringType):
        raise TypeError(
            f"the column 'variables' must be a map or a JSON object as string, not {kind.simpleString()}: "
            "cast it first"
        )
    return F.when(F.trim(column) != "", column)


def _reusable(
    folder: Path, settings: Settings, id_type: str, subscriber_type: str | None, shards: int
) -> Manifest | None:
    """The artifact in the folder, if there is one like the one to be made."""
    try:
        manifest = Manifest.read(folder)
    except IndexFormatError:
        return None
    same = (manifest.settings, manifest.id_type, manifest.subscriber_type, len(manifest.shards))
    return manifest if same == (settings, id_type, subscriber_type, shards) else None


def _sound(folder: Path, shard: Shard) -> bool:
    try:
        return (
            sha256(folder / shard.index) == shard.index_sha256
            and sha256(folder / shard.rows) == shard.rows_sha256
            and (shard.delta is None or sha256(folder / shard.delta) == shard.delta_sha256)
            and (shard.rejected is None or (folder / shard.rejected).exists())
        )
    except OSError:
        return False


def _with_sound_image(folder: Path, shard: Shard) -> Shard:
    """The shard, without its image if that is not what it should be."""
    try:
        good = shard.image is None or sha256(folder / shard.image) == shard.image_sha256
    except OSError:
        good = False
    return shard if good else shard.without_image


def _build(
    rows: DataFrame,
    folder: Path,
    settings: Settings,
    previous: Mapping[int, Shard],
    shards: int,
    *,
    changes: bool,
) -> tuple[dict[int, Shard], dict[str, list[int]]]:
    """The shards, and where those subscriptions are that require something."""
    marker = folder / f".seen-{uuid4().hex}"
    marker.touch()
    try:
        job = CompileJob(str(folder), str(marker), settings, dict(previous), changes)
        groups = rows.repartition(shards, "shard").groupBy("shard")
        replies = groups.applyInArrow(on_worker(compile_shard, job), _REPLY).collect()
    finally:
        marker.unlink(missing_ok=True)
    return _gathered(folder, replies)


def _gathered(folder: Path, replies: Iterable[Any]) -> tuple[dict[int, Shard], dict[str, list[int]]]:
    """Writes the files that workers could not write; what is known about each shard."""
    required: dict[str, list[int]] = {}
    parts: dict[str, list[bytes]] = {}
    shards: dict[int, Shard] = {}
    for reply in replies:
        if reply.name is not None and reply.name.startswith(REQUIRED):
            for text in pa.ipc.open_stream(reply.data).read_all()["text"].to_pylist():
                required.setdefault(text, []).append(int(reply.name.removeprefix(REQUIRED)))
        elif reply.name is not None:
            parts.setdefault(reply.name, []).append(bytes(reply.data))
        else:
            shard = Shard(**json.loads(reply.shard))
            shards[shard.number] = shard
    for name, pieces in parts.items():
        replace_file(folder / name, b"".join(pieces))
    return shards, required
