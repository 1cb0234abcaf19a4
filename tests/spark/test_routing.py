"""Documents that are routed to the shards that they concern get the answers of one index."""

from __future__ import annotations

from itertools import islice, product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pyarrow as pa
import pyarrow.parquet as pq

import pathcast
from bench.workloads import alerts
from pathcast.spark import Compiled, compile_subscriptions, match, match_files, update_subscriptions
from pathcast.spark.artifact import Manifest
from pathcast.spark.driver import workers
from pathcast.spark.driver.placement import placement
from pathcast.spark.driver.workers import opened_from
from pathcast.spark.options import MatchOptions
from pathcast.spark.requirements import _read, prefixed, requirements
from pathcast.spark.worker.placing import place_of
from pathcast.spark.worker.route import open_router
from tests.property.generate import draw_document, draw_subscription
from tests.spark.data import SUBSCRIPTIONS, Row, World, world

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHARDS = 5


def test_what_matches_has_what_is_required() -> None:
    random = Random(77)
    required = matched = 0
    for _ in range(400):
        document = draw_document(random)
        for _ in range(8):
            each = draw_subscription(random, document)
            needs = requirements(each.xpath)
            try:
                found = pathcast.matches(
                    each.xpath,
                    document.text,
                    ordered=each.ordered,
                    namespaces=each.namespaces,
                    variables=each.variables,
                )
            except pathcast.XPathError:
                continue
            required += bool(needs)
            if not found:
                continue
            weaker = {prefixed(need, length) for need in needs for length in (0, 1, 2)}
            for text in weaker | {text for need in needs for text in need}:
                matched += 1
                assert pathcast.matches(text, document.text, namespaces=each.namespaces), (each.xpath, text)
    assert required > 500
    assert matched > 200


def test_a_document_concerns_few_shards_of_equal_size() -> None:
    xpaths = alerts.queries(20_000)
    routing = placement(xpaths, 16)
    order = {field.text: at for at, field in enumerate(routing.fields)}
    sizes = [0] * 16
    shards: dict[str, set[int]] = {}
    for number, xpath in enumerate(xpaths):
        text, first, last = place_of(xpath, routing, order)
        assert text is not None
        shard = first + number % (last - first + 1)
        sizes[shard] += 1
        shards.setdefault(text, set()).add(shard)
    assert max(sizes) < 2 * 20_000 / 16
    texts = list(shards)
    router = pathcast.Index()
    router.add_many(enumerate(texts))
    documents = list(islice(alerts.documents(3), 200))
    lists = router.match_many(documents).to_arrow().to_pylist()
    concerned = [len({shard for number in found for shard in shards[texts[number]]}) for found in lists]
    assert sum(concerned) / len(concerned) < 8


def test_of_very_many_values_the_first_characters_count() -> None:
    xpaths = [f"/item[author/@id = 'a{number * 37 % 90_000 + 10_000}']" for number in range(20_000)]
    routing = placement(xpaths, 16)
    (field,) = routing.fields
    assert field.prefix == 3
    order = {field.text: 0}
    text, first, last = place_of("/item[author/@id = 'a54321']", routing, order)
    assert (text, first) == ("/item[author/@id[starts-with(., 'a54')]]", last)
    assert len({place_of(xpath, routing, order)[0] for xpath in xpaths}) == 90
    assert {place_of(xpath, routing, order)[1] for xpath in xpaths} == set(range(16))


def mixed(seed: int) -> World:
    """Random documents and news; random subscriptions and alerts."""
    here = world(seed, documents=60, subscriptions=60)
    rows, index = list(here.rows), here.index
    for number, xpath in enumerate(alerts.queries(300)):
        rows.append((f"n{number}", xpath, None, None, None))
        index.add(f"n{number}", xpath)
    news = list(enumerate(islice(alerts.documents(seed), 60), 1_000))
    return World(rows, [*here.documents, *news], index)


