"""XTrie beside XFilter: figures 11 to 18 of "Efficient filtering of XML documents with XPath expressions".

NITF documents of about 100 tags, expressions of at most 20 levels with a tenth of wildcards and of ``//``, as
in the paper, and one of these varied at a time. Expressions are distinct, since equal ones are one in every
engine here. `PATHCAST_BENCH_SCALE` makes the sets smaller: 0.05 runs in some minutes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

import pathcast
from bench.corpus import corpus_schema
from bench.harness.answers import check
from bench.harness.columns import forms
from bench.harness.kept import Kept, Row
from bench.harness.turns import in_turns, scale, timed
from bench.plan import Plan
from pathcast import _core
from pathcast.generate import documents, subscriptions
from pathcast.generate.subscriptions import DistinctError
from pathcast.index import Index
from pathcast.schema import Schema

SECONDS = 0.5  # for one engine at one point
ROUNDS = 3
BYTES_A_TAG = 42


@dataclass(frozen=True)
class Point:
    """One point of a sweep."""

    expressions: int = 100_000
    tags: int = 100
    levels: int = 20
    wildcard: float = 0.1
    descendant: float = 0.1
    branch: float = 0.0
    skew: float = 0.0


@dataclass(frozen=True)
class Sweep:
    """A figure: what varies, and which engines are beside each other."""

    figure: str
    axis: str
    parameter: str
    values: Sequence[float]
    base: Point = field(default_factory=Point)
    subjects: Sequence[str] = ("xfilter", "xfilter-lb", "xtrie", "xtrie-lazy")
    measure: str = "time"

    def points(self) -> Iterator[Point]:
        """The base with one value after the other."""
        for value in self.values:
            changes: dict[str, Any] = {self.parameter: value if value % 1 else int(value)}
            yield replace(self.base, **changes)

    def label(self, at: float, subject: str) -> str:
        """What a row is called: `curves.gathered` reads it."""
        return f"{self.figure}: {self.parameter} {at:g}, {subject}"


TREES = Point(expressions=50_000, branch=0.1)
ORDER = ("xfilter", "xtrie", "xtrie-lazy", "xtrie ordered", "xtrie-lazy ordered", "auto", "auto ordered")
COUNTS = (10_000, 50_000, 100_000, 150_000, 200_000)
SWEEPS = (
    Sweep("11", "single-path expressions", "expressions", COUNTS),
    Sweep("12", "tree-structured expressions", "expressions", COUNTS, replace(TREES), ORDER),
    Sweep("13", "tags a document, single paths", "tags", (50, 100, 200, 400, 800)),
    Sweep("14", "tags a document, trees", "tags", (50, 100, 200, 400, 800), TREES, ORDER),
    Sweep(
        "15a",
        "single-path expressions",
        "expressions",
        COUNTS[:3],
        Point(),
        ("xtrie simple", "xtrie maximal", "xtrie-lazy simple", "xtrie-lazy maximal"),
    ),
    Sweep(
        "15b",
        "single-path expressions",
        "expressions",
        COUNTS[:3],
        Point(),
        ("xtrie single paths", "xtrie trees", "xtrie-lazy single paths", "xtrie-lazy trees"),
    ),
    Sweep("16a", "probability of *", "wildcard", (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)),
    Sweep("16b", "probability of //", "descendant", (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)),
    Sweep("17a", "levels of an expression", "levels", (10, 12, 14, 16, 18, 20)),
    Sweep("17b", "skew", "skew", (0.0, 0.5, 1.0, 2.0, 3.0)),
    Sweep("18a", "single-path expressions", "expressions", COUNTS, measure="memory"),
    Sweep("18b", "tree-structured expressions", "expressions", COUNTS, TREES, ORDER[:3], measure="memory"),
)


def sweeps(kept: Kept, _: Plan) -> Iterator[Row]:
    """Microseconds a document (figures 11 to 17) and megabytes (figure 18), as one parameter varies."""
    schema = corpus_schema("nitf")
    if schema is None:
        return
    wanted = os.environ.get("PATHCAST_BENCH_FIGURES", "").split()
    chosen = [sweep for sweep in SWEEPS if not wanted or sweep.figure in wanted]
    drawn = _Drawn(schema, chosen)
    megabytes: dict[tuple[Point, str], dict[str, float]] = {}
    for sweep in chosen:
        indexes: dict[str, Index] = {}
        for point in sweep.points():
            queries = drawn.expressions(point)
            at = len(queries) if sweep.parameter == "expressions" else getattr(point, sweep.parameter)
            if all(kept.has(sweep.label(at, subject)) for subject in sweep.subjects):
                continue
            if sweep.measure == "memory" and all((point, each) in megabytes for each in sweep.subjects):
                for subject in sweep.subjects:  # the same sets were built for a figure of times
                    yield Row(sweep.label(at, subject), {**megabytes[point, subject], "at": float(at)})
                continue
            if not indexes or sweep.parameter != "tags":
                indexes = _built(sweep.subjects, list(enumerate(queries)))
            for subject, values in _point(schema, sweep, point, indexes, queries):
                megabytes.setdefault((point, subject), _without_time(values))
                yield Row(sweep.label(at, subject), {**values, "at": float(at)})


def _without_time(values: Mapping[str, float]) -> dict[str, float]:
    return {key: value for key, value in values.items() if key in {"MB", "distinct"}}


def _built(subjects: Sequence[str], rows: Sequence[tuple[int, str]]) -> dict[str, Index]:
    indexes: dict[str, Index] = {}
    for subject in subjects:
        made = _index(subject)
        if made is not None:
            made.add_many(rows)
            indexes[subject] = made
    return indexes


def _point(
    schema: Schema, sweep: Sweep, point: Point, indexes: Mapping[str, Index], queries: Sequence[str]
) -> Iterator[tuple[str, dict[str, float]]]:
    size = point.tags * BYTES_A_TAG
    feed = documents(schema, 1 << 40, max_levels=20, target_size=size, attributes=0.3, seed=5)
    _same_answers(indexes, queries, list(islice(feed, 3)))
    times = _times(indexes, feed) if sweep.measure == "time" else {}
    for subject, index in indexes.items():
        stats = index.stats()
        megabytes = (stats["memory_bytes"] + stats["cache_bytes"] + stats["remembered_bytes"]) / 1e6
        values = {"MB": megabytes, "distinct": float(stats["distinct"])}
        if subject in times:
            values["µs / document"] = times[subject] * 1e6
        yield subject, values


class _Drawn:
    """Expressions by what they are drawn with, as many as the largest point needs; others take the first."""

    def __init__(self, schema: Schema, sweeps: Iterable[Sweep]) -> None:
        self._schema = schema
        self._kept: dict[Point, list[str]] = {}
        self._most: dict[Point, int] = {}
        for sweep in sweeps:
            for point in sweep.points():
                kind = _kind(point)
                self._most[kind] = max(self._most.get(kind, 0), _count(point))

    def expressions(self, point: Point) -> list[str]:
        kind = _kind(point)
        if kind not in self._kept:
            self._kept[kind] = _expressions(self._schema, point, self._most[kind])
        return self._kept[kind][: _count(point)]


def _kind(point: Point) -> Point:
    """Without what does not matter for drawing."""
    return replace(point, expressions=0, tags=0)


def _count(point: Point) -> int:
    return max(100, int(point.expressions * scale()))


def _expressions(schema: Schema, point: Point, count: int) -> list[str]:
    draw = partial(
        subscriptions,
        schema,
        max_depth=point.levels,
        wildcard=point.wildcard,
        descendant=point.descendant,
        branch=point.branch,
        skew=point.skew,
        seed=1,
    )
    try:
        return list(draw(n=count, distinct=True))
    except DistinctError:
        return list(dict.fromkeys(draw(n=3 * count)))[:count]


def _index(subject: str) -> Index | None:
    """The index of a curve; none if there is no such engine."""
    engine, _, option = subject.partition(" ")
    if engine not in pathcast.engines():
        return None
    index = Index(engine, ordered=option == "ordered")
    if option not in {"", "ordered"}:
        index._core = _core.xtrie_index(
            lazy=engine == "xtrie-lazy", maximal=option == "maximal", single_paths=option != "trees"
        )
    return index


def _same_answers(indexes: Mapping[str, Index], queries: Sequence[str], feed: Sequence[bytes]) -> None:
    """All curves of one mode find the same, and a sample of it is what the reference says."""
    for ordered in (False, True):
        same = {name: index for name, index in indexes.items() if name.endswith("ordered") == ordered}
        found = {name: [index.match(document) for document in feed] for name, index in same.items()}
        if any(answer != next(iter(found.values())) for answer in found.values()):
            raise AssertionError(f"the engines disagree: {', '.join(found)}")
        if same and not ordered:
            check(next(iter(same.values())), queries, feed, pairs=400)


def _times(indexes: Mapping[str, Index], feed: Iterator[bytes]) -> dict[str, float]:
    """Seconds a document, the best of rounds taken in turn, on documents that no engine has seen."""
    tasks = {name: forms(index)["match"] for name, index in indexes.items()}
    slowest = max(
        timed(partial(task, list(islice(feed, 1))), time.process_time)[0] for task in tasks.values()
    )
    size = max(2, min(40, int(SECONDS / ROUNDS / max(slowest, 1e-6))))
    return {
        name: times.best
        for name, times in in_turns(tasks, feed, size=size, rounds=ROUNDS, warm=2 * size).items()
    }
