"""Drivers, workers and brokers die for real, and nothing is lost or doubled.

`PATHCAST_DRIVER_KILLS` says how often the driver of a stream is killed; ten times if it is not set.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import time
import uuid
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import pyarrow as pa
import pyarrow.parquet as pq

import pathcast
from pathcast.spark import delivery_id
from tests.kafka import jars
from tests.kafka.fixtures import unavailable
from tests.kafka.topics import consume, publish
from tests.spark.processes import driver, spark_class

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

pytestmark = pytest.mark.skipif(
    "PATHCAST_FAULTS" not in os.environ,
    reason="processes are killed for minutes: make faults runs these",
)


KILLS = int(os.environ.get("PATHCAST_DRIVER_KILLS", "10"))
START = 120.0  # seconds that a session may take on a busy machine
Key = tuple[Any, str]

VERSIONS = [
    [("s1", "//a"), ("s2", "//b[c]"), ("s3", "/a/b/c"), ("s4", "//d[@n='3']")],
    [("s1", "//a"), ("s2", "//b[c]"), ("s5", "//e"), ("s4", "//d[@n='5']")],
]


@pytest.fixture(autouse=True)
def _java() -> None:
    if jars.java() is None:
        pytest.skip("Spark needs Java, and there is none")


def documents(count: int) -> dict[int, bytes]:
    draw = random.Random(7)
    made = {}
    for number in range(count):
        inner = "".join(
            draw.choice(["<b><c/></b>", "<b/>", "<e/>", f"<d n='{draw.randrange(7)}'/>", "text"])
            for _ in range(draw.randrange(12))
        )
        made[number] = (f"<a>{inner}" if draw.random() < 0.05 else f"<a i='{number}'>{inner}</a>").encode()
    return made


def expected(made: dict[int, bytes], version: int) -> dict[int, list[str] | None]:
    """What an index in this process says: a list, or None for a dead letter."""
    index = pathcast.Index()
    index.add_many(VERSIONS[version])
    results = index.match_many(list(made.values()))
    return {
        number: None if isinstance(result, pathcast.DocumentError) else sorted(str(each) for each in result)
        for number, result in zip(made, results, strict=True)
    }


def put(folder: Path, made: dict[int, bytes], each: int) -> None:
    folder.mkdir()
    rows = list(made.items())
    for at in range(0, len(rows), each):
        some = rows[at : at + each]
        table = pa.table(
            {
                "doc_id": pa.array([row[0] for row in some], pa.int64()),
                "xml": pa.array([row[1] for row in some], pa.binary()),
            }
        )
        pq.write_table(table, folder / f"{at:06}.parquet")


def prepare(folder: Path, **settings: Any) -> None:
    (folder / "world.json").write_text(json.dumps({"versions": VERSIONS, **settings}))
    with driver("compile", folder) as program:
        program.finish(START)
    switch(folder, 0)


def switch(folder: Path, version: int) -> None:
    """Makes a version the present one, whole or not at all."""
    shutil.copy(folder / f"manifest-{version}.json", folder / "index/.next")
    (folder / "index/.next").rename(folder / "index/manifest.json")


def rows(folder: Path) -> list[dict[str, Any]]:
    """All rows of the Parquet files in the folders of batches, however they got there."""
    found: list[dict[str, Any]] = []
    for path in sorted(folder.rglob("*.parquet")):
        assert not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts), path
        found += [row | {"batch": path.parent.name} for row in pq.ParquetFile(path).read().to_pylist()]
    return found


def check(made: dict[int, bytes], folder: Path, matches: list[dict[str, Any]], dead: list[Any]) -> set[int]:
    """Every document has exactly the matches of one version; which versions were used."""
    versions = {(folder / f"hash-{number}").read_text(): number for number in range(len(VERSIONS))}
    answers = [expected(made, number) for number in range(len(VERSIONS))]
    assert max(Counter(row["delivery_id"] for row in matches).values()) == 1
    assert sorted(dead) == [number for number, found in answers[0].items() if found is None]
    used: dict[int, int] = {}
    found: dict[int, list[str]] = {}
    for row in matches:
        number, version = row["doc_id"], versions[row["index_version"]]
        assert used.setdefault(number, version) == version
        found.setdefault(number, []).append(row["subscription_id"])
        assert row["delivery_id"] == delivery_id(
            number, made[number], row["subscription_id"], row["index_version"]
        )
    # Every good document matches s1 in both versions, so none can be missing unseen.
    assert {number: sorted(each) for number, each in found.items()} == {
        number: answers[used[number]][number] for number in used
    }
    assert len(used) + len(dead) == len(made)
    return set(used.values())


def test_a_driver_killed_again_and_again(tmp_path: Path) -> None:
    draw = random.Random(11)
    made = documents(20 * (2 * KILLS + 4))
    put(tmp_path / "in", made, 20)
    prepare(tmp_path)
    notes, running = tmp_path / "checkpoint/pathcast/batches", tmp_path / "running"
    killed = 0

    def begun() -> int:
        return len(list(notes.glob("*.json"))) if notes.exists() else 0

    for life in range(KILLS):
        if life == KILLS // 2:
            switch(tmp_path, 1)
        before = begun()
        running.unlink(missing_ok=True)
        with driver("files", tmp_path) as program:
            program.until(running.exists, "stream", START)
            if life % 2:  # in or behind a batch that no life began before
                program.until(lambda least=before: begun() > least, "new batch", START)  # type: ignore[misc]
                time.sleep(draw.uniform(0, 1.5))
            else:  # most likely in one that is asked for again
                time.sleep(draw.uniform(0, 5))
            killed += program.running
            program.kill()
    assert killed == KILLS
    with driver("files", tmp_path) as program:
        program.finish(START + len(made) / 4)
    matches = rows(tmp_path / "out/matches")
    dead = [row["doc_id"] for row in rows(tmp_path / "out/dead")]
    assert check(made, tmp_path, matches, dead) == {0, 1}
    # A batch has one version, even if it was begun before the change and done after it.
    by_batch: dict[str, set[str]] = {}
    for row in matches:
        by_batch.setdefault(row["batch"], set()).add(row["index_version"])
    assert all(len(each) == 1 for each in by_batch.values())
    lines = [
        json.loads(line) for line in (tmp_path / "checkpoint/pathcast/metrics.jsonl").read_text().splitlines()
    ]
    assert len({line["batch"] for line in lines}) == len(lines)


def test_a_worker_killed_in_the_middle_of_a_job(tmp_path: Path) -> None:
    made = documents(2000)
    put(tmp_path / "in", made, 500)
    port = _free_port()
    prepare(tmp_path, master=f"spark://127.0.0.1:{port}", tasks=40)
    (tmp_path / "started").mkdir()
    with ExitStack() as stack:
        local = ("--host", "127.0.0.1", "--webui-port", "0")
        master = stack.enter_context(spark_class(tmp_path, "master.Master", "--port", str(port), *local))
        master.until(lambda: "elected leader" in master.last_lines(), "leading master", START)
        workers = []
        for number in range(2):
            work = tmp_path / f"work-{number}"
            size = ("--cores", "1", "--memory", "600m", "--work-dir", str(work))
            worker = stack.enter_context(
                spark_class(tmp_path, "worker.Worker", *size, *local, f"spark://127.0.0.1:{port}")
            )
            workers.append(worker)
        for worker in workers:
            worker.until(lambda log=worker: "Successfully registered" in log.last_lines(), "worker", START)  # type: ignore[misc]
        program = stack.enter_context(driver("cluster", tmp_path))
        program.until(lambda: bool(at_work(tmp_path, 0)) and bool(at_work(tmp_path, 1)), "tasks", START)
        assert len(list((tmp_path / "started").iterdir())) < 40
        victims = at_work(tmp_path, 0)
        program.until(lambda: bool(at_work(tmp_path, 0) - victims), "task that has just begun", START)
        workers[0].kill()  # and its executor, which is of the same process group
        cut = at_work(tmp_path, 0)
        assert cut, "the worker was killed in the middle of a task"
        program.finish(START)
        assert at_work(tmp_path, 0) >= cut, "which never ended"
        # What was cut off, or done by the lost executor, ran again; the second job read all once more.
        assert len(list((tmp_path / "started").iterdir())) > 80
    answers = expected(made, 0)
    found = [(row["doc_id"], row["subscription_id"]) for row in rows(tmp_path / "out/matches")]
    assert sorted(found) == sorted((number, each) for number, ids in answers.items() for each in ids or ())
    dead = [row["doc_id"] for row in rows(tmp_path / "out/dead")]
    assert sorted(dead) == [number for number, ids in answers.items() if ids is None]


def at_work(folder: Path, worker: int) -> set[str]:
    """The tasks that began on a worker and have not ended."""
    place = str(folder / f"work-{worker}")
    found = set()
    for marker in (folder / "started").iterdir():
        if not marker.suffix:
            with suppress(FileNotFoundError):  # it has ended meanwhile
                if marker.read_text().startswith(place):
                    found.add(marker.name)
    return found


@pytest.mark.parametrize("transactional", [True, False])
def test_kafka_and_the_driver_end_and_start_in_between(
    kafka: KafkaServer, tmp_path: Path, transactional: bool
) -> None:
    unavailable(jars.missing_connector())
    made = documents(240)
    topics = {name: f"{name}-{uuid.uuid4()}" for name in ("in", "out", "dead", "outbox")}
    for topic in topics.values():
        kafka.create_topic(topic, partitions=1 if topic == topics["in"] else 2)
    prepare(tmp_path, servers=kafka.bootstrap, transactional=transactional, **topics)
    parts = [list(made.items())[at : at + 80] for at in range(0, 240, 80)]
    notes = tmp_path / "checkpoint/pathcast/batches"
    publish(kafka, topics["in"], parts[0])
    with driver("kafka", tmp_path) as program:
        program.until(lambda: notes.exists() and any(notes.iterdir()), "batch", START)
        kafka.stop()  # in the middle of the first batches
        begun = len(list(notes.iterdir()))
        kafka.start()
        publish(kafka, topics["in"], parts[1])
        program.until(lambda: len(list(notes.iterdir())) > begun, "batch after the stop", START)
        program.kill()  # the driver, in the middle of a batch that was just begun
    with driver("kafka", tmp_path) as program:
        begun = len(list(notes.iterdir()))
        program.until(lambda: len(list(notes.iterdir())) > begun, "batch of the next driver", START)
        kafka.kill()
        kafka.start()
        publish(kafka, topics["in"], parts[2])
        program.until(lambda: documents_done(tmp_path) == len(made), "last document", START)
        (tmp_path / "enough").touch()
        program.finish(START)
    matches = [json.loads(message[1]) for message in consume(kafka, topics["out"])]
    keys = [message[0].decode() for message in consume(kafka, topics["out"])]
    assert keys == [row["delivery_id"] for row in matches]
    if not transactional:  # at least once; by their keys, once
        matches = list({row["delivery_id"]: row for row in matches}.values())
    # The id of a document is its place in the topic, which has one partition.
    found = [row | {"doc_id": int(row["doc_id"].rsplit("/", 1)[1])} for row in matches]
    assert max(Counter(row["delivery_id"] for row in found).values()) == 1
    answers = expected(made, 0)
    pairs = sorted((row["doc_id"], row["subscription_id"]) for row in found)
    assert pairs == sorted((number, each) for number, ids in answers.items() for each in ids or ())
    dead = [json.loads(message[1])["doc_id"] for message in consume(kafka, topics["dead"])]
    numbers = [int(each.rsplit("/", 1)[1]) for each in (dead if transactional else set(dead))]
    assert sorted(numbers) == [number for number, ids in answers.items() if ids is None]
    sent = [
        (message[0], message[1], message[2]["delivery_id"]) for message in consume(kafka, topics["outbox"])
    ]
    copies = sent if transactional else sorted(set(sent))
    assert sorted((key.decode(), value) for key, value, _ in copies) == sorted(
        (each, made[number]) for number, ids in answers.items() for each in ids or ()
    )


def documents_done(folder: Path) -> int:
    lines = (folder / "checkpoint/pathcast/metrics.jsonl").read_text().splitlines()
    return sum(json.loads(line)["documents"] for line in lines)


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
