"""Many subscriptions in shards: what routing documents saves, and ten million of them on one machine.

`shards` compares one index with sixteen shards, each document seen by all of them or only by those that it
can concern. `millions` compiles subscriptions that are all different, made by Spark from their numbers: the
driver never holds them. It matches some documents with the shards in turns. `updates` changes one row.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from bench import spark as pipeline
from bench.harness.answers import WrongAnswerError
from bench.harness.kept import Kept, Row
from bench.harness.turns import processor_seconds, scale, timed
from bench.plan import Plan
from bench.workloads import WORKLOADS
from bench.workloads.alerts import CATEGORIES, LANGUAGES, REGIONS, SOURCES
from pathcast.errors import PathcastError
from pathcast.index import Index

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pathcast.spark import Compiled

FIELDS = {
    "category": CATEGORIES.values,
    "source": SOURCES.values,
    "region": REGIONS.values,
    "language": LANGUAGES.values,
}
SIZE = int(1_000_000 * scale())
SHARDS = 16
PART, ROUNDS = max(200, int(10_000 * scale())), 3  # the first warms
MILLIONS = tuple(int(size * scale()) for size in (1_000_000, 10_000_000))
ROWS_OF_A_SHARD = 160_000


def shards(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Documents/s of `alerts` with one index, with shards, and with shards to which documents are routed."""
    ways = {"one index": (1, False), "16 shards": (SHARDS, False), "16 shards, routed": (SHARDS, True)}
    if all(kept.has(name) for name in ways):
        return
    # One index last: Java's compiler has then done its work, and what the others are held against is fastest.
    found = {name: _matched_with(*ways[name]) for name in reversed(ways)}
    counts = {name: way.counts for name, way in found.items()}
    if len({tuple(each) for each in counts.values()}) > 1:
        raise WrongAnswerError(f"shards disagree: {counts}")
    for name in ways:
        way = found[name]
        yield Row(
            name,
            {
                "subscriptions": SIZE,
                "µs / document": 1e6 * min(way.seconds),
                "against one index": min(found["one index"].seconds) / min(way.seconds),
                "matches / document": way.counts[-1] / PART,
                "largest shard MB": max(each.index_bytes for each in way.compiled.manifest.shards) / 1e6,
                "compile s": way.compiling,
            },
        )


@dataclass
class _Way:
    """What matching with shards of some kind took."""

    compiled: Compiled
    compiling: float
    seconds: list[float]
    """Of the processors, for a document, in each round but the first."""
    counts: list[int]
    """The matches of each round."""


def _matched_with(count: int, route: bool) -> _Way:
    """In a session of its own, so that what workers keep open is of this kind alone, as with a user."""
    from pathcast.spark import compile_subscriptions

    with pipeline._session() as (spark, folder):
        table = pipeline._subscriptions(spark, folder, WORKLOADS["alerts"].queries(SIZE))
        build = partial(compile_subscriptions, table, folder / "index", shards=count, route=route)
        compiling, compiled = timed(build)
        drawn = WORKLOADS["alerts"].documents(4)
        way = _Way(compiled, compiling, [], [])
        for number in range(ROUNDS):
            place = folder / f"round-{number}"
            pipeline._write(place, islice(drawn, PART))
            before = processor_seconds()
            way.counts.append(_count(spark, place, compiled))
            if number:
                way.seconds.append((processor_seconds() - before) / PART)
    return way


def _count(spark: SparkSession, place: Path, compiled: Compiled) -> int:
    from pathcast.spark import match_files

    # One split for each core: a shard is opened once for all documents of a split.
    files = match_files(spark, place, compiled, splitBytes=str(sum(_sizes(place)) // pipeline.CORES + 1))
    return files.matches.count()


def _sizes(place: Path) -> Iterator[int]:
    import pyarrow.parquet as pq

    for path in place.glob("*.parquet"):
        metadata = pq.read_metadata(path)
        yield sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))


