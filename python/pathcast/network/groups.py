"""Mergers of one neighbour's forest: made when expressions alike have gathered, undone when members leave.

A merger is an expression in the forest like any other. It covers its members, so they stop being roots and
the neighbour is told of the merger in their place; when it is taken out, they surface. Expressions that a
rule may merge have a key in common (`pathcast.network.merging.keys`), so nobody is compared with everybody.

Each root belongs to one merger at most. A merger is undone when less than two members are left, or when those
that are left make its imperfect degree larger than the policy allows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pathcast.network.merging import keys, merged_filter, steps
from pathcast.network.policy import Merging

if TYPE_CHECKING:
    from pathcast.network.publications import Entry, Publications, Side

GroupKey = tuple[object, ...]

CANDIDATES = 64
"""Roots of one key that a new one is tried with."""


@dataclass(slots=True, eq=False)
class Group:
    """A merger and its members."""

    entry: Entry
    key: GroupKey
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
        self.waiting: dict[GroupKey, dict[int, None]] = {}
        self.keys: dict[int, list[GroupKey]] = {}
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
                len(group.members) < 2 or self._degree(group.entry, group.members) > self.merging.max_degree
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
        for key in found:
            number = len(self.waiting.get(key, ()))
            if number + 1 >= self.patience.get(key, 2):
                others = self._candidates(key)
                if others and self._found(handle, others, key):
                    return
                if number >= CANDIDATES:
                    # The same would be tried again: not for each that comes.
                    self.patience[key] = max(self.patience.get(key, 2), number + number // 4)
        self.keys[handle] = found
        for key in found:
            self.waiting.setdefault(key, {})[handle] = None

    def _candidates(self, key: GroupKey) -> list[int]:
        """The first roots that wait under a key; those before them that are roots no longer wait no more."""
        others: list[int] = []
        covered: list[int] = []
        for other in self.waiting.get(key, ()):
            (others if self.table.is_root(self.side, other) else covered).append(other)
            if len(others) == CANDIDATES:
                break
        for other in covered:
            self._withdraw(other)
        return others

    def _keys(self, handle: int) -> list[GroupKey]:
        filter = self.table.by_handle[handle].filter
        path = None if filter.ordered else steps(filter.xpath)
        return [(*key, filter[2:]) for key in keys(path, self.merging.rules)] if path else []

    def _withdraw(self, handle: int) -> None:
        for key in self.keys.pop(handle, ()):
            waiting = self.waiting[key]
            del waiting[handle]
            if not waiting:
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

    def _found(self, handle: int, others: list[int], key: GroupKey) -> bool:
        """Make a merger of a new root and those that wait under a key, if the degree allows it.

        Two of five names may be too few where all five are perfect, so all are tried together. How far the
        degree is from what is allowed says how many more are worth waiting for.
        """
        table = self.table
        merger = merged_filter(
            table.by_handle[handle].filter, table.by_handle[others[0]].filter, self.merging.rules
        )
        if merger is None:
            return False
        entry = table.entry(merger)
        members = {each for each in (handle, *others) if table.cover.covers(entry.handle, each)}
        fits = entry.handle not in self.side.placed and handle in members and len(members) > 1
        degree = self._degree(entry, members) if fits else 1.0
        if not fits or degree > self.merging.max_degree:
            table.doubtful.append(entry)
            if fits and degree < 1:
                enough = len(members) * (1 - self.merging.max_degree) / (1 - degree)
                self.patience[key] = max(len(members) + 1, int(0.8 * enough))
            return False
        group = Group(entry, key, members)
        self.by_key[key] = self.by_merger[entry.handle] = group
        self.patience.pop(key, None)
        for member in members:
            self._withdraw(member)
            self.by_member[member] = group
        entry.merging.add(self.side.forest)
        table.insert(self.side, entry.handle)
        # Others of its kind that the merger hides anyway are members too.
        for more in list(self.waiting.get(key, ())):
            if not table.is_root(self.side, more):
                self._withdraw(more)
                group.members.add(more)
                self.by_member[more] = group
        return True

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

    def _degree(self, entry: Entry, members: set[int]) -> float:
        """How imperfect a merger is where documents come from; 1 when nothing is known."""
        cover = self.table.cover
        numbers = sorted(self.side.advertised) or self.table.fallback
        degrees = [
            degree
            for number in numbers
            if (degree := cover.degree(number, entry.handle, sorted(members), self.merging.depth)) is not None
        ]
        return max(degrees, default=1.0)
