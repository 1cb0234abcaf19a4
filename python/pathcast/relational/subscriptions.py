"""Adds and removes subscriptions: which rows are written, in which order, and when unused ones are swept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pathcast.errors import DatabaseError
from pathcast.relational.sql import tables

if TYPE_CHECKING:
    from pathcast.relational.backends.backend import Writer
    from pathcast.relational.settings import Settings

SWEPT_FROM = 1_000
"""Removed subscriptions that start a sweep, once they are also as many as those that remain."""


def add(session: Writer, compiled: dict[str, Any]) -> None:
    """Writes the rows of compiled subscriptions; those with a known id are replaced."""
    import pyarrow as pa

    subscriptions, subscribers = named(compiled)
    for table in tables.SHARED:
        session.load("Stage", compiled[table])
        session.insert(table, tables.missing_rows(table))
        if session.rows(tables.met_rows(table))[0][0]:
            raise DatabaseError(
                "part of a subscription has the same number as a different part in this database; "
                "nothing was written"
            )
    session.load("Gone", pa.record_batch({"subscription": subscriptions.column("subscription")}))
    session.execute(tables.REMOVE[0])
    replaced = session.execute(tables.REMOVE[1])
    for table, rows in (("Subscription", subscriptions), ("Subscriber", subscribers)):
        session.load("Stage", rows)
        columns = ", ".join(tables.COLUMNS[table])
        session.insert(table, f"select {columns} from {{Stage}}")
    _count_removed(session, replaced)


def named(compiled: dict[str, Any]) -> tuple[Any, Any]:
    """`Subscription` and `Subscriber` with stored ids; of two rows with one id the last counts."""
    import pyarrow as pa

    subscriptions, subscribers = compiled["Subscription"], compiled["Subscriber"]
    names = subscriptions.column("subscription")
    positions = subscribers.column("position")
    last = {name: at for at, name in enumerate(names.to_pylist())}
    if len(last) < len(names):
        kept = set(last.values())
        subscriptions = subscriptions.take(pa.array(sorted(kept)))
        subscribers = subscribers.filter(pa.array([at in kept for at in positions.to_pylist()], pa.bool_()))
        positions = subscribers.column("position")
    return subscriptions, pa.record_batch(
        {
            "subscription": names.take(positions),
            **{name: subscribers.column(name) for name in ("pattern", "is_exact", "is_several")},
        }
    )


def remove(session: Writer, names: Sequence[str]) -> str | None:
    """Removes subscriptions. If one is unknown, returns it and removes nothing."""
    import pyarrow as pa

    session.load("Gone", pa.record_batch({"subscription": pa.array(list(names), pa.string())}))
    known = session.rows(
        "select g.subscription from {Gone} g join {Subscription} s on s.subscription = g.subscription"
    )
    if len(known) < len(names):
        there = {name for (name,) in known}
        return next(name for name in names if name not in there)
    session.execute(tables.REMOVE[0])
    _count_removed(session, session.execute(tables.REMOVE[1]))
    return None


def _count_removed(session: Writer, more: int) -> None:
    """Sweeps when as many subscriptions were removed since the last sweep as remain."""
    if not more:
        return
    kept = session.rows("select content from {Setting} where name = 'removed'")
    removed = more + (json.loads(kept[0][0]) if kept else 0)
    if removed >= max(SWEPT_FROM, session.rows("select count(*) from {Subscription}")[0][0]):
        sweep(session)
    else:
        write_setting(session, "removed", removed)


def settle(session: Writer, wanted: Settings) -> Settings:
    """The settings of the database: the stored ones, or else the wanted ones, which are then stored."""
    kept = session.rows("select name, content from {Setting}")
    settings = wanted.of(kept) if kept else wanted
    for name, content in settings.rows():
        if (name, content) not in kept:
            write_setting(session, name, json.loads(content))
    return settings


def write_setting(session: Writer, name: str, value: object) -> None:
    """Stores one setting."""
    import pyarrow as pa

    session.load("Stage", pa.record_batch({"name": [name], "content": [json.dumps(value)]}))
    session.execute("delete from {Setting} where name in (select name from {Stage})")
    session.insert("Setting", "select name, content from {Stage}")


def sweep(session: Writer) -> None:
    """Deletes patterns that no subscription uses, from the top level down, then what only they used."""
    for level in range(session.highest_level(), 0, -1):
        session.make("Above", tables.ABOVE, level)
        for statement in tables.SWEEP_LEVEL:
            session.execute(statement, level)
    for statement in tables.SWEEP:
        session.execute(statement)
    write_setting(session, "removed", 0)
