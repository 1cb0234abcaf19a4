"""The relational matcher: the two experiments of its paper on all backends, batches, and a million on Spark.

After the paper on matching XPath subscriptions level by level with non-recursive SQL: subscriptions with 30 %
branching steps, 10 % ``*`` and 20 % ``//``, up to ten levels deep, drawn from a DTD (there the one of an
astronomical data centre, here NITF, or the news DTD that ships), one value test each. `auto` is the index in
memory on one thread, beside each figure in the same run. Every answer is compared with the index's, pair by
pair.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from pathcast.bench import wire
from pathcast.bench.answers import WrongAnswerError
from pathcast.bench.foundation import Row
from pathcast.bench.workloads import Workload, corpus
from pathcast.generate import documents as draw_documents
from pathcast.generate import subscriptions as draw_subscriptions
from pathcast.index import Index
from pathcast.relational import Relational
from pathcast.schema import Schema

NUMBERS = (10_000, 25_000, 50_000, 100_000)
SIZES = (3_000, 15_000, 40_000, 100_000)
BATCHES = (1, 10, 100)
ROUNDS = 3
ON_SPARK = {10_000: 20, 100_000: 20}  # subscriptions: documents of one batch; a run has seconds to give away
MILLION = (1_000_000, 1_000)  # subscriptions, documents
RESULTS = Path("benchmarks/results")


@cache
def _schema() -> Schema:
    folder = corpus()
    if folder is not None and (folder / "nitf/nitf-2-5.dtd").exists():
        return Schema.from_dtd(folder / "nitf/nitf-2-5.dtd", "nitf")
    return Schema.from_dtd(Path(__file__).parents[3] / "examples/news/wire.dtd")


@cache
def _expressions(number: int) -> tuple[str, ...]:
    odds = {"wildcard": 0.1, "descendant": 0.2, "branch": 0.3}
    return tuple(draw_subscriptions(_schema(), number, max_depth=10, predicates=1, seed=2, **odds))  # type: ignore[arg-type]


def _documents(number: int, size: int) -> list[bytes]:
    return list(draw_documents(_schema(), number, max_levels=12, target_size=size, seed=3))


@contextmanager
def _backends(*names: str) -> Iterator[dict[str, Callable[[], Relational]]]:
    """What makes databases of each kind, with their servers running."""
    with ExitStack() as stack:
        makers: dict[str, Callable[[], Relational]] = {}
        if "DuckDB" in names:
            makers["DuckDB"] = Relational
        if "PostgreSQL" in names:
            from pathcast.bench.postgres import PostgresServer

            server = stack.enter_context(PostgresServer())
            makers["PostgreSQL"] = lambda: Relational(server.fresh())
        if "Spark" in names:
            from pathcast.spark.local import session

            folder = Path(tempfile.mkdtemp(prefix="pathcast-bench-"))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            spark = stack.enter_context(
                session("pathcast bench", master="local[2]", memory="4g", log=folder / "spark.log")
            )
            makers["Spark"] = lambda: Relational(spark)
        yield makers


def subscriptions(workload: Workload) -> Iterator[Row]:
    """Milliseconds for a document of 15 KB, by number of subscriptions, with and without cutting."""
    documents = _documents(20, 15_000)
    expressions = _expressions(max(NUMBERS))
    with _backends("DuckDB", "PostgreSQL", "Spark") as makers:
        for number in NUMBERS:
            rows = list(enumerate(expressions[:number]))
            index, expected, auto = _alone(rows, documents)
            for name, make in makers.items():
                if name == "Spark" and number not in ON_SPARK:
                    continue
                database = make()
                database.subscribe(rows)
                some = documents[: ON_SPARK[number]] if name == "Spark" else documents
                times = {}
                for cutting in (True, False):
                    database.cutting = cutting
                    times[cutting] = _timed(database, some, expected, 1 if name == "Spark" else ROUNDS)
                database.cutting = True
                one = _timed(database, documents[:1], expected, 1 if name == "Spark" else ROUNDS)
                yield Row(
                    "relational",
                    f"{name}, {number:,}",
                    {
                        "edges": database.count("XPathFrame"),
                        "frames": database.count("Frame"),
                        "matches / document": sum(map(len, expected[: len(some)])) / len(some),
                        "alone ms": one * 1e3,
                        "batch ms": times[True] * 1e3,
                        "not cut ms": times[False] * 1e3,
                        "× by cutting": times[False] / times[True],
                        "auto ms": auto * 1e3,
                        "auto is × faster": times[True] / auto,
                    },
                )
                database.close()
            del index


def sizes(workload: Workload) -> Iterator[Row]:
    """Milliseconds for a document against 10,000 subscriptions, by size of the document."""
    rows = list(enumerate(_expressions(10_000)))
    with _backends("DuckDB", "PostgreSQL", "Spark") as makers:
        databases = {name: make() for name, make in makers.items()}
        for database in databases.values():
            database.subscribe(rows)
        for size in SIZES:
            documents = _documents(10, size)
            _, expected, auto = _alone(rows, documents)
            values = {
                "KB": sum(map(len, documents)) / len(documents) / 1e3,
                "matches / document": sum(map(len, expected)) / len(documents),
            }
            for name, database in databases.items():
                rounds = 1 if name == "Spark" else ROUNDS
                values[f"{name} ms"] = _timed(database, documents, expected, rounds) * 1e3
            values["auto ms"] = auto * 1e3
            yield Row("relational-documents", f"{size // 1000} KB", values)
        for database in databases.values():
            database.close()


def batches(workload: Workload) -> Iterator[Row]:
    """Milliseconds for a document of 15 KB, 100,000 subscriptions, by documents in one batch."""
    rows = list(enumerate(_expressions(100_000)))
    documents = _documents(max(BATCHES), 15_000)
    _, expected, auto = _alone(rows, documents)
    with _backends("DuckDB", "PostgreSQL") as makers:
        databases = {name: make() for name, make in makers.items()}
        for database in databases.values():
            database.subscribe(rows)
        for number in BATCHES:
            values = {
                f"{name} ms": _timed(database, documents[:number], expected, ROUNDS) * 1e3
                for name, database in databases.items()
            }
            yield Row("relational-batches", f"{number} at once", values | {"auto ms": auto * 1e3})
        for database in databases.values():
            database.close()


def million(workload: Workload) -> Iterator[Row]:
    """1,000 documents of 2 KB against 1,000,000 subscriptions on Spark, with and without broadcasts."""
    number, count = MILLION
    queries = wire.queries(number)
    documents = list(wire.documents(count))
    index, expected, auto = _alone(list(enumerate(queries)), documents)
    del index
    total = sum(map(len, expected))
    with _backends("Spark") as makers:
        database: Any = makers["Spark"]()
        spark = database._theirs
        import pyarrow as pa

        frame = spark.createDataFrame(pa.table({"id": pa.array(range(number), pa.int64()), "xpath": queries}))
        subscribing = _seconds(lambda: database.subscribe(frame))[0]
        texts = spark.createDataFrame(pa.table({"doc_id": list(range(count)), "xml": documents}))
        for subject, threshold in (("with broadcasts", "16MB"), ("without broadcasts", "-1")):
            database._spark.conf.set("spark.sql.autoBroadcastJoinThreshold", threshold)
            seconds, found = _seconds(lambda: database.match(texts).count())
            if found != total:
                raise WrongAnswerError(f"Spark, {number:,}: {found:,} matches instead of {total:,}")
            _keep_plans(database.plans, f"relational-spark {subject}".replace(" ", "-"))
            yield Row(
                "relational-spark",
                subject,
                {
                    "subscribe s": subscribing,
                    "matches / document": total / count,
                    "match s": seconds,
                    "ms / document": seconds / count * 1e3,
                    "auto ms": auto * 1e3,
                },
            )
        database.close()


def _keep_plans(plans: dict[str, str], name: str) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = "\n".join(f"== {table} ==\n{plan}" for table, plan in plans.items())
    lines = [line for line in text.splitlines() if not line.startswith(("Location", "Batched"))]
    (RESULTS / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _alone(
    rows: Sequence[tuple[int, str]], documents: Sequence[bytes]
) -> tuple[Index, list[list[int]], float]:
    """The index in memory: what it answers, and its seconds a document, ids in Python's hands."""
    index = Index()
    index.add_many(rows)
    expected = [[int(id) for id in found] for found in index.match_many(documents)]  # type: ignore[union-attr]
    seconds = min(
        _seconds(lambda: [list(found) for found in index.match_many(documents)])[0]  # type: ignore[arg-type]
        for _ in range(ROUNDS)
    )
    return index, expected, seconds / len(documents)


