"""What `test_cluster` submits to a cluster: it knows nothing but the installed package.

    spark-submit ... packed_job.py FOLDER

`FOLDER/in` has documents, `FOLDER/subscriptions.json` two versions of subscriptions; what was found goes to
`FOLDER/found.json`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import pathcast
from pathcast.spark import (
    Compiled,
    compile_subscriptions,
    match,
    read_documents,
    remove_unused,
    stream,
)
from pathcast.spark.driver.doctor import examine


def pairs(frame: Any) -> list[list[Any]]:
    return sorted([row.doc_id, row.subscription_id] for row in frame.collect())


def places(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    import pathcast

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"place": [pathcast.__file__]})


def kept(batches: Iterator[Any]) -> Iterator[Any]:
    """What this executor has of the files that it was sent."""
    import os

    import pyarrow as pa
    from pyspark import SparkFiles

    for _ in batches:
        names = [name for name in os.listdir(SparkFiles.getRootDirectory()) if name.startswith("pathcast-")]
        yield pa.RecordBatch.from_pydict({"name": [name.split("-", 3)[3] for name in names]})


def main(folder: Path) -> None:
    spark = SparkSession.builder.getOrCreate()
    found: dict[str, Any] = {"driver": pathcast.__file__}
    versions = json.loads((folder / "subscriptions.json").read_text())
    index, hidden = folder / "index", folder / "hidden"

    def compiled(number: int) -> Compiled:
        rows = [tuple(row) for row in versions[number]]
        return compile_subscriptions(spark.createDataFrame(rows, "id string, xpath string"), index, shards=2)

    documents = spark.read.parquet(str(folder / "in")).repartition(8)
    first = compiled(0)
    found["doctor"] = [asdict(each) for each in examine(spark, str(index), [str(folder / "out")])]
    looked = spark.range(16).repartition(16).mapInArrow(places, "place string").distinct()
    found["workers"] = sorted(row.place for row in looked.collect())

    # Executors have what was sent to them, and no folder.
    matches, dead = match(documents, first)
    index.rename(hidden)
    found["matches"] = pairs(matches)
    found["dead"] = sorted(row.doc_id for row in dead.collect())
    hidden.rename(index)

    # A newer version, the files of the old one removed, an executor killed: nothing of ours fails a job.
    second = compiled(1)
    found["removed"] = remove_unused(index)
    (folder / "kill").touch()
    while not (folder / "killed").exists():
        time.sleep(0.05)
    found["range"] = spark.range(10).repartition(8).count()
    found["matches again"] = pairs(match(documents, second)[0])
    # Both executors, one of them new, have what a lease or the folder holds, and nothing else.
    sent = spark.range(16).repartition(16).mapInArrow(kept, "name string").distinct()
    found["kept"] = sorted(row.name for row in sent.collect())
    found["needed"] = sorted(name for shard in second.manifest.shards for name in shard.files)
    found["range again"] = spark.range(10).repartition(8).count()

    arriving = read_documents(
        spark,
        str(folder / "in"),
        format="parquet",
        schema="doc_id bigint, xml binary",
        streaming=True,
        options={"maxFilesPerTrigger": "1"},
    )
    query = stream(arriving, index, folder / "out", checkpoint=folder / "state", trigger="available")
    query.awaitTermination()
    found["streamed"] = pairs(spark.read.parquet(str(folder / "out/matches")))
    found["versions"] = [first.hash, second.hash]
    (folder / "found.json").write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
