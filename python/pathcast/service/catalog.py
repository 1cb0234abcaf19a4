"""The catalog: every topic with the index of its enabled subscriptions, kept in step with the store.

A live topic remembers the version that its index holds. Before documents are matched in a transaction, the
versions are compared with the store's and what is newer is applied (`refresh`). So a subscription that was
answered with success is seen by the next document, whichever process took either.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from sqlalchemy import Connection

import pathcast
from pathcast.errors import PathcastError
from pathcast.schema import Schema
from pathcast.service.problems import Problem, unavailable
from pathcast.service.store import subscriptions as rows
from pathcast.service.store import topics
from pathcast.service.store.subscriptions import Subscription
from pathcast.service.store.topics import Topic

T = TypeVar("T")

log = logging.getLogger("pathcast.service")

_CHUNK = 10_000  # subscriptions that are registered in one call
_FEW = 100  # subscriptions
_LIMITS = [each.name for each in fields(pathcast.Limits)]


@dataclass(slots=True, eq=False)
class LiveTopic:
    """A topic in memory."""

    number: int
    tenant: str
    name: str
    settings: dict[str, Any]
    index: pathcast.Index
    version: int = 0
    channels: dict[str, str] = field(default_factory=dict)
    """How enabled subscriptions that are not pulled are delivered."""
    trees: bool = False
    """Whether some expression is decided on a tree: then a small document may take long too."""
    costly: bool = False
    """Whether documents were seen to take long."""
    checker: pathcast.Index = field(init=False)
    """An index without subscriptions, to check expressions with: it waits for nothing that is matched."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    _running: set[pathcast.Cancellation] = field(default_factory=set)
    _changing: int = 0
    _turn: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self.checker = empty_index(self.settings)

    @property
    def retention(self) -> float | None:
        """Seconds that documents of this topic are kept."""
        return self.settings.get("retention")

    def apply(self, given: Iterable[Subscription]) -> None:
        """Bring subscriptions into the index as they are now."""
        adding: list[Subscription] = []
        for each in given:
            if each.enabled:
                adding.append(each)
                continue
            self.drop([each.id])
        with self._change():
            for start in range(0, len(adding), _CHUNK):
                register(self.index, adding[start : start + _CHUNK])
        if adding and not self.trees:
            self.trees = self._on_trees(adding)
        for each in adding:
            if each.channel != "pull":
                self.channels[each.id] = each.channel
            elif self.channels:
                self.channels.pop(each.id, None)

    def _on_trees(self, added: list[Subscription]) -> bool:
        """Whether one of them is decided on a tree."""
        judged = self.index
        if len(added) <= _FEW:  # the figures of a large index take longer than to make a small one
            judged = empty_index({**self.settings, "schema": None})
            register(judged, added)
        return int(judged.stats()["decided_on_tree"]) > 0

    def drop(self, ids: Iterable[str]) -> None:
        """Take subscriptions out of the index, as far as they are in it."""
        for id in ids:
            self.channels.pop(id, None)
            if id in self.index:
                with self._change():
                    self.index.remove(id)

    @contextlib.contextmanager
    def _change(self) -> Iterator[None]:
        """An index that changes waits for what is matched: so that is ended, and begins again after."""
        with self._turn:
            self._changing += 1
        self.interrupt()
        try:
            yield
        finally:
            with self._turn:
                self._changing -= 1
                self._turn.notify_all()

    def interrupt(self) -> None:
        """End what is being matched."""
        with self._turn:
            for each in self._running:
                each.cancel()

    def look(self, work: Callable[[pathcast.Cancellation], T]) -> T:
        """Do something with the index that may take long; `Cancelled` when it is to change."""
        cancellation = pathcast.Cancellation()
        with self._turn:
            self._turn.wait_for(lambda: not self._changing)
            self._running.add(cancellation)
        try:
            return work(cancellation)
        finally:
            with self._turn:
                self._running.discard(cancellation)


def register(index: pathcast.Index, given: list[Subscription]) -> None:
    """Add many to an index, all or none."""
    index.add_many(
        [(each.id, each.xpath, each.ordered, each.namespaces, values(each.variables)) for each in given]
    )


def values(variables: dict[str, Any] | None) -> dict[str, Any] | None:
    """Variables as an index takes them: an expression is `{"xpath": "..."}` in JSON.

    >>> values({"t": "x", "u": {"xpath": "/*/t"}})
    {'t': 'x', 'u': XPath(expression='/*/t')}
    """
    if not variables:
        return None
    found: dict[str, Any] = {}
    for name, value in variables.items():
        if isinstance(value, dict):
            if value.keys() != {"xpath"} or not isinstance(value["xpath"], str):
                raise ValueError(f'the variable {name!r} is a value or {{"xpath": "..."}}')
            value = pathcast.XPath(value["xpath"])
        elif not isinstance(value, (str, int, float, bool)):
            raise ValueError(f"the variable {name!r} is a string, a number, a boolean or an expression")
        found[name] = value
    return found


