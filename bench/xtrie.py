"""XTrie beside XFilter: figures 11 to 18 of "Efficient filtering of XML documents with XPath expressions".

Documents of about 100 tags and 17 levels, expressions of at most 20 levels with a tenth of wildcards and
of ``//``, as in the paper, and one of these varied at a time, on its two data sets (`bench.xtrie_sets`).
Expressions are distinct, since equal ones are one in every engine here. `PATHCAST_BENCH_SCALE` makes the
sets smaller: 0.05 runs in some minutes. `PATHCAST_BENCH_FIGURES` picks figures.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from random import Random
from typing import Any, Literal

import pathcast
from bench.harness.answers import WrongAnswerError
from bench.harness.columns import forms
from bench.harness.kept import Kept, Row
from bench.harness.turns import in_turns, scale, timed
from bench.plan import Plan
from bench.xtrie_sets import DataSet, Kind, Query, data_sets, depth, size
from pathcast import _core
from pathcast.index import Index
from pathcast.reference import Expression, parse
from pathcast.schema import Schema

SECONDS = 1.0  # for one engine at one point, unless its fewest documents take longer
ROUNDS = 4
FEWEST, MOST = 10, 40  # documents of a round: few are no sample
WAYS: tuple[Literal["minimal", "simple", "maximal"], ...] = ("minimal", "simple", "maximal")
DESCRIBED = 100  # documents of a data set that are described
EXAMPLE = "the paper's example"
FIGURE_2 = "/a/b[c/d//e][g//e/f]//*/*/*/e/f"
Drawn = Mapping[str, DataSet]


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

    @property
    def kind(self) -> Kind:
        """What expressions are drawn with."""
        return Kind(self.levels, self.wildcard, self.descendant, self.branch, self.skew)

    @property
    def count(self) -> int:
        """How many expressions there are at the scale of the run."""
        return max(100, int(self.expressions * scale()))


SINGLE = ("xfilter", "xfilter-lb", "xtrie", "xtrie-lazy")


@dataclass(frozen=True)
class Sweep:
    """A figure: what varies, and which engines are beside each other."""

    figure: str
    axis: str
    parameter: str
    values: Sequence[float]
    base: Point = field(default_factory=Point)
    subjects: Sequence[str] = SINGLE
    measure: str = "time"
    data: str = "nitf"

    def points(self) -> Iterator[Point]:
        """The base with one value after the other."""
        for value in self.values:
            changes: dict[str, Any] = {self.parameter: value if value % 1 else int(value)}
            yield replace(self.base, **changes)

    def label(self, at: float, subject: str) -> str:
        """What a row is called: `curves.gathered` reads it."""
        return f"{self.figure}: {self.parameter} {at:g}, {subject}"


TREES = Point(expressions=50_000, branch=0.1)
TREE = ("xfilter-trees", "xtrie", "xtrie-lazy", "xtrie ordered", "xtrie-lazy ordered", "auto")
COUNTS = (10_000, 50_000, 100_000, 150_000, 200_000)
SIZES = (50, 100, 200, 400, 800)
CUT = ("xtrie simple", "xtrie maximal", "xtrie-lazy simple", "xtrie-lazy maximal")
FORMS = ("xtrie single paths", "xtrie trees", "xtrie-lazy single paths", "xtrie-lazy trees")
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
PATHS, BRANCHED, LONG = "single-path expressions", "tree-structured expressions", "tags a document"
SWEEPS = (
    Sweep("11a", PATHS, "expressions", COUNTS, data="ten"),
    Sweep("11b", PATHS, "expressions", COUNTS),
    Sweep("12a", BRANCHED, "expressions", COUNTS, TREES, TREE, data="ten"),
    Sweep("12b", BRANCHED, "expressions", COUNTS, TREES, TREE),
    Sweep("13a", f"{LONG}, single paths", "tags", SIZES, data="ten"),
    Sweep("13b", f"{LONG}, single paths", "tags", SIZES),
    Sweep("14a", f"{LONG}, trees", "tags", SIZES, TREES, TREE, data="ten"),
    Sweep("14b", f"{LONG}, trees", "tags", SIZES, TREES, TREE),
    Sweep("15a", PATHS, "expressions", COUNTS, Point(), CUT),
    Sweep("15b", PATHS, "expressions", COUNTS, Point(), FORMS),
    Sweep("16a", "probability of *", "wildcard", SHARES),
    Sweep("16b", "probability of //", "descendant", SHARES),
    Sweep("16c", "probability of *", "wildcard", SHARES, TREES, TREE[1:5]),
    Sweep("16d", "probability of //", "descendant", SHARES, TREES, TREE[1:5]),
    Sweep("17a", "levels of an expression", "levels", (8, 10, 12, 14, 16, 18, 20)),
    Sweep("17b", "skew", "skew", (0.0, 0.5, 1.0, 2.0, 3.0, 5.0)),
    Sweep("18a", PATHS, "expressions", COUNTS, measure="memory"),
    Sweep("18b", BRANCHED, "expressions", COUNTS, TREES, TREE[:3], measure="memory"),
)


def sweeps(kept: Kept, _: Plan) -> Iterator[Row]:
    """Microseconds a document (figures 11 to 17) and megabytes (figure 18), as one parameter varies."""
    sets = data_sets()
    wanted = os.environ.get("PATHCAST_BENCH_FIGURES", "").split()
    chosen = [sweep for sweep in SWEEPS if sweep.data in sets and (not wanted or sweep.figure in wanted)]
    drawn = _Drawn(sets, chosen)
    megabytes: dict[tuple[str, Point, str], dict[str, float]] = {}
    for sweep in chosen:
        indexes: dict[str, Index] = {}
        for point in sweep.points():
            at = point.count if sweep.parameter == "expressions" else getattr(point, sweep.parameter)
            if all(kept.has(sweep.label(at, subject)) for subject in sweep.subjects):
                continue
            if sweep.measure == "memory" and all(
                (sweep.data, point, each) in megabytes for each in sweep.subjects
            ):
                for subject in sweep.subjects:  # the same sets were built for a figure of times
                    values = megabytes[sweep.data, point, subject]
                    yield Row(sweep.label(at, subject), {**values, "at": float(at)})
                continue
            queries = drawn.queries(sweep.data, point)
            if not indexes or sweep.parameter != "tags":
                indexes = _built(sweep.subjects, queries)
            for subject, values in _point(sets[sweep.data], sweep, point, indexes, queries):
                megabytes.setdefault((sweep.data, point, subject), _without_time(values))
                yield Row(sweep.label(at, subject), {**values, "at": float(at)})


def described(kept: Kept, _: Plan) -> Iterator[Row]:
    """The documents and expressions of the two data sets, as the paper's tables 3 and 4 describe them."""
    for name, each in data_sets().items():
        documents = [size(document) for _, document in islice(each.documents(100, seed=5), DESCRIBED)]
        tags, levels = zip(*documents, strict=True)
        names = {element for schema in each.schemas for element in schema.reachable}
        attributes = sum(len(schema.attributes(one)) for schema in each.schemas for one in schema.reachable)
        if not kept.has(f"documents: {name}"):
            yield Row(
                f"documents: {name}",
                {
                    "schemas": len(each.schemas),
                    "element names": len(names),
                    "attributes": attributes,
                    "tags": sum(tags) / len(tags),
                    "fewest tags": min(tags),
                    "most tags": max(tags),
                    "levels": sum(levels) / len(levels),
                    "fewest levels": min(levels),
                    "most levels": max(levels),
                },
            )
        for most in (8, 12, 16, 20):
            if not kept.has(f"expressions: {name}, {most} levels"):
                depths = [depth(query) for query, _ in each.queries(Kind(most), 5_000)]
                values = {"most": float(most), "average depth": sum(depths) / len(depths)}
                yield Row(f"expressions: {name}, {most} levels", values)