def test_routed_shards_give_what_one_index_gives(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = mixed(seed=5)
    documents, subscriptions = here.frames(spark)
    folder = tmp_path / "index"
    compiled = compile_subscriptions(subscriptions, folder, shards=SHARDS, route=True)
    routing = compiled.manifest.routing
    assert routing is not None
    assert routing.requirements > 50
    assert compiled.subscriptions == len(here.rows)
    assert Manifest.read(folder) == compiled.manifest
    assert {files.share for files in opened_from(compiled, MatchOptions())} == {False}
    # Small ones that are large together are opened once for all workers, and not again in every job.
    largest = max(shard.index_bytes for shard in compiled.manifest.shards)
    monkeypatch.setattr(workers, "SHARED_BYTES", largest + 1)
    assert {files.share for files in opened_from(compiled, MatchOptions())} == {True}
    matches, dead = match(documents, compiled)
    assert sorted((row.doc_id, row.subscription_id) for row in matches.collect()) == here.matches()
    letters = sorted((row.doc_id, row.reason, row.line, row.column, row.kind) for row in dead.collect())
    assert letters == here.dead()
    tagged = match(documents, compiled).tagged.collect()
    assert sorted(row.doc_id for row in tagged if row.reason) == [letter[0] for letter in here.dead()]
    assert sum(row.reason is None for row in tagged) == len(here.matches())
    grouped = match(documents, compiled, result="grouped").matches.collect()
    assert sorted((row.doc_id, id) for row in grouped for id in row.subscriptions) == here.matches()
    assert len(grouped) == len(here.documents) - len(here.dead())
    with pytest.raises(Exception, match="FAILFAST"):
        match(documents, compiled, mode="FAILFAST").matches.collect()
    ids, cells = zip(*here.documents, strict=True)
    pq.write_table(pa.table({"doc_id": ids, "xml": pa.array(cells, pa.binary())}), tmp_path / "x.parquet")
    files = match_files(spark, tmp_path / "x.parquet", compiled).matches.collect()
    assert sorted((row.doc_id, row.subscription_id) for row in files) == here.matches()
    router = open_router(str(folder), routing, compiled.manifest.settings, SHARDS)
    news = pa.array([cell for id, cell in here.documents if id >= 1_000], pa.binary())
    always = routing.always[1] - routing.always[0] + 1
    concerned = router.concerned(news)
    assert concerned.shape == (SHARDS, 60)
    assert concerned.sum() < 60 * SHARDS
    assert concerned.sum() >= 60 * always


def test_a_change_costs_the_shards_it_touches(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(f"n{number}", xpath) for number, xpath in enumerate(alerts.queries(400))]

    def compiled(changed: list[tuple[str, str]]) -> Manifest:
        table = spark.createDataFrame(changed, "id string, xpath string")
        return compile_subscriptions(table, tmp_path / "index", shards=SHARDS, route=True).manifest

    before = compiled(rows)
    assert compiled(rows).hash == before.hash
    after = compiled([*rows[1:], ("n0", "/item[category = 'of its own']")])
    assert after.hash != before.hash
    kept = sum(old.hash == new.hash for old, new in zip(before.shards, after.shards, strict=True))
    assert kept >= SHARDS - 2


def test_rows_with_one_id_are_refused_wherever_they_would_go(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(f"n{number}", xpath, None, None, None) for number, xpath in enumerate(alerts.queries(50))]
    twice = [("n1", "/item[region = 'x']", None, None, None), ("n2", rows[2][1], None, None, None)]
    table = spark.createDataFrame([*rows, *twice], SUBSCRIPTIONS)
    compiled = compile_subscriptions(table, tmp_path / "index", shards=SHARDS, route=True)
    assert compiled.subscriptions == 49
    assert {row.id for row in compiled.rejected.collect()} == {"n1"}
    many = spark.range(1001).selectExpr("concat('m', id) as id", "'//a' as xpath")
    with pytest.raises(ValueError, match="compile the whole table again"):
        update_subscriptions(compiled, changed=many)


def test_few_changes_go_where_they_belong(spark: SparkSession, tmp_path: Path) -> None:
    rows = {f"n{number}": xpath for number, xpath in enumerate(alerts.queries(300))}
    news = list(islice(alerts.documents(12), 80))
    extra = [
        b"<item><region>nowhere</region></item>",
        b"<item><category>of its own</category></item>",
        b"<a/>",
    ]
    documents = [(number, bytes(cell)) for number, cell in enumerate([*news, *extra])]
    frame = spark.createDataFrame(documents, "doc_id int, xml binary")

    def table(some: dict[str, str]) -> DataFrame:
        return spark.createDataFrame(list(some.items()), "id string, xpath string")

    def check(compiled: Compiled) -> None:
        index = pathcast.Index()
        index.add_many(rows.items())
        found = match(frame, compiled).matches.collect()
        expected = [(number, id) for number, cell in documents for id in index.match(cell)]
        assert sorted((row.doc_id, row.subscription_id) for row in found) == sorted(expected)

    compiled = compile_subscriptions(table(rows), tmp_path / "index", shards=SHARDS, route=True)
    check(compiled)
    changed = {
        "n0": "/item[region = 'nowhere']",  # another requirement, perhaps another shard
        "n1": rows["n7"],
        "n2": "/item[",
        "new": "/item[category = 'of its own']",
        "any": "//a or //b",
    }
    gone = spark.createDataFrame([("n3",), ("n1",), ("never there",)], "id string")
    updated = update_subscriptions(compiled, changed=table(changed), removed=gone)
    rows |= {id: xpath for id, xpath in changed.items() if id != "n2"}
    del rows["n3"]
    assert updated.subscriptions == len(rows)
    assert [row.id for row in updated.rejected.collect()] == ["n2"]
    built = {(shard.base, shard.number) for shard in compiled.manifest.shards}
    assert {(shard.base, shard.number) for shard in updated.manifest.shards} == built  # nothing was compiled
    check(updated)
    back = {"n0": "/item[category = 'of its own']", "new": rows["n7"]}
    updated = update_subscriptions(tmp_path / "index", changed=table(back))
    rows |= back
    check(updated)
    check(Compiled.open(tmp_path / "index"))


def test_changes_of_all_kinds_are_seen(spark: SparkSession, tmp_path: Path) -> None:
    seed = 12
    here, random = world(seed, documents=80, subscriptions=160), Random(seed)
    documents, table = here.frames(spark)
    compiled = compile_subscriptions(table, tmp_path / "index", shards=SHARDS, route=True)
    rows = {row[0]: row for row in here.rows}

    def frame(some: list[Row]) -> DataFrame:
        return spark.createDataFrame(some, SUBSCRIPTIONS)

    def check() -> None:
        index = pathcast.Index()
        for id, xpath, ordered, namespaces, _ in rows.values():
            index.add(id, xpath, ordered=ordered, namespaces=namespaces)
        now = World(list(rows.values()), here.documents, index)
        for subscriptions in (compiled, compile_subscriptions(frame(now.rows), tmp_path / "again", shards=2)):
            found = match(documents, subscriptions).matches.collect()
            assert sorted((row.doc_id, row.subscription_id) for row in found) == now.matches()
        assert compiled.subscriptions == len(rows)

    for _ in range(3):
        before = compiled.manifest
        others = random.sample(sorted(rows), 24)
        changed = [(others[at], *rows[others[at + 1]][1:]) for at in range(8)]
        changed += [(f"new {random.random()}", *rows[each][1:]) for each in others[8:12]]
        refused: Row = (others[12], "//a[", None, None, None)
        removed = [(each,) for each in [*others[16:24], others[0], "nobody"]]
        compiled = update_subscriptions(
            compiled, frame([*changed, refused]), spark.createDataFrame(removed, "id string")
        )
        rows |= {row[0]: row for row in changed}
        for each in others[16:24]:
            del rows[each]
        assert [row.id for row in compiled.rejected.collect()] == [others[12]]
        assert [shard.base for shard in compiled.manifest.shards] == [shard.base for shard in before.shards]
        check()


def test_a_refused_subscription_leaves_nothing_in_the_routing_index(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [("good", "/item[region = 'x']"), ("bad", "/no:item[region = 'x']")]
    table = spark.createDataFrame([(*row, None, None, None) for row in rows], SUBSCRIPTIONS)
    compiled = compile_subscriptions(table, tmp_path / "index", shards=2, route=True)
    assert [row.id for row in compiled.rejected.collect()] == ["bad"]
    documents = spark.createDataFrame([("d", "<item><region>x</region></item>")], "doc_id string, xml string")
    matches, dead = match(documents, compiled)
    assert [(row.doc_id, row.subscription_id) for row in matches.collect()] == [("d", "good")]
    assert not dead.count()


def test_what_one_expression_requires_holds_for_all_of_its_form() -> None:
    forms = (
        "/a[b = {}][@c = {}]",
        "//a[b = {} and c/@d = {}]/e",
        "/a[.= {}]/b[not(c = {})]",
        "/a[b = 1][c = {}{}]",
    )
    quoted = ("'x'", "''", "']'", "'[b = 1]'", '"a\'b"', "'a\"b'", "' and '", "'7'", "7", "'")
    found = 0
    for form, first, second in product(forms, quoted, quoted):
        xpath = form.format(first, second)
        assert requirements(xpath) == _read(xpath)
        found += len(requirements(xpath))
    assert found > 300
