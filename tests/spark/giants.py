"""Hot subscriptions, great fan-out and very large documents at their real size, each in a session of its own.

    python -m tests.spark.giants CASE FOLDER

prints what was found as JSON, with the largest memory that a Python worker had.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.spark import compile_subscriptions, match, match_files, read_documents
from tests.spark.driver import session
from tests.spark.processes import python_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUBSCRIBERS = 100_000
HEAP = {"frame": "3g"}  # 1g for the others


def large(megabytes: int, mark: int) -> bytes:
    """A document of about this size whose last element tells it from others."""
    line = b"<item lang='en'><p>some words of a long report</p></item>\n"
    return b"<a>" + line * (megabytes * 1_000_000 // len(line)) + b"<last n='%d'/></a>" % mark


def put(file: Path, documents: list[bytes]) -> None:
    """All in one row group."""
    table = pa.table(
        {"doc_id": pa.array(range(len(documents)), pa.int64()), "xml": pa.array(documents, pa.large_binary())}
    )
    pq.write_table(table, file, row_group_size=len(documents), use_dictionary=False)


def compiled(spark: SparkSession, folder: Path, *rows: tuple[str, str]) -> str:
    compile_subscriptions(spark.createDataFrame(rows, "id string, xpath string"), folder / "index")
    return str(folder / "index")


def subscribers(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """One expression with 100,000 subscribers, twenty documents that match it."""
    table = spark.range(SUBSCRIBERS).selectExpr(
        "id", "'//a[b]' as xpath", "concat('subscriber ', id) as subscriber"
    )
    index = compile_subscriptions(table, folder / "index")
    documents = spark.range(40).selectExpr(
        "id as doc_id", "if(id % 2 = 0, '<a><b/></a>', '<a><c/></a>') as xml"
    )
    rows = match(documents, index).matches.groupBy("doc_id").count().collect()
    grouped = match(documents, index, result="grouped").matches.selectExpr("size(subscriptions) as size")
    delivered = match(documents, index, result="delivered").matches.count()
    return {
        "rows": sorted({row["count"] for row in rows}),
        "documents": len(rows),
        "grouped": sorted({row["size"] for row in grouped.collect()}),
        "delivered": delivered,
    }


def everything(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """One expression that every document matches, among 10,000 that few match."""
    table = spark.range(10_000).selectExpr("id", "concat('//a[@n = ', id, ']') as xpath")
    table = table.union(spark.range(1).selectExpr("-1 as id", "'//*' as xpath"))
    index = compile_subscriptions(table, folder / "index")
    documents = spark.range(100_000).selectExpr("id as doc_id", "concat('<a n=\"', id, '\"/>') as xml")
    rows = match(documents, index).matches
    return {"rows": rows.count(), "hot": rows.where("subscription_id = -1").count()}


def document(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """One document of 200 MB in a file."""
    (folder / "in").mkdir()
    (folder / "in/large.xml").write_bytes(large(200, 1))
    index = compiled(spark, folder, ("last", "/a/last[@n = 1]"), ("p", "//p"), ("none", "//last[@n = 2]"))
    matches, dead = match_files(spark, str(folder / "in"), index)
    return {"found": sorted(row.subscription_id for row in matches.collect()), "dead": dead.count()}


def frame(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """The same through a DataFrame."""
    (folder / "in").mkdir()
    (folder / "in/large.xml").write_bytes(large(200, 1))
    index = compiled(spark, folder, ("last", "/a/last[@n = 1]"), ("p", "//p"), ("none", "//last[@n = 2]"))
    matches, dead = match(read_documents(spark, str(folder / "in")), index)
    return {"found": sorted(row.subscription_id for row in matches.collect()), "dead": dead.count()}


def partition(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """Twenty documents of 20 MB in one row group, and twenty files of small ones."""
    (folder / "in").mkdir()
    put(folder / "in/large.parquet", [large(20, number) for number in range(20)])
    for number in range(20):
        put(folder / f"in/{number}.parquet", [b"<a><last n='0'/></a>"] * 500)
    index = compiled(spark, folder, ("even", "/a/last[@n mod 2 = 0]"), ("p", "//p"))
    matches, dead = match_files(spark, str(folder / "in"), index)
    rows = {row.subscription_id: row["count"] for row in matches.groupBy("subscription_id").count().collect()}
    return {"found": rows, "dead": dead.count()}


def group(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """Eight documents of 49 MB in one row group, one of them torn."""
    (folder / "in").mkdir()
    documents = [large(49, number) for number in range(8)]
    documents[3] = documents[3][:-4]
    put(folder / "in/large.parquet", documents)
    index = compiled(spark, folder, ("p", "//p"))
    matches, dead = match_files(spark, str(folder / "in"), index)
    return {
        "found": sorted(row.doc_id for row in matches.collect()),
        "dead": [[row.doc_id, row.kind] for row in dead.collect()],
    }


CASES: dict[str, Callable[[SparkSession, Path], dict[str, Any]]] = {
    "subscribers": subscribers,
    "everything": everything,
    "document": document,
    "frame": frame,
    "partition": partition,
    "group": group,
}


def peak(spark: SparkSession) -> int:
    """The most memory, in MB, that a Python worker of this session had."""
    sizes = [0]
    jvm: Any = spark._jvm
    for number in python_workers(jvm.java.lang.ProcessHandle.current().pid()):
        with suppress(OSError):
            status = Path(f"/proc/{number}/status").read_text()
            sizes += [int(size) for size in re.findall(r"VmHWM:\s+(\d+)", status)]
    return max(sizes) // 1000


def main(case: str, folder: Path) -> None:
    heap = HEAP.get(case, "1g")
    spark = session("local[2]", **{"spark.driver.memory": heap})
    start = time.perf_counter()
    found = CASES[case](spark, folder)
    seconds = time.perf_counter() - start
    print(json.dumps({**found, "worker_mb": peak(spark), "heap": heap, "seconds": round(seconds, 1)}))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
