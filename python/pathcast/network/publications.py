"""The publication routing table (PRT): who wants which documents, and what neighbours have been told of it.

Each distinct filter is one entry with everyone who holds it: neighbours, and clients of this broker. One
`Index` of all entries says where a document goes. For each neighbour a covering forest holds the entries
that somebody *else* wants and that documents from there can satisfy; its roots are what the neighbour is
told.

Invariant after `settled`: the neighbour has been told exactly the roots. New expressions are told before
old ones are taken back, so that at no moment a document is lost that was wanted before and after.

A neighbour that advertises nothing is told nothing, and its forest is empty until it does.

After a restart what a neighbour has been told is known and still right, so its forest may wait: it is filled
some filters a step. Until it is whole, the neighbour is told of whatever is new, covered or not, and nothing
is taken back: it may know too much, never too little. Documents need the index only.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field

from pathcast import _core
from pathcast.errors import EvaluationError
from pathcast.index import Index
from pathcast.network.groups import Groups
from pathcast.network.message import Filter, Subscribe, Unsubscribe
from pathcast.network.overlap import Names, Overlap
from pathcast.network.policy import Policy
from pathcast.network.state import Store

Told = Subscribe | Unsubscribe


@dataclass(slots=True, eq=False)
class Entry:
    """One distinct filter."""

    filter: Filter
    handle: int
    linear: bool | None
    """Whether it is a path without branches; None before the core has read it."""
    neighbours: set[str] = field(default_factory=set)
    clients: dict[str, dict[str, None]] = field(default_factory=dict)
    """By client: the ids of its subscriptions."""
    merging: set[int] = field(default_factory=set)
    """The forests in which it stands for its members, wanted or not."""

    @property
    def is_held(self) -> bool:
        """Whether anybody wants it."""
        return bool(self.neighbours or self.clients)

    def wanted_besides(self, neighbour: str) -> bool:
        """Whether anybody but a neighbour wants it."""
        return bool(self.clients) or len(self.neighbours) > (neighbour in self.neighbours)


@dataclass(slots=True, eq=False)
class Side:
    """A neighbour as the table sees it."""

    name: str
    forest: int
    overlap: Overlap
    """What documents from there are like, and which filters of others they can satisfy."""
    placed: set[int] = field(default_factory=set)
    """Handles in the forest."""
    told: dict[Filter, None] = field(default_factory=dict)
    """What the neighbour knows."""
    touched: set[int] = field(default_factory=set)
    """Handles that may have become roots, or no longer are."""
    groups: Groups | None = None
    unfilled: list[int] | None = None
    """Handles that are not in the forest yet, after a restart; None when it is whole."""
    urgent: list[int] = field(default_factory=list)
    """Handles to tell of before the forest is whole."""
    was_told: bool = False
    """Whether what it knows is from before a restart, or was urgent, and not compared with the forest yet."""
    is_leaf: bool = False
    """Whether it is told to send everything, and of nothing that others want."""


EVERYTHING = Filter("true()")
"""Not a path, so that whole documents are sent where paths are the unit."""


class Publications:
    """The table of one broker."""

    def __init__(
        self, policy: Policy, cover: _core.Cover, store: Store, names: Callable[[int], Names | None]
    ) -> None:
        self.policy = policy
        self.names = names
        """The names of an advertisement, by number."""
        self.cover = cover
        self.store = store
        self.index = Index(limits=policy.limits)
        self.entries: dict[Filter, Entry] = {}
        self.by_handle: dict[int, Entry] = {}
        self.sides: dict[str, Side] = {}
        self.doubtful: list[Entry] = []
        """Entries that may be forgotten once neighbours have been told."""
        self.fallback: list[int] = []
        """Numbers of what mergers are measured with where nothing is advertised."""
        self._free: list[int] = []
        self._next_handle = 0
        self._next_forest = 0

    # -- who wants what ------------------------------------------------------------------------------------

    def entry(self, filter: Filter) -> Entry:
        """The entry of a filter, made now if it is new; raises `XPathError` for one outside the language."""
        entry = self.entries.get(filter)
        if entry is None:
            handle = self._free[-1] if self._free else self._next_handle
            entry = Entry(filter, handle, None)
            self.is_linear(entry)  # may refuse it
            if self._free:
                self._free.pop()
            else:
                self._next_handle += 1
            self.entries[filter] = self.by_handle[handle] = entry
        self.is_linear(entry)
        return entry

    def is_linear(self, entry: Entry) -> bool:
        """Whether an entry is a path without branches; after a restart the core reads it now."""
        if entry.linear is None:
            filter = entry.filter
            namespaces = dict(filter.namespaces)
            entry.linear = self.cover.register(
                entry.handle, filter.xpath, filter.ordered, namespaces, filter.bound
            )
        return entry.linear

    def hold_for_neighbour(self, filter: Filter, neighbour: str) -> bool:
        """A neighbour wants it; whether that is new."""
        entry = self.entry(filter)
        if neighbour in entry.neighbours:
            return False
        self._index(entry)
        entry.neighbours.add(neighbour)
        self.store.put(("sub", neighbour, *filter), {})
        self._place(entry)
        return True

    def hold_for_client(self, filter: Filter, client: str, id: str) -> None:
        """A client wants it."""
        entry = self.entry(filter)
        self._index(entry)
        entry.clients.setdefault(client, {})[id] = None
        self._place(entry)

    def restore(self, held: Iterable[tuple[Filter, str, str | None]]) -> None:
        """Fill an empty table at once: filters with a client and its id, or with a neighbour and None."""
        for filter, name, id in held:
            entry = self.entries.get(filter)
            if entry is None:
                entry = Entry(filter, self._next_handle, None)
                self.entries[filter] = self.by_handle[self._next_handle] = entry
                self._next_handle += 1
            if id is None:
                entry.neighbours.add(name)
            else:
                entry.clients.setdefault(name, {})[id] = None
        self.index.add_many(
            (entry.handle, filter.xpath, filter.ordered, dict(filter.namespaces) or None, filter.bound)
            for filter, entry in self.entries.items()
        )

    def _index(self, entry: Entry) -> None:
        if not entry.is_held:
            filter = entry.filter
            self.index.add(
                entry.handle,
                filter.xpath,
                ordered=filter.ordered,
                namespaces=dict(filter.namespaces) or None,
                variables=filter.bound,
            )

    def release_neighbour(self, filter: Filter, neighbour: str) -> bool:
        """A neighbour no longer wants it; whether it did."""
        entry = self.entries.get(filter)
        if entry is None or neighbour not in entry.neighbours:
            return False
        entry.neighbours.discard(neighbour)
        self.store.drop(("sub", neighbour, *filter))
        self._released(entry)
        return True

    def release_client(self, filter: Filter, client: str, id: str) -> None:
        """A client no longer wants it."""
        entry = self.entries[filter]
        ids = entry.clients[client]
        del ids[id]
        if not ids:
            del entry.clients[client]
        self._released(entry)

    def _released(self, entry: Entry) -> None:
        if not entry.is_held:
            self.index.remove(entry.handle)
            self.doubtful.append(entry)
        self._place(entry)

    # -- forests -------------------------------------------------------------------------------------------

    def open_side(
        self, name: str, advertised: Iterable[int], told: Iterable[Filter] = (), *, later: bool = False
    ) -> Side:
        """Begin to tell a neighbour what is wanted; `later` when it has been told and nothing has changed."""
        side = self.sides[name] = Side(name, self._next_forest, Overlap(self.cover, self.names))
        self._next_forest += 2
        for number in advertised:
            side.overlap.come(number)
        side.told = dict.fromkeys(told)
        side.was_told = bool(side.told)
        side.is_leaf = name in self.policy.leaves
        if side.is_leaf:
            entry = self.entry(EVERYTHING)
            entry.merging.add(side.forest)
            self.insert(side, entry.handle)
            return side
        if self.policy.merging is not None:
            side.groups = Groups(self, side, self.policy.merging)
        side.unfilled = self._all(side)
        if not later:
            self._fill(side)
        return side

    def _hears(self, side: Side) -> bool:
        """Whether any document may come from a neighbour."""
        return bool(side.overlap.advertised) or not self.policy.advertisements

    def _all(self, side: Side) -> list[int]:
        """All entries, the first last: they are taken from the end."""
        return [entry.handle for entry in reversed(self.entries.values())] if self._hears(side) else []

    def close_side(self, name: str) -> None:
        """Stop telling a neighbour what is wanted, and forget what it was told."""
        side = self.sides.pop(name, None)
        if side is None:
            return
        self.cover.clear(side.forest)
        self.cover.clear(side.forest + 1)
        if side.groups is not None:
            side.groups.abandon()
        if side.is_leaf:
            entry = self.entries[EVERYTHING]
            entry.merging.discard(side.forest)
            self.doubtful.append(entry)
        for filter in side.told:
            self.store.drop(("told", name, *filter))

    def readvertised(self, name: str, advertised: Container[int], turned: Iterable[int]) -> None:
        """Some of what documents from a neighbour are like has come or gone."""
        side = self.sides[name]
        overlap = side.overlap
        turned = list(turned)
        gone = [number for number in turned if number not in advertised and number in overlap.advertised]
        for handle in overlap.go(gone, self._xpath):
            if handle in side.placed and side.forest not in self.by_handle[handle].merging:
                self.remove(side, handle)
        was_silent = not self._hears(side)
        if was_silent:
            overlap.forget()
        for number in turned:
            if number in advertised and number not in overlap.advertised:
                for handle in overlap.come(number):
                    self._insert(side, handle)
        if was_silent and not side.is_leaf:
            side.unfilled = self._all(side)
        # What is not placed yet is compared with what is advertised now.
        self._fill(side)

    def _xpath(self, handle: int) -> str:
        return self.by_handle[handle].filter.xpath

    def _fill(self, side: Side, most: int | None = None) -> None:
        """Place every entry that is not placed yet, or so many; when all are, the neighbour is told."""
        if side.unfilled is None:
            return
        part: list[int] = []
        while side.unfilled and (most is None or len(part) < most):
            handle = side.unfilled.pop()
            if handle in self.by_handle and handle not in side.overlap:
                part.append(handle)
        wanted = [entry for each in part if (entry := self.by_handle[each]).wanted_besides(side.name)]
        for entry in wanted:
            self.is_linear(entry)
        if self.policy.advertisements:
            fitting = side.overlap.fill((entry.handle, entry.filter.xpath) for entry in wanted)
        else:
            fitting = [entry.handle for entry in wanted]
        for handle in fitting:
            self._insert(side, handle)
        if not side.unfilled:
            side.unfilled = None
            side.urgent.clear()
            side.touched.update(self.entries[each].handle for each in side.told if each in self.entries)

    def _place(self, entry: Entry) -> None:
        handle = entry.handle
        self.is_linear(entry)
        for side in self.sides.values():
            if side.is_leaf:
                continue
            if not entry.wanted_besides(side.name):
                side.overlap.drop(handle)
                if handle in side.placed and side.forest not in entry.merging:
                    self.remove(side, handle)
            elif side.unfilled is not None:
                if handle not in side.placed:
                    side.unfilled.append(handle)
                    side.urgent.append(handle)
            elif (
                self._hears(side)
                and handle not in side.overlap
                and (not self.policy.advertisements or side.overlap.add(handle, entry.filter.xpath))
            ):
                self._insert(side, handle)

    def belongs(self, side: Side, entry: Entry) -> bool:
        """Whether an entry is in a forest for its own sake, and not as a merger."""
        fits = entry.handle in side.overlap.witness or not self.policy.advertisements
        return fits and entry.wanted_besides(side.name)

    def _insert(self, side: Side, handle: int) -> None:
        if handle not in side.placed:
            self.insert(side, handle)

    def insert(self, side: Side, handle: int) -> None:
        """Put an entry into a forest."""
        side.placed.add(handle)
        side.touched.add(handle)
        if self.policy.covering:
            _, hidden = self.cover.insert(self._forest(side, handle), handle)
            side.touched.update(hidden)

    def remove(self, side: Side, handle: int) -> None:
        """Take an entry out of a forest."""
        side.placed.discard(handle)
        side.touched.add(handle)
        if self.policy.covering:
            _, surfaced, hidden = self.cover.remove(self._forest(side, handle), handle)
            side.touched.update(surfaced, hidden)
        if side.groups is not None:
            side.groups.left(handle)

    def is_root(self, side: Side, handle: int) -> bool:
        """Whether a neighbour is to be told of an entry."""
        if not self.policy.covering:
            return handle in side.placed
        return self.cover.is_root(self._forest(side, handle), handle)

    def _forest(self, side: Side, handle: int) -> int:
        """With paths as the unit, what needs whole documents must not hide behind what paths answer."""
        apart = self.policy.unit == "path" and not self.is_linear(self.by_handle[handle])
        return side.forest + apart

    # -- telling neighbours --------------------------------------------------------------------------------

    def settled(self) -> list[tuple[str, Told]]:
        """What neighbours must be told now, new before old; entries that nobody needs are forgotten."""
        told: list[tuple[str, Told]] = []
        for side in self.sides.values():
            if side.unfilled is not None:
                self._fill(side, self.policy.placed)
                self._tell_urgent(side, told)
            if side.unfilled is None and (side.touched or side.was_told):
                if side.groups is not None:
                    side.groups.settle()
                self._tell(side, sorted(side.touched), told)
                side.touched.clear()
                if side.was_told:
                    # Other filters may have been merged.
                    side.was_told = False
                    self._take_back(side, [each for each in side.told if not self._is_told(side, each)], told)
        for entry in self.doubtful:
            self._forget(entry)
        self.doubtful.clear()
        return told

    def _is_told(self, side: Side, filter: Filter) -> bool:
        """Whether a neighbour is to know a filter. That there is an entry says nothing: it may have been made
        for a merger that came to nothing."""
        entry = self.entries.get(filter)
        return entry is not None and self.is_root(side, entry.handle)

    def _tell_urgent(self, side: Side, told: list[tuple[str, Told]]) -> None:
        """Tell of what is new before it is known what covers it."""
        for handle in side.urgent:
            entry = self.by_handle.get(handle)
            if entry is not None and entry.filter not in side.told and entry.wanted_besides(side.name):
                side.was_told = True
                side.told[entry.filter] = None
                self.store.put(("told", side.name, *entry.filter), {})
                told.append((side.name, Subscribe(entry.filter)))
        side.urgent.clear()

    def _tell(self, side: Side, touched: list[int], told: list[tuple[str, Told]]) -> None:
        gone: list[Filter] = []
        for handle in touched:
            if handle not in self.by_handle:  # gone before the forest was whole
                continue
            filter = self.by_handle[handle].filter
            if self.is_root(side, handle):
                if filter not in side.told:
                    side.told[filter] = None
                    self.store.put(("told", side.name, *filter), {})
                    told.append((side.name, Subscribe(filter)))
            elif filter in side.told:
                gone.append(filter)
        self._take_back(side, gone, told)

    def _take_back(self, side: Side, gone: Iterable[Filter], told: list[tuple[str, Told]]) -> None:
        for filter in gone:
            del side.told[filter]
            self.store.drop(("told", side.name, *filter))
            told.append((side.name, Unsubscribe(filter)))

    def _forget(self, entry: Entry) -> None:
        if entry.is_held or entry.merging or self.entries.get(entry.filter) is not entry:
            return
        del self.entries[entry.filter]
        del self.by_handle[entry.handle]
        if entry.linear is not None:
            self.cover.release(entry.handle)
        self._free.append(entry.handle)

    # -- routing -------------------------------------------------------------------------------------------

    def matching(self, document: bytes) -> list[Entry]:
        """The entries that a document satisfies; raises `DocumentError` for one that cannot be read.

        An entry that takes more evaluation steps than the limit counts as satisfied: better one document too
        many than one that is lost.
        """
        by_handle = self.by_handle
        try:
            handles = self.index.match(document)
        except EvaluationError as error:
            handles = sorted([*error.matches, *error.failures])
        return [by_handle[handle] for handle in handles]  # type: ignore[index]
