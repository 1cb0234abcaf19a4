"""Mergers of one neighbour's forest: made when expressions alike have gathered, undone when members leave.

A merger is an expression in the forest like any other. It covers its members, so they stop being roots and
the neighbour is told of the merger in their place; when it is taken out, they surface. Expressions that a
rule may merge have a key in common (`_core.Mergeable`), so nobody is compared with everybody. A key is a
hash: two that meet by chance are compared and found not to be alike.

A merger that lists values is made anew when as many wait as it has, until its list is full: so members are
told of twice or three times, not each time that one comes.

Each root belongs to one merger at most. A merger is undone when less than two members are left, or when those
that are left make its imperfect degree larger than the policy allows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pathcast import _core
from pathcast.network.merging import listed, merged_filter, starred, unlisted
from pathcast.network.overlap import needed
from pathcast.network.policy import Merging
from pathcast.network.values import MOST, valued

if TYPE_CHECKING:
    from pathcast.network.message import Filter
    from pathcast.network.publications import Entry, Publications, Side

GroupKey = int

LISTING = 4
"""The rule that lists values."""
CANDIDATES = 64
"""Roots of one key that a new one is tried with."""
FEW = 8
"""Up to so many are tried each time that one comes, where no degree says how many it takes."""


class Alike(NamedTuple):
    """Why some that wait may be merged with one that comes."""

    key: GroupKey
    rule: int
    places: tuple[int, int] | None
    """With rule 2 for two names: where they stand."""
    number: int
    """How many wait."""


@dataclass(slots=True, eq=False)
class Group:
    """A merger and its members."""

    entry: Entry
    key: GroupKey
    lists: bool = False
    """Whether it lists the values of its members."""
    members: set[int] = field(default_factory=set)


class Groups:
    """The mergers of one forest."""

    def __init__(self, table: Publications, side: Side, merging: Merging) -> None:
        self.table = table
        self.side = side
        self.merging = merging
        self.by_member: dict[int, Group] = {}
        self.by_key: dict[GroupKey, Group] = {}
        self.by_merger: dict[int, Group] = {}
        self.waiting = _core.Mergeable(merging.rules, table.policy.limits, table.policy.seed)
        """The roots that wait, and how many must have gathered under a key before merging is tried again."""
        self.weakened: dict[int, Group] = {}

    def left(self, handle: int) -> None:
        """An entry is no longer in the forest."""
        self.waiting.withdraw(handle)
        group = self.by_member.pop(handle, None)
        if group is not None:
            group.members.discard(handle)
            self.weakened[group.entry.handle] = group

    def settle(self) -> None:
        """Undo what no longer holds and merge what now can be."""
        while self.weakened:
            _, group = self.weakened.popitem()
            if group.entry.handle in self.by_merger and (
                len(group.members) < 2 or self._degree(group) > self.merging.max_degree
            ):
                self._undo(group)
        for handle in sorted(self.side.touched):
            if handle in self.by_member or handle in self.by_merger:
                continue
            if handle not in self.side.placed:
                self.waiting.withdraw(handle)
            elif not self.table.is_root(self.side, handle):
                self.waiting.withdraw(handle)
                self._join(handle)
            elif handle not in self.waiting:
                self._offer(handle)

    def abandon(self) -> None:
        """The forest is gone."""
        for group in self.by_merger.values():
            group.entry.merging.discard(self.side.forest)
            self.table.doubtful.append(group.entry)

    def _offer(self, handle: int) -> None:
        """A new root: merged with others that its like allows, or kept waiting for more."""
        known = self._known(handle)
        if known is None:
            return
        waiting = self.waiting
        for alike in map(Alike._make, waiting.ready(*known)):
            key, number = alike.key, alike.number
            if number + 1 < self._enough(alike):
                continue
            others, before = self._candidates(key), waiting.patience(key)
            if others and self._found(handle, others, alike):
                return
            patience = waiting.patience(key)
            if number >= (FEW if patience == before else CANDIDATES):
                # The same would be tried again: not for each that comes.
                waiting.set_patience(key, max(patience, number + number // 4))
        waiting.wait(handle, *known)

    def _known(self, handle: int) -> tuple[str, str, str | None] | None:
        """By what an expression is merged: its path, what else must be equal, and all but its values."""
        filter = self.table.by_handle[handle].filter
        if filter.ordered:
            return None
        context = repr(filter[2:]) if any(filter[2:]) else ""
        if LISTING in self.merging.rules and (parts := valued(filter.xpath)) is not None:
            return filter.xpath, context, repr((parts.head, parts.tail))
        return filter.xpath, context, None

    def _enough(self, alike: Alike) -> int:
        """How many must have gathered before merging is tried."""
        group = self.by_key.get(alike.key)
        if alike.rule == LISTING and group is not None and len(group.members) < MOST:
            return len(group.members)
        return self.waiting.patience(alike.key)

    def _candidates(self, key: GroupKey) -> list[int]:
        """The first roots that wait under a key; those before them that are roots no longer wait no more."""
        others: list[int] = []
        for other in self.waiting.under(key):
            if not self.table.is_root(self.side, other):
                self.waiting.withdraw(other)
                continue
            others.append(other)
            if len(others) == CANDIDATES:
                break
        return others

    def _join(self, handle: int) -> None:
        """A covered expression is a member of the merger that covers it, which then lasts longer."""
        known = self._known(handle) if self.by_key else None
        for key in self.waiting.keys(*known) if known is not None else ():
            group = self.by_key.get(key)
            if group is not None and self.table.cover.covers(group.entry.handle, handle):
                group.members.add(handle)
                self.by_member[handle] = group
                return

    def _found(self, handle: int, others: list[int], alike: Alike) -> bool:
        """Make a merger of a new root and those that wait under a key, if the degree allows it.

        Two of five names may be too few where all five are perfect, so all are tried together. How far the
        degree is from what is allowed says how many more are worth waiting for.
        """
        table, key = self.table, alike.key
        lists = alike.rule == LISTING
        offered = [handle, *others]
        before = self.by_key.get(key) if lists else None
        merger = None if before is None else self._listed([before.entry.handle, *offered])
        if before is not None and merger is not None:
            offered.extend(before.members)
        else:
            before = None
            merger = self._merger(offered, alike)
        if merger is None:
            return False
        entry = table.entry(merger)
        group = Group(entry, key, lists)
        group.members = {each for each in offered if table.cover.covers(entry.handle, each)}
        needed = {handle, *(before.members if before is not None else ())}
        fits = entry.handle not in self.side.placed and needed <= group.members and len(group.members) > 1
        degree = self._degree(group) if fits else 1.0
        if not fits or degree > self.merging.max_degree:
            table.doubtful.append(entry)
            if fits and degree < 1:
                enough = len(group.members) * (1 - self.merging.max_degree) / (1 - degree)
                self.waiting.set_patience(key, max(len(group.members) + 1, int(0.8 * enough)))
            return False
        if before is not None:
            self._undo(before)
        self.by_key[key] = self.by_merger[entry.handle] = group
        self.waiting.set_patience(key)
        for member in group.members:
            self.waiting.withdraw(member)
            self.by_member[member] = group
        entry.merging.add(self.side.forest)
        table.insert(self.side, entry.handle)
        # Others of its kind that the merger hides anyway are members too.
        for more in self.waiting.under(key):
            if not table.is_root(self.side, more):
                self.waiting.withdraw(more)
                group.members.add(more)
                self.by_member[more] = group
        return True

    def _merger(self, offered: list[int], alike: Alike) -> Filter | None:
        """What covers the first of some roots under a key, and others, as many as there may be in one."""
        filters = [self.table.by_handle[each].filter for each in offered]
        if alike.places is not None:
            return starred(filters, alike.places)
        if alike.rule != LISTING:
            return merged_filter(filters[0], filters[1], self.merging.rules)
        tests: set[str] = set()
        fitting: list[int] = []
        for each, filter in zip(offered, filters, strict=True):
            parts = valued(filter.xpath)
            if parts is not None and len(tests.union(parts.tests)) <= MOST:
                tests.update(parts.tests)
                fitting.append(each)
        return self._listed(fitting) if len(fitting) > 1 else None

    def _listed(self, handles: list[int]) -> Filter | None:
        return listed([self.table.by_handle[each].filter for each in handles])

    def _undo(self, group: Group) -> None:
        del self.by_merger[group.entry.handle]
        if self.by_key.get(group.key) is group:
            del self.by_key[group.key]
        for member in group.members:
            del self.by_member[member]
        group.entry.merging.discard(self.side.forest)
        self.side.touched.update(group.members)
        if not self.table.belongs(self.side, group.entry):
            self.table.remove(self.side, group.entry.handle)
        self.table.doubtful.append(group.entry)

    def _degree(self, group: Group) -> float:
        """How imperfect a merger is where documents come from; 1 when nothing is known."""
        entry, members = group.entry, group.members
        if group.lists:
            return unlisted(entry.filter, [self.table.by_handle[each].filter for each in members])
        cover = self.table.cover
        overlap = self.side.overlap
        numbers = overlap.having(needed(entry.filter.xpath)) if overlap.advertised else self.table.fallback
        degrees = [
            degree
            for number in numbers
            if (degree := cover.degree(number, entry.handle, sorted(members), self.merging.depth)) is not None
        ]
        return max(degrees, default=1.0)
