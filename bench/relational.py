"""The relational matcher: the two experiments of its paper on all backends, batches, and a million on Spark.

After the paper on matching XPath subscriptions level by level with non-recursive SQL: subscriptions with 30 %
branching steps, 10 % ``*`` and 20 % ``//``, up to ten levels deep, drawn from a DTD (there the one of an
astronomical data centre, here NITF, or the news DTD that ships), one value test each. `auto` is the index in
memory on one thread, beside each figure in the same run. What is compared takes turns. Every answer is
compared with the index's, pair by pair. `PATHCAST_BENCH_SCALE` makes the numbers of subscriptions smaller:
0.01 is a hundredth.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from bench import wire
from bench.answers import WrongAnswerError
from bench.foundation import Row
from bench.measure import best_times, processor_seconds, scale, timed
from bench.workloads import Workload, corpus_schema
from pathcast.generate import documents as draw_documents
from pathcast.generate import subscriptions as draw_subscriptions
from pathcast.index import Index
from pathcast.relational import Relational
from pathcast.relational.sql.names import kept_table
from pathcast.schema import Schema
from pathcast.types import Id

NUMBERS = (1_000, 10_000, 25_000, 50_000, 100_000)
SIZES = (3_000, 15_000, 40_000, 100_000)
BATCHES = (1, 10, 100)
TOGETHER = 10
CUT, NOT_CUT = "cut", "not cut"
CLUSTERED = "clustered by name"
BROADCAST = "with broadcasts"
NOT_BROADCAST = "without broadcasts"
ROUNDS = 6
SECONDS = 20.0  # after which there is no further round, but there are two
MILLION = (1_000_000, 1_000)  # subscriptions, documents
PLANS = Path("build/bench")


@cache
def _schema() -> Schema:
    return corpus_schema("nitf") or Schema.from_dtd(Path(__file__).parents[1] / "examples/news/wire.dtd")


@cache
def _expressions(number: int) -> tuple[str, ...]:
    odds = {"wildcard": 0.1, "descendant": 0.2, "branch": 0.3}
    return tuple(draw_subscriptions(_schema(), number, max_depth=10, predicates=1, seed=2, **odds))  # type: ignore[arg-type]


def _documents(number: int, size: int) -> list[bytes]:
    return list(draw_documents(_schema(), number, max_levels=12, target_size=size, seed=3))


@contextmanager
def _backends(*names: str) -> Iterator[dict[str, Callable[..., Relational]]]:
    """What makes databases of each kind, with their servers running."""
    with ExitStack() as stack:
        makers: dict[str, Callable[..., Relational]] = {}
        if "DuckDB" in names:
            makers["DuckDB"] = Relational
        if "PostgreSQL" in names:
            from tests.postgres.server import PostgresServer

            server = stack.enter_context(PostgresServer())
            makers["PostgreSQL"] = lambda: Relational(server.fresh())
        if "Spark" in names:
            from pathcast.spark.driver.session import session

            folder = Path(tempfile.mkdtemp(prefix="pathcast-bench-"))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            spark = stack.enter_context(
                session("pathcast bench", master="local[2]", memory="4g", log=folder / "spark.log")
            )
            makers["Spark"] = lambda **options: Relational(spark, **options)
            warm = Relational(spark)  # the first statements of a session take seconds more
            warm.subscribe(enumerate(_expressions(200)))
            for warm.cutting in (True, False):
                warm.match(enumerate(_documents(2, 3_000)))
            warm.close()
        yield makers


def subscriptions(_: Workload) -> Iterator[Row]:
    """Milliseconds for a document of 15 KB in a batch of 5, by number of subscriptions, cut and not cut."""
    documents = _documents(5, 15_000)
    expressions = _expressions(_scaled(max(NUMBERS)))
    with _backends("DuckDB", "PostgreSQL", "Spark") as makers:
        for number in map(_scaled, NUMBERS):
            rows = list(enumerate(expressions[:number]))
            expected, auto = _alone(rows, documents)
            for name, make in makers.items():
                database = make()
                subscribing = timed(partial(database.subscribe, rows))[0]
                tasks = {CUT: Task(database, documents), NOT_CUT: Task(database, documents, cutting=False)}
                times = _best(tasks, expected)
                yield Row(
                    "relational",
                    f"{name}, {number:,}",
                    {
                        "subscribe s": subscribing,
                        "edges": database.count("XPathFrame"),
                        "frames": database.count("Frame"),
                        "matches / document": sum(map(len, expected)) / len(documents),
                        "cut ms": times[CUT],
                        "not cut ms": times[NOT_CUT],
                        "× by cutting": times[NOT_CUT] / times[CUT],
                        "auto ms": auto * 1e3,
                    },
                )
                database.close()


def sizes(_: Workload) -> Iterator[Row]:
    """Milliseconds for a document against 10,000 subscriptions in a batch of 10, by size of the document."""
    rows = list(enumerate(_expressions(_scaled(10_000))))
    with _backends("DuckDB", "PostgreSQL", "Spark") as makers:
        databases = {name: make() for name, make in makers.items()}
        for database in databases.values():
            database.subscribe(rows)
        for size in SIZES:
            documents = _documents(10, size)
            expected, auto = _alone(rows, documents)
            values = {
                "KB": sum(map(len, documents)) / len(documents) / 1e3,
                "matches / document": sum(map(len, expected)) / len(documents),
            }
            tasks = {f"{name} ms": Task(database, documents) for name, database in databases.items()}
            values |= _best(tasks, expected)
            values["auto ms"] = auto * 1e3
            yield Row("relational-documents", f"{size // 1000} KB", values)
        for database in databases.values():
            database.close()


def levers(_: Workload) -> Iterator[Row]:
    """Milliseconds for a document of 15 KB, 10,000 subscriptions: batching, clustering, broadcasting."""
    rows = list(enumerate(_expressions(_scaled(10_000))))
    documents = _documents(max(BATCHES), 15_000)
    expected, auto = _alone(rows, documents)
    changes: dict[str, tuple[str, Callable[[Any], None]]] = {
        "DuckDB": (CLUSTERED, _cluster_duckdb),
        "PostgreSQL": (CLUSTERED, _cluster_postgresql),
        "Spark": (NOT_BROADCAST, _no_broadcasts),
    }
    with _backends(*changes) as makers:
        for name, make in makers.items():
            plain, changed = make(), make()
            for database in (plain, changed):
                database.subscribe(rows)
            what, change = changes[name]
            change(changed)
            tasks = {f"{name}, batches of {number}": Task(plain, documents[:number]) for number in BATCHES}
            tasks[f"{name}, {what}"] = Task(changed, documents[:TOGETHER])
            for subject, took in _best(tasks, expected).items():
                values = {"documents": len(tasks[subject].documents), "ms": took, "auto ms": auto * 1e3}
                yield Row("relational-levers", subject, values)
            for database in (plain, changed):
                database.close()


def _cluster_duckdb(database: Any) -> None:
    """Rows of one level and one pair of names lie together."""
    with database._backend.writing() as session:
        session.execute(
            "create or replace table {XPathFrame} as select e.* from {XPathFrame} e "
            "join {Frame} f on f.frame = e.frame order by e.level, f.high_node, f.low_node"
        )


def _cluster_postgresql(database: Any) -> None:
    """The same, as this server does it: by an index, and a frame is a pair of names."""
    with database._backend.writing() as session:
        session.execute("cluster {XPathFrame} using " + f"{kept_table('XPathFrame')}_frame")
        session.execute("analyze {XPathFrame}")


def _no_broadcasts(database: Any) -> None:
    for name in ("spark.sql.autoBroadcastJoinThreshold", "spark.sql.adaptive.autoBroadcastJoinThreshold"):
        database._spark.conf.set(name, "-1")


def million(_: Workload) -> Iterator[Row]:
    """1,000 documents of 2 KB against 1,000,000 subscriptions on Spark, with and without broadcasts."""
    number, count = map(_scaled, MILLION)
    queries = wire.queries(number)
    documents = list(wire.documents(count))
    expected, auto = _alone(list(enumerate(queries)), documents)
    total = sum(map(len, expected))
    with _backends("Spark") as makers, tempfile.TemporaryDirectory() as folder:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # Two views of the same tables, each with a session of its own.
        databases: dict[str, Any] = {
            subject: makers["Spark"](path=f"{folder}/tables") for subject in (BROADCAST, NOT_BROADCAST)
        }
        _no_broadcasts(databases[NOT_BROADCAST])
        database = databases[BROADCAST]
        spark = database._theirs
        tables = {
            "subscriptions": pa.table({"id": pa.array(range(number), pa.int64()), "xpath": queries}),
            "documents": pa.table({"doc_id": pa.array(range(count), pa.int64()), "xml": documents}),
        }
        for name, table in tables.items():
            # In several parts, so that both cores read.
            pq.write_table(table, f"{folder}/{name}", row_group_size=max(1, table.num_rows // 8))
        del tables, queries
        subscribing = timed(lambda: database.subscribe(spark.read.parquet(f"{folder}/subscriptions")))[0]
        best = dict.fromkeys(databases, (float("inf"), float("inf")))
        for subject in (*databases, *reversed(databases)):
            used = processor_seconds()
            seconds, matches = timed(
                partial(databases[subject].match, spark.read.parquet(f"{folder}/documents"))
            )
            best[subject] = min(best[subject], (seconds, processor_seconds() - used))
            found: dict[int, set[int]] = {}
            for pair in matches.toLocalIterator():
                found.setdefault(pair[0], set()).add(int(pair[1]))
            if any(found.get(at, set()) != set(ids) for at, ids in enumerate(expected)):
                raise WrongAnswerError(f"Spark, {number:,} subscriptions: other matches than the index")
        for subject, (seconds, used) in best.items():
            if number == MILLION[0]:
                _keep_plans(databases[subject].plans, f"relational-spark-{subject.replace(' ', '-')}")
            yield Row(
                "relational-spark",
                f"{count:,} × {number:,}, {subject}",
                {
                    "subscribe s": subscribing,
                    "edges": database.count("XPathFrame"),
                    "frames": database.count("Frame"),
                    "matches / document": total / count,
                    "match s": seconds,
                    "processor s": used,
                    "ms / document": seconds / count * 1e3,
                    "auto ms": auto * 1e3,
                },
            )
        for database in databases.values():
            database.close()


def _keep_plans(plans: dict[str, str], name: str) -> None:
    PLANS.mkdir(parents=True, exist_ok=True)
    # The tree alone: what each operator reads is in the statements.
    trees = (f"== {table} ==\n{plan.partition('(1) ')[0].strip()}\n" for table, plan in plans.items())
    (PLANS / f"{name}.txt").write_text("\n".join(trees), encoding="utf-8")


def _alone(rows: Sequence[tuple[int, str]], documents: Sequence[bytes]) -> tuple[list[list[int]], float]:
    """The index in memory: what it answers, and its seconds a document, ids in Python's hands."""
    index = Index()
    index.add_many(rows)
    expected = [[int(id) for id in found] for found in index.match_many(documents)]  # type: ignore[union-attr]
    seconds = best_times({"auto": lambda: [list(found) for found in index.match_many(documents)]}, rounds=3)  # type: ignore[arg-type]
    return expected, seconds["auto"] / len(documents)


@dataclass(frozen=True)
class Task:
    """Documents that a database matches, all in one batch."""

    database: Relational
    documents: Sequence[bytes]
    cutting: bool = True

    def __call__(self) -> list[tuple[Id, Id]]:
        self.database.cutting = self.cutting
        return self.database.match(enumerate(self.documents))


def _best(tasks: Mapping[str, Task], expected: Sequence[list[int]]) -> dict[str, float]:
    """Milliseconds a document, the best of rounds taken in turn; a wrong answer ends the run."""

    def check(name: str, found: list[tuple[Id, Id]]) -> None:
        wanted = [(at, id) for at in range(len(tasks[name].documents)) for id in sorted(expected[at])]
        if found != wanted:
            raise WrongAnswerError(f"{name}: {len(found):,} pairs, not {len(wanted):,}")

    best = best_times(tasks, ROUNDS, within=SECONDS, check=check)
    return {name: took / len(tasks[name].documents) * 1e3 for name, took in best.items()}


def _scaled(number: int) -> int:
    return max(10, int(number * scale()))
