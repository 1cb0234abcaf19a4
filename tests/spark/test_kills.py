"""Drivers and workers of streams are killed at random moments, and nothing is lost or written twice.

One driver runs two streams, from files into files and from Kafka into Kafka, so that one kill hits both. The
workers come from our daemon and talk through Unix sockets, the indexes have images, and those of the first
stream are in a process that workers share, which is killed too.
`PATHCAST_KILLS` says how many there are, ten if it is not set; after `PATHCAST_KILL_MINUTES`, if set, no more
follow. `PATHCAST_SEED` repeats the draws of a run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from tests.kafka import jars
from tests.kafka.fixtures import unavailable
from tests.kafka.topics import consume, publish
from tests.spark.faulty import START, check, documents, documents_done, expected, prepare, put, rows, switch
from tests.spark.processes import Program, driver, index_holders, python_workers

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

pytestmark = pytest.mark.skipif(
    "PATHCAST_FAULTS" not in os.environ,
    reason="processes are killed for minutes: make faults runs these",
)

KILLS = int(os.environ.get("PATHCAST_KILLS", "10"))
MINUTES = float(os.environ.get("PATHCAST_KILL_MINUTES", "inf"))
FILE = 20  # documents of a file and of a batch, and that arrive before each kill
FILLERS = 60_000  # subscriptions that match nothing: a shard has an image


def test_drivers_and_workers_killed_at_random(kafka: KafkaServer, tmp_path: Path) -> None:
    unavailable(jars.missing_connector())
    seed = int(os.environ.get("PATHCAST_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"PATHCAST_SEED={seed} PATHCAST_KILLS={KILLS}")
    draw = random.Random(seed)
    topics = {name: f"{name}-{uuid.uuid4()}" for name in ("in", "out", "dead", "outbox")}
    for topic in topics.values():
        kafka.create_topic(topic, partitions=1 if topic == topics["in"] else 3)
    prepare(tmp_path, servers=kafka.bootstrap, transactional=True, share=True, fillers=FILLERS, **topics)
    assert len(list((tmp_path / "index").glob("*.image"))) > 2  # a shard may be in both versions
    made = documents(FILE * (KILLS + 1))
    world = World(kafka, tmp_path, topics["in"], made)
    killed: Counter[str] = Counter()
    deadline = time.monotonic() + 60 * MINUTES
    program: Program | None = None
    try:
        for number in range(KILLS):
            if number > 1 and time.monotonic() > deadline:
                break
            if number == min(KILLS // 2, 10):
                switch(tmp_path, 1)
            world.more()
            if program is None:
                (tmp_path / "running").unlink(missing_ok=True)
                program = driver("both", tmp_path)
                program.until((tmp_path / "running").exists, "streams", START)
            if number == 0:  # a batch of each stream has the first version
                program.until(lambda: min(world.begun_each()) > 0, "first batches", START)
            if draw.random() < 0.8:  # in or behind a batch that has just begun
                before = world.begun()
                program.until(lambda least=before: world.begun() > least or world.done(), "batch", START)  # type: ignore[misc]
            time.sleep(draw.uniform(0, 3))
            assert program.running, program.last_lines()
            if draw.random() < 0.5:
                program.kill()
                program = None
                killed["driver"] += 1
            elif draw.random() < 0.4 and index_holders(program.process.pid):
                kill_one(program, index_holders, "process of a shared index", draw)
                killed["shared index"] += 1
            else:
                kill_one(program, python_workers, "worker", draw)
                killed["worker"] += 1
            print(f"kill {number + 1}: {dict(killed)}, {world.begun()} batches begun", flush=True)
        world.more()
        if program is None:
            program = driver("both", tmp_path)
        while not world.done():  # however much has piled up, it goes on
            before = world.documents()
            program.until(
                lambda least=before: world.documents() > least or world.done(),  # type: ignore[misc]
                "another batch",
                START,
            )
        (tmp_path / "enough").touch()
        program.finish(START)
    finally:
        if program is not None:
            program.kill()
    assert killed.total() == KILLS or time.monotonic() > deadline
    arrived = world.arrived()
    check_files(arrived, tmp_path)
    check_topics(arrived, tmp_path, kafka, topics)
    print(f"after {dict(killed)} nothing of {len(arrived)} documents was lost or written twice")


def kill_one(program: Program, kind: Callable[[int], list[int]], what: str, draw: random.Random) -> None:
    """Kills one process of a kind below the driver, at work or waiting for something to do."""
    there: list[int] = []

    def found() -> bool:
        there[:] = kind(program.process.pid)
        return bool(there)

    program.until(found, what, START)
    with suppress(ProcessLookupError):
        os.kill(draw.choice(there), signal.SIGKILL)


class World:
    """What there is to match, how much of it has arrived, and how far the streams are."""

    def __init__(self, kafka: KafkaServer, folder: Path, topic: str, made: dict[int, bytes]) -> None:
        self._kafka, self._folder, self._topic, self._made = kafka, folder, topic, made
        self._arrived = 0
        self._states = [folder / "checkpoint-files", folder / "checkpoint-kafka"]

    def more(self) -> None:
        """Lets some more documents arrive."""
        some = list(self._made.items())[self._arrived : self._arrived + FILE]
        put(self._folder / "in", dict(some), FILE)
        publish(self._kafka, self._topic, some)
        self._arrived += len(some)

    def arrived(self) -> dict[int, bytes]:
        """The documents that have arrived."""
        return dict(list(self._made.items())[: self._arrived])

    def begun(self) -> int:
        """How many batches have begun."""
        return sum(self.begun_each())

    def begun_each(self) -> list[int]:
        """The same for each stream; a stream keeps the notes of the last hundred batches only."""
        found = [sorted((state / "pathcast/batches").glob("*.json")) for state in self._states]
        return [int(notes[-1].stem) + 1 if notes else 0 for notes in found]

    def documents(self) -> int:
        """How many documents the streams have told of."""
        return sum(map(documents_done, self._states))

    def done(self) -> bool:
        """Whether all that has arrived was matched."""
        return [documents_done(state) for state in self._states] == [self._arrived] * 2


def check_files(made: dict[int, bytes], folder: Path) -> None:
    matches = rows(folder / "out/matches")
    dead = [row["doc_id"] for row in rows(folder / "out/dead")]
    assert check(made, folder, matches, dead) == {0, 1}
    # A batch has one version, even if it was begun before the change and done after it.
    by_batch: dict[str, set[str]] = {}
    for row in matches:
        by_batch.setdefault(row["batch"], set()).add(row["index_version"])
    assert all(len(each) == 1 for each in by_batch.values())
    for state in ("checkpoint-files", "checkpoint-kafka"):
        lines = (folder / state / "pathcast/metrics.jsonl").read_text().splitlines()
        batches = [json.loads(line)["batch"] for line in lines]
        assert len(set(batches)) == len(batches)


def check_topics(made: dict[int, bytes], folder: Path, kafka: KafkaServer, topics: dict[str, str]) -> None:
    def number(doc_id: str) -> int:
        return int(doc_id.rsplit("/", 1)[1])  # its place in the topic, which has one partition

    matches = []
    for key, value, _ in consume(kafka, topics["out"]):
        row = json.loads(value)
        assert key.decode() == row["delivery_id"]
        matches.append(row | {"doc_id": number(row["doc_id"])})
    dead = [number(json.loads(value)["doc_id"]) for _, value, _ in consume(kafka, topics["dead"])]
    used = check(made, folder, matches, dead, lambda each: f"{topics['in']}/0/{each}")
    assert used == {0, 1}
    version = {row["doc_id"]: row["index_version"] for row in matches}
    hashes = [(folder / f"hash-{each}").read_text() for each in (0, 1)]
    answers = [expected(made, each) for each in (0, 1)]
    wanted = [
        (subscription, made[each])
        for each, hash in version.items()
        for subscription in answers[hashes.index(hash)][each] or ()
    ]
    sent = consume(kafka, topics["outbox"])
    assert sorted((key.decode(), value) for key, value, _ in sent) == sorted(wanted)
    assert max(Counter(headers["delivery_id"] for _, _, headers in sent).values()) == 1
