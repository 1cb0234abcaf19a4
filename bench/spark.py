"""The pipeline on local Spark: as a share of what its cores do without it, and beside what people do today.

Rates are of the same documents in the same run. The share is the pipeline's rate over (cores × one thread of
the core), from Parquet on disk to the end of the job; matches are handed to Spark, which counts them.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import wire
from bench.answers import WrongAnswerError, check
from bench.foundation import Row
from bench.measure import processor_seconds, timed
from bench.workloads import Workload
from pathcast.index import Index

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CORES = 2
DOCUMENTS = 200_000
SUBSCRIPTIONS = 100_000  # that all documents are matched with
GROWTH = {10_000: 100_000, SUBSCRIPTIONS: DOCUMENTS, 1_000_000: 100_000}  # subscriptions: documents
FILES = 16
ROUNDS = 8  # Java's compiler is busy in the first ones, with a tenth of both cores
SLICE = 3_000  # documents that the core gets at once, about as many as Spark sends to a worker
PEERS = {10: (4_000, 20_000), 100: (400, 10_000), 1_000: (40, 2_000)}
"""Subscriptions: documents for `xpath_boolean`, and for lxml; a job takes seconds, not fractions of one."""
ALL = 50_000  # documents for Pathcast


def pipeline(workload: Workload) -> Iterator[Row]:
    """Documents/s on local[2] as a share of 2 × one thread of the core; what an index costs first."""
    with _session() as (spark, folder):
        frame = _documents(spark, folder, DOCUMENTS)
        queries = wire.queries(max(GROWTH))
        for number, some in GROWTH.items():
            yield _grown(spark, folder, frame, queries[:number], some)


def _grown(spark: SparkSession, folder: Path, documents: DataFrame, queries: Sequence[str], some: int) -> Row:
    from pathcast.spark import compile_subscriptions, match

    compiling = time.perf_counter()
    compiled = compile_subscriptions(_subscriptions(spark, folder, queries), folder / f"index-{len(queries)}")
    compiling = time.perf_counter() - compiling
    few = documents.where(f"doc_id < {CORES * FILES}")
    documents = documents.where(f"doc_id < {some}")

    shipping = time.perf_counter()
    matches, _ = match(documents, compiled, ship=True)
    tiny, _ = match(few, compiled)
    shipping = time.perf_counter() - shipping
    opening = timed(tiny.count)[0] - timed(tiny.count)[0]

    index = Index.load(str(compiled.path / compiled.manifest.shards[0].index))
    # All of them: of fewer, answers would be remembered from one round to the next.
    everything = _in_memory(folder, some)
    alone = piped = float("inf")  # seconds for a document
    alone_cpu = piped_cpu = float("inf")
    count = 0
    for _ in range(ROUNDS):  # in turn: another's work on this machine disturbs both
        cpu = time.process_time()
        seconds, expected = timed(lambda: _match_alone(index, everything))
        alone = min(alone, seconds / some)
        alone_cpu = min(alone_cpu, (time.process_time() - cpu) / some)
        cpu = processor_seconds()
        seconds, count = timed(matches.count)
        piped = min(piped, seconds / some)
        piped_cpu = min(piped_cpu, (processor_seconds() - cpu) / some)
        _same(f"{len(queries):,} subscriptions", count, expected)
    by_number = Index()
    by_number.add_many(list(enumerate(queries)))
    check(by_number, queries, list(wire.documents(50)), pairs=400)
    return Row(
        "spark",
        f"{len(queries):,} subscriptions",
        {
            "documents": some,
            "matches / document": count / some,
            "core/s": 1 / alone,
            "Spark/s": 1 / piped,
            f"share of {CORES} cores": alone / (CORES * piped),
            "share of CPU time": alone_cpu / piped_cpu if piped_cpu else float("nan"),
            "index MB": compiled.manifest.shards[0].index_bytes / 1e6,
            "compile s": compiling,
            "ship s": shipping,
            "open s": max(0.0, opening),
        },
    )


def peers(workload: Workload) -> Iterator[Row]:
    """Documents/s beside what people do today: an xpath_boolean a subscription, and lxml in mapInArrow."""
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    from pathcast.spark import compile_subscriptions, match

    with _session() as (spark, folder):
        frame = _documents(spark, folder, ALL)
        queries = wire.queries(max(PEERS))
        for number, (few, many) in PEERS.items():
            some = queries[:number]
            compiled = compile_subscriptions(_subscriptions(spark, folder, some), folder / f"index-{number}")
            for_sql, for_lxml = (frame.where(f"doc_id < {count}").repartition(CORES) for count in (few, many))
            tests = F.array(*(F.xpath_boolean("xml", F.lit(query)) for query in some))
            found = F.sum(F.size(F.filter(tests, lambda matched: matched)))
            sql = for_sql.select(F.col("xml").cast("string")).select(found)
            ours = match(frame, compiled)[0]
            theirs = for_lxml.mapInArrow(_with_lxml(some), "doc_id bigint, subscription_id int")
            ours.count()  # workers are started and have read the index
            seconds: dict[str, tuple[float, Any]] = {
                "xpath_boolean": timed(sql.collect),
                "lxml": timed(theirs.count),
                "Pathcast": timed(ours.count),
            }
            for name, count, documents in (
                ("xpath_boolean", seconds["xpath_boolean"][1][0][0], few),
                ("lxml", seconds["lxml"][1], many),
            ):
                _same(f"{name}, {number:,}", count, ours.where(f"doc_id < {documents}").count())
            rates = {
                "xpath_boolean/s": few / seconds["xpath_boolean"][0],
                "lxml/s": many / seconds["lxml"][0],
                "Pathcast/s": ALL / seconds["Pathcast"][0],
            }
            yield Row(
                "spark-peers",
                f"{number:,} subscriptions",
                {
                    **rates,
                    "× xpath_boolean": rates["Pathcast/s"] / rates["xpath_boolean/s"],
                    "× lxml": rates["Pathcast/s"] / rates["lxml/s"],
                },
            )


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
def _session() -> Iterator[tuple[SparkSession, Path]]:
    from pathcast.spark.driver.session import session

    folder = Path(tempfile.mkdtemp(prefix="pathcast-bench-"))
    try:
        with session("pathcast bench", master=f"local[{CORES}]", log=folder / "spark.log") as spark:
            yield spark, folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _documents(spark: SparkSession, folder: Path, number: int) -> DataFrame:
    """A table of documents on disk, ids counted from 0 and spread over the files in turn."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = folder / "documents"
    place.mkdir()
    drawn = wire.documents(number)
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
    return spark.read.parquet(str(place))


def _subscriptions(spark: SparkSession, folder: Path, queries: Sequence[str]) -> DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"subscriptions-{len(queries)}.parquet"
    pq.write_table(pa.table({"id": pa.array(range(len(queries)), pa.int64()), "xpath": list(queries)}), path)
    return spark.read.parquet(str(path))


def _in_memory(folder: Path, number: int) -> Any:
    """The documents of the table as Arrow has them, in one array."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "documents", filters=[("doc_id", "<", number)])
    return table.combine_chunks()["xml"].chunk(0)


def _match_alone(index: Index, documents: Any) -> int:
    """One thread, in slices as a worker gets them, Arrow in and out; the number of matches."""
    return sum(
        len(index.match_many(documents.slice(at, SLICE)).to_arrow().values)
        for at in range(0, len(documents), SLICE)
    )


def _same(what: str, found: int, expected: int) -> None:
    if found != expected:
        raise WrongAnswerError(f"{what}: {found:,} matches instead of {expected:,}")
