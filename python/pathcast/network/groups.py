"""Mergers of one neighbour's forest: made when expressions alike have gathered, undone when members leave.

A merger is an expression in the forest like any other. It covers its members, so they stop being roots and
the neighbour is told of the merger in their place; when it is taken out, they surface. Expressions that a
rule may merge have a key in common (`pathcast.network.merging.keys`), so nobody is compared with everybody.
A key is kept as its hash: two that meet by chance are compared and found not to be alike.

A merger that lists values is made anew when as many wait as it has, until its list is full: so members are
told of twice or three times, not each time that one comes.

Each root belongs to one merger at most. A merger is undone when less than two members are left, or when those
that are left make its imperfect degree larger than the policy allows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pathcast.network.merging import Alike, filter_keys, listed, merged_filter, starred, unlisted
from pathcast.network.overlap import needed
from pathcast.network.policy import Merging
from pathcast.network.values import MOST, valued

if TYPE_CHECKING:
    from pathcast.network.message import Filter
    from pathcast.network.publications import Entry, Publications, Side

GroupKey = int

CANDIDATES = 64
"""Roots of one key that a new one is tried with."""
FEW = 8
"""Up to so many are tried each time that one comes, where no degree says how many it takes."""


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
        self.waiting: dict[GroupKey, int | dict[int, None]] = {}
        """By key: the roots that wait; most wait alone, and a number takes less room than a dictionary."""
        self.keys: dict[int, tuple[GroupKey, ...]] = {}
        self.weakened: dict[int, Group] = {}
        self.patience: dict[GroupKey, int] = {}
        """By key: how many must have gathered before merging is tried again."""

    def left(self, handle: int) -> None:
        """An entry is no longer in the forest."""
        self._withdraw(handle)
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
                self._withdraw(handle)
            elif not self.table.is_root(self.side, handle):
                self._withdraw(handle)
                self._join(handle)
            elif handle not in self.keys:
                self._offer(handle)

    def abandon(self) -> None:
        """The forest is gone."""
        for group in self.by_merger.values():
            group.entry.merging.discard(self.side.forest)
            self.table.doubtful.append(group.entry)

    def _offer(self, handle: int) -> None:
        """A new root: merged with others that its like allows, or kept waiting for more."""
        found = self._keys(handle)
        for key, alike in found.items():
            number = len(self._waiting(key))
            if number + 1 >= self._enough(key, alike):
                others, before = self._candidates(key), self.patience.get(key)
                if others and self._found(handle, others, key, alike):
                    return
                if number >= (FEW if self.patience.get(key) == before else CANDIDATES):
                    # The same would be tried again: not for each that comes.
                    self.patience[key] = max(self.patience.get(key, 2), number + number // 4)
        self.keys[handle] = tuple(found)
        for key in found:
            self._wait(key, handle)

    def _enough(self, key: GroupKey, alike: Alike) -> int:
        """How many must have gathered before merging is tried."""
        group = self.by_key.get(key)
        if alike.key[0] == 4 and group is not None and len(group.members) < MOST:
            return len(group.members)
        return self.patience.get(key, 2)

    def _candidates(self, key: GroupKey) -> list[int]:
        """The first roots that wait under a key; those before them that are roots no longer wait no more."""
        others: list[int] = []
        covered: list[int] = []
        for other in self._waiting(key):
            (others if self.table.is_root(self.side, other) else covered).append(other)
            if len(others) == CANDIDATES:
                break
        for other in covered:
            self._withdraw(other)
        return others

    def _keys(self, handle: int) -> dict[GroupKey, Alike]:
        filter = self.table.by_handle[handle].filter
        return {hash(alike.key): alike for alike in filter_keys(filter, self.merging.rules)}

    def _waiting(self, key: GroupKey) -> Collection[int]:
        found = self.waiting.get(key, ())
        return (found,) if isinstance(found, int) else found

    def _wait(self, key: GroupKey, handle: int) -> None:
        found = self.waiting.get(key)
        if found is None:
            self.waiting[key] = handle
        elif isinstance(found, int):
            self.waiting[key] = {found: None, handle: None}
        else:
            found[handle] = None

    def _withdraw(self, handle: int) -> None:
        for key in self.keys.pop(handle, ()):
            waiting = self.waiting[key]
            if isinstance(waiting, dict):
                del waiting[handle]
                if waiting:
                    continue
            del self.waiting[key]
            self.patience.pop(key, None)

    def _join(self, handle: int) -> None:
        """A covered expression is a member of the merger that covers it, which then lasts longer."""
        for key in self._keys(handle) if self.by_key else ():
            group = self.by_key.get(key)
            if group is not None and self.table.cover.covers(group.entry.handle, handle):
                group.members.add(handle)
                self.by_member[handle] = group
                return

    def _found(self, handle: int, others: list[int], key: GroupKey, alike: Alike) -> bool:
        """Make a merger of a new root and those that wait under a key, if the degree allows it.

        Two of five names may be too few where all five are perfect, so all are tried together. How far the
        degree is from what is allowed says how many more are worth waiting for.
        """
        table = self.table
        offered = [handle, *others]
        before = self.by_key.get(key) if alike.key[0] == 4 else None
        merger = None if before is None else self._listed([before.entry.handle, *offered])
        if before is not None and merger is not None:
            offered.extend(before.members)
        else:
            before = None
            merger = self._merger(offered, alike)
        if merger is None:
            return False
        entry = table.entry(merger)
        group = Group(entry, key, alike.key[0] == 4)
        group.members = {each for each in offered if table.cover.covers(entry.handle, each)}
        needed = {handle, *(before.members if before is not None else ())}
        fits = entry.handle not in self.side.placed and needed <= group.members and len(group.members) > 1
        degree = self._degree(group) if fits else 1.0
        if not fits or degree > self.merging.max_degree:
            table.doubtful.append(entry)
            if fits and degree < 1:
                enough = len(group.members) * (1 - self.merging.max_degree) / (1 - degree)
                self.patience[key] = max(len(group.members) + 1, int(0.8 * enough))
            return False
        if before is not None:
            self._undo(before)
        self.by_key[key] = self.by_merger[entry.handle] = group
        self.patience.pop(key, None)
        for member in group.members:
            self._withdraw(member)
            self.by_member[member] = group
        entry.merging.add(self.side.forest)
        table.insert(self.side, entry.handle)
        # Others of its kind that the merger hides anyway are members too.
        for more in list(self._waiting(key)):
            if not table.is_root(self.side, more):
                self._withdraw(more)
                group.members.add(more)
                self.by_member[more] = group
        return True

    def _merger(self, offered: list[int], alike: Alike) -> Filter | None:
        """What covers the first of some roots under a key, and others, as many as there may be in one."""
        filters = [self.table.by_handle[each].filter for each in offered]
        if alike.positions:
            return starred(filters, alike.positions)
        if alike.key[0] != 4:
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
        if not group.entry.wanted_besides(self.side.name):
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
