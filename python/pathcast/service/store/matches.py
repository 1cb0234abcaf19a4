"""Matches: which subscriptions a document goes to, all of them in one row.

The ids stand on lines of their own, with a line end before the first too, so that a database finds one by
looking for a text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from pathcast.service.store import postings, tables

m = tables.matches
d = tables.documents
s = tables.subscriptions
_CHUNK = 500


def add(connection: Connection, topic: int, rows: Sequence[tuple[int, Sequence[str]]]) -> None:
    """Store for documents, given by number, which subscriptions they go to."""
    written = [(topic, number, "\n" + "\n".join(ids) + "\n") for number, ids in rows]
    if connection.dialect.name == "sqlite":  # past the expression language: this is hot
        connection.exec_driver_sql(
            "INSERT INTO matches (topic, document, receivers) VALUES (?, ?, ?)", written
        )
        return
    names = ("topic", "document", "receivers")
    connection.execute(insert(m), [dict(zip(names, row, strict=True)) for row in written])


def of_document(connection: Connection, topic: int, number: int, after: str, limit: int) -> list[str]:
    """The subscriptions that a document is delivered to, in order of their ids, as far as they exist."""
    receivers = connection.scalar(select(m.c.receivers).where(m.c.topic == topic, m.c.document == number))
    ids = sorted(id for id in (receivers or "").split() if id > after)
    found: list[str] = []
    for start in range(0, len(ids), _CHUNK):
        some = ids[start : start + _CHUNK]
        query = select(s.c.id).where(s.c.topic == topic, s.c.id.in_(some), s.c.born < number)
        alive = set(connection.scalars(query))
        found += [id for id in some if id in alive]
        if len(found) >= limit:
            break
    return found[:limit]


def forget(connection: Connection, topic: int, numbers: Sequence[int]) -> int:
    """Remove the matches of documents; says how many deliveries had not been pulled yet."""
    mine = (m.c.topic == topic) & m.c.document.in_(list(numbers))
    places: dict[str, list[int]] = {}
    gone = delete(m).where(mine).returning(m.c.document, m.c.receivers)  # another process finds nothing
    for document, receivers in connection.execute(gone):
        for id in receivers.split():
            places.setdefault(id, []).append(document)
    waiting = 0
    ids = sorted(places)
    for start in range(0, len(ids), _CHUNK):
        behind = select(s.c.id, s.c.acked).where(
            s.c.topic == topic,
            s.c.id.in_(ids[start : start + _CHUNK]),
            s.c.acked < max(numbers),
            tables.pulled(),
        )
        if connection.dialect.name == "postgresql":  # who acknowledges them now has to wait
            behind = behind.order_by(s.c.id).with_for_update()
        for id, acked in connection.execute(behind):
            waiting += sum(1 for document in places[id] if document > acked)
    return waiting


def hot(connection: Connection, topic: int, documents: int, limit: int) -> list[dict[str, Any]]:
    """The subscriptions that most of the last documents went to."""
    recent = select(d.c.number).where(d.c.topic == topic).order_by(d.c.number.desc()).limit(documents)
    numbers = list(connection.scalars(recent))
    if not numbers:
        return []
    query = select(m.c.receivers).where(m.c.topic == topic, m.c.document >= numbers[-1])
    counts = Counter(id for receivers in connection.scalars(query) for id in receivers.split())
    ids = sorted(counts, key=lambda id: (-counts[id], id))
    found: list[dict[str, Any]] = []
    for start in range(0, len(ids), _CHUNK):
        some = ids[start : start + _CHUNK]
        alive = set(connection.scalars(select(s.c.id).where(s.c.topic == topic, s.c.id.in_(some))))
        found += [{"subscription": id, "deliveries": counts[id]} for id in some if id in alive]
        if len(found) >= limit:
            break
    return found[:limit]


def never(connection: Connection, topic: int, limit: int) -> list[str]:
    """Subscriptions that no document went to which is still kept, nor one to an earlier holder of the id."""
    o = tables.postings
    mark = postings.filed(connection, topic)
    few = {"yield_per": 64}
    seen: set[str] = set()
    old = select(o.c.data).where(o.c.topic == topic, o.c.last <= mark)
    for data in connection.scalars(old, execution_options=few):
        seen.update(re.findall("\n(\\S+) ", data))
    new = select(m.c.receivers).where(m.c.topic == topic, m.c.document > mark)
    for receivers in connection.scalars(new, execution_options=few):
        seen.update(receivers.split())
    found: list[str] = []
    query = select(s.c.id).where(s.c.topic == topic).order_by(s.c.number)
    with connection.scalars(query, execution_options={"yield_per": 1_000}) as ids:
        for id in ids:
            if id not in seen:
                found.append(id)
                if len(found) == limit:
                    break
    return found
