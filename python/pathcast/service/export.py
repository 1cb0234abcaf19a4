"""Subscriptions of a topic out of the store, for Spark: the same set, where one machine is not enough."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

import pathcast
from pathcast.errors import XPathError
from pathcast.service.catalog import empty_index, values
from pathcast.service.settings import Settings
from pathcast.service.store import Database, StoreError, subscriptions, topics
from pathcast.service.store.subscriptions import Subscription


@dataclass(frozen=True, slots=True)
class Export:
    """A topic's settings, and its enabled subscriptions as JSON lines with the columns that Spark reads."""

    settings: dict[str, Any]
    lines: Iterator[str]


def export(url: str, tenant: str, topic: str) -> Export:
    """What a topic holds now; `StoreError` when there is no such topic or store."""
    database = Database(Settings(database=url).url)
    try:
        with database.reading() as connection:
            found = topics.find(connection, tenant, topic)
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        raise StoreError(f"the store cannot be read: {reason}") from error
    if found is None:
        raise StoreError(f"the tenant {tenant!r} has no topic {topic!r}")
    return Export(found.settings, _lines(database, found))


def _lines(database: Database, topic: topics.Topic) -> Iterator[str]:
    shared = topic.settings.get("namespaces") or {}
    index = empty_index(topic.settings)
    with database.reading() as connection:
        for each in subscriptions.everything(connection, topic.number):
            if not each.enabled:
                continue
            namespaces = {**shared, **(each.namespaces or {})}
            row = {
                "id": each.id,
                "xpath": _bound(index, each) if each.variables else each.xpath,
                "ordered": each.ordered,
                "namespaces": json.dumps(namespaces) if namespaces else None,
            }
            yield json.dumps(row) + "\n"
    database.close()


def _bound(index: pathcast.Index, each: Subscription) -> str:
    """The normal form, in which variables have become values; as written, where it cannot be read back."""
    try:
        found = index.check(
            each.xpath, ordered=each.ordered, namespaces=each.namespaces, variables=values(each.variables)
        )
        index.check(found, ordered=each.ordered, namespaces=each.namespaces)
    except XPathError:  # a text with both kinds of quotes: Spark refuses the variable, and says so
        return each.xpath
    return found
