"""Publishing: documents matched and stored with everything that follows from them, in one transaction.

Into the transaction go the document, who gets it, a push for each webhook, the dead letter of a
document that was refused, and the answer to its idempotency key. When the transaction is committed, the
promise holds; when it is not, nothing has happened.

Numbers of documents are cursors, so within a topic they must be committed in the order they were given. On
PostgreSQL a lock on the topic sees to that; on SQLite there is one writer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

import pathcast
from pathcast.errors import Cancelled, DocumentError
from pathcast.service.catalog import Catalog, LiveTopic
from pathcast.service.problems import Problem, bad_document, unavailable, unknown
from pathcast.service.settings import Clock
from pathcast.service.store import dead_letters, documents, listening, matches, pushes, tallies, topics

_LONG = 0.1  # seconds after which the documents of a topic are matched before their transaction
_LONGEST = 0.5  # seconds that matching may take in a transaction


@dataclass(slots=True, eq=False)
class Publication:
    """One document on its way into the store, and the answer to it."""

    topic: LiveTopic
    body: bytes
    digest: str
    content_type: str | None = None
    key: str | None = None
    trace: str | None = None
    matches: Sequence[Any] | DocumentError | None = None
    """What was found before the transaction, for large documents."""
    receivers: list[str] = field(default_factory=list)
    """The subscriptions that it goes to."""
    version: int = -1
    """The version of the topic that `matches` was found with."""
    refused: DocumentError | None = None
    """Why it was refused before it could be matched: its bytes could not be unpacked."""
    status: int = 0
    answer: dict[str, Any] = field(default_factory=dict)
    document: str | None = None
    number: int = 0
    repeated: bool = False
    stale: bool = False
    """It takes long, so it must be matched before the transaction, and was not since the last change."""


class Publisher:
    """Turns publications into rows."""

    def __init__(self, catalog: Catalog, clock: Clock, observe: Callable[[float, int], None]) -> None:
        self._catalog = catalog
        self._clock = clock
        self._observe = observe

    def publish(self, connection: Connection, batch: list[Publication]) -> None:
        """Store these documents; afterwards each has its status and answer."""
        for each in batch:  # it may be the second try
            each.status, each.repeated, each.stale = 0, False, False
        numbers = sorted({each.topic.number for each in batch})
        for number in numbers:
            topics.hold(connection, number)
        current = self._catalog.refresh(connection, numbers)
        for topic in numbers:
            mine = [each for each in batch if each.topic.number == topic]
            live = current.get(topic) or unknown("topic", mine[0].topic.name)
            if isinstance(live, Problem):
                for each in mine:
                    each.status, each.answer = live.status, live.answer()
                continue
            first = _first_of_their_key(connection, live, mine)
            self._match(live, first)
            self._store(connection, live, [each for each in first if not each.stale])
            _repeat(mine)

    def _match(self, live: LiveTopic, batch: list[Publication]) -> None:
        for each in batch:
            each.matches = each.refused or each.matches
        unmatched = [
            each
            for each in batch
            if each.refused is None and (each.matches is None or each.version != live.version)
        ]
        if not unmatched:
            return
        began = time.perf_counter()
        try:
            results = _bounded(live, [each.body for each in unmatched])
        except Cancelled:
            live.costly = True
            for each in unmatched:
                problem = unavailable("the subscriptions change faster than the document is matched")
                each.stale, each.status, each.answer = True, problem.status, problem.answer()
            return
        took = (time.perf_counter() - began) / len(unmatched)
        self._observe(took, len(unmatched))
        if took > _LONG:
            live.costly = True
        for each, result in zip(unmatched, results, strict=True):
            each.matches, each.version = result, live.version

    def _store(self, connection: Connection, live: LiveTopic, batch: list[Publication]) -> None:
        now = self._clock()
        good: list[Publication] = []
        dead: list[dict[str, Any]] = []
        for each in batch:
            if isinstance(each.matches, DocumentError):
                dead.append(_refuse(each, each.matches, now))
            else:
                each.receivers = [str(id) for id in each.matches or ()]
                good.append(each)
        if good:
            ids = documents.new_ids(now, len(good))
            rows = [_row(each, id, now) for each, id in zip(good, ids, strict=True)]
            delivering: list[tuple[int, list[str]]] = []
            pushing: list[tuple[str, int, str, int]] = []
            for each, number in zip(good, documents.add(connection, rows), strict=True):
                each.number = number
                dead += [_undecided(each, str(id), now) for id in getattr(each.matches, "failures", ())]
                if each.receivers:
                    delivering.append((number, each.receivers))
                if live.channels:
                    pushed = live.channels.keys() & each.receivers
                    pushing += [(live.tenant, live.number, id, number) for id in sorted(pushed)]
            if delivering:
                matches.add(connection, live.number, delivering)
                deliveries = sum(len(receivers) for _, receivers in delivering)
                tallies.add(connection, live.number, deliveries - len(pushing))
            if pushing:
                pushes.add(connection, pushing, now)
            if delivering and connection.dialect.name == "postgresql":
                listening.tell(connection, live.number)
        if dead:
            dead_letters.add(connection, dead)
        keyed = [each for each in batch if each.key is not None]
        if keyed:
            documents.remember(connection, [_remembered(each, now) for each in keyed])


def _bounded(live: LiveTopic, bodies: list[bytes]) -> Sequence[Any]:
    """What documents match; `Cancelled` when finding out takes long."""
    if not (live.trees or live.costly):
        return live.index.match_many(bodies)
    cancellation = pathcast.Cancellation()
    timer = threading.Timer(_LONGEST, cancellation.cancel)
    timer.start()
    try:
        return live.index.match_many(bodies, cancellation=cancellation)
    finally:
        timer.cancel()


def _row(each: Publication, id: str, now: float) -> dict[str, Any]:
    matched = len(each.receivers)
    each.document = id
    each.status, each.answer = 202, {"document": id, "matched": matched}
    return {
        "id": id,
        "tenant": each.topic.tenant,
        "topic": each.topic.number,
        "received": now,
        "content_type": each.content_type,
        "trace": each.trace,
        "size": len(each.body),
        "matched": matched,
        "body": each.body,
    }


def _refuse(each: Publication, error: DocumentError, now: float) -> dict[str, Any]:
    letter = dead_letters.new_id()
    problem = bad_document(error, dead_letter=letter)
    each.status, each.answer = problem.status, problem.answer()
    return {
        "id": letter,
        "tenant": each.topic.tenant,
        "topic": each.topic.name,
        "kind": "document",
        "reason": problem.detail,
        "line": error.line or None,
        "column": error.column or None,
        "content_type": each.content_type,
        "size": len(each.body),
        "body": each.body,
        "created": now,
    }


def _undecided(each: Publication, subscription: str, now: float) -> dict[str, Any]:
    """A subscription that cost too much to decide on this document: that must not look like no match."""
    return {
        "id": dead_letters.new_id(),
        "tenant": each.topic.tenant,
        "topic": each.topic.name,
        "kind": "delivery",
        "reason": "deciding the subscription took more steps than Limits.evaluation_steps allows",
        "document": each.document,
        "subscription": subscription,
        "content_type": each.content_type,
        "size": len(each.body),
        "created": now,
    }


def _remembered(each: Publication, now: float) -> dict[str, Any]:
    return {
        "topic": each.topic.number,
        "key": each.key,
        "digest": each.digest,
        "status": each.status,
        "answer": each.answer,
        "created": now,
    }


def _first_of_their_key(
    connection: Connection, live: LiveTopic, batch: list[Publication]
) -> list[Publication]:
    """Those to store. A key that was answered before gets that answer; of one key, the first counts."""
    keys = {each.key for each in batch if each.key is not None}
    known = documents.remembered(connection, live.number, list(keys)) if keys else {}
    seen: set[str] = set()
    first: list[Publication] = []
    for each in batch:
        if each.key is None:
            first.append(each)
        elif each.key in known:
            digest, status, answer = known[each.key]
            _again(each, digest, status, answer)
        elif each.key not in seen:
            seen.add(each.key)
            first.append(each)
    return first


def _repeat(batch: list[Publication]) -> None:
    """The answer of the first to those of the same batch with the same key."""
    firsts = {each.key: each for each in batch if each.status and not each.repeated}
    for each in batch:
        if not each.status:
            first = firsts[each.key]
            _again(each, first.digest, first.status, first.answer)


def _again(each: Publication, digest: str, status: int, answer: dict[str, Any]) -> None:
    each.repeated = True
    each.status, each.answer = status, answer
    if digest != each.digest:
        problem = Problem(
            422, "idempotency-key", "The key was used for another document", f"Idempotency-Key {each.key!r}"
        )
        each.status, each.answer = problem.status, problem.answer()
