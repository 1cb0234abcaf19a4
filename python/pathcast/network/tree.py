"""Which links of the overlay are used: a spanning tree that brokers find among themselves.

Filters that travel on a cycle would keep each other alive for ever, so routing state is exchanged along a
tree. Each broker tells its neighbours by which way it reaches the root: the first broker of the configured
list that it knows of, or else the smallest name. From what they say it chooses the best way of its own. Ways
through itself are left out, so nothing counts to infinity when a broker leaves. A link is left unused only if
both ends have the same root and neither reaches it through the other, which never happens in an overlay
without cycles.

`epoch` counts how often this side has forgotten what it knew from the neighbour. Everything that a neighbour
says follows a `Reset` that names the epoch it is for; what was sent for an older epoch is ignored. What makes
documents safe while the tree changes is in `pathcast.network.agreement`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from pathcast.network.message import Hello

MAX_PATH = 1_000


@dataclass(slots=True, eq=False)
class Link:
    """One neighbour."""

    name: str
    epoch: int = 1
    theirs: int = 0
    """The neighbour's epoch; 0 before its first hello."""
    path: tuple[str, ...] = ()
    """Its way to the root."""
    is_leaf: bool = False
    """Whether it is trusted with what is its own and nothing else."""
    is_used: bool = False
    sent_for: int = 0
    """The epoch of the neighbour for which it has been told everything."""
    is_current: bool = False
    """Whether what the neighbour says now is for the current epoch."""
    is_complete: bool = False
    """Whether it has said everything that it had to say in this epoch."""
    filters: int = 0
    """How many filters it holds."""
    is_leaving: bool = False
    """Whether one end has given up the link."""
    is_deserted: bool = False
    """Whether it was the neighbour who gave it up first."""
    said_bye: bool = False
    """Whether the neighbour will send no more documents."""
    is_silent: bool = False
    """Whether the neighbour has been silent for too long."""
    is_shunned: bool = False
    """Whether the neighbour says that this broker has."""
    told: int = 0
    """Messages of routing state that were sent to it, in all epochs."""
    advertised: int = 0
    """The last of them that was an advertisement."""
    asked: int = 0
    """The last of them that a `Sync` was sent for."""
    synced: int = 0
    """The last of them that has taken effect behind the neighbour too."""
    is_drained: bool = False
    """Whether the next `Sync` goes through."""
    owes: int = 0
    """The `Sync` of the neighbour that is not answered yet; 0 for none."""
    awaits: dict[str, int] = field(default_factory=dict)
    """By other neighbour: what must be synced there before it is answered."""
    settle_asked: int = 0
    """The round of the wave that the neighbour has asked this broker for."""
    settle_sent: int = 0
    """The round that it was asked for."""
    settled: int = 0
    """The round that it has answered."""
    visited: int = 0
    """The round in which its own parent has asked it."""
    announced: int = 0
    """The round in which it was told that this broker was asked."""

    @property
    def is_suspected(self) -> bool:
        """Whether messages do not get through, one way or the other."""
        return self.is_silent or self.is_shunned

    @property
    def is_gone_around(self) -> bool:
        """Whether documents for the neighbour are sent other ways too; none leads to a leaf."""
        return self.is_suspected and not self.is_leaf

    @property
    def is_open(self) -> bool:
        """Whether the link may be part of the tree."""
        return not self.is_leaving and not self.is_suspected

    @property
    def is_awaited(self) -> bool:
        """Whether others wait for what the neighbour has to say."""
        return self.is_open and not self.is_leaf

    @property
    def is_whole(self) -> bool:
        """Whether both ends have told each other everything."""
        return self.is_current and self.is_complete and self.sent_for == self.theirs

    @property
    def is_unsettled(self) -> bool:
        """Whether an advertisement is on its way that the neighbour may have filters for.

        A leaf is not waited for, so until it has said everything it gets everything.
        """
        if self.is_leaf and not self.is_leaving and not (self.path and (self.is_whole or not self.is_used)):
            return True
        return self.is_used and self.synced < self.advertised

    def forget_wave(self) -> None:
        """A new wave begins."""
        self.settle_asked = self.settle_sent = self.settled = self.visited = self.announced = 0

    def values(self) -> dict[str, Any]:
        """As a record."""
        return {name: getattr(self, name) for name in (*_KEPT, "is_leaf")}

    @classmethod
    def of(cls, name: str, values: dict[str, Any]) -> Link:
        """From a record; raises `KeyError` or `TypeError` if it is damaged."""
        link = cls(name)
        for key in _KEPT:
            wanted = type(getattr(link, key))
            given = values.get(key, False) if key == "is_drained" else values[key]  # before it had none
            setattr(link, key, wanted(given))
        link.path = tuple(map(str, link.path))
        return link


_KEPT = tuple(each.name for each in fields(Link) if each.name not in ("name", "filters", "is_leaf"))


def rank(name: str, roots: Sequence[str]) -> tuple[int, str]:
    """How good a broker is as a root; smaller is better."""
    return (roots.index(name) if name in roots else len(roots), name)


def best_path(name: str, links: dict[str, Link], roots: Sequence[str] = ()) -> tuple[str, ...]:
    """The way of a broker to the root: the best root, then the fewest brokers.

    >>> links = {"c": Link("c", path=("c", "a")), "d": Link("d", path=("d", "b", "a"))}
    >>> best_path("b", links)
    ('b', 'c', 'a')
    >>> best_path("b", links, roots=("b",))
    ('b',)
    """
    best: tuple[str, ...] = (name,)
    for link in links.values():
        if link.path and link.is_awaited and name not in link.path and len(link.path) < MAX_PATH:
            way = (name, *link.path)
            if (rank(way[-1], roots), len(way), way) < (rank(best[-1], roots), len(best), best):
                best = way
    return best


def is_used(name: str, path: tuple[str, ...], link: Link) -> bool:
    """Whether a link is part of the tree, as far as one end can tell."""
    if not link.path or link.is_leaving:
        return False
    if link.path[-1] != path[-1]:
        return True
    return link.path[1:2] == (name,) or path[1:2] == (link.name,)


def is_sound(hello: Hello, neighbour: str) -> bool:
    """Whether a way can be right: it begins with the sender and meets nobody twice."""
    return (
        bool(hello.path)
        and hello.path[0] == neighbour
        and len(hello.path) <= MAX_PATH
        and len(set(hello.path)) == len(hello.path)
        and hello.epoch > 0
    )
