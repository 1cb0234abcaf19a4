"""Workers, drivers and brokers die for real, each at its moment, and nothing is lost or doubled."""

from __future__ import annotations

import json
import os
import uuid
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from tests.kafka import jars
from tests.kafka.fixtures import unavailable
from tests.kafka.topics import consume, publish
from tests.spark.faulty import START, documents, documents_done, expected, prepare, put, rows
from tests.spark.processes import driver, free_port, spark_class

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

pytestmark = pytest.mark.skipif(
    "PATHCAST_FAULTS" not in os.environ,
    reason="processes are killed for minutes: make faults runs these",
)


@pytest.fixture(autouse=True)
def _java() -> None:
    if jars.java() is None:
        pytest.skip("Spark needs Java, and there is none")


def test_a_worker_killed_in_the_middle_of_a_job(tmp_path: Path) -> None:
    made = documents(2000)
    put(tmp_path / "in", made, 500)
    port = free_port()
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
        program.until(lambda: documents_done(tmp_path / "checkpoint") == len(made), "last document", START)
        (tmp_path / "enough").touch()
        program.finish(START)
    messages = consume(kafka, topics["out"])  # read once: partitions come in any order
    matches = [json.loads(value) for _, value, _ in messages]
    assert [key.decode() for key, _, _ in messages] == [row["delivery_id"] for row in matches]
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
