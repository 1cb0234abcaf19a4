"""Changing topics and subscriptions: checked first, committed, then brought into the index, then answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
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
        known = topics.find(connection, tenant, name)
        if known is None:
            created = topics.create(connection, tenant, name, settings, now)
            return LiveTopic(created.number, tenant, name, settings, index), True
        live = service.catalog.follow(connection, known)
        if known.settings == settings:
            return live, False
        rebuilt = LiveTopic(known.number, tenant, name, settings, index, known.version + 1)
        try:
            rebuilt.apply(subscriptions.everything(connection, known.number))
        except SubscriptionErrors as error:
            id, first = error.failures[0]
            title = "The settings do not suit the topic's subscriptions"
            raise Problem(422, "topic-settings", title, f"{id}: {first}", subscription=id) from None
        topics.set_settings(connection, known.number, settings)
        return rebuilt, False

    done = await service.writer.run(tenant, work, alone=True, after=lambda d: service.catalog.install(d[0]))
    return done[1]


async def remove_topic(service: Service, live: LiveTopic) -> None:
    """Take a topic away with its subscriptions and what waits for them."""
    await service.writer.run(
        live.tenant,
        lambda connection: topics.remove(connection, live.number),
        alone=True,
        after=lambda _: service.catalog.forget(live),
    )
    service.bell.ring(live.number)


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
        version = _next_version(connection, live)
        known = subscriptions.named(connection, live.number, [each.id for each in given])
        if quota is not None:
            more = len({each.id for each in given} - known.keys())
            if more and subscriptions.count(connection, live.tenant) + more > quota:
                raise too_much("subscriptions", quota, 60)
        put[:] = [_with_secret(each, known.get(each.id)) for each in given]
        newest = documents.newest(connection, live.number)
        now = service.settings.clock()
        return subscriptions.put(connection, live.number, put, version, now, newest), version

    def after(done: tuple[list[bool], int]) -> None:
        _follow(service, live, done[1], lambda: live.apply(put))

    new, _ = await service.writer.run(live.tenant, work, alone=True, after=after)
    return list(zip(put, new, strict=True))


async def remove(service: Service, live: LiveTopic, id: str) -> None:
    """Take one subscription away; a `Problem` when there is none."""

    def work(connection: Connection) -> int:
        version = _next_version(connection, live)
        if not subscriptions.remove(connection, live.number, [id], version, service.settings.clock()):
            raise unknown("subscription", id)
        return version

    def after(version: int) -> None:
        _follow(service, live, version, lambda: live.drop([id]))

    await service.writer.run(live.tenant, work, alone=True, after=after)
    service.bell.ring(live.number, [id])


def _next_version(connection: Connection, live: LiveTopic) -> int:
    version = topics.advance(connection, live.number)
    if version is None:
        raise unknown("topic", live.name)
    return version


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
