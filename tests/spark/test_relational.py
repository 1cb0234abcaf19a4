"""The relational matcher on Spark SQL: verdicts, random pairs, and DataFrames in and out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pathcast.errors import DatabaseError, SubscriptionErrors
from pathcast.limits import Limits
from pathcast.relational import Relational
from pathcast.relational.backends.spark import SparkRelational
from pathcast.relational.backends.spark import database as on_spark
from pathcast.relational.sql import steps, tables
from tests.relational.agreement import run
from tests.relational.backends import Make
from tests.relational.verdicts import wrong_verdicts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTED = (*tables.SHARED, "Subscriber")
MOST_JOBS = 30
"""Of a match, however many documents, where chains have two steps and patterns one level."""
PAIRS = int(os.environ.get("PATHCAST_SPARK_PAIRS", "0"))


@pytest.fixture
def make(spark: SparkSession) -> Iterator[Make]:
    made: list[Relational] = []

    def new(ignore: bool = False) -> Relational:
        # Every level is a job or more: what is higher than four is decided by the expression itself.
        made.append(interpreted(Relational(spark, ignore_namespaces=ignore, levels=4)))
        return made[-1]

    yield new
    for database in made:
        database.close()


def interpreted(database: Any) -> Any:
    """Statements over a few rows are not compiled: that takes longer than to run them."""
    database._spark.conf.set("spark.sql.codegen.wholeStage", "false")
    database._spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    return database


def jobs(spark: SparkSession) -> int:
    """How many jobs there were; a Connect session does not tell."""
    if not hasattr(spark, "_jsparkSession"):
        return 0
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))


def test_the_verdicts_of_testdata(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The long way: the sets of the other tests are small."""
    monkeypatch.setattr(on_spark, "SMALL_ROWS", 0)
    wrong = wrong_verdicts(make, modes=(False,))
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.skipif(not PAIRS, reason="two minutes and more: PATHCAST_SPARK_PAIRS says how many pairs")
def test_random_pairs(make: Make) -> None:
    pairs, wrong = run(31, range(PAIRS // 200), make)
    print(f"seed 31, {pairs} pairs")
    assert not wrong, "\n".join(wrong[:3])


def test_data_frames_in_and_out(
    spark: SparkSession, tmp_path: object, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    database = interpreted(SparkRelational(spark, path=str(tmp_path)))
    request.addfinalizer(database.close)
    collected = count_collected(type(spark.range(1)), monkeypatch)
    subscriptions = spark.createDataFrame(
        [(f"s{number}", f"/a/b[c = {number}]") for number in range(50)] + [("not", "//b[not(c)]")],
        "id string, xpath string",
    )
    database.subscribe(subscriptions)
    bad = [(number, "<a>") for number in range(100, 140)]
    documents = spark.createDataFrame(
        [(10, "<a><b><c>7</c></b></a>"), (11, "<a>"), (12, "<b/>"), (13, None), *bad],
        "doc_id int, xml string",
    )
    before = jobs(spark)
    matches = database.match(documents)
    used = [jobs(spark) - before]
    assert matches.columns == ["doc_id", "subscription_id"]
    plans = dict(database.plans)
    names = spark.createDataFrame([(f"s{number}",) for number in range(10, 50)], "id string")
    database.unsubscribe(names)
    plans |= {f"unsubscribe {name}": plan for name, plan in database.plans.items()}
    # Of subscriptions, documents and answers nothing came here: a row for each table or change, no more.
    assert max(collected) <= 8
    products(plans, {"Fact", "Match", "Asked", "Decided", "unsubscribe unknown"})
    monkeypatch.undo()
    assert {tuple(row) for row in matches.collect()} == {(10, "s7"), (12, "not")}
    dead = {row["doc_id"]: row["line"] for row in database.dead_letters.collect()}
    assert dead == {11: 1, 13: 0} | {id: 1 for id, _ in bad}
    # The answer belongs to the caller's session.
    assert matches.join(documents, "doc_id").count() == 2

    with pytest.raises(KeyError, match="s10"):
        database.unsubscribe(spark.createDataFrame([("s1",), ("s10",)], "id string"))
    again = interpreted(SparkRelational(spark, path=str(tmp_path)))  # what one changes, the other sees
    request.addfinalizer(again.close)
    database.unsubscribe(["s7"])
    database.subscribe([("s8", "/a/b[c = 7]"), (9, "//b")])
    products(database.plans, {"Step", "Slot", "Gone"})
    assert len(again) == 11
    # It has matched before, with other steps; the test of `s7` was taken out and came back.
    before = jobs(spark)
    found = database.match([("x", b"<a><b><c>7</c></b></a>"), ("y", b"<a><b><c>8</c></b></a>")])
    used.append(jobs(spark) - before)
    assert max(used) <= MOST_JOBS, used
    assert found == [("x", 9), ("x", "s8"), ("y", 9)]
    # What was read before the change was seen is still there to be read.
    assert matches.count() == 2
    with pytest.raises(KeyError, match="s7"):
        again.unsubscribe(["s7"])
    wrong = spark.createDataFrame([("t", "//a["), ("u", "//a")], "id string, xpath string")
    with pytest.raises(SubscriptionErrors) as caught:
        again.subscribe(wrong)
    assert [json.dumps(id) for id, _ in caught.value.failures] == ['"t"']
    assert len(again) == 11


def test_removing_leaves_what_a_fresh_database_has(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that several subscriptions share stay until the last of them goes; no sweep is needed."""
    database: Any = make(False)
    database.subscribe([(1, "/a[b = 2][x/y][z]/c//d"), (2, "//e[f][g]/c//d"), (3, "//x[@y < 3][y]")])
    database.subscribe([(1, "//e[f][g]/c//d[not(f)]"), (5, "/a[b = 2][x[@y < 3][y]/z][w]//d")])
    database.unsubscribe([5])
    products(database.plans, {"Loose", "Free"})
    with Relational("duckdb", levels=4) as fresh:
        fresh.subscribe([(1, "//e[f][g]/c//d[not(f)]"), (2, "//e[f][g]/c//d"), (3, "//x[@y < 3][y]")])
        assert counts(database) == {table: fresh.count(table) for table in COUNTED}
        # Then a sweep comes by itself, as many being removed as are left.
        monkeypatch.setattr("pathcast.relational.backends.spark.changes.SWEPT_FROM", 2)
        database.unsubscribe([3])
        fresh.unsubscribe([3])
        assert counts(database) == {table: fresh.count(table) for table in COUNTED}
    assert not any("Free" in change.tables for change in snapshot_of(database).changes)


def counts(database: Any) -> dict[str, int]:
    """How many rows each table has, found by one query."""
    stored = database._store.tables(snapshot_of(database))
    some = {table: stored[table] for table in COUNTED}
    query = " union all ".join(f"select '{table}', count(*) from {{{table}}}" for table in some)
    return dict(tuple(row) for row in database._spark.sql(query, **some).collect())


def snapshot_of(database: Any) -> Any:
    """The changes that a match would read."""
    return database._store.snapshot(database.settings)


def test_two_contents_of_one_number_are_told_and_nothing_is_written(make: Make) -> None:
    database: Any = make(False)
    database.subscribe([("s", "/a/b")])
    store = database._store
    steps = [row.asDict() | {"proof": 0} for row in store.written("Step", 1).drop("change").collect()]
    store.write("Step", 1, store.spark.createDataFrame(steps, store.written("Step", 1).drop("change").schema))
    with pytest.raises(DatabaseError, match="same number as a different"):
        database.subscribe([("t", "/a/b"), ("u", "//c")])
    assert len(database) == 1
    assert database.count("Step") == 2


def products(plans: dict[str, str], wanted: set[str]) -> None:
    """No statement joins everything with everything; these are among them."""
    assert wanted <= set(plans)
    for name, plan in plans.items():
        assert "Physical Plan" in plan, name
        assert "CartesianProduct" not in plan, name
        assert "BroadcastNestedLoopJoin" not in plan, name


def count_collected(frames: type, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each call brings to the driver from now on."""
    counted = [0]

    def counting(plain: Any) -> Any:
        def collect(self: Any, *arguments: Any, **options: Any) -> Any:
            rows = list(plain(self, *arguments, **options))
            counted.append(len(rows))
            return rows

        return collect

    for name in ("collect", "toLocalIterator", "toPandas", "toArrow"):
        monkeypatch.setattr(frames, name, counting(getattr(frames, name)))
    return counted


def test_a_common_slot_is_looked_up_and_not_multiplied(spark: SparkSession, make: Make) -> None:
    """Begun from `@lang`, each document would give a row for each subscription."""
    database: Any = make(False)
    database.subscribe((number, f"/news/item[@lang = 'en'][code = {number}]") for number in range(500))
    items = [(number, f"<news><item lang='en'><code>{number}</code></item></news>") for number in range(20)]
    matches = database.match(spark.createDataFrame(items, "doc_id int, xml string"))
    assert matches.count() == len(items)
    for query in (steps.at_first(steps.PAIRED), steps.RISING):
        assert most_joined(database._run.query(query, 1)) <= 4 * len(items)
    from_the_wrong_end = steps.at_first(steps.STARTED.replace("first_slot", "second_slot"))
    assert most_joined(database._run.query(from_the_wrong_end, 1)) == 500 * len(items)


def most_joined(rows: Any) -> int:
    """The most rows that a join gave while these were found."""
    rows.collect()
    return max(joins(rows._jdf.queryExecution().executedPlan()))


def joins(node: Any) -> Iterator[int]:
    """How many rows each join of a plan gave."""
    if node.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
        yield from joins(node.executedPlan())
    elif hasattr(node, "plan") and node.getClass().getSimpleName().endswith("QueryStageExec"):
        yield from joins(node.plan())
    counted = node.metrics().get("numOutputRows")
    if "Join" in node.nodeName() and counted.isDefined():
        yield int(counted.get().value())
    for at in range(node.children().size()):
        yield from joins(node.children().apply(at))


@pytest.mark.parametrize("is_small", [True, False], ids=["few", "many"])
def test_few_rows_and_many_are_answered_alike(
    make: Make, is_small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_small:
        monkeypatch.setattr(on_spark, "SMALL_ROWS", 0)
    tables: Any = make(False)
    tables.subscribe([("deep", "/a[b[c[d][e = 1]][f]][g]//h[i]"), ("far", "//b//e"), ("none", "//b[not(c)]")])
    assert tables.match([]) == []
    inside = "<b><c><d/><e>1</e></c><f/></b><g/><x><h><i/></h></x>"
    found = tables.match([(1, f"<a>{inside}</a>"), (2, "<a><b/></a>"), (3, f"<x>{inside}</x>")])
    assert found == [(1, "deep"), (1, "far"), (2, "none"), (3, "far")]
    plans = tables.plans
    products(plans, {"Open 1", "Level", "Match"})
    # Many rows are planned again while they are joined, which makes a job of each part of a statement.
    assert ("AdaptiveSparkPlan" in plans["Match"]) is not is_small


def test_what_costs_too_much_is_a_dead_letter(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    database = interpreted(Relational(spark, levels=2, limits=Limits(evaluation_steps=10_000)))
    request.addfinalizer(database.close)
    database.subscribe([("costly", "//*[count(preceding::*) > count(following::*)]"), ("odd", "//a[not(b)]")])
    found = database.match([("d", "<r>" + "<a/>" * 500 + "</r>"), ("e", "<a/>")])
    assert found == [("d", "odd"), ("e", "odd")]
    ((name, error),) = database.dead_letters
    assert (name, "'costly'" in error.reason) == ("d", True)
