"""Changing topics and subscriptions: checked first, committed, then brought into the index, then answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

import pathcast
from pathcast.errors import PathcastError, SubscriptionErrors, XPathError
from pathcast.service import catalog
from pathcast.service.catalog import LiveTopic
from pathcast.service.problems import Problem, bad_expression, too_much, unknown
from pathcast.service.store import documents, subscriptions, topics
from pathcast.service.store.keys import Key
from pathcast.service.store.subscriptions import Subscription
from pathcast.service.webhooks import signature

if TYPE_CHECKING:
    from pathcast.service.core import Service


async def put_topic(service: Service, tenant: str, name: str, settings: dict[str, Any]) -> bool:
    """Create a topic or change its settings; says whether it is new.

    New settings must suit all subscriptions that there are, or nothing changes.
    """
    if "kafka" in settings:
        check_kafka(service, tenant, settings["kafka"]["topic"])
    try:
        index = catalog.empty_index(settings)
    except (PathcastError, ValueError, TypeError, KeyError) as error:
        raise Problem(422, "topic-settings", "The settings of the topic are wrong", str(error)) from None

    def work(connection: Connection) -> tuple[LiveTopic, bool]:
        now = service.settings.clock()
        known = topics.find(connection, tenant, name, lock=True)
        if known is None:
            created = topics.create(connection, tenant, name, settings, now)
            return LiveTopic(created.number, tenant, name, settings, index), True
        if known.settings == settings:
            return service.catalog.follow(connection, known), False
        rebuilt = LiveTopic(known.number, tenant, name, settings, index, known.version + 1)
        try:
            rebuilt.apply(_suiting(index, subscriptions.everything(connection, known.number)))
        except SubscriptionErrors as error:
            id, first = error.failures[0]
            raise _unsuitable(str(id), str(first)) from None
        topics.set_settings(connection, known.number, settings)
        return rebuilt, False

    done = await service.writer.run(tenant, work, alone=True, after=lambda d: service.catalog.install(d[0]))
    return done[1]


def _suiting(index: pathcast.Index, given: Iterable[Subscription]) -> Iterator[Subscription]:
    """The same. Those that are paused go into no index, so they are checked here: they may go on later."""
    for each in given:
        if not each.enabled:
            try:
                check(index, each)
            except Problem as problem:
                raise _unsuitable(each.id, problem.detail) from None
        yield each


def _unsuitable(id: str, detail: str) -> Problem:
    title = "The settings do not suit the topic's subscriptions"
    return Problem(422, "topic-settings", title, f"{id}: {detail}", subscription=id)


async def remove_topic(service: Service, live: LiveTopic) -> None:
    """Take a topic away with its subscriptions and what waits for them."""
    await service.writer.run(
        live.tenant,
        lambda connection: topics.remove(connection, live.number),
        alone=True,
        after=lambda _: service.catalog.forget(live),
    )
    service.bell.ring(live.number)


def check_limits(service: Service, key: Key, limits: dict[str, int]) -> None:
    """A `Problem` when a tenant raises what protects the others; the first administrator may."""
    usual = asdict(pathcast.Limits()) | {"entity_expansion": service.settings.document_bytes}
    for name, limit in limits.items():
        if not key.operator and limit > usual.get(name, limit):
            detail = f"{name} is at most {usual[name]:,}: only the first administrator raises it"
            raise Problem(403, "limits", "The limit may not be raised", detail)


def check_kafka(service: Service, tenant: str, topic: str) -> None:
    """A `Problem` unless the administrator lets a tenant use this topic of Kafka."""
    cluster = service.settings.kafka
    if cluster is None:
        raise Problem(422, "kafka", "There is no Kafka here", "the server was started without --kafka")
    if not cluster.permits(tenant, topic):
        detail = f"the tenant {tenant!r} may not use the topic {topic!r} of Kafka"
        raise Problem(403, "kafka", "The topic of Kafka is refused", detail)


def check(index: pathcast.Index, given: Subscription) -> None:
    """A `Problem` with the column when the expression is not sound in this topic."""
    try:
        variables = catalog.values(given.variables)
        index.check(given.xpath, ordered=given.ordered, namespaces=given.namespaces, variables=variables)
    except XPathError as error:
        raise bad_expression(error) from None
    except ValueError as error:
        raise Problem(422, "variables", "The variables are refused", str(error)) from None


async def put(
    service: Service, live: LiveTopic, key: Key, given: Sequence[Subscription]
) -> list[tuple[Subscription, bool]]:
    """Store checked subscriptions and bring them into the index; each as it is now, and whether it is new."""
    quota = key.quota.get("subscriptions")
    put: list[Subscription] = []

    def work(connection: Connection) -> tuple[list[bool], int]:
        topic = _advance(connection, live)
        if topic.settings != live.settings:  # they changed since the expressions were checked
            index = catalog.empty_index(topic.settings)
            for each in given:
                check(index, each)
        known = subscriptions.named(connection, live.number, [each.id for each in given])
        if quota is not None:
            more = len({each.id for each in given} - known.keys())
            if more and subscriptions.count(connection, live.tenant) + more > quota:
                raise too_much("subscriptions", quota, 60)
        put[:] = [_with_secret(each, known.get(each.id)) for each in given]
        newest = documents.newest(connection, live.number)
        now = service.settings.clock()
        return subscriptions.put(connection, live.number, put, topic.version, now, newest), topic.version

    def after(done: tuple[list[bool], int]) -> None:
        _follow(service, live, done[1], lambda: live.apply(put))

    new, _ = await service.writer.run(live.tenant, work, alone=True, after=after)
    return list(zip(put, new, strict=True))


async def pause(service: Service, live: LiveTopic, id: str, enabled: bool) -> Subscription:
    """Pause a subscription as it is now, or let it go on; a `Problem` when there is none."""
    put: list[Subscription] = []

    def work(connection: Connection) -> int:
        topic = _advance(connection, live)
        known = subscriptions.find(connection, live.number, id)
        if known is None:
            raise unknown("subscription", id)
        put[:] = [replace(known, enabled=enabled)]
        subscriptions.put(connection, live.number, put, topic.version, service.settings.clock(), 0)
        return topic.version

    def after(version: int) -> None:
        _follow(service, live, version, lambda: live.apply(put))

    await service.writer.run(live.tenant, work, alone=True, after=after)
    return put[0]


async def remove(service: Service, live: LiveTopic, id: str) -> None:
    """Take one subscription away; a `Problem` when there is none."""

    def work(connection: Connection) -> int:
        version = _advance(connection, live).version
        if not subscriptions.remove(connection, live.number, [id], version, service.settings.clock()):
            raise unknown("subscription", id)
        return version

    def after(version: int) -> None:
        _follow(service, live, version, lambda: live.drop([id]))

    await service.writer.run(live.tenant, work, alone=True, after=after)
    service.bell.ring(live.number, [id])


def _advance(connection: Connection, live: LiveTopic) -> topics.Topic:
    topic = topics.advance(connection, live.number)
    if topic is None:
        raise unknown("topic", live.name)
    return topic


def _follow(service: Service, live: LiveTopic, version: int, apply: Callable[[], None]) -> None:
    """Bring a committed change into the index: directly, or from the store if others changed it too."""
    with live.lock:
        if version == live.version + 1:
            apply()
            live.version = version
            return
    with service.database.reading() as connection:
        row = topics.by_number(connection, live.number)
        if row is not None:
            service.catalog.follow(connection, row)


def _with_secret(given: Subscription, known: Subscription | None) -> Subscription:
    """A webhook that comes without a secret keeps the one it had, or gets a new one."""
    webhook = given.webhook
    if webhook is None or webhook.get("secret"):
        return given
    old = known.webhook if known else None
    secret = old["secret"] if old else signature.new_secret()
    return replace(given, delivery={"webhook": {**webhook, "secret": secret}})
