"""The data source `pathcast`: workers read and match documents themselves, and only answers reach Java.

    spark.dataSource.register(PathcastDataSource)
    spark.read.format("pathcast").option("index", FOLDER).load(PATHS)

Options: `index`, the folder of compiled subscriptions; `result`, one of `matches`, `dead`, `tagged`,
`grouped`, `delivered`; `id` and `document`, columns of Parquet files; `record`, to cut files into records;
`shape`, `lists` to get the matches of a document as one row; `glob`; `engine`; `mode`; `splitBytes`;
`batchBytes`; `share`; `maxBytes` of a document; `keep`, columns that go with every answer;
`maxFilesPerTrigger` of a stream. With `subscribe` documents are messages of Kafka topics, and options are
named as those of Spark's own source.

A batch of a stream names its files or messages and the version of the subscriptions in its offset, which
Spark keeps: a batch that is asked for again reads the same documents with the same version.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from uuid import uuid4

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
    StringStartsWith,
)
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import DataType, StringType, StructField, StructType

from pathcast.spark.artifact import Manifest, check_engine
from pathcast.spark.driver.answers import check_kept, columns, sent_columns
from pathcast.spark.driver.compiled import Compiled
from pathcast.spark.driver.splits import Found, find_files, plan_splits, types_of
from pathcast.spark.driver.topics import Topics, at_most, ranges, whole_number
from pathcast.spark.driver.workers import asked_together, opened_from
from pathcast.spark.folders import folder_at
from pathcast.spark.leases import lease_newest
from pathcast.spark.options import BATCH_BYTES, MatchOptions, Mode
from pathcast.spark.worker.answers import RESULTS, SHAPES, Result, Shape
from pathcast.spark.worker.filters import Comparison, IdFilter, bounded, with_ids
from pathcast.spark.worker.imports import freeze_imports
from pathcast.spark.worker.kept import joined, parted
from pathcast.spark.worker.match import MatchJob, match_batches
from pathcast.spark.worker.route import ShardsJob, match_shards
from pathcast.spark.worker.split import MAX_RECORD, Splitter
from pathcast.spark.worker.splits import ReadJob, Split, read_split
from pathcast.spark.worker.topics import MESSAGE, Positions, Range, TopicJob, read_range
from pathcast.spark.worker.unpack import UnpackJob

__all__ = ["OPTIONS", "PathcastDataSource"]

_SIZES = ("splitBytes", "batchBytes", "maxBytes")
OPTIONS = ("id", "document", "record", "glob", "mode", "engine", "share", "nodes", "pushFilters", *_SIZES)
"""Of files in a batch, those that `match_files` passes on."""

_RECENT = 120 * 10**9  # nanoseconds: a file that shows up later than this after its time is missed
_FILES = 1_000  # of a batch of a stream


@dataclass(frozen=True)
class _Source:
    """The options, read and checked."""

    index: str
    paths: tuple[str, ...]
    result: Result
    shape: Shape
    match: MatchOptions
    read: ReadJob
    glob: str | None
    split_bytes: int | None
    files_per_trigger: int
    topics: Topics | None
    pushes: bool
    """Whether Spark tells what it filters."""

    @classmethod
    def of(cls, options: Mapping[str, str]) -> _Source:
        if not options.get("index"):
            raise ValueError('the folder of compiled subscriptions is missing: option("index", FOLDER)')
        paths = json.loads(options["paths"]) if "paths" in options else [options.get("path") or ""]
        keep = _names(options.get("keep", ""))
        check_kept(keep, ["found"] if options.get("shape") == "lists" else ())
        batch_bytes = whole_number(options, "batchBytes") or BATCH_BYTES
        topics = Topics.of(options, batch_bytes, keep)
        if topics is None and not all(paths):
            raise ValueError('say where the documents are: load(PATH), or option("subscribe", TOPIC)')
        if topics is not None and any(paths):
            raise ValueError("documents are in files or in topics: leave out load(PATH) or subscribe")
        result = options.get("result", "matches")
        if result not in RESULTS:
            raise ValueError(f"result must be one of {', '.join(RESULTS)}, not {result!r}")
        shape = options.get("shape", "rows")
        if shape not in SHAPES:
            raise ValueError(f"shape must be one of {', '.join(SHAPES)}, not {shape!r}")
        record = options.get("record")
        if record is not None:
            Splitter(record)  # refuses a name that cannot be one
        match = MatchOptions(
            options.get("document", "xml"),
            options.get("id", "doc_id"),
            options.get("engine", "auto"),
            mode=cast(Mode, options.get("mode", "PERMISSIVE").upper()),
            batch_bytes=batch_bytes,
            keep=keep,
            nodes=bool(_flag(options, "nodes")),
            share=_flag(options, "share"),
        )
        if match.nodes and result not in ("matches", "tagged"):
            raise ValueError(f"nodes needs a row for each match, and result {result!r} has none")
        unpack = UnpackJob(record, whole_number(options, "maxBytes") or MAX_RECORD, match.batch_bytes)
        return cls(
            options["index"],
            tuple(paths),
            result,
            shape,
            match,
            ReadJob(match.id, match.document, unpack),
            options.get("glob") or options.get("pathGlobFilter"),
            whole_number(options, "splitBytes"),
            whole_number(options, "maxFilesPerTrigger") or _FILES,
            topics,
            bool(_flag(options, "pushFilters")),
        )

    def columns(self, id: DataType, kept: Sequence[DataType]) -> StructType:
        """What the rows have, for these types of ids and kept columns."""
        manifest = Compiled.open(self.index).manifest
        shaped = sent_columns if self.shape == "lists" else columns
        own = shaped(self.result, id, manifest, self.match.nodes)
        return StructType([*own, *(StructField(*each) for each in zip(self.match.keep, kept, strict=True))])

    def typed(self, schema: StructType) -> _Source:
        """With the types of what is read from tables, as Spark knows them."""
        expected = self.columns(StringType(), [StringType()] * len(self.match.keep)).names
        if schema.names != expected:  # somebody said it, and Spark would count columns in a worker
            raise ValueError(
                f"schema() must have the columns {', '.join(expected)}, in this order, not "
                f"{', '.join(schema.names)}"
            )
        if self.topics is not None:
            return self
        names = ("doc_id", *self.match.keep)
        id, *kept = (to_arrow_type(schema[name].dataType, timezone="UTC") for name in names)
        keep = tuple(zip(self.match.keep, kept, strict=True))
        return replace(self, read=replace(self.read, id_type=id, keep=keep))

    def files(self) -> list[Found]:
        return find_files(self.paths, self.glob)

    def plan(
        self, splits: Sequence[Split | Range], compiled: Compiled, ids: tuple[IdFilter, ...] = ()
    ) -> list[InputPartition]:
        """A task for each split that asks all shards; or one for each split and shard, a shard's together."""
        check_engine(self.match.engine, compiled.manifest.settings)
        shards = opened_from(compiled, self.match)
        tells = self.match.mode != "DROPMALFORMED"
        jobs: list[MatchJob] = []
        for shard in shards:
            first = shard.shard.number == 0
            if self.result == "dead" and not first and not (tells and shard.shard.on_tree):
                continue
            job = MatchJob(
                self.result,
                shard,
                compiled.manifest.settings,
                self.match.mode == "FAILFAST",
                self.match.batch_bytes,
                first and tells,
                self.shape,
                tells_undecided=tells,
                nodes=self.match.nodes,
            )
            jobs.append(job)
        if self.result != "dead" and asked_together(compiled, self.result):
            manifest = compiled.manifest
            every = ShardsJob(compiled.place, manifest.routing, manifest.settings, tuple(jobs))
            return [self._task(split, every, ids) for split in splits]
        return [self._task(split, job, ids) for job in jobs for split in splits]

    def _task(self, split: Split | Range, job: MatchJob | ShardsJob, ids: tuple[IdFilter, ...]) -> _Task:
        read = self.topics.job if self.topics and isinstance(split, Range) else self.read
        return _Task(split, read, job, ids, tuple(self.match.keep), self.read.unpack.max_bytes)