def substrings(kept: Kept, _: Plan) -> Iterator[Row]:
    """How many substrings an expression has, by where it is cut: the paper's example, then the data sets."""
    if not kept.has(EXAMPLE):
        yield Row(EXAMPLE, {way: float(_core.xtrie_substrings(FIGURE_2, way) or 0) for way in WAYS})
    for name, each in data_sets().items():
        for kind, branch in (("single paths", 0.0), ("trees", 0.1)):
            if kept.has(f"{name}, {kind}"):
                continue
            counts = {"minimal": 0, "simple": 0, "maximal": 0}
            taken = 0
            for query, bound in each.queries(Kind(branch=branch), 10_000):
                # Names with a prefix count like all others.
                plain = query if not bound else re.sub(r"[\w.-]+:(?=\w)", "", query)
                cut = {way: _core.xtrie_substrings(plain, way) for way in WAYS}
                if None not in cut.values():
                    taken += 1
                    for way, count in cut.items():
                        counts[way] += count or 0
            yield Row(f"{name}, {kind}", {way: count / taken for way, count in counts.items()})


def _without_time(values: Mapping[str, float]) -> dict[str, float]:
    return {key: value for key, value in values.items() if key in {"MB", "distinct"}}


def _built(subjects: Sequence[str], queries: Sequence[Query]) -> dict[str, Index]:
    indexes: dict[str, Index] = {}
    for subject in subjects:
        made = _index(subject)
        if made is not None:
            ordered = subject.endswith(" ordered")
            made.add_many((at, query, ordered, bound, None) for at, (query, bound) in enumerate(queries))
            indexes[subject] = made
    return indexes


