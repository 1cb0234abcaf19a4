"""Postings: matches of many documents turned round, so that a subscription finds its documents.

A row holds what one bucket of subscriptions got of a stretch of documents, a line for each subscription: its
id, then the documents, counted from the first of the stretch. See docs/design/deliveries.md.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, select, update

from pathcast.service.store import tables

o = tables.postings
m = tables.matches
t = tables.topics

BUCKETS = 256
STRETCH = 4_096  # documents that are filed together
ENTRIES = 200_000  # deliveries that are filed together, about
_ROWS = 16  # that are read at a time


@dataclass(frozen=True, slots=True)
class Stretch:
    """Matches of one topic, ready to be filed."""

    topic: int
    after: int
    """What was filed before."""
    first: int
    last: int
    buckets: dict[int, str]


def bucket(subscription: str) -> int:
    """The bucket of a subscription.

    >>> 0 <= bucket("s1") < BUCKETS
    True
    """
    return zlib.crc32(subscription.encode()) % BUCKETS


def holds(connection: Connection, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """Whether a text stands in a column."""
    place = func.instr if connection.dialect.name == "sqlite" else func.strpos
    return place(column, text) > 0


def filed(connection: Connection, topic: int) -> int:
    """The last document of a topic that is filed."""
    return connection.scalar(select(t.c.filed).where(t.c.number == topic)) or 0


def gather(connection: Connection, topic: int) -> Stretch | None:
    """The next matches to file; nothing while there are too few."""
    before = filed(connection, topic)
    query = (
        select(m.c.document, m.c.receivers)
        .where(m.c.topic == topic, m.c.document > before)
        .order_by(m.c.document)
        .limit(STRETCH)
    )
    places: defaultdict[str, list[str]] = defaultdict(list)
    first = last = documents = entries = 0
    for last, receivers in connection.execute(query, execution_options={"yield_per": 256}):
        first = first or last
        place = str(last - first)
        ids = receivers.split()
        for id in ids:
            places[id].append(place)
        documents += 1
        entries += len(ids)
        if entries >= ENTRIES:
            break
    if documents < STRETCH and entries < ENTRIES:
        return None
    lines: defaultdict[int, list[str]] = defaultdict(list)
    for id, found in places.items():
        lines[bucket(id)].append(f"{id} {' '.join(found)}")
    buckets = {number: "\n" + "\n".join(some) + "\n" for number, some in lines.items()}
    return Stretch(topic, before, first, last, buckets)


def file(connection: Connection, stretch: Stretch) -> bool:
    """Store postings; false when another process has done it, or the topic is gone."""
    mine = (t.c.number == stretch.topic) & (t.c.filed == stretch.after)
    if not connection.execute(update(t).where(mine).values(filed=stretch.last)).rowcount:
        return False
    names = {"topic": stretch.topic, "first": stretch.first, "last": stretch.last}
    rows = [{**names, "bucket": number, "data": data} for number, data in sorted(stretch.buckets.items())]
    connection.execute(insert(o), rows)
    return True


def documents(connection: Connection, topic: int, subscription: str, after: int, mark: int) -> Iterator[int]:
    """The numbers of the documents of a subscription after one and up to `mark`, in order.

    Documents that are gone may be among them.
    """
    line = f"\n{subscription} "
    query = (
        select(o.c.first, o.c.last, o.c.data)
        .where(o.c.topic == topic, o.c.bucket == bucket(subscription), o.c.last <= mark)
        .where(holds(connection, o.c.data, line))
        .order_by(o.c.last)
        .limit(_ROWS)
    )
    start = after
    while start < mark:
        rows = connection.execute(query.where(o.c.last > start)).all()
        for first, _, data in rows:
            at = data.index(line) + len(line)
            for place in data[at : data.index("\n", at)].split():
                if first + int(place) > after:
                    yield first + int(place)
        if len(rows) < _ROWS:
            return
        start = rows[-1].last


def expire(connection: Connection, topic: int) -> None:
    """Remove postings of which every document is older than the oldest that is kept."""
    oldest = connection.scalar(select(func.min(m.c.document)).where(m.c.topic == topic))
    old = o.c.last < (filed(connection, topic) + 1 if oldest is None else oldest)
    query = delete(o).where(o.c.topic == topic, o.c.bucket == bindparam("one"), old)
    connection.execute(query, [{"one": number} for number in range(BUCKETS)])
