"""Programs with a Spark session of their own, which the fault tests start, kill and start again.

    python -m tests.spark.driver compile|cluster|kafka|both FOLDER

`FOLDER/world.json` says what there is to match; see `test_faults`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathcast.spark import KafkaSink, compile_subscriptions, match, read_documents, stream
from tests.spark.processes import QUICK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEADLINE = 1200  # seconds after which it ends whatever happens


def session(master: str, **settings: str) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    common = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "ERROR",
    }
    for name, value in {**common, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def compile_all(folder: Path) -> None:
    """Compiles every version; each is switched to by copying its manifest."""
    spark = session("local[1]")
    settings = json.loads((folder / "world.json").read_text())
    # Subscriptions that match nothing, so that the files have the size of real ones.
    fillers = [(f"f{number}", f"/never[@n = '{number}']") for number in range(settings.get("fillers", 0))]
    for number, rows in enumerate(settings["versions"]):
        table = spark.createDataFrame([*map(tuple, rows), *fillers], "id string, xpath string")
        compiled = compile_subscriptions(table, folder / "index", shards=2)
        manifest = (folder / "index/manifest.json").read_bytes()
        (folder / f"manifest-{number}.json").write_bytes(manifest)
        (folder / f"hash-{number}").write_text(compiled.hash)
    spark.stop()


def cluster(folder: Path) -> None:
    """Matches on a cluster; every task tells that it began and takes its time."""
    settings = json.loads((folder / "world.json").read_text())
    spark = session(
        settings["master"],
        **{
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": QUICK,
            "spark.cores.max": "2",
            "spark.executor.cores": "1",
        },
    )
    started = str(folder / "started")

    def slowly(batches: Iterator[Any]) -> Iterator[Any]:
        import uuid

        # The folder that an executor runs in is in that of its worker.
        marker = os.path.join(started, uuid.uuid4().hex)
        with open(marker + ".part", "w") as file:
            file.write(os.getcwd())
        os.rename(marker + ".part", marker)
        time.sleep(0.3)
        yield from batches
        os.rename(marker, marker + ".done")

    documents = spark.read.parquet(str(folder / "in")).repartition(settings["tasks"], "doc_id")
    documents = documents.mapInArrow(slowly, "doc_id bigint, xml binary")
    matches, dead = match(documents, str(folder / "index"))
    matches.write.mode("overwrite").parquet(str(folder / "out/matches"))
    dead.write.mode("overwrite").parquet(str(folder / "out/dead"))
    spark.stop()


def kafka(folder: Path) -> None:
    """Matches a topic into another until `FOLDER/enough` is there, starting again when the stream fails."""
    _until_enough(folder, {"kafka": folder / "checkpoint"}, "local[2]")


def both(folder: Path) -> None:
    """The same, and beside it files into files."""
    states = {name: folder / f"checkpoint-{name}" for name in ("files", "kafka")}
    # A task whose worker was killed runs again, as on a cluster. Workers are started and reached as by the
    # commands.
    _until_enough(
        folder,
        states,
        "local[2,4]",
        **{
            "spark.python.daemon.module": "pathcast.spark.worker.daemon",
            "spark.python.unix.domain.socket.enabled": "true",
        },
    )


def _until_enough(folder: Path, states: dict[str, Path], master: str, **settings: str) -> None:
    from tests.kafka import jars

    spark = session(master, **{"spark.jars": jars.connector()}, **settings)
    starts = {"files": files_stream, "kafka": kafka_stream}
    queries: dict[str, Any] = {}
    failures, deadline = 0, time.monotonic() + DEADLINE
    while time.monotonic() < deadline and not (folder / "enough").exists():
        for name, state in states.items():
            try:
                if name not in queries:
                    queries[name] = starts[name](spark, folder, state)
                queries[name].awaitTermination(0.1)
            except Exception as error:  # it starts again
                queries.pop(name, None)
                failures += 1
                (folder / f"failure-{failures}").write_text(str(error))
        (folder / "running").touch()
    for query in queries.values():
        query.stop()
    spark.stop()


def files_stream(spark: SparkSession, folder: Path, state: Path) -> Any:
    """Matches files into files, one a batch; with an index that workers share if the world says so."""
    settings = json.loads((folder / "world.json").read_text())
    documents = read_documents(
        spark,
        str(folder / "in"),
        format="parquet",
        schema="doc_id bigint, xml binary",
        streaming=True,
        options={"maxFilesPerTrigger": "1"},
    )
    share = settings.get("share")
    return stream(documents, folder / "index", folder / "out", checkpoint=state, share=share)


def kafka_stream(spark: SparkSession, folder: Path, state: Path) -> Any:
    """Matches a topic into others, twenty documents a batch."""
    settings = json.loads((folder / "world.json").read_text())
    options = {
        "kafka.bootstrap.servers": settings["servers"],
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": "20",
        "kafka.default.api.timeout.ms": "5000",
        "kafka.request.timeout.ms": "4000",
    }
    sink = KafkaSink(
        settings["servers"],
        settings["out"],
        settings["dead"],
        settings["outbox"],
        transactional=settings["transactional"],
        timeout=20,
    )
    documents = read_documents(spark, settings["in"], format="kafka", streaming=True, options=options)
    return stream(documents, folder / "index", sink, checkpoint=state)


if __name__ == "__main__":
    todo = {"compile": compile_all, "cluster": cluster, "kafka": kafka, "both": both}[sys.argv[1]]
    todo(Path(sys.argv[2]))