def _point(
    data: DataSet, sweep: Sweep, point: Point, indexes: Mapping[str, Index], queries: Sequence[Query]
) -> Iterator[tuple[str, dict[str, float]]]:
    feed = data.documents(point.tags, seed=5)
    _same_answers(indexes, queries, list(islice(feed, 2 + len(data.schemas))))
    # All schemas have the same share in what an engine is timed with.
    times = _times(indexes, feed, len(data.schemas)) if sweep.measure == "time" else {}
    for subject, index in indexes.items():
        stats = index.stats()
        megabytes = (stats["memory_bytes"] + stats["cache_bytes"] + stats["remembered_bytes"]) / 1e6
        values = {"MB": megabytes, "distinct": float(stats["distinct"])}
        if subject in times:
            values["µs / document"] = times[subject] * 1e6
        yield subject, values


class _Drawn:
    """Expressions by what they are drawn with, as many as the largest point needs; others take the first."""

    def __init__(self, sets: Drawn, sweeps: Iterable[Sweep]) -> None:
        self._sets = sets
        self._kept: dict[tuple[str, Kind], list[Query]] = {}
        self._most: dict[tuple[str, Kind], int] = {}
        for sweep in sweeps:
            for point in sweep.points():
                key = (sweep.data, point.kind)
                self._most[key] = max(self._most.get(key, 0), point.count)

    def queries(self, data: str, point: Point) -> list[Query]:
        key = (data, point.kind)
        if key not in self._kept:
            self._kept[key] = self._sets[data].queries(point.kind, self._most[key])
        return self._kept[key][: point.count]


def _index(subject: str) -> Index | None:
    """The index of a curve; none if there is no such engine."""
    engine, _, option = subject.partition(" ")
    if engine not in pathcast.engines(variants=True):
        return None
    index = Index(engine)
    if option not in {"", "ordered"}:
        index._core = _core.xtrie_index(
            lazy=engine == "xtrie-lazy",
            decomposition="maximal" if option == "maximal" else "simple",
            single_paths=option != "trees",
        )
    return index


def _same_answers(
    indexes: Mapping[str, Index], queries: Sequence[Query], feed: Sequence[tuple[Schema, bytes]]
) -> None:
    """All curves of one mode find the same, and a sample of it is what the reference says."""
    for ordered in (False, True):
        same = {name: index for name, index in indexes.items() if name.endswith("ordered") == ordered}
        found = {name: [index.match(document) for _, document in feed] for name, index in same.items()}
        if any(answer != next(iter(found.values())) for answer in found.values()):
            raise WrongAnswerError(f"the engines disagree: {', '.join(found)}")
        if same and not ordered:
            for (_, document), answer in zip(feed, next(iter(found.values())), strict=True):
                _check(document, set(answer), queries)


def _check(document: bytes, answer: set[Any], queries: Sequence[Query], pairs: int = 100) -> None:
    random, tree = Random(7), parse(document)
    some = random.sample(sorted(answer), min(pairs // 2, len(answer)))
    for number in [*some, *random.choices(range(len(queries)), k=pairs // 2)]:
        query, namespaces = queries[number]
        if Expression(query, namespaces=namespaces).matches(tree) != (number in answer):
            raise WrongAnswerError(f"{query} is {number in answer} on {document[:200]!r}")


def _times(
    indexes: Mapping[str, Index], feed: Iterator[tuple[Schema, bytes]], share: int
) -> dict[str, float]:
    """Seconds a document, the best of rounds taken in turn, on documents that no engine has seen."""
    tasks = {name: forms(index)["match"] for name, index in indexes.items()}
    stream = (document for _, document in feed)
    slowest = max(
        timed(partial(task, list(islice(stream, 1))), time.process_time)[0] for task in tasks.values()
    )
    size = max(FEWEST, min(MOST, int(SECONDS / ROUNDS / max(slowest, 1e-6))))
    size = -(-size // share) * share
    warm = size if slowest > SECONDS / ROUNDS else 2 * size
    return {
        name: times.best
        for name, times in in_turns(tasks, stream, size=size, rounds=ROUNDS, warm=warm).items()
    }
