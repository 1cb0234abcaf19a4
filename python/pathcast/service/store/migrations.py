"""Migrations: what takes a store from a version of the schema to the next one, in one transaction."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, text

from pathcast.service.store import tables


def _lists_of_receivers(connection: Connection) -> None:
    """From 1 to 2: a row for each delivery becomes a row for each document."""
    for table in (tables.matches, tables.postings, tables.tallies):
        table.create(connection)
    for name, column in (("topics", "filed"), ("subscriptions", "born")):
        connection.execute(text(f"ALTER TABLE {name} ADD COLUMN {column} BIGINT NOT NULL DEFAULT 0"))
    sqlite = connection.dialect.name == "sqlite"
    end = "char(10)" if sqlite else "chr(10)"
    joined = "group_concat" if sqlite else "string_agg"
    connection.execute(
        text(
            "INSERT INTO matches (topic, document, receivers) "
            f"SELECT topic, document, {end} || {joined}(subscription, {end}) || {end} "
            "FROM deliveries GROUP BY topic, document"
        )
    )
    connection.execute(
        text(
            "INSERT INTO tallies (topic, change) SELECT s.topic, count(*) FROM subscriptions s "
            "JOIN deliveries v ON v.topic = s.topic AND v.subscription = s.id AND v.document > s.acked "
            "WHERE coalesce(CAST(s.delivery AS TEXT), 'null') = 'null' GROUP BY s.topic"
        )
    )
    connection.execute(text("DROP TABLE deliveries"))


def _pushes_by_subscription(connection: Connection) -> None:
    """From 2 to 3: what waits for one subscription is found by its time."""
    connection.execute(text("DROP INDEX pushes_by_subscription"))
    connection.execute(
        text("CREATE INDEX pushes_by_subscription ON pushes (topic, state, subscription, due)")
    )


MIGRATIONS: dict[int, Callable[[Connection], None]] = {1: _lists_of_receivers, 2: _pushes_by_subscription}
"""By the version that they begin with."""