class _Task(InputPartition):
    """One split and what to do with it."""

    def __init__(
        self,
        split: Split | Range,
        read: ReadJob | TopicJob,
        job: MatchJob | ShardsJob,
        ids: tuple[IdFilter, ...],
        keep: tuple[str, ...],
        max_bytes: int,
    ) -> None:
        super().__init__(None)
        self.split, self.read, self.job, self.ids, self.keep = split, read, job, ids, keep
        self.max_bytes = max_bytes

    def run(self) -> Iterator[Any]:
        freeze_imports()
        documents = self._documents()
        if self.ids:
            documents = with_ids(documents, self.ids)
        if self.max_bytes < MAX_RECORD:
            documents = bounded(documents, self.max_bytes)
        return parted(self._answers(joined(documents)), self.keep) if self.keep else self._answers(documents)

    def _answers(self, documents: Iterator[Any]) -> Iterator[Any]:
        if isinstance(self.job, ShardsJob):
            return match_shards(documents, self.job)
        return match_batches(documents, self.job)

    def _documents(self) -> Iterator[Any]:
        if isinstance(self.split, Range):
            assert isinstance(self.read, TopicJob)
            return read_range(self.split, self.read)
        assert isinstance(self.read, ReadJob)
        return read_split(self.split, self.read)


