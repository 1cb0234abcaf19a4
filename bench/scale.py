"""Many subscriptions in shards: what routing documents saves, and ten million of them on one machine.

`shards` compares one index with sixteen shards, each document seen by all of them or only by those that it
can concern. `millions` compiles subscriptions that are all different, made by Spark from their numbers: the
driver never holds them. It matches some documents with the shards in turns. `updates` changes one row.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from bench import spark as pipeline
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
    from pathcast.spark import compile_subscriptions

    with pipeline._session() as (spark, folder):
        drawn = WORKLOADS["alerts"].documents(4)
        places = [folder / f"round-{number}" for number in range(ROUNDS)]
        for place in places:
            pipeline._write(place, islice(drawn, PART))
        table = pipeline._subscriptions(spark, folder, WORKLOADS["alerts"].queries(SIZE))
        built: dict[str, tuple[float, Compiled]] = {}
        for name, (count, route) in ways.items():
            target = folder / name.replace(" ", "-")
            build: Callable[[], Compiled] = partial(
                compile_subscriptions, table, target, shards=count, route=route
            )
            built[name] = timed(build)
        used: dict[str, list[float]] = {name: [] for name in ways}
        for number, place in enumerate(places):
            counts = {}
            for name in reversed(ways) if number % 2 else ways:
                before = processor_seconds()
                counts[name] = _count(spark, place, built[name][1])
                if number:
                    used[name].append((processor_seconds() - before) / PART)
            if len(set(counts.values())) > 1:
                raise PathcastError(f"shards disagree: {counts}")
        for name, (seconds, compiled) in built.items():
            yield Row(
                name,
                {
                    "subscriptions": SIZE,
                    "µs / document": 1e6 * min(used[name]),
                    "against one index": min(used["one index"]) / min(used[name]),
                    "largest shard MB": max(each.index_bytes for each in compiled.manifest.shards) / 1e6,
                    "compile s": seconds,
                },
            )


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
    sizes = [size for size in MILLIONS if not kept.has(f"{size:,} subscriptions")]
    if not sizes:
        return
    from pathcast.spark import compile_subscriptions

    with pipeline._session() as (spark, folder):
        place = folder / "documents"
        pipeline._write(place, islice(WORKLOADS["alerts"].documents(5), PART))
        for size in sizes:
            count = max(2, size // ROWS_OF_A_SHARD)
            used = processor_seconds()
            seconds, compiled = timed(
                partial(
                    compile_subscriptions, distinct(spark, size), folder / f"{size}", shards=count, route=True
                )
            )
            compiling = processor_seconds() - used
            driver = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
            used, started = processor_seconds(), time.perf_counter()
            found = _count(spark, place, compiled)
            matching = processor_seconds() - used
            bytes = sum(path.stat().st_size for path in compiled.path.iterdir())
            assert compiled.manifest.routing is not None
            yield Row(
                f"{size:,} subscriptions",
                {
                    "shards": count,
                    "compile s": seconds,
                    "compile, processor s": compiling,
                    "driver Python MB": driver,
                    "driver Java MB": _java(spark),
                    "folder MB": bytes / 1e6,
                    "index bytes / subscription": sum(s.index_bytes for s in compiled.manifest.shards) / size,
                    "requirements": compiled.manifest.routing.requirements,
                    "matches / document": found / PART,
                    "documents": PART,
                    "seconds": time.perf_counter() - started,
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


def _java(spark: SparkSession) -> float:
    """Megabytes that the driver's virtual machine has taken at most; workers are processes of their own."""
    machine = spark.sparkContext._jvm
    assert machine is not None
    process = machine.java.lang.ProcessHandle.current().pid()
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1e3
    return float("nan")
