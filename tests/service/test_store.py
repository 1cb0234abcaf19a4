"""The store alone, on both databases: who waits for what, held against a model of plain lists."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Connection, insert, inspect, select, text, update

from pathcast.service.catalog import Catalog, LiveTopic, empty_index
from pathcast.service.publishing import Publication, Publisher
from pathcast.service.settings import Settings
from pathcast.service.store import (
    Database,
    deliveries,
    documents,
    matches,
    postings,
    pushes,
    subscriptions,
    tables,
    tallies,
    topics,
)
from pathcast.service.store.subscriptions import Subscription

if TYPE_CHECKING:
    from tests.postgres.server import PostgresServer

EVERYTHING = 1_000_000
WEBHOOK = {"webhook": {"url": "http://example.org/", "secret": "s"}}
IDS = [f"s{number}" for number in range(6)] + ["s1.1", "S1", "1"]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        settings = Settings(data=tmp_path)
    else:
        postgres: PostgresServer = request.getfixturevalue("postgres")
        settings = Settings(database=postgres.fresh())
    database = Database(settings.url)
    database.migrate()
    yield database
    database.close()


@dataclass
class Waiting:
    """What the model knows of a subscription."""

    values: set[int]
    pulled: bool = True
    acked: int = 0
    born: int = 0
    got: list[int] = field(default_factory=list)


class Life:
    """A topic in the store, and beside it what it should be."""

    def __init__(self, database: Database, chance: random.Random) -> None:
        self._database = database
        self._chance = chance
        self._catalog = Catalog()
        self._now = 0.0
        self._publisher = Publisher(self._catalog, lambda: self._now, lambda seconds, count: None)
        self.model: dict[str, Waiting] = {}
        self.kept: dict[int, float] = {}
        with database.writing() as connection:
            self.topic = topics.create(connection, "t", "news", {}, 0.0).number
        self._live = LiveTopic(self.topic, "t", "news", {}, empty_index({}))

    def step(self) -> None:
        self._now += 1.0
        doing = (self.publish, self.publish, self.publish, self.put, self.acknowledge, self.tidy)
        with self._database.writing() as connection:
            self._chance.choice(doing)(connection)

    def publish(self, connection: Connection) -> None:
        values = [self._chance.randrange(4) for _ in range(self._chance.randrange(1, 4))]
        batch = [Publication(self._live, b"<a n='%d'/>" % value, "") for value in values]
        self._publisher.publish(connection, batch)
        for value, each in zip(values, batch, strict=True):
            assert each.status == 202
            self.kept[each.number] = self._now
            got = {id for id, one in self.model.items() if value in one.values}
            assert set(each.receivers) == got
            for id in got:
                self.model[id].got.append(each.number)

    def put(self, connection: Connection) -> None:
        id = self._chance.choice(IDS)
        topic = topics.advance(connection, self.topic)
        assert topic is not None
        if id in self.model and self._chance.random() < 0.4:
            assert subscriptions.remove(connection, self.topic, [id], topic.version, self._now) == 1
            del self.model[id]
            return
        values = {value for value in range(4) if self._chance.random() < 0.5}
        pulled = self._chance.random() < 0.7
        xpath = "/a[" + " or ".join(["false()", *(f"@n = {value}" for value in values)]) + "]"
        given = Subscription(id=id, xpath=xpath, delivery=None if pulled else WEBHOOK)
        newest = documents.newest(connection, self.topic)
        [new] = subscriptions.put(connection, self.topic, [given], topic.version, self._now, newest)
        assert new == (id not in self.model)
        one = self.model.setdefault(id, Waiting(values, acked=newest, born=newest))
        one.values, one.pulled = values, pulled

    def acknowledge(self, connection: Connection) -> None:
        id, cursor = self._chance.choice(IDS), self._chance.choice([0, *self.kept, EVERYTHING])
        acked = subscriptions.acknowledge(connection, self.topic, id, cursor)
        if id not in self.model:
            assert acked is None
            return
        one = self.model[id]
        one.acked = max(one.acked, min(cursor, max(self.kept, default=0)))
        assert acked == one.acked

    def tidy(self, connection: Connection) -> None:
        stretch = postings.gather(connection, self.topic)
        if stretch is not None:
            assert postings.file(connection, stretch)
            assert not postings.file(connection, stretch), "another process has done it"
        if self._chance.random() < 0.4:
            before = self._now - self._chance.randrange(5, 80)
            old = {number for number, when in self.kept.items() if when < before}
            assert documents.expire(connection, self.topic, before, EVERYTHING) == len(old)
            for number in old:
                del self.kept[number]
        tallies.fold(connection)

    def check(self) -> None:
        with self._database.reading() as connection:
            pulled = pushed = 0
            mark = postings.filed(connection, self.topic)
            for id, one in self.model.items():
                got = [number for number in one.got if number in self.kept]
                for cursor in (one.born, one.acked, self._chance.choice([one.born, *got])):
                    rest = [number for number in got if number > cursor]
                    limit = self._chance.randrange(1, 8)
                    found = deliveries.after(connection, self.topic, id, cursor, limit, mark)
                    assert [each.number for each in found] == rest[:limit]
                    assert deliveries.count(connection, self.topic, id, cursor, EVERYTHING, mark) == len(rest)
                if one.pulled:
                    pulled += sum(1 for number in got if number > one.acked)
            for number in self._chance.sample(sorted(self.kept), min(3, len(self.kept))):
                to = sorted(id for id, one in self.model.items() if number in one.got)
                assert matches.of_document(connection, self.topic, number, "", EVERYTHING) == to
                assert (
                    matches.of_document(connection, self.topic, number, "s0", 2)
                    == [id for id in to if id > "s0"][:2]
                )
            pushed = connection.execute(
                text("SELECT count(*) FROM pushes WHERE state = 'waiting'")
            ).scalar_one()
            assert tallies.waiting(connection, "t") == pulled
            assert deliveries.pending(connection, "t", EVERYTHING) == pulled + pushed
            assert deliveries.pending(connection, "t", 1) == min(1, pulled + pushed)
            for each in matches.hot(connection, self.topic, EVERYTHING, EVERYTHING):
                assert each["subscription"] in self.model
            silent = set(matches.never(connection, self.topic, EVERYTHING))
            for id in silent:
                assert not self.kept.keys() & set(self.model[id].got)


@pytest.mark.parametrize("seed", range(2))
def test_any_life_of_a_topic(database: Database, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "STRETCH", 5)
    monkeypatch.setattr(postings, "_ROWS", 2)
    life = Life(database, random.Random(seed))
    for turn in range(150):
        life.step()
        if turn % 15 == 14:
            life.check()
    with database.reading() as connection:
        assert postings.filed(connection, life.topic), "something was filed"
    with database.writing() as connection:
        topics.remove(connection, life.topic)
        for name in ("subscriptions", "matches", "postings", "tallies"):
            assert connection.execute(text(f"SELECT count(*) FROM {name}")).scalar() == 0


def _as_version_2(connection: Connection) -> None:
    """Take a new store back to the version before what waits had an index by time."""
    connection.execute(text("DROP INDEX pushes_by_subscription"))
    connection.execute(text("CREATE INDEX pushes_by_subscription ON pushes (topic, subscription, state)"))
    connection.execute(update(tables.meta).values(value="2"))


def _as_version_1(connection: Connection) -> None:
    """Take a new store back to the first version of the schema."""
    _as_version_2(connection)
    for name in ("matches", "postings", "tallies"):
        connection.execute(text(f"DROP TABLE {name}"))
    for table, column in (("topics", "filed"), ("subscriptions", "born")):
        connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))
    connection.execute(
        text(
            "CREATE TABLE deliveries (topic BIGINT NOT NULL, subscription VARCHAR(128) NOT NULL, "
            "document BIGINT NOT NULL, PRIMARY KEY (topic, subscription, document))"
        )
    )
    connection.execute(text("CREATE INDEX deliveries_by_document ON deliveries (document)"))
    connection.execute(update(tables.meta).values(value="1"))


def test_a_store_of_the_first_version_is_taken_over(database: Database) -> None:
    row: dict[str, Any] = {"tenant": "t", "received": 1.0, "size": 4, "matched": 2}
    row |= {"content_type": None, "trace": None, "body": b"<a/>"}
    with database.writing() as connection:
        topic = topics.create(connection, "t", "news", {}, 0.0).number
        known = [Subscription(id="a", xpath="//a"), Subscription(id="b", xpath="//a", delivery=WEBHOOK)]
        subscriptions.put(connection, topic, known, 1, 0.0, 0)
        rows = [{**row, "topic": topic, "id": f"doc_{place}"} for place in range(3)]
        numbers = documents.add(connection, rows)
        assert subscriptions.acknowledge(connection, topic, "a", numbers[0]) == numbers[0]
        _as_version_1(connection)
        for number in numbers:
            for id in ("a", "b"):
                values = {"topic": topic, "subscription": id, "document": number}
                connection.execute(
                    text("INSERT INTO deliveries VALUES (:topic, :subscription, :document)"), values
                )
    database.migrate()
    database.migrate()  # the second time there is nothing to do
    with database.writing() as connection:
        for id in ("a", "b"):
            found = deliveries.after(connection, topic, id, 0, 10, 0)
            assert [each.number for each in found] == numbers
        assert matches.of_document(connection, topic, numbers[0], "", 10) == ["a", "b"]
        assert deliveries.pending(connection, "t", 10) == 2, "of the one that is pulled"
        assert subscriptions.acknowledge(connection, topic, "a", numbers[2]) == numbers[2]
        assert deliveries.pending(connection, "t", 10) == 0
        connection.execute(insert(tables.meta).values(name="still", value="writable"))


def test_a_store_of_the_second_version_gets_its_index(database: Database) -> None:
    def indexes(connection: Connection) -> dict[str | None, list[str | None]]:
        return {each["name"]: each["column_names"] for each in inspect(connection).get_indexes("pushes")}

    with database.writing() as connection:
        new = indexes(connection)
        topic = _waiting_topic(connection, "t", "news")
        pushes.add(connection, [("t", topic, "s", 1)], 1.0)
        _as_version_2(connection)
        assert indexes(connection) != new
    database.migrate()
    database.migrate()  # the second time there is nothing to do
    with database.writing() as connection:
        assert indexes(connection) == new
        assert connection.scalar(select(tables.meta.c.value)) == str(tables.VERSION)
        assert [push.subscription for push in pushes.lease(connection, "w", 2.0, 3.0, 9)] == ["s"]


@pytest.mark.parametrize("full", ["subscription", "tenant"])
def test_what_is_due_is_found_behind_any_backlog(database: Database, full: str) -> None:
    """SQLite counts its steps: four times the backlog takes no more."""
    steps: list[int] = []
    for backlog in (1_000, 4_000):
        with database.writing() as connection:
            connection.execute(text("DELETE FROM pushes"))
            busy, free = (_waiting_topic(connection, tenant, f"n{backlog}") for tenant in ("busy", "free"))
            for number, document in ((busy, backlog), (free, 1)):
                name = "busy" if number == busy else "free"
                pushes.add(connection, [(name, number, "s", each) for each in range(1, document + 1)], number)
        with database.writing() as connection:
            ticks: list[None] = []
            if database.kind == "sqlite":
                raw: Any = connection.connection.dbapi_connection
                raw.set_progress_handler(lambda ticks=ticks: ticks.append(None), 1)
            given: Any = {"busy": [(busy, "s")]} if full == "subscription" else {"busy_tenants": ["busy"]}
            query = pushes.lease(connection, "w", 1e9, 2e9, 64, **given)
            if database.kind == "sqlite":
                raw.set_progress_handler(None, 0)
            steps.append(len(ticks))
            assert [push.tenant for push in query] == ["free"]
    assert steps[1] <= steps[0] * 1.1, steps


@pytest.mark.parametrize("seed", range(3))
def test_leases_take_all_that_is_due_and_free(
    database: Database, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushes, "_FIRST", 3)
    chance = random.Random(seed)
    with database.writing() as connection:
        of = {_waiting_topic(connection, tenant, name): tenant for tenant in "abc" for name in ("x", "y")}
        for number in of:
            more = [Subscription(id=id, xpath="//a", delivery=WEBHOOK) for id in IDS]
            subscriptions.put(connection, number, more, 2, 0.0, 0)
        for _ in range(150):
            number = chance.choice(list(of))
            due = float(chance.randrange(20))
            pushes.add(connection, [(of[number], number, chance.choice(IDS), 1)], due)
    for _ in range(4):
        busy = [(chance.choice(list(of)), chance.choice(IDS)) for _ in range(chance.randrange(20))]
        tenants = chance.sample("abc", chance.randrange(3))
        now = float(chance.randrange(20))
        p = tables.pushes.c
        with database.writing() as connection:
            rows = connection.execute(select(p.number, p.tenant, p.topic, p.subscription).where(p.due <= now))
            free = {
                number
                for number, tenant, topic, id in rows
                if tenant not in tenants and (topic, id) not in busy
            }
            taken: list[int] = []
            while some := pushes.lease(connection, "w", now, 100.0, chance.randrange(1, 9), busy, tenants):
                taken += [push.number for push in some]
            assert sorted(taken) == sorted(free)
            pushes.release(connection, taken[::2], "w", now)


def _waiting_topic(connection: Connection, tenant: str, name: str) -> int:
    number = topics.create(connection, tenant, name, {}, 0.0).number
    subscriptions.put(connection, number, [Subscription(id="s", xpath="//a", delivery=WEBHOOK)], 1, 0.0, 0)
    row: dict[str, Any] = {"tenant": tenant, "received": 1.0, "size": 4, "matched": 1, "topic": number}
    row |= {"content_type": None, "trace": None, "body": b"<a/>"}
    documents.add(connection, [{**row, "id": f"{tenant}_{name}"}])
    return number


def test_a_topic_that_cannot_be_indexed_harms_no_other(database: Database) -> None:
    with database.writing() as connection:
        broken, sound = (topics.create(connection, "t", name, {}, 1.0).number for name in ("broken", "sound"))
        for number, xpath in ((broken, "//no:prefix"), (sound, "//a")):
            given = Subscription(id="s", xpath=xpath)
            subscriptions.put(connection, number, [given], 0, 1.0, 0)
    catalog = Catalog()
    with database.reading() as connection:
        catalog.load(connection)
    assert [live.name for live in catalog.topics()] == ["sound"]
    lost = LiveTopic(broken, "t", "broken", {}, empty_index({}))
    batch = [Publication(lost, b"<a/>", ""), Publication(catalog.topics()[0], b"<a/>", "")]
    with database.writing() as connection:
        Publisher(catalog, lambda: 1.0, lambda seconds, count: None).publish(connection, batch)
    assert [each.status for each in batch] == [503, 202]
    assert "'broken'" in batch[0].answer["detail"]
