"""The relational matcher: sets as its paper has them, other workloads, and a million on Spark.

After the paper on matching XPath subscriptions level by level with non-recursive SQL: subscriptions with 30 %
branching steps, 10 % ``*`` and 20 % ``//``, up to ten levels deep, one value test each, drawn from a DTD.
There it was that of an astronomical data centre; here NITF, or the news DTD that ships, and XMark. Linear
sets have neither branches nor tests. `auto` is the index in memory on one thread, beside each figure in the
same run. What is compared takes turns. Every answer is compared with the index's, pair by pair. Time
is that of all processors in use, the database's too.
`PATHCAST_BENCH_SCALE` makes the numbers of subscriptions smaller: 0.01 is a hundredth.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from bench.corpus import corpus_schema, news_schema
from bench.harness.answers import WrongAnswerError
from bench.harness.kept import Kept, Row
from bench.harness.turns import Task as Timed
from bench.harness.turns import family_clock, in_turns, processor_seconds, scale, timed
from bench.plan import Plan
from bench.workloads import WORKLOADS, wire
from pathcast import _core
from pathcast.generate import documents as draw_documents
from pathcast.generate import subscriptions as draw_subscriptions
from pathcast.index import Index
from pathcast.relational import Relational
from pathcast.schema import Schema
from pathcast.types import Id

SCHEMAS = ("nitf", "xmark")
KINDS = ("twigs", "linear")
NUMBERS = (1_000, 10_000, 100_000)
DATABASES = ("DuckDB", "PostgreSQL")
WORKLOAD_SETS = (("nitf", 100_000), ("alerts", 100_000), ("twigs", 10_000), ("twigs", 100_000))
WARM = {"DuckDB": 300, "PostgreSQL": 100}  # documents, so that most paths are known
ROUNDS = 6
SECONDS = 20.0  # after which there is no further round, but there are two
MILLION = (1_000_000, 1_000)  # subscriptions, documents
PLANS = Path("build/bench")


@cache
def schemas() -> dict[str, Schema]:
    """The schema of news, and that of auctions where it is there."""
    auctions = corpus_schema("xmark")
    return {"nitf": news_schema()} | ({"xmark": auctions} if auctions else {})


@cache
def drawn_subscriptions(number: int, schema: str = "nitf", kind: str = "twigs") -> tuple[str, ...]:
    """As the paper's are drawn, or linear ones."""
    odds = {"wildcard": 0.1, "descendant": 0.2}
    odds |= {"branch": 0.3, "predicates": 1} if kind == "twigs" else {"branch": 0.0, "predicates": 0}
    return tuple(draw_subscriptions(schemas()[schema], number, max_depth=10, seed=2, **odds))  # type: ignore[arg-type]


def drawn_documents(size: int, seed: int = 3, schema: str = "nitf", levels: int = 12) -> Iterator[bytes]:
    """Documents without end, of about that size in bytes and at most so many levels."""
    return draw_documents(schemas()[schema], 1 << 40, max_levels=levels, target_size=size, seed=seed)


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
            warm.subscribe(enumerate(drawn_subscriptions(200)))
            warm.match(enumerate(islice(drawn_documents(3_000, seed=4), 2)))
            warm.close()
        yield makers