class PathcastDataSource(DataSource):
    """`spark.dataSource.register(PathcastDataSource)`; then `spark.read.format("pathcast")`."""

    @classmethod
    def name(cls) -> str:
        """What `format` takes."""
        return "pathcast"

    def schema(self) -> StructType:
        """The columns of the result; the type of `doc_id` is that of the documents."""
        source = _Source.of(self.options)
        asked = source.match
        if source.topics is None:
            kind, *kinds = types_of(source.files(), asked.id, asked.document, asked.keep)
        else:
            kind, kinds = StringType(), [from_arrow_type(MESSAGE[name]) for name in asked.keep]
        return source.columns(kind, kinds)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads what is there."""
        source = _Source.of(self.options).typed(schema)
        return _FilteringReader(source) if source.pushes else _Reader(source)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Reads files or messages as they arrive."""
        source = _Source.of(self.options).typed(schema)
        return _TopicReader(source, source.topics) if source.topics else _StreamReader(source)


class _Reader(DataSourceReader):
    def __init__(self, source: _Source) -> None:
        self._source = source
        self._ids: tuple[IdFilter, ...] = ()

    def partitions(self) -> Sequence[InputPartition]:
        source = self._source
        splits: Sequence[Split | Range]
        if source.topics is None:
            splits = plan_splits(source.files(), source.split_bytes)
        else:
            splits = ranges(*source.topics.positions())
        return source.plan(splits, Compiled.open(source.index), self._ids)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return _run(partition)