def _timed(
    database: Relational, documents: Sequence[bytes], expected: Sequence[list[int]], rounds: int
) -> float:
    """The best of several rounds in seconds a document; a wrong answer ends the run."""
    best = float("inf")
    for _ in range(rounds):
        seconds, found = _seconds(lambda: database.match(enumerate(documents)))
        best = min(best, seconds / len(documents))
        wanted = [(at, id) for at in range(len(documents)) for id in sorted(expected[at])]
        if found != wanted:
            raise WrongAnswerError(f"{type(database).__name__}: {len(found):,} pairs, not {len(wanted):,}")
    return best


def _seconds(task: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = task()
    return time.perf_counter() - start, result


def plot_subscriptions(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Time by number of subscriptions, a line for each backend, dashed without cutting."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        name, _, number = row["subject"].partition(", ")
        at = float(number.replace(",", ""))
        lines.setdefault(name, []).append((at, row["batch ms"]))
        lines.setdefault(f"{name}, not cut", []).append((at, row["not cut ms"]))
        lines.setdefault("auto", []).append((at, row["auto ms"]))
    _plot(lines, path, "subscriptions", "ms a document of 15 KB")


def plot_sizes(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Time by size of the document, a line for each backend."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        for key, value in row.items():
            if key.endswith(" ms"):
                lines.setdefault(key.removesuffix(" ms"), []).append((row["KB"], value))
    _plot(lines, path, "KB of the document", "ms a document, 10,000 subscriptions")


def _plot(lines: dict[str, list[tuple[float, float]]], path: Path, across: str, up: str) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    colours = {"DuckDB": "#1f6f8b", "PostgreSQL": "#d9a441", "Spark": "#a3443f", "auto": "#66727f"}
    with mpl.rc_context({"svg.hashsalt": "pathcast", "svg.fonttype": "none", "axes.spines.right": False}):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for name, points in lines.items():
            kind, _, uncut = name.partition(", ")
            points = sorted(set(points))
            axes.plot(
                [x for x, _ in points],
                [y for _, y in points],
                marker="o",
                markersize=3,
                color=colours[kind],
                linestyle="--" if uncut else "-",
                label=name,
            )
        axes.set_yscale("log")
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.legend(frameon=False, fontsize=8)
        figure.savefig(path, format="svg", metadata={"Date": None})