def empty_index(settings: dict[str, Any]) -> pathcast.Index:
    """An index as the settings of a topic want it; `ValueError` or `PathcastError` when they are wrong."""
    schema = settings.get("schema")
    limits = settings.get("limits") or {}
    if unknown := limits.keys() - _LIMITS:
        raise ValueError(f"there is no limit {min(unknown)!r}; there are {', '.join(_LIMITS)}")
    if isinstance(schema, str):
        schema = {"dtd": schema}
    return pathcast.Index(
        namespaces=settings.get("namespaces"),
        ignore_namespaces=bool(settings.get("ignore_namespaces")),
        limits=pathcast.Limits(**limits),
        schema=Schema.from_text(schema["dtd"], schema.get("root")) if schema else None,
        impossible="ignore",
    )


class Catalog:
    """All topics by tenant and name."""

    def __init__(self) -> None:
        self._topics: dict[tuple[str, str], LiveTopic] = {}
        self._by_number: dict[int, LiveTopic] = {}
        self._lock = threading.RLock()

    def topics(self) -> list[LiveTopic]:
        """All of them, as they are now."""
        return list(self._topics.values())

    def get(self, tenant: str, name: str) -> LiveTopic | None:
        """The topic of this name, if it is in memory."""
        return self._topics.get((tenant, name))

    def by_number(self, number: int) -> LiveTopic | None:
        """The topic with this number, if it is in memory."""
        return self._by_number.get(number)

    def load(self, connection: Connection) -> None:
        """Everything that the store has, and nothing that it has no more."""
        found = topics.everything(connection)
        for topic in found:
            with contextlib.suppress(Problem):  # it was logged, and harms no other topic
                self.follow(connection, topic)
        known = {topic.number for topic in found}
        for live in self.topics():
            if live.number not in known:
                self.forget(live)

    def follow(self, connection: Connection, topic: Topic) -> LiveTopic:
        """The live topic, brought up to the version that the store has; a `Problem` when that cannot be."""
        try:
            return self._followed(connection, topic)
        except (PathcastError, ValueError) as error:
            about = {"tenant": topic.tenant, "topic": topic.name, "reason": str(error)}
            log.error("the index of a topic cannot be made", extra={"about": about})
            raise unavailable(f"the index of the topic {topic.name!r} cannot be made: {error}") from error

    def _followed(self, connection: Connection, topic: Topic) -> LiveTopic:
        with self._lock:
            live = self._by_number.get(topic.number)
            if live is None:
                return self._build(connection, topic)
        with live.lock:
            if live.version >= topic.version:
                return live
            if live.version < topic.rebuilt or live.version < topic.floor:
                return self._build(connection, topic)
            since = live.version
            live.apply(rows.changed(connection, topic.number, since))
            live.drop(rows.removed(connection, topic.number, since))
            live.version = topic.version
        return live

    def _build(self, connection: Connection, topic: Topic) -> LiveTopic:
        live = LiveTopic(
            topic.number, topic.tenant, topic.name, topic.settings, empty_index(topic.settings), topic.version
        )
        live.apply(rows.everything(connection, topic.number))
        self.install(live)
        return live

    def install(self, live: LiveTopic) -> None:
        """Put a topic in the place of what was known under its name."""
        with self._lock:
            self._topics[live.tenant, live.name] = live
            self._by_number[live.number] = live

    def forget(self, live: LiveTopic) -> None:
        """Take a topic away."""
        with self._lock:
            self._by_number.pop(live.number, None)
            if self._topics.get((live.tenant, live.name)) is live:
                del self._topics[live.tenant, live.name]

    def refresh(self, connection: Connection, numbers: Iterable[int]) -> dict[int, LiveTopic | Problem]:
        """These topics, at least as new as the store is in this transaction; without those that are gone."""
        stored = topics.versions(connection, numbers)
        current: dict[int, LiveTopic | Problem] = {}
        for number, version in stored.items():
            live = self._by_number.get(number)
            if live is None or live.version < version:
                row = topics.by_number(connection, number)
                if row is None:
                    continue
                try:
                    live = self.follow(connection, row)
                except Problem as problem:
                    current[number] = problem
                    continue
            current[number] = live
        return current