class _FilteringReader(_Reader):
    """Filters on `doc_id` hold before documents are matched.

    Spark refuses a reader that can do this while `spark.sql.python.filterPushdown.enabled` is not set, so
    it is one that must be asked for.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        """Takes note of what it can use; Spark still looks at all of them."""
        self._ids = tuple(found for each in filters if (found := _id_filter(each)))
        return filters


def _flag(options: Mapping[str, str], name: str) -> bool | None:
    text = options.get(name, "").lower()
    if text not in ("", "true", "false"):
        raise ValueError(f"{name} must be true or false, not {options[name]!r}")
    return text == "true" if text else None


def _names(text: str) -> tuple[str, ...]:
    """Names with commas between them, or a list of JSON, which any name can be in."""
    if text.startswith("["):
        return tuple(json.loads(text))
    return tuple(name.strip() for name in text.split(",") if name.strip())


_COMPARISONS: dict[type[Filter], Comparison] = {
    EqualTo: "equal",
    LessThan: "less",
    LessThanOrEqual: "less_equal",
    GreaterThan: "greater",
    GreaterThanOrEqual: "greater_equal",
    In: "is_in",
    StringStartsWith: "starts_with",
}


def _id_filter(found: Filter) -> IdFilter | None:
    """Only whole numbers and texts: for others Arrow and Spark may not agree on what is equal or less."""
    comparison = _COMPARISONS.get(type(found))
    if comparison is None or getattr(found, "attribute", None) != ("doc_id",):
        return None
    value = found.value  # type: ignore[attr-defined]
    several = comparison == "is_in"
    values = tuple(value) if several else (value,)
    known = {type(each) for each in values} in ({int}, {str})
    return IdFilter(comparison, values if several else value) if known else None


def _run(partition: InputPartition) -> Iterator[Any]:
    if isinstance(partition, _Task):
        return partition.run()
    return iter(())  # Spark makes up a partition where there is none


class _StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets hold the newest time seen, the files of about that time, and the files of their batch."""

    def __init__(self, source: _Source) -> None:
        self._source = source
        self._until: int | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        return {"stream": uuid4().hex, "batch": 0, "newest": 0, "recent": "[]", "files": "[]", "version": ""}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        return ReadMaxFiles(self._source.files_per_trigger)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        self._until = max((file.changed for file in self._source.files()), default=0)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        recent = set(json.loads(start["recent"]))
        oldest = start["newest"] - _RECENT
        new = [
            file
            for file in self._source.files()
            if file.changed >= oldest
            and file.path not in recent
            and (self._until is None or file.changed <= self._until)
        ]
        # Also under "all available": a batch of a million files would be named in one offset.
        new = new[: limit.max_files if isinstance(limit, ReadMaxFiles) else self._source.files_per_trigger]
        if not new:
            return start
        newest = max(start["newest"], new[-1].changed)
        # Those of before the window can go, but their times are unknown here: they are looked up.
        return {
            "stream": start["stream"],
            "batch": start["batch"] + 1,
            "newest": newest,
            "recent": json.dumps(self._remembered(recent | {file.path for file in new}, newest)),
            "files": json.dumps([(file.path, file.bytes) for file in new]),
            "version": _leased(self._source.index, start).hash,
        }

    def _remembered(self, paths: set[str], newest: int) -> list[str]:
        return sorted(
            file.path
            for file in self._source.files()
            if file.changed >= newest - _RECENT and file.path in paths
        )

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        if start == end:
            return []
        files = [Found(0, path, size) for path, size in json.loads(end["files"])]
        splits = plan_splits(files, self._source.split_bytes)
        return self._source.plan(splits, _version(self._source.index, end))

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return _run(partition)


class _TopicReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets hold where a batch starts and ends in each partition."""

    def __init__(self, source: _Source, topics: Topics) -> None:
        self._source, self._topics = source, topics
        self._until: Positions | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        first, behind = self._topics.positions()
        starts = first if self._topics.starting == "earliest" else behind
        return {"stream": uuid4().hex, "from": "{}", "to": json.dumps(starts), "version": ""}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        most = self._topics.per_trigger
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        self._until = self._topics.positions()[1]

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        known: Positions = json.loads(start["to"])
        first, behind = self._topics.positions()
        if self._until is not None:
            behind = {place: min(self._until.get(place, 0), end) for place, end in behind.items()}
        # A partition that is new is read from its first message on.
        begins = {place: known.get(place, first[place]) for place in behind}
        for place, end in behind.items():
            if self._until is None and end < begins[place]:
                raise ValueError(
                    f"{place} ends at {end}, and was read up to {begins[place]}: it was made anew"
                )
        ends = {place: max(end, begins[place]) for place, end in behind.items()}
        # Also under "all available": Spark asks so for the last batches before it ends.
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else self._topics.per_trigger
        ends = at_most(begins, ends, most)
        if ends == begins:
            return start
        return {
            "stream": start["stream"],
            "from": json.dumps(begins),
            "to": json.dumps(ends),
            "version": _leased(self._source.index, start).hash,
        }

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        if start == end:
            return []
        splits = ranges(json.loads(end["from"]), json.loads(end["to"]))
        return self._source.plan(splits, _version(self._source.index, end))

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return _run(partition)


def _leased(index: str, start: dict[str, Any]) -> Manifest:
    """The newest version, with a lease for it and for that of the batch before."""
    folder = folder_at(index)
    before = Compiled.version(folder, start["version"]) if start["version"] else None
    return lease_newest(folder, f"source-{start['stream']}", [before.manifest] if before else [])


def _version(index: str, end: dict[str, Any]) -> Compiled:
    folder = folder_at(index)
    compiled = Compiled.version(folder, end["version"])
    if compiled is None:
        raise ValueError(f"version {end['version'][:12]} of the subscriptions is gone from {folder.place}")
    return compiled
