"""Which links of the overlay are used: a spanning tree that brokers find among themselves.

Expressions that travel on a cycle would keep each other alive for ever, so routing state is exchanged along
a tree. Each broker says to its neighbours by which way it reaches the broker with the smallest name that it
knows of. From what they say it chooses the best way of its own; ways through itself are left out, so
nothing counts to infinity when a broker leaves. A link is left unused only if both ends have the same root
and neither reaches it through the other. In an overlay without cycles that never happens, so nothing ever
pauses there.

`epoch` counts how often this side has forgotten what it knew from the neighbour. Everything that a
neighbour says follows a `Reset` that names the epoch it is for; what was sent for an older epoch is not
taken.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    is_used: bool = False
    sent_for: int = 0
    """The epoch of the neighbour for which it has been told everything."""
    is_current: bool = False
    """Whether what the neighbour says now is for the current epoch."""
    filters: int = 0
    """How many filters it holds."""

    def values(self) -> dict[str, Any]:
        """As a record."""
        return {
            "epoch": self.epoch,
            "theirs": self.theirs,
            "path": self.path,
            "used": self.is_used,
            "sent_for": self.sent_for,
            "current": self.is_current,
        }

    @classmethod
    def of(cls, name: str, values: dict[str, Any]) -> Link:
        """From a record; raises `KeyError` or `TypeError` if it is damaged."""
        return cls(
            name,
            int(values["epoch"]),
            int(values["theirs"]),
            tuple(map(str, values["path"])),
            bool(values["used"]),
            int(values["sent_for"]),
            bool(values["current"]),
        )


def best_path(name: str, links: dict[str, Link]) -> tuple[str, ...]:
    """The way of a broker to the root: the smallest name, then the fewest brokers.

    >>> links = {"c": Link("c", path=("c", "a")), "d": Link("d", path=("d", "b", "a"))}
    >>> best_path("b", links)
    ('b', 'c', 'a')
    """
    best: tuple[str, ...] = (name,)
    for link in links.values():
        if link.path and name not in link.path and len(link.path) < MAX_PATH:
            way = (name, *link.path)
            if (way[-1], len(way), way) < (best[-1], len(best), best):
                best = way
    return best


def is_used(name: str, path: tuple[str, ...], link: Link) -> bool:
    """Whether a link is part of the tree, as far as one end can tell."""
    if not link.path:
        return False
    if link.path[-1] != path[-1]:
        return True
    return link.path[1:2] == (name,) or path[1:2] == (link.name,)


def is_sound(hello: Hello, neighbour: str) -> bool:
    """Whether a way is one: it begins with the sender and meets nobody twice."""
    return (
        bool(hello.path)
        and hello.path[0] == neighbour
        and len(hello.path) <= MAX_PATH
        and len(set(hello.path)) == len(hello.path)
        and hello.epoch > 0
    )