def millions(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Seconds and memory to compile subscriptions that are all different, and what a document then costs."""
    wanted = [size for size in MILLIONS if not plan.sizes or size in plan.sizes]
    sizes = [size for size in wanted if not kept.has(f"{size:,} subscriptions")]
    if not sizes:
        return
    from pathcast.spark import compile_subscriptions
    from pathcast.spark.driver.session import session

    # With as little memory as a driver is promised to need.
    with (
        tempfile.TemporaryDirectory(prefix="pathcast-bench-") as place,
        session("pathcast bench", master=f"local[{pipeline.CORES}]", memory="1g") as spark,
    ):
        folder = Path(place)
        documents = list(islice(WORKLOADS["alerts"].documents(5), PART))
        pipeline._write(folder / "documents", iter(documents))
        for size in sizes:
            count = max(2, size // ROWS_OF_A_SHARD)
            table, used = distinct(spark, size), processor_seconds()
            seconds, compiled = timed(
                partial(compile_subscriptions, table, folder / f"{size}", shards=count, route=True)
            )
            compiling = processor_seconds() - used
            driver = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, _java(spark)
            used, started = processor_seconds(), time.perf_counter()
            found = _count(spark, folder / "documents", compiled)
            matching, passed = processor_seconds() - used, time.perf_counter() - started
            expected = sum(len(matching_numbers(document, size)) for document in documents)
            if found != expected:
                raise WrongAnswerError(
                    f"{found:,} matches instead of {expected:,} with {size:,} subscriptions"
                )
            assert compiled.manifest.routing is not None
            yield Row(
                f"{size:,} subscriptions",
                {
                    "shards": count,
                    "compile s": seconds,
                    "compile, processor s": compiling,
                    "driver Python MB": driver[0],
                    "driver Java MB": driver[1],
                    "folder MB": sum(path.stat().st_size for path in compiled.path.iterdir()) / 1e6,
                    "index bytes / subscription": sum(s.index_bytes for s in compiled.manifest.shards) / size,
                    "requirements": compiled.manifest.routing.requirements,
                    "matches / document": found / PART,
                    "documents": PART,
                    "match s": passed,
                    "µs / document": 1e6 * matching / PART,
                },
            )


def updates(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Processor seconds of a change of one row: on the driver, and for the next job."""
    ways = {"one index": (1, False), "16 shards, routed": (SHARDS, True)}
    if all(kept.has(name) for name in ways):
        return
    from pathcast.spark import compile_subscriptions, update_subscriptions

    with pipeline._session() as (spark, folder):
        place = folder / "documents"
        pipeline._write(place, islice(WORKLOADS["alerts"].documents(7), 4 * pipeline.FILES))
        table = pipeline._subscriptions(spark, folder, WORKLOADS["alerts"].queries(SIZE))
        for name, (count, route) in ways.items():
            compiled = compile_subscriptions(table, folder / f"index-{count}", shards=count, route=route)
            before = _count(spark, place, compiled)
            changing: list[float] = []
            matching: list[float] = []
            again: list[float] = []
            for number in range(6):
                row = [(number, "/item[headline]")]  # every document has one
                changed = spark.createDataFrame(row, "id bigint, xpath string")
                used = processor_seconds() + time.process_time()
                compiled = update_subscriptions(compiled, changed=changed)
                changing.append(processor_seconds() + time.process_time() - used)
                for times in (matching, again):
                    used = processor_seconds()
                    found = _count(spark, place, compiled)
                    times.append(processor_seconds() - used)
            if found <= before:
                raise PathcastError(f"{found:,} matches after {before:,}: the changes are not there")
            yield Row(
                name,
                {
                    "subscriptions": SIZE,
                    "update, processor s": min(changing),
                    "update, median": sorted(changing)[3],
                    "job with the new version, processor s": min(matching),
                    "the same job again, processor s": min(again),
                },
            )


def simulated(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Where a hundred million would be placed: how many shards a document concerns, and how even they are."""
    from pathcast.spark.driver.placement import SAMPLE, placement
    from pathcast.spark.worker.placing import place_of

    documents = list(islice(WORKLOADS["alerts"].documents(6), 2_000))
    for size in (10_000_000, 100_000_000):
        if kept.has(f"{size:,} subscriptions"):
            continue
        shards = size // ROWS_OF_A_SHARD
        xpaths = [expression(number) for number in range(0, size, size // SAMPLE)]
        seconds, routing = timed(partial(placement, xpaths, shards))
        order = {field.text: at for at, field in enumerate(routing.fields)}
        of: dict[str, set[int]] = {}
        sizes = [0.0] * shards
        for xpath in map(expression, Random(size).sample(range(size), SAMPLE)):  # others than the sample
            text, first, last = place_of(xpath, routing, order)
            for shard in range(first, last + 1):
                sizes[shard] += size / SAMPLE / (last - first + 1)
            of.setdefault(text or "/*", set()).update(range(first, last + 1))
        texts = list(of)
        router = Index()
        router.add_many(enumerate(texts))
        used, found = timed(lambda: router.match_many(documents).to_arrow(), time.process_time)  # noqa: B023
        concerned = [len({shard for at in each for shard in of[texts[at]]}) for each in found.to_pylist()]
        yield Row(
            f"{size:,} subscriptions",
            {
                "shards": shards,
                "placing s": seconds,
                "requirements": len(texts),
                "routing MB": router.stats()["memory_bytes"] / 1e6,
                "routing µs / document": 1e6 * used / len(documents),
                "shards a document concerns": sum(concerned) / len(concerned),
                "largest shard / mean": max(sizes) / (size / shards),
            },
        )


def distinct(spark: SparkSession, size: int) -> DataFrame:
    """`expression` of every number, made by Spark."""
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    tests, at = [], 1
    for name, words in FIELDS.items():
        number = F.floor(F.col("id") / at) % len(words)
        listed = F.array(*(F.lit(word) for word in words))
        tests.append(F.format_string(f"[{name} = '%s']", F.element_at(listed, (number + 1).cast("int"))))
        at *= len(words)
    tests.append(F.format_string("[priority >= %d]", F.floor(F.col("id") / at) + 1))
    author = F.format_string("/item[author/@id = 'a%d']", F.col("id"))
    xpath = F.when(F.col("id") % 7 == 0, author).otherwise(F.concat(F.lit("/item"), *tests))
    return spark.range(size).select("id", xpath.alias("xpath"))


def expression(number: int) -> str:
    """One of the subscriptions that are all different: of seven one author, the others five fields.

    >>> expression(7), expression(8) == expression(9)
    ("/item[author/@id = 'a7']", False)
    """
    if number % 7 == 0:
        return f"/item[author/@id = 'a{number}']"
    tests, left = [], number
    for name, words in FIELDS.items():
        tests.append(f"[{name} = '{words[left % len(words)]}']")
        left //= len(words)
    return f"/item{''.join(tests)}[priority >= {left + 1}]"


def matching_numbers(document: bytes, size: int) -> set[int]:
    """The numbers whose `expression` a document matches, without XPath.

    >>> document = next(WORKLOADS["alerts"].documents(5))
    >>> wanted = matching_numbers(document, 10**8)
    >>> index = Index()
    >>> index.add_many((number, expression(number)) for number in [*wanted, *range(0, 70_000, 7)])
    >>> set(index.match(document)) == wanted
    True
    """
    item = ElementTree.fromstring(document)
    priority = float(item.findtext("priority") or "nan")
    numbers = {0}
    at = 1
    for name, words in FIELDS.items():
        values = {field.text for field in item.findall(name)}
        places = [place for place, word in enumerate(words) if word in values]
        numbers = {number + at * place for number in numbers for place in places}
        at *= len(words)
    found = {number + at * more for number in numbers for more in range(-(-size // at)) if priority > more}
    authors = [author.get("id", "") for author in item.findall("author")]
    return {number for number in found if number < size and number % 7} | {
        int(name[1:])
        for name in authors
        if name[1:].isdigit() and int(name[1:]) < size and int(name[1:]) % 7 == 0
    }


def _java(spark: SparkSession) -> float:
    """Megabytes that the driver's virtual machine has taken at most; workers are processes of their own."""
    machine = spark.sparkContext._jvm
    assert machine is not None
    process = machine.java.lang.ProcessHandle.current().pid()
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1e3
    return float("nan")
