"""The two experiments of the paper on non-recursive SQL, with its matcher and ours, one document at a time.

The first takes documents of 15 KB against a growing number of subscriptions, with and without cutting; the
second 10,000 subscriptions against documents of four sizes, with as many levels as the paper's have. Both
matchers run on DuckDB on one thread. Every document comes once and goes to all in turn; every answer is
compared with the index's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product
from statistics import median
from time import process_time
from typing import Any

from bench.harness.answers import WrongAnswerError
from bench.harness.kept import Kept, Row
from bench.harness.turns import timed
from bench.paper_matcher import PaperMatcher
from bench.plan import Plan
from bench.relational import drawn_documents, drawn_subscriptions, scaled, schemas
from pathcast import _core
from pathcast.index import Index
from pathcast.relational import Relational

NUMBERS = (1_000, 10_000, 25_000, 50_000, 75_000, 100_000)
LEVELS = {3_000: 5, 15_000: 10, 40_000: 11, 100_000: 12}
"""The sizes of the paper's documents in bytes, and how deep each is."""
DOCUMENTS = 5
WARM = 20


def subject(schema: str, number: int, size: int) -> str:
    """The name of a row.

    >>> subject("nitf", 10_000, 15_000)
    'nitf, 10,000 subscriptions, 15 KB'
    """
    return f"{schema}, {number:,} subscriptions, {size // 1000} KB"


def figures(kept: Kept, _: Plan) -> Iterator[Row]:
    """Milliseconds for one document, the median of five: the paper's matcher, ours on DuckDB, the index."""
    points = [(number, 15_000) for number in NUMBERS] + [(10_000, size) for size in LEVELS if size != 15_000]
    for schema, (number, size) in product(schemas(), points):
        if not kept.has(subject(schema, number, size)):
            yield _row(schema, number, size)


def _row(schema: str, number: int, size: int) -> Row:
    expressions = drawn_subscriptions(scaled(number), schema)
    paper, index, ours = PaperMatcher(expressions), Index(), Relational("duckdb")
    index.add_many(list(enumerate(expressions)))
    ours.subscribe(enumerate(expressions))
    stream = drawn_documents(size, seed=5, schema=schema, levels=LEVELS[size])
    warm = list(islice(stream, WARM))
    cold = timed(lambda: ours.match([(0, warm[0])]), process_time)[0]
    ours.match(enumerate(warm[1:]))
    times: dict[str, list[float]] = {}
    counts: list[tuple[int, ...]] = []
    for turn, document in enumerate(islice(stream, DOCUMENTS + 1)):
        paper.publish(document)
        wanted = sorted(index.match(document))
        tasks: dict[str, Callable[[], Any]] = {
            "paper ms": partial(paper.match, cutting=True),
            "paper without cutting ms": partial(paper.match, cutting=False),
            "DuckDB ms": partial(_alone, ours, document),
        }
        edges: dict[str, int] = {}
        for name in list(tasks)[:: -1 if turn % 2 else 1]:
            seconds, found = timed(tasks[name], process_time)
            edges[name] = paper.found
            if found != wanted:
                raise WrongAnswerError(f"{name}: other subscriptions than the {len(wanted):,} of the index")
            times.setdefault(name, []).append(seconds * 1e3)
        yardsticks: dict[str, Callable[[], Any]] = {
            "auto ms": partial(index.match, document),
            "tokeniser ms": partial(_core.bare_elements, [document]),
        }
        for name, task in yardsticks.items():
            times.setdefault(name, []).append(timed(task, process_time)[0] * 1e3)
        counts.append(
            (len(wanted), len(document), paper.nodes, edges["paper ms"], edges["paper without cutting ms"])
        )
    ours.close()
    matches, size_found, nodes, edges_cut, edges_all = (
        median(column) for column in zip(*counts[1:], strict=True)
    )
    return Row(
        subject(schema, number, size),
        {
            "subscriptions": number,
            "KB": size_found / 1e3,
            "nodes": nodes,
            "edges": edges_cut,
            "edges without cutting": edges_all,
            "matches / document": matches,
            **{name: median(each[1:]) for name, each in times.items()},  # the first of all warms up
            "DuckDB, first document ms": cold * 1e3,
        },
    )


def _alone(database: Relational, document: bytes) -> list[Any]:
    return [id for _, id in database.match([(0, document)])]