def subscriptions(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Milliseconds for a document of 15 KB by number of subscriptions: alone, and in a batch of 100.

    Linear and branching sets on two schemas, beside `auto` and the bare tokeniser; *cold* is the first batch,
    for which there is no path summary yet. `--size` and `--engine` pick numbers and databases.
    """
    numbers = [scaled(number) for number in NUMBERS if not plan.sizes or number in plan.sizes]
    names = [name for name in DATABASES if not plan.engines or name in plan.engines]
    with _backends(*names) as makers:
        for schema, kind, number in itertools.product(SCHEMAS, KINDS, numbers):
            for name, make in makers.items():
                subject = f"{name}, {number:,}, {schema} {kind}"
                if kept.has(subject) or schema not in schemas() or number > most(name, schema, kind):
                    continue
                expressions = drawn_subscriptions(number, schema, kind)
                index = Memory(enumerate(expressions))
                database = make()
                subscribing = timed(partial(database.subscribe, list(enumerate(expressions))))[0]
                stream = drawn_documents(15_000, schema=schema)
                tasks = {"batch": matching(database), "auto": index.matching, "tokeniser": _tokenise}
                times = _cold(database, index, stream, size=100)
                times |= _best(tasks, index, stream, size=100, warm=WARM[name])
                times |= _best({"single": matching(database)}, index, stream, size=1)
                yield Row(
                    subject,
                    {
                        "subscribe s": subscribing,
                        "steps": database.count("Step"),
                        "patterns": database.count("Pattern"),
                        "matches / document": index.matches_a_document,
                        **times,
                    },
                )
                database.close()


def most(name: str, schema: str, kind: str) -> int:
    """Up to how many subscriptions a set is taken.

    On XMark, 100,000 branching subscriptions take minutes to warm. On PostgreSQL a document that has 56,000
    matches shows how long it takes to fetch rows, and NITF is enough to compare it with DuckDB.

    >>> most("PostgreSQL", "nitf", "linear"), most("PostgreSQL", "xmark", "twigs")
    (10000, 0)
    """
    if name == "PostgreSQL":
        return 0 if schema == "xmark" else scaled(10_000 if kind == "linear" else 100_000)
    return scaled(10_000 if (schema, kind) == ("xmark", "twigs") else 100_000)


def _tokenise(documents: Sequence[bytes]) -> None:
    _core.bare_elements(list(documents))


def workloads(kept: Kept, _: Plan) -> Iterator[Row]:
    """Milliseconds for a document on DuckDB in batches of 100, and for one small document alone."""
    for name, number in WORKLOAD_SETS:
        subject = f"{name}, {scaled(number):,}, batches of 100"
        if kept.has(subject):
            continue
        expressions = WORKLOADS[name].queries(scaled(number))
        yield _duckdb_row(subject, expressions, WORKLOADS[name].documents(7), size=100, warm=WARM["DuckDB"])
    number = scaled(10_000)
    subject = f"small documents, {number:,}, one at a time"
    if not kept.has(subject):
        yield _duckdb_row(subject, drawn_subscriptions(number), small_documents(), size=1, warm=20)


def _duckdb_row(
    subject: str, expressions: Sequence[str], stream: Iterator[bytes], size: int, warm: int
) -> Row:
    index, database = Memory(enumerate(expressions)), Relational("duckdb")
    database.subscribe(list(enumerate(expressions)))
    for document in islice(stream, warm if size == 1 else 0):
        database.match([(0, document)])
    tasks = {"DuckDB": matching(database), "auto": index.matching, "tokeniser": _tokenise}
    rounds = ROUNDS if size > 1 else 10 * ROUNDS
    clock = time.process_time
    times = in_turns(tasks, stream, size=size, rounds=rounds, warm=warm, clock=clock, check=index.check)
    database.close()
    return Row(
        subject,
        {
            "bytes": index.bytes_a_document,
            "matches / document": index.matches_a_document,
            "best ms": times["DuckDB"].best * 1e3,
            "median ms": times["DuckDB"].median * 1e3,
            "auto ms": times["auto"].best * 1e3,
            "tokeniser ms": times["tokeniser"].best * 1e3,
        },
    )


def small_documents() -> Iterator[bytes]:
    """News of 17 nodes, each with values of its own."""
    for number in itertools.count():
        yield (
            f"<nitf><head><title>t{number}</title><docdata><date.issue norm='{number}'/>"
            f"<doc-id id-string='x{number}'/></docdata></head><body><body.head><hedline><hl1>h{number}</hl1>"
            f"</hedline><byline><person>p{number}</person></byline></body.head><body.content><block>"
            f"<p>one</p><p>{number}</p><p>three</p></block></body.content></body></nitf>"
        ).encode()


def million(kept: Kept, _: Plan) -> Iterator[Row]:
    """1,000 documents of 2 KB against 1,000,000 subscriptions on Spark: the first batch, and the next one."""
    number, count = map(scaled, MILLION)
    subject = f"{count:,} × {number:,}"
    if kept.has(subject):
        return
    queries = wire.queries(number)
    index = Memory(enumerate(queries))
    stream = wire.documents(1)
    auto = in_turns({"auto": index.matching}, stream, size=200, rounds=3, warm=1_000)["auto"].best
    with _backends("Spark") as makers, tempfile.TemporaryDirectory() as folder:
        import pyarrow as pa
        import pyarrow.parquet as pq

        database: Any = makers["Spark"](path=f"{folder}/tables")

        def written(name: str, **columns: Any) -> Any:
            table = pa.table(columns)
            # In several parts, so that both cores read.
            pq.write_table(table, f"{folder}/{name}", row_group_size=max(1, table.num_rows // 8))
            return database._theirs.read.parquet(f"{folder}/{name}")

        rows = written("subscriptions", id=pa.array(range(number), pa.int64()), xpath=queries)
        values = {"subscribe s": timed(lambda: database.subscribe(rows))[0]}
        for turn in ("first", "match"):
            documents = list(islice(stream, count))
            frame = written(turn, doc_id=pa.array(range(count), pa.int64()), xml=documents)
            used = processor_seconds()
            values[f"{turn} s"], matches = timed(partial(database.match, frame))
            values[f"{turn} processor s"] = processor_seconds() - used
            found: list[tuple[Id, Id]] = [(pair[0], int(pair[1])) for pair in matches.toLocalIterator()]
            index.check(turn, documents, sorted(found))
        if number == MILLION[0]:
            _keep_plans(database.plans, "relational-spark")
        values |= {
            "steps": database.count("Step"),
            "matches / document": index.matches_a_document,
            "ms / document": values["match s"] / count * 1e3,
            "auto ms": auto * 1e3,
        }
        database.close()
    yield Row(subject, values)


def _keep_plans(plans: dict[str, str], name: str) -> None:
    PLANS.mkdir(parents=True, exist_ok=True)
    # The tree alone: what each operator reads is in the statements.
    trees = (f"== {table} ==\n{plan.partition('(1) ')[0].strip()}\n" for table, plan in plans.items())
    (PLANS / f"{name}.txt").write_text("\n".join(trees), encoding="utf-8")


class Memory:
    """The index in memory: what it takes, with ids in Python's hands, and what the databases must answer."""

    def __init__(self, rows: Iterable[tuple[int, str]]) -> None:
        self._timed, self._judge = Index(), Index()  # of two, so that the timed one sees a document once
        rows = list(rows)
        for index in (self._timed, self._judge):
            index.add_many(rows)
        self._counts: list[int] = []
        self._bytes: list[int] = []

    def matching(self, documents: Sequence[bytes]) -> None:
        """Every id of every document."""
        for document in documents:
            self._timed.match(document)

    def check(self, name: str, documents: Sequence[bytes], found: object) -> None:
        """An error if a database found other pairs."""
        if found is None:
            return
        answers = [self._judge.match(document) for document in documents]
        wanted = [(at, id) for at, ids in enumerate(answers) for id in sorted(ids)]
        if found != wanted:
            raise WrongAnswerError(f"{name}: other pairs than the {len(wanted):,} of the index")
        self._counts += map(len, answers)
        self._bytes += map(len, documents)

    @property
    def matches_a_document(self) -> float:
        """Of the documents that were checked."""
        return sum(self._counts) / len(self._counts)

    @property
    def bytes_a_document(self) -> float:
        """Of the documents that were checked."""
        return sum(self._bytes) / len(self._bytes)


def matching(database: Relational) -> Timed:
    """What matches documents in one batch."""
    return lambda documents: database.match(enumerate(documents))


def _best(
    tasks: Mapping[str, Timed], index: Memory, stream: Iterator[bytes], size: int, warm: int = 1
) -> dict[str, float]:
    """Milliseconds a document, the best of rounds taken in turn, of the first task the median too.

    A wrong answer ends the run.
    """
    times = in_turns(
        tasks,
        stream,
        size=size,
        rounds=ROUNDS,
        warm=warm,
        within=SECONDS,
        clock=family_clock(),
        check=index.check,
    )
    figures = {f"{name} ms": found.best * 1e3 for name, found in times.items()}
    first = next(iter(tasks))
    return figures | {f"{first} median ms": times[first].median * 1e3}


def _cold(database: Relational, index: Memory, stream: Iterator[bytes], size: int) -> dict[str, float]:
    """Milliseconds a document of the first batch."""
    documents = list(islice(stream, size))
    seconds, found = timed(partial(matching(database), documents), family_clock())
    index.check("cold", documents, found)
    return {"cold ms": seconds / size * 1e3}


def scaled(number: int) -> int:
    """A number of subscriptions as `PATHCAST_BENCH_SCALE` has it."""
    return max(10, int(number * scale()))
