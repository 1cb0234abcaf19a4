"""The pipeline on local Spark: as a share of what its cores do without it, and beside what people do today.

Every round is a table of documents that nobody has seen, for the pipeline and for the core alone, from
Parquet on disk to the end of the job, which takes seconds; matches are handed to Spark, which counts them.
The share is the pipeline's rate over (cores × one thread of the core). Java's compiler is busy in the first
rounds, so two are not counted; everybody is warmed alike.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.harness.answers import WrongAnswerError, check
from bench.harness.kept import Kept, Row
from bench.harness.turns import processor_seconds, scale, timed
from bench.plan import Plan
from bench.workloads import WORKLOADS, wire
from pathcast.index import Index

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

    from pathcast.spark import Compiled

CORES = 2
PART = max(200, int(100_000 * scale()))  # documents of a round, or of a part of one
WARM, ROUNDS = 2, 4
SIZES = (10_000, 100_000, 1_000_000)
ALERTS = {1_000: 8, 10_000: 8, 100_000: 4}
"""Subscriptions: parts of a round that counts, so that a job takes seconds and its start little of them."""
WAYS_ROUNDS = (4, 4, 8, 8)  # parts at most; the first two warm
FILES = 16
SLICE = 3_000  # documents that the core gets at once, about as many as Spark sends to a worker
PEERS = {10: (8_000, 16_000), 100: (800, 12_000), 1_000: (60, 2_000)}
"""Subscriptions: documents of a round for `xpath_boolean`, and for lxml: a job takes seconds, as ours."""


def pipeline(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Documents/s on local[2] as a share of 2 × one thread of the core; what an index costs first."""
    sizes = [size for size in SIZES if not kept.has(f"{size:,} subscriptions")]
    if not sizes:
        return
    with _session() as (spark, folder):
        rounds = _rounds(folder, wire.documents(1), WARM + ROUNDS)
        queries = wire.queries(int(max(sizes) * scale()))
        for size in sizes:
            yield _grown(spark, folder, rounds, size, queries[: int(size * scale())])


def _grown(
    spark: SparkSession, folder: Path, rounds: Sequence[Path], size: int, queries: Sequence[str]
) -> Row:
    from pathcast.spark import compile_subscriptions, match

    compiling, compiled = timed(
        lambda: compile_subscriptions(_subscriptions(spark, folder, queries), folder / f"index-{size}")
    )
    index = Index.load(str(compiled.path / compiled.manifest.shards[0].index))
    times: dict[str, list[float]] = {"alone": [], "alone cpu": [], "piped": [], "piped cpu": []}
    total = 0
    for number, place in enumerate(rounds):
        matches, _ = match(spark.read.parquet(str(place)), compiled)
        tasks: dict[str, Callable[[], int]] = {
            "piped": matches.count,
            "alone": partial(_match_alone, index, _in_memory(place)),
        }
        clocks = {"piped": processor_seconds, "alone": time.process_time}
        counts: dict[str, int] = {}
        for turn in reversed(tasks) if number % 2 else tasks:
            used = clocks[turn]()
            seconds, counts[turn] = timed(tasks[turn])
            if number >= WARM:
                times[turn].append(seconds / PART)
                times[f"{turn} cpu"].append((clocks[turn]() - used) / PART)
        _same(f"{len(queries):,} subscriptions", counts["piped"], counts["alone"])
        total += counts["alone"]
    by_number = WORKLOADS["wire"].index(queries=queries)
    check(by_number, queries, list(islice(wire.documents(9), 20)), pairs=400)
    return Row(
        f"{size:,} subscriptions",
        {
            "documents": ROUNDS * PART,
            "matches / document": total / (len(rounds) * PART),
            "core/s": 1 / min(times["alone"]),
            "Spark/s": 1 / min(times["piped"]),
            f"share of {CORES} cores": min(times["alone"]) / (CORES * min(times["piped"])),
            "share, median": median(times["alone"]) / (CORES * median(times["piped"])),
            "share of processor time": min(times["alone cpu"]) / (min(times["piped cpu"]) or float("nan")),
            "index MB": compiled.manifest.shards[0].index_bytes / 1e6,
            "compile s": compiling,
        },
    )


