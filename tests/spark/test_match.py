"""`match` gives what an index in this process gives, in every way to call it."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pathcast
from pathcast.spark import (
    MatchOptions,
    RejectedSubscriptions,
    compile_subscriptions,
    match,
    match_tagged,
    split_tagged,
)
from pathcast.spark.artifact import Settings
from pathcast.spark.driver import workers
from pathcast.spark.worker.match import MatchJob, excerpt, match_batches
from pathcast.spark.worker.shards import ShardFiles
from tests.spark.data import World, world

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@cache
def the_world() -> World:
    return world(seed=4, documents=300, subscriptions=400)


def pairs(matches: DataFrame) -> list[tuple[Any, Any]]:
    return sorted((row.doc_id, row.subscription_id) for row in matches.collect())


def letters(dead: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((row.doc_id, row.reason, row.line, row.column, row.kind) for row in dead.collect())


@pytest.mark.parametrize("shards", [1, 4])
def test_matches_and_dead_letters_are_those_of_the_index(
    spark: SparkSession, tmp_path: Path, shards: int
) -> None:
    documents, subscriptions = the_world().frames(spark)
    matches, dead = match(documents, subscriptions, shards=shards)
    assert matches.columns == ["doc_id", "subscription_id", "subscriber"]
    assert dead.columns == ["doc_id", "reason", "line", "column", "kind", "excerpt"]
    found = matches.collect()
    assert sorted((row.doc_id, row.subscription_id) for row in found) == the_world().matches()
    subscriber = {row[0]: row[4] for row in the_world().rows}
    assert all(row.subscriber == subscriber[row.subscription_id] for row in found)
    assert letters(dead) == the_world().dead()
    compiled = compile_subscriptions(subscriptions, tmp_path, shards=shards)
    one_job = documents.transform(match_tagged, compiled), match(documents, compiled).tagged
    for tagged in one_job:
        matches, dead = split_tagged(tagged.persist())
        assert (pairs(matches), letters(dead)) == (the_world().matches(), the_world().dead())
        tagged.unpersist()


@pytest.mark.parametrize("together", [True, False])
def test_documents_are_read_once_for_shards_that_stay_open(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    if not together:
        monkeypatch.setattr(workers, "TOGETHER", 0)
    documents, subscriptions = the_world().frames(spark)
    compiled = compile_subscriptions(subscriptions, tmp_path / "index", shards=4)
    (tmp_path / "read").mkdir()
    read = str(tmp_path / "read")

    def seen(batches):  # type: ignore[no-untyped-def]  # it travels by value
        import uuid

        for batch in batches:
            open(f"{read}/{uuid.uuid4().hex}-{batch.num_rows}", "w").close()
            yield batch

    watched = documents.mapInArrow(seen, documents.schema)
    assert pairs(match(watched, compiled)[0]) == the_world().matches()
    count = sum(int(path.name.rpartition("-")[2]) for path in (tmp_path / "read").iterdir())
    assert count == len(the_world().documents) * (1 if together else 4)


def test_lists_are_whole_in_whatever_order_documents_come(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "TOGETHER", 0)
    documents, subscriptions = the_world().frames(spark)
    compiled = compile_subscriptions(subscriptions, tmp_path, shards=3)

    def shuffled(batches):  # type: ignore[no-untyped-def]  # it travels by value
        import random

        for batch in batches:
            yield batch.take(random.SystemRandom().sample(range(len(batch)), len(batch)))

    some = documents.mapInArrow(shuffled, documents.schema)
    grouped = match(some, compiled, result="grouped").matches.collect()
    assert sorted((row.doc_id, id) for row in grouped for id in row.subscriptions) == the_world().matches()
    assert len(grouped) == len(the_world().documents) - len(the_world().dead())


def test_compiled_subscriptions_match_from_their_folder(spark: SparkSession, tmp_path: Path) -> None:
    documents, subscriptions = the_world().frames(spark)
    compiled = compile_subscriptions(subscriptions, tmp_path)
    assert pairs(match(documents, compiled)[0]) == the_world().matches()
    assert pairs(match(documents, str(tmp_path))[0]) == the_world().matches()


def test_shipped_files_are_enough(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(folder: str, *rest: Any) -> ShardFiles:
        return ShardFiles("/no/such/folder", *rest)

    documents = spark.createDataFrame([(1, "<a><b/></a>")], "doc_id int, xml string")
    # Ids of its own, so that no worker has it open already.
    rows = [("shipped a", "//a"), ("shipped b", "//b"), ("shipped c", "//c")]
    subscriptions = spark.createDataFrame(rows, "id string, xpath string")
    compiled = compile_subscriptions(subscriptions, tmp_path, shards=2)
    monkeypatch.setattr(workers, "ShardFiles", elsewhere)
    assert pairs(match(documents, compiled, ship=True)[0]) == [(1, "shipped a"), (1, "shipped b")]
    compiled = compile_subscriptions(subscriptions.where("id = 'shipped a'"), tmp_path)
    with pytest.raises(
        Exception, match=r"not shipped to it: compile to a folder that all workers see, or call"
    ):
        match(documents, compiled, ship=False)[0].collect()


def test_every_engine_gives_the_same(spark: SparkSession, tmp_path: Path) -> None:
    documents, subscriptions = the_world().frames(spark)
    compiled = compile_subscriptions(subscriptions, tmp_path)
    for engine in pathcast.engines():
        if engine == "pma":
            with pytest.raises(pathcast.SchemaError, match="needs a schema"):
                match(documents, compiled, engine=engine)
        elif engine != "auto":
            assert pairs(match(documents, compiled, engine=engine)[0]) == the_world().matches(), engine


def test_strings_integers_and_other_columns(spark: SparkSession) -> None:
    documents = spark.createDataFrame(
        [("x", "<a><b/></a>", "é"), ("x", "<b/>", "kept out"), (None, "<a/>", ""), ("y", "<a>", "")],
        "`the id` string, `the.text` string, more string",
    )
    subscriptions = spark.createDataFrame([(7, "//b", None), (8, "/a", 1)], "id int, xpath string, other int")
    matches, dead = match(documents, subscriptions, document="the.text", id="the id")
    assert [kind for _, kind in matches.dtypes] == ["string", "int"]
    found = sorted((str(row.doc_id), row.subscription_id) for row in matches.collect())
    assert found == [("None", 8), ("x", 7), ("x", 7), ("x", 8)]
    assert [row.doc_id for row in dead.collect()] == ["y"]


@pytest.mark.parametrize("shards", [1, 3])
def test_columns_are_kept_and_lists_are_whole(spark: SparkSession, tmp_path: Path, shards: int) -> None:
    documents, subscriptions = the_world().frames(spark)
    more = documents.selectExpr("*", "concat('topic ', doc_id) as `the.topic`", "array(doc_id) as more")
    compiled = compile_subscriptions(subscriptions, tmp_path, shards=shards)
    matched = match(more, compiled, keep=["the.topic", "more"])
    assert matched.matches.columns == ["doc_id", "subscription_id", "subscriber", "the.topic", "more"]
    assert matched.dead.columns[:4] == ["doc_id", "reason", "line", "column"]
    rows = matched.matches.collect()
    assert sorted((row.doc_id, row.subscription_id) for row in rows) == the_world().matches()
    dead = matched.dead.collect()
    assert sorted(row.doc_id for row in dead) == [each[0] for each in the_world().dead()]
    for tagged in split_tagged(matched.tagged):
        rows += tagged.collect()
    assert all(
        row["the.topic"] == f"topic {row.doc_id}" and row.more == [row.doc_id] for row in [*rows, *dead]
    )
    grouped = match(more, compiled, keep=["more"], result="grouped")[0].collect()
    assert sorted((row.doc_id, id) for row in grouped for id in row.subscriptions) == the_world().matches()
    assert len(grouped) == len(the_world().documents) - len(dead)  # ids that are there twice are two rows
    assert all(row.more == [row.doc_id] for row in grouped)
    delivered = match(documents, compiled, result="delivered")[0].collect()
    subscriber = {row[0]: row[4] for row in the_world().rows}
    pairs_of = [(row.doc_id, id) for row in delivered for id in row.subscriptions]
    assert sorted(pairs_of) == the_world().matches()
    assert all(subscriber[id] == row.subscriber for row in delivered for id in row.subscriptions)
    with pytest.raises(ValueError, match="have no column 'nothing'"):
        match(documents, compiled, keep=["nothing"])
    with pytest.raises(ValueError, match="a column 'line' of their own"):
        match(documents.withColumnRenamed("doc_id", "line"), compiled, id="line", keep=["line"])
    with pytest.raises(TypeError, match="keep is a list"):
        match(documents, compiled, keep="xml")


def test_a_swapped_index_is_refused_and_answers_for_nobody(spark: SparkSession, tmp_path: Path) -> None:
    documents = spark.createDataFrame([(1, "<a><b/></a>")], "doc_id int, xml string")
    good = compile_subscriptions(
        spark.createDataFrame([("s", "//b")], "id string, xpath string"), tmp_path / "good"
    )
    same = compile_subscriptions(
        spark.createDataFrame([("s", "//b")], "id string, xpath string"), tmp_path / "swapped"
    )
    other = compile_subscriptions(
        spark.createDataFrame([("s", "//zzz")], "id string, xpath string"), tmp_path / "other"
    )
    (name,) = (shard.index for shard in same.manifest.shards)
    (foreign,) = (shard.index for shard in other.manifest.shards)
    (same.path / name).write_bytes((other.path / foreign).read_bytes())  # a sound file, of something else
    with pytest.raises(Exception, match="not what the manifest"):
        match(documents, same)[0].collect()
    assert pairs(match(documents, good)[0]) == [(1, "s")]


def test_no_subscriptions_and_no_documents(spark: SparkSession) -> None:
    documents, subscriptions = the_world().frames(spark)
    matches, dead = match(documents, subscriptions.limit(0), shards=2)
    assert matches.collect() == []
    assert letters(dead) == the_world().dead()
    matches, dead = match(documents.limit(0), subscriptions)
    assert (matches.collect(), dead.collect()) == ([], [])


def test_modes(spark: SparkSession) -> None:
    documents, subscriptions = the_world().frames(spark)
    matches, dead = match(documents, subscriptions, mode="DROPMALFORMED")
    assert (pairs(matches), dead.collect()) == (the_world().matches(), [])
    assert "reason" in dead.columns
    tagged = match_tagged(documents, subscriptions, mode="DROPMALFORMED", shards=2)
    assert pairs(tagged) == the_world().matches()
    bad = documents.where("doc_id = 1").selectExpr("doc_id", "cast('<a><b></a>' as string) as xml")
    for frame in match(bad, subscriptions, mode="FAILFAST"):
        with pytest.raises(Exception, match=r"document 1 was refused in mode FAILFAST: .*does not close"):
            frame.collect()
    good = documents.where("doc_id = 1").selectExpr("doc_id", "'<a/>' as xml")
    assert match(good, subscriptions, mode="FAILFAST")[1].collect() == []


def test_huge_documents_among_small_ones(spark: SparkSession) -> None:
    documents = spark.range(60).selectExpr(
        "id as doc_id",
        "if(id % 20 = 7, concat('<a>', repeat('<b>text</b>', 400000), '<c/></a>'), '<a><c/></a>') as xml",
    )
    subscriptions = spark.createDataFrame([("b", "//b"), ("c", "/a/c")], "id string, xpath string")
    matches, dead = match(documents, subscriptions)
    assert pairs(matches) == sorted([(at, "c") for at in range(60)] + [(at, "b") for at in (7, 27, 47)])
    assert dead.collect() == []


def test_more_matches_than_a_batch_holds(spark: SparkSession) -> None:
    documents = spark.range(40).selectExpr("id as doc_id", "'<a><b/></a>' as xml")
    subscriptions = spark.range(20_000).selectExpr("id", "'//b' as xpath")
    assert match(documents, subscriptions)[0].groupBy("doc_id").count().where("count = 20000").count() == 40


def test_bad_subscriptions_stop_it_or_not(spark: SparkSession) -> None:
    documents = spark.createDataFrame([(1, "<a/>")], "doc_id int, xml string")
    rows = [
        ("good", "/a"),
        *((f"bad{number}", "/a[") for number in range(7)),
        (None, "/a"),
        ("nothing", None),
    ]
    subscriptions = spark.createDataFrame(rows, "id string, xpath string")
    with pytest.raises(
        RejectedSubscriptions, match=r"9 subscriptions were rejected.*column 4.*4 more"
    ) as raised:
        match(documents, subscriptions)
    assert raised.value.compiled.rejected.count() == 9
    matches, _ = match(documents, subscriptions, on_bad_subscription="reject", shards=2)
    assert pairs(matches) == [(1, "good")]


def test_what_is_missing_or_wrong_is_named(spark: SparkSession, tmp_path: Path) -> None:
    documents, subscriptions = the_world().frames(spark)
    with pytest.raises(
        ValueError, match=r"documents have no column 'text'; there are: doc_id \(bigint\), xml"
    ):
        match(documents, subscriptions, document="text")
    with pytest.raises(ValueError, match="documents have no column 'nr'"):
        match(documents, subscriptions, id="nr")
    with pytest.raises(TypeError, match="'doc_id' of the documents must be string or binary, not bigint"):
        match(documents, subscriptions, document="doc_id")
    with pytest.raises(ValueError, match=r"subscriptions have no column 'xpath'; there are: id"):
        match(documents, subscriptions.drop("xpath"))
    with pytest.raises(TypeError, match=r"'id' of the subscriptions must be string or bigint .*not double"):
        match(documents, subscriptions.selectExpr("cast(1 as double) as id", "xpath"))
    with pytest.raises(ValueError, match="mode must be"):
        match(documents, subscriptions, mode="permissive")  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"not str: read them with read_documents\(\), or give files to match_f"
    ):
        match("/data/news", subscriptions)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"subscriptions must be a DataFrame, compiled .*, not list"):
        match(documents, [("a", "/a")])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^match\(\): got an unexpected keyword argument 'kept'"):
        match(documents, subscriptions, kept=["topic"])  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="there is no engine 'quick'"):
        match(documents, subscriptions, engine="quick")
    with pytest.raises(pathcast.IndexFormatError, match="holds no compiled subscriptions"):
        match(documents, tmp_path)
    compiled = compile_subscriptions(subscriptions, tmp_path)
    with pytest.raises(ValueError, match="compiled into 1 shards, not 3"):
        match(documents, compiled, shards=3)
    with pytest.raises(ValueError, match="fixed when the subscriptions were compiled"):
        match(documents, compiled, ordered=True)


@pytest.mark.parametrize(
    ("ending", "damage"), [("*.pathcast", "newer"), ("*.pathcast", "flipped"), ("*.arrow", "cut")]
)
def test_a_damaged_index_is_told(spark: SparkSession, tmp_path: Path, ending: str, damage: str) -> None:
    documents, subscriptions = the_world().frames(spark)
    # Rows of its own, so that no worker has it open already.
    own = subscriptions.limit(5).selectExpr(f"concat(id, '{ending}{damage}') as id", "'//a' as xpath")
    compiled = compile_subscriptions(own, tmp_path)
    (path,) = tmp_path.glob(ending)
    data = bytearray(path.read_bytes())
    if damage == "newer":
        data[8] = 99
    elif damage == "cut":
        del data[len(data) // 2 :]
    else:
        data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(Exception, match=r"IndexFormatError.*compile them again with\s+compile_subscriptions"):
        match(documents, compiled)[0].collect()
    compiled = compile_subscriptions(own, tmp_path)  # does what the message says, at the same place
    assert match(documents, compiled)[0].count() > 0


def test_excerpts_are_short_and_around_the_error() -> None:
    text = b"<a>" + b"x" * 1000 + b"\n\n  <b>\xc3\xa9\xc3\xa9</c>" + b"y" * 1000
    error = pathcast.Index().match_many([text])[0]
    assert isinstance(error, pathcast.DocumentError)
    quote = excerpt(text, error)
    assert quote is not None
    assert "<b>éé</c>yyy" in quote
    assert len(quote) <= 210
    utf16 = "<a>\n<b></a>".encode("utf-16")
    error = pathcast.Index().match_many([utf16])[0]
    assert isinstance(error, pathcast.DocumentError)
    assert excerpt(utf16, error) == "<a>\\n<b></a>"


def test_a_worker_without_the_package_says_what_to_do(tmp_path: Path) -> None:
    from pyspark import cloudpickle

    file = tmp_path / "function"
    job = MatchJob("dead", None, Settings(), failfast=False, batch_bytes=1)
    function = workers.on_worker(match_batches, job)
    file.write_bytes(cloudpickle.dumps(function))  # type: ignore[no-untyped-call]
    program = f"""
