"""Adds and removes subscriptions: which rows are written, and which are taken out with them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pathcast.errors import DatabaseError
from pathcast.relational.sql import removal, tables

if TYPE_CHECKING:
    from pathcast.relational.backends.backend import Writer
    from pathcast.relational.settings import Settings

COLLISION = (
    "part of a subscription has the same number as a different part in this database; nothing was written"
)


def add(session: Writer, compiled: dict[str, Any]) -> None:
    """Writes the rows of compiled subscriptions; those with a known id are replaced."""
    import pyarrow as pa

    subscriptions, subscribers = named(compiled)
    are_new = {}
    for table in tables.SHARED:
        rows = compiled[table]
        if not rows.num_rows:
            continue
        session.load("Stage", rows)
        if table != "OtherSlot" and session.rows(tables.collisions(table))[0][0]:
            raise DatabaseError(COLLISION)
        are_new[table] = session.insert(table, tables.missing_rows(table))
    session.load("Gone", pa.record_batch({"subscription": subscriptions.column("subscription")}))
    replaced = session.rows(
        "select 1 from {Subscription} s join {Gone} g on g.subscription = s.subscription limit 1"
    )
    if replaced:
        session.make("Loose", removal.REMOVED)
        for statement in removal.SUBSCRIPTIONS:
            session.execute(statement)
    for table, rows in (("Subscription", subscriptions), ("Subscriber", subscribers)):
        session.load("Stage", rows)
        columns = ", ".join(tables.COLUMNS[table])
        session.insert(table, f"select {columns} from {{Stage}}")
    if replaced:
        _take_out_unused(session)
    _changed(session, are_new.get("Step", 0) > 0)


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
    session.make("Loose", removal.REMOVED)
    for statement in removal.SUBSCRIPTIONS:
        session.execute(statement)
    _take_out_unused(session)
    _changed(session, False)
    return None


def sweep(session: Writer) -> None:
    """Looks at all rows, not only at those of removed subscriptions, and deletes what nobody uses."""
    session.make("Loose", removal.EVERYTHING)
    _take_out_unused(session)
    _changed(session, False)


def _take_out_unused(session: Writer) -> None:
    """Deletes what is in `Loose` and has no user, then what only that used."""
    levels, step_levels = (
        int(session.rows(f"select coalesce(max(level), 0) from {{{table}}}")[0][0])
        for table in ("Pattern", "Step")
    )
    for _ in range(levels + 1):
        session.make("Free", removal.FREE_SLOTS)
        session.execute("delete from {Slot} where slot in (select slot from {Free})")
        session.grow("Loose", removal.AFTER_SLOTS)
        session.make("Free", removal.FREE_PATTERNS)
        session.grow("Loose", removal.AFTER_PATTERNS)
        for table in ("Pattern", "OtherSlot"):
            session.execute(f"delete from {{{table}}} where id in (select id from {{Free}})")
    for statement in removal.PREDICATES:
        session.execute(statement)
    for level in range(step_levels, 0, -1):
        session.make("Free", removal.FREE_STEPS, level)
        session.execute("delete from {Step} where step in (select step from {Free})")
        session.grow("Loose", removal.AFTER_STEPS)


def settle(session: Writer, wanted: Settings) -> Settings:
    """The settings of the database: the stored ones, or else the wanted ones, which are then stored."""
    kept = session.rows("select name, content from {Setting}")
    settings = wanted.of(kept) if kept else wanted
    for name, content in settings.rows():
        if (name, content) not in kept:
            write_setting(session, name, json.loads(content))
    return settings


def _changed(session: Writer, steps_too: bool) -> None:
    """Lets every connection know that what it remembers of the subscriptions is old."""
    for name in ("version", "steps") if steps_too else ("version",):
        write_setting(session, f"changed {name}", secrets.randbits(62))


def write_setting(session: Writer, name: str, value: object) -> None:
    """Stores one setting."""
    import pyarrow as pa

    session.load("Stage", pa.record_batch({"name": [name], "content": [json.dumps(value)]}))
    session.execute("delete from {Setting} where name in (select name from {Stage})")
    session.insert("Setting", "select name, content from {Stage}")