def ways(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Documents/s of `alerts` on local[2], from files and from a DataFrame: a share of both cores.

    In a session of the command line, and in one as Spark gives it to a program that asks for nothing.
    """
    sessions = {"": _session, ", Spark's settings": _plain_session}
    left = {name: [size for size in ALERTS if not kept.has(_subject(size, name))] for name in sessions}
    if not any(left.values()):
        return
    workload = WORKLOADS["alerts"]
    queries = workload.queries(max(ALERTS))
    with tempfile.TemporaryDirectory(prefix="pathcast-bench-") as place:
        few, rounds = _tables(Path(place), workload.documents(1))
        for name, sizes in left.items():
            if not sizes:
                continue
            with sessions[name]() as (spark, folder):
                for size in sizes:
                    some = [each[: ALERTS[size]] for each in rounds]
                    row = _side_by_side(spark, folder, [few], some, queries[:size])
                    yield Row(_subject(size, name), row)


def _subject(size: int, settings: str) -> str:
    return f"{size:,} subscriptions{settings}"


def _tables(folder: Path, drawn: Iterator[bytes]) -> tuple[Path, list[list[Path]]]:
    """A table of a few documents, and those of the rounds, each compressed in both ways."""
    few = folder / "few"
    _write(few, islice(drawn, FILES))
    parts = _rounds(folder, drawn, sum(WAYS_ROUNDS))
    for part in (few, *parts):
        _write_lz4(part)
    left = iter(parts)
    return few, [list(islice(left, number)) for number in WAYS_ROUNDS]


def _jobs(spark: SparkSession, compiled: Compiled) -> dict[str, Callable[[Sequence[Path]], int]]:
    """The ways to match, each counting every match: as rows, or as lists whose lengths are added up."""
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    from pathcast.spark import PathcastDataSource, match, match_files

    spark.dataSource.register(PathcastDataSource)
    reader = spark.read.format("pathcast").option("index", str(compiled.path))

    def lengths(frame: DataFrame, column: str) -> int:
        return int(frame.agg(F.sum(F.size(column))).collect()[0][0])

    def read(places: Sequence[Path]) -> DataFrame:
        return spark.read.parquet(*map(str, places))

    return {
        "data source, lists": lambda places: lengths(
            reader.option("shape", "lists").load(list(map(str, places))), "found"
        ),
        "data source, lists, LZ4": lambda places: lengths(
            reader.option("shape", "lists").load([str(_with_lz4(place)) for place in places]), "found"
        ),
        "data source, rows": lambda places: (
            reader.option("shape", "rows").load(list(map(str, places))).count()
        ),
        "files": lambda places: match_files(spark, places, compiled).matches.count(),
        "DataFrame, lists": lambda places: lengths(
            match(read(places), compiled, result="grouped").matches, "subscriptions"
        ),
        "DataFrame": lambda places: match(read(places), compiled).matches.count(),
        "DataFrame, LZ4": lambda places: match(
            read([_with_lz4(place) for place in places]), compiled
        ).matches.count(),
    }


def _side_by_side(
    spark: SparkSession,
    folder: Path,
    few: Sequence[Path],
    rounds: Sequence[Sequence[Path]],
    queries: Sequence[str],
) -> dict[str, float]:
    """Every round: a job of a few documents, which is what starting costs, and a job of many."""
    from pathcast.spark import compile_subscriptions

    subscriptions = _subscriptions(spark, folder, queries)
    compiled = compile_subscriptions(subscriptions, folder / f"index-{len(queries)}")
    index = Index.load(str(compiled.path / compiled.manifest.shards[0].index))
    jobs = _jobs(spark, compiled)
    alone: dict[str, list[float]] = {"one thread": [], "two threads": [], "from files": []}
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    used: dict[str, list[float]] = {name: [] for name in jobs}
    starts: dict[str, list[float]] = {name: [] for name in jobs}
    matches = seen = count = 0
    for number, places in enumerate(rounds):
        documents = [_in_memory(place) for place in places]
        count = sum(map(len, documents))
        seen += count
        took, expected = timed(partial(_one_thread, index, documents))
        together, found = timed(partial(_two_threads, index, documents))
        _same("two threads", found, expected)
        del documents
        files, found = timed(partial(_match_files_alone, index, places))
        _same("from files", found, expected)
        if number >= WARM:
            for name, value in zip(alone, (took, together, files), strict=True):
                alone[name].append(value / count)
        matches += expected
        for name in reversed(jobs) if number % 2 else jobs:
            start, _ = timed(partial(jobs[name], few))
            before = processor_seconds()
            took, found = timed(partial(jobs[name], places))
            _same(f"{name}, {len(queries):,} subscriptions", found, expected)
            if number >= WARM:
                starts[name].append(start)
                seconds[name].append(took / count)
                used[name].append((processor_seconds() - before) / count)
    best = {name: min(values) for name, values in alone.items()}
    row: dict[str, float] = {
        "documents of a round": count,
        "matches / document": matches / seen,
        "one thread/s": 1 / best["one thread"],
        "two threads/s": 1 / best["two threads"],
        "one thread from files/s": 1 / best["from files"],
    }
    for name in jobs:
        row |= {
            f"{name}/s": 1 / min(seconds[name]),
            f"{name}, start s": min(starts[name]),
            f"{name}, share of 2 cores": best["one thread"] / (CORES * min(seconds[name])),
            f"{name}, share of two threads": best["two threads"] / min(seconds[name]),
            f"{name}, share of processor time": best["one thread"] / (min(used[name]) or float("nan")),
        }
        if not name.endswith("LZ4"):  # these files are not those that the thread reads
            row[f"{name}, share of 2 cores from files"] = best["from files"] / (CORES * min(seconds[name]))
    return row


def peers(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Documents/s beside what people do today: an xpath_boolean a subscription, and lxml in mapInArrow."""
    from pathcast.spark import compile_subscriptions, match

    if all(kept.has(f"{number:,} subscriptions") for number in PEERS):
        return
    with _session() as (spark, folder):
        rounds = _rounds(folder, wire.documents(1), 1 + ROUNDS)
        for number, (few, many) in PEERS.items():
            if kept.has(f"{number:,} subscriptions"):
                continue
            queries = wire.queries(number)
            compiled = compile_subscriptions(
                _subscriptions(spark, folder, queries), folder / f"index-{number}"
            )
            with_lxml = _with_lxml(queries)

            def ours(part: DataFrame) -> int:
                return match(part, compiled)[0].count()  # noqa: B023

            jobs: dict[str, tuple[int, Callable[[DataFrame], int]]] = {
                "xpath_boolean": (few, lambda part: _with_sql(part, queries)),  # noqa: B023
                "lxml": (
                    many,
                    lambda part: part.mapInArrow(with_lxml, "doc_id bigint, subscription_id int").count(),  # noqa: B023
                ),
                "Pathcast": (PART, ours),
            }
            rates: dict[str, list[float]] = {name: [] for name in jobs}
            for turn, place in enumerate(rounds):  # the first warms everybody
                documents = spark.read.parquet(str(place))
                for name in reversed(jobs) if turn % 2 else jobs:
                    count, job = min(jobs[name][0], PART), jobs[name][1]
                    part = documents.where(f"doc_id < {count}")
                    if name != "Pathcast":
                        part = part.repartition(CORES)  # few documents: each core gets as many
                    seconds, found = timed(lambda: job(part))  # noqa: B023
                    if turn:
                        rates[name].append(count / seconds)
                    if name != "Pathcast" and turn == 1:
                        _same(f"{name}, {number:,}", found, ours(documents.where(f"doc_id < {count}")))
            best = {f"{name}/s": max(found) for name, found in rates.items()}
            yield Row(
                f"{number:,} subscriptions",
                {
                    **best,
                    "× xpath_boolean": best["Pathcast/s"] / best["xpath_boolean/s"],
                    "× lxml": best["Pathcast/s"] / best["lxml/s"],
                },
            )


def _with_sql(part: DataFrame, queries: Sequence[str]) -> int:
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    tests = F.array(*(F.xpath_boolean("xml", F.lit(query)) for query in queries))
    found = F.sum(F.size(F.filter(tests, lambda matched: matched)))
    return int(part.select(F.col("xml").cast("string")).select(found).collect()[0][0])


def _with_lxml(queries: Sequence[str]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a careful user writes: expressions compiled once in a task, one parse a document."""
    expressions = list(queries)

    def run(batches):  # type: ignore[no-untyped-def]  # Spark reads annotations, and this travels by value
        import pyarrow as pa
        from lxml import etree

        tests = [etree.XPath(f"boolean({expression})") for expression in expressions]
        for batch in batches:
            ids, numbers = [], []
            for doc_id, xml in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
                tree = etree.fromstring(xml)
                for number, test in enumerate(tests):
                    if test(tree):
                        ids.append(doc_id)
                        numbers.append(number)
            yield pa.RecordBatch.from_arrays(
                [pa.array(ids, pa.int64()), pa.array(numbers, pa.int32())],
                names=["doc_id", "subscription_id"],
            )

    return run


@contextmanager
def _session(cores: int = CORES) -> Iterator[tuple[SparkSession, Path]]:
    from pathcast.spark.driver.session import session

    folder = Path(tempfile.mkdtemp(prefix="pathcast-bench-"))
    try:
        with session("pathcast bench", master=f"local[{cores}]", log=folder / "spark.log") as spark:
            yield spark, folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _plain_session() -> Iterator[tuple[SparkSession, Path]]:
    """As a program gets it, in a Java of its own: only the interpreter of the workers is said."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    _end_java(SparkContext)
    with tempfile.TemporaryDirectory(prefix="pathcast-bench-") as folder:
        spark = SparkSession.builder.master(f"local[{CORES}]").getOrCreate()
        try:
            yield spark, Path(folder)
        finally:
            spark.stop()
            _end_java(SparkContext)


def _end_java(context: type[SparkContext]) -> None:
    """The settings of a virtual machine are those of the session that started it."""
    gateway: Any = context._gateway
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()
        context._gateway = context._jvm = None


def _rounds(folder: Path, drawn: Iterator[bytes], number: int) -> list[Path]:
    """So many tables of new documents."""
    places = [folder / f"round-{each}" for each in range(number)]
    for place in places:
        _write(place, islice(drawn, PART))
    return places


def _write(place: Path, drawn: Iterator[bytes]) -> None:
    """A table of documents on disk, ids counted from 0 and spread over the files in turn."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    place.mkdir()
    schema = pa.schema([("doc_id", pa.int64()), ("xml", pa.binary())])
    writers = [
        pq.ParquetWriter(place / f"{file:02}.parquet", schema, use_dictionary=False) for file in range(FILES)
    ]
    first = 0
    while block := list(islice(drawn, 1_000 * FILES)):
        for file, writer in enumerate(writers):
            cells = block[file::FILES]
            ids = range(first + file, first + len(block), FILES)
            writer.write_table(pa.table([pa.array(ids, pa.int64()), cells], schema=schema))
        first += len(block)
    for writer in writers:
        writer.close()


def _with_lz4(place: Path) -> Path:
    return place.with_name(f"{place.name}-lz4")


def _write_lz4(place: Path) -> None:
    """The same files compressed with LZ4; Snappy is the default of those who write Parquet."""
    import pyarrow.parquet as pq

    _with_lz4(place).mkdir()
    for path in place.glob("*.parquet"):
        with pq.ParquetFile(path) as file:
            target = _with_lz4(place) / path.name
            with pq.ParquetWriter(
                target, file.schema_arrow, use_dictionary=False, compression="lz4"
            ) as writer:
                for group in range(file.num_row_groups):
                    writer.write_table(file.read_row_group(group))


def _subscriptions(spark: SparkSession, folder: Path, queries: Sequence[str]) -> DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"subscriptions-{len(queries)}.parquet"
    pq.write_table(pa.table({"id": pa.array(range(len(queries)), pa.int64()), "xpath": list(queries)}), path)
    return spark.read.parquet(str(path))


def _in_memory(place: Path) -> Any:
    """The documents of a table as Arrow has them, in one array."""
    import pyarrow.parquet as pq

    table = pq.read_table(place)
    return table.combine_chunks()["xml"].chunk(0)


def _match_alone(index: Index, documents: Any) -> int:
    """One thread, in slices as a worker gets them, Arrow in and out; the number of matches."""
    return sum(
        len(index.match_many(documents.slice(at, SLICE)).to_arrow().values)
        for at in range(0, len(documents), SLICE)
    )


def _one_thread(index: Index, documents: Sequence[Any]) -> int:
    return sum(_match_alone(index, each) for each in documents)


def _two_threads(index: Index, documents: Sequence[Any]) -> int:
    """What both cores do in process: two threads with one index, each with every other slice."""
    slices = [each.slice(at, SLICE) for each in documents for at in range(0, len(each), SLICE)]

    def run(first: int) -> int:
        return sum(len(index.match_many(each).to_arrow().values) for each in slices[first::CORES])

    with ThreadPoolExecutor(CORES) as pool:
        return sum(pool.map(run, range(CORES)))


def _match_files_alone(index: Index, places: Sequence[Path]) -> int:
    """One thread, which reads the files too."""
    import pyarrow.parquet as pq

    found = 0
    for place in places:
        for path in sorted(place.glob("*.parquet")):
            with pq.ParquetFile(path, pre_buffer=False) as file:
                for batch in file.iter_batches(SLICE, columns=["doc_id", "xml"], use_threads=False):
                    found += len(index.match_many(batch["xml"]).to_arrow().values)
    return found


def _same(what: str, found: int, expected: int) -> None:
    if found != expected:
        raise WrongAnswerError(f"{what}: {found:,} matches instead of {expected:,}")
