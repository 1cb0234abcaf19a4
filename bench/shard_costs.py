"""What shards cost without Spark around them: one large index, and sixteen with and without routing.

`sizes` builds, saves and opens an index of subscriptions that are all different, from its file and from its
image, and matches with that one. `ways` has a million alerts
in one index and in sixteen shards, each document shown to all of them or only to those that it can concern;
all three give the same matches, or the run ends.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from bench.harness.answers import WrongAnswerError
from bench.harness.kept import Kept, Row
from bench.harness.turns import Task, in_turns, scale, timed
from bench.plan import Plan
from bench.scale import SHARDS, SIZE, expression
from bench.workloads import WORKLOADS
from pathcast.index import Index
from pathcast.spark.artifact import Routing
from pathcast.spark.driver.placement import SAMPLE, placement
from pathcast.spark.worker.placing import place_of

SIZES = tuple(int(size * scale()) for size in (160_000, 1_000_000))
WARM, PART, ROUNDS = 1_000, 500, 4
EVERYTHING = "/*"
"""What a subscription requires of which nothing is known."""


def sizes(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Seconds to build and open an index of different subscriptions, and microseconds an unseen document."""
    alerts = WORKLOADS["alerts"]
    for size in SIZES:
        subject = f"{size:,} subscriptions"
        if kept.has(subject):
            continue
        queries = [expression(number) for number in range(size)]
        index = Index()
        built, _ = timed(partial(index.add_many, enumerate(queries)), time.process_time)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "index"
            index.save(file)
            opened, index = timed(partial(Index.load, file), time.process_time)
            bytes = file.stat().st_size
            image = Path(folder) / "image"
            index.save_image(image)
            imaged, index = timed(partial(Index.load_image, image), time.process_time)
            image_bytes = image.stat().st_size
        tasks: dict[str, Task] = {"match": lambda documents: index.match_many(documents).to_arrow()}  # noqa: B023
        times = in_turns(tasks, alerts.documents(7), size=PART, rounds=ROUNDS, warm=WARM)["match"]
        yield Row(
            subject,
            {
                "build s": built,
                "open s": opened,
                "open image s": imaged,
                "µs / document": 1e6 * times.best,
                "MB in memory": index.stats()["memory_bytes"] / 1e6,
                "MB on disk": bytes / 1e6,
                "image MB": image_bytes / 1e6,
            },
        )


def ways(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Microseconds an unseen document with one index, and with sixteen shards, all or routed to."""
    names = ("one index", "every shard", "routed")
    if all(kept.has(name) for name in names):
        return
    alerts = WORKLOADS["alerts"]
    queries = alerts.queries(SIZE)
    routed = Routed(queries, placement(queries[:: max(1, SIZE // SAMPLE)], SHARDS))
    one = alerts.index(queries=queries)
    found: dict[str, int] = {}

    def count(name: str, _: Sequence[bytes], result: object) -> None:
        assert isinstance(result, int)
        found[name] = result
        if len(found) == len(names):
            if len(set(found.values())) > 1:
                raise WrongAnswerError(f"shards disagree: {found}")
            found.clear()

    tasks: dict[str, Task] = {
        "one index": lambda documents: len(one.match_many(documents).to_arrow().values),
        "every shard": lambda documents: sum(_matches(shard, documents) for shard in routed.shards),
        "routed": routed.match,
    }
    times = in_turns(tasks, alerts.documents(8), size=PART, rounds=ROUNDS, warm=WARM, check=count)
    for name in names:
        values = {"subscriptions": float(SIZE), "µs / document": 1e6 * times[name].best}
        if name == "routed":
            values["shards a document concerns"] = routed.concerned / routed.documents
        yield Row(name, values)


class Routed:
    """Shards by what subscriptions require, and an index of the requirements."""

    def __init__(self, queries: Sequence[str], routing: Routing) -> None:
        order = {field.text: at for at, field in enumerate(routing.fields)}
        rows: list[list[tuple[int, str]]] = [[] for _ in range(SHARDS)]
        of: dict[str, set[int]] = {}
        for number, xpath in enumerate(queries):
            text, first, last = place_of(xpath, routing, order)
            shard = first + number % (last - first + 1)
            rows[shard].append((number, xpath))
            of.setdefault(text or EVERYTHING, set()).add(shard)
        self.shards = [Index() for _ in rows]
        for index, some in zip(self.shards, rows, strict=True):
            index.add_many(some)
        self._router = Index()
        self._router.add_many(enumerate(of))
        self._of = np.zeros((len(of), SHARDS), dtype=bool)
        for place, numbers in enumerate(of.values()):
            self._of[place, sorted(numbers)] = True
        self.concerned = self.documents = 0

    def match(self, documents: Sequence[bytes]) -> int:
        """How many matches the documents have in the shards that they concern."""
        lists = self._router.match_many(documents).to_arrow()
        entries, ends = lists.values.to_numpy(), lists.offsets.to_numpy()
        concerned = np.zeros((len(documents), SHARDS), dtype=bool)
        for at in range(len(documents)):
            concerned[at] = self._of[entries[ends[at] : ends[at + 1]]].any(axis=0)
        self.concerned += int(concerned.sum())
        self.documents += len(documents)
        return sum(
            _matches(shard, [documents[at] for at in np.nonzero(concerned[:, number])[0].tolist()])
            for number, shard in enumerate(self.shards)
        )


def _matches(index: Index, documents: Sequence[bytes]) -> int:
    return len(index.match_many(documents).to_arrow().values) if documents else 0