import pickle, sys
sys.modules["pathcast"] = None
from pyspark import cloudpickle
function = pickle.loads(open({str(file)!r}, "rb").read())
list(function(iter([])))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "ImportError: this Spark worker cannot import pathcast. Install it where" in done.stderr


def test_every_way_gives_the_same_answers(spark: SparkSession, tmp_path: Path) -> None:
    from tests.spark.agreement import compare

    assert compare(spark, tmp_path, documents=400, subscriptions=60, seed=3) == 0


def test_the_options_are_the_arguments() -> None:
    """One list of options: what `help` shows is what the dataclass has."""
    shown = list(inspect.signature(match).parameters)
    assert shown == ["documents", "subscriptions", *(field.name for field in fields(MatchOptions))]
    assert shown == list(inspect.signature(match_tagged).parameters)
    with pytest.raises(TypeError, match="unexpected keyword argument 'modus'"):
        MatchOptions(modus="FAILFAST")  # type: ignore[call-arg]


def test_no_module_is_hidden_by_a_function() -> None:
    import pathcast.spark as package

    modules = {each.name for each in pkgutil.iter_modules(package.__path__)}
    assert not modules & set(package.__all__)


def test_the_old_name_of_the_session_still_works() -> None:
    with pytest.warns(DeprecationWarning, match=r"renamed to pathcast\.spark\.driver\.session"):
        from pathcast.spark.local import session
    from pathcast.spark.driver import session as renamed

    assert session is renamed.session
