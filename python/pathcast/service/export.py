"""Subscriptions of a topic out of the store, for Spark: the same set, where one machine is not enough."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from pathcast.service.settings import Settings
from pathcast.service.store import Database, StoreError, subscriptions, topics


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
    with database.reading() as connection:
        for each in subscriptions.everything(connection, topic.number):
            if not each.enabled:
                continue
            namespaces = {**shared, **(each.namespaces or {})}
            row = {
                "id": each.id,
                "xpath": each.xpath,
                "ordered": each.ordered,
                "namespaces": json.dumps(namespaces) if namespaces else None,
            }
            yield json.dumps(row) + "\n"
    database.close()
