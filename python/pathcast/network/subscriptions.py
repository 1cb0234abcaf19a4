"""The subscription routing table (SRT): from where which documents may come, and what neighbours know of it.

An advertisement is held by neighbours, or by a client of this broker. A neighbour is told of every
advertisement that somebody else holds, unless another that it is told of covers it. Publishers with the
same schema send the same paths, which have one number, so a thousand of them cost one automaton.

Everything is kept up to date change by change: an advertisement costs the same whether it is the first or the
hundred-thousandth. A new one is compared with a bounded number of those that a neighbour knows, first those
that cover others already; one that is covered by none of them is told, which is never wrong.

A leaf is told one advertisement, of everything. It is not waited for, so it must not depend on what it hears
of publishers: what its clients want is known behind its neighbour before anybody advertises it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

from pathcast import _core
from pathcast.network.message import Advertise, Advertised, Unadvertise
from pathcast.network.overlap import Names, advertised_names
from pathcast.network.state import Store
from pathcast.network.wire import advertised_fields

COMPARED = 64
"""Advertisements that a new one is compared with."""

EVERYTHING = Advertised(("(/*)+",))
"""Any document."""
ANY = "/*"
"""How its id ends; those of clients end in numbers."""

Told = Advertise | Unadvertise
Kind = int | str
"""What is told once: a number of paths, or with covering turned off an id."""


class ConflictError(ValueError):
    """One id stands for different paths."""


@dataclass(slots=True, eq=False)
class Publisher:
    """One advertisement."""

    id: str
    advertised: Advertised
    number: int
    neighbours: set[str] = field(default_factory=set)
    is_local: bool = False

    def known_besides(self, neighbour: str) -> bool:
        """Whether anybody but a neighbour holds it; what a leaf is told goes no further."""
        if self.id.endswith(ANY):
            return False
        return self.is_local or len(self.neighbours) > (neighbour in self.neighbours)


@dataclass(slots=True, eq=False)
class Informed:
    """What one neighbour knows of advertisements."""

    told: dict[Kind, str] = field(default_factory=dict)
    """The id by which it knows them."""
    hidden: dict[Kind, Kind] = field(default_factory=dict)
    """Those it need not know, and what covers them."""
    hides: dict[Kind, dict[Kind, None]] = field(default_factory=dict)
    """The other way round."""
    changed: dict[Kind, None] = field(default_factory=dict)
    """Those to look at again."""
    stale: list[str] = field(default_factory=list)
    """Ids from before a restart that mean nothing now."""

    def candidates(self) -> Iterator[Kind]:
        """Those that a new one is compared with."""
        return islice(chain(self.hides, reversed(self.told)), COMPARED)

    def hide(self, kind: Kind, behind: Kind) -> None:
        """Something need not be known because something else is."""
        self.hidden[kind] = behind
        self.hides.setdefault(behind, {})[kind] = None

    def surface(self, kind: Kind) -> None:
        """What something has hidden is looked at again."""
        for each in self.hides.pop(kind, ()):
            del self.hidden[each]
            self.changed[each] = None

    def drop(self, kind: Kind) -> None:
        """Something is gone that was hidden."""
        behind = self.hidden.pop(kind, None)
        if behind is not None:
            del self.hides[behind][kind]
            if not self.hides[behind]:
                del self.hides[behind]


@dataclass(slots=True, eq=False)
class Changes:
    """Ids that a neighbour is to be told, and those that are to be withdrawn."""

    new: dict[str, None] = field(default_factory=dict)
    old: dict[str, None] = field(default_factory=dict)

    def tell(self, id: str) -> None:
        """The neighbour is to know an id; one that is not withdrawn yet it knows."""
        if id in self.old:
            del self.old[id]
        else:
            self.new[id] = None

    def withdraw(self, id: str) -> None:
        """It is not to know it."""
        if id in self.new:
            del self.new[id]
        else:
            self.old[id] = None


class Subscriptions:
    """The table of one broker."""

    def __init__(
        self, name: str, cover: _core.Cover, store: Store, *, covering: bool, leaves: Container[str] = ()
    ) -> None:
        self.everything = f"{name}{ANY}"
        """The id of what a leaf is told."""
        self.leaves = leaves
        self.cover = cover
        self.store = store
        self.covering = covering
        self.publishers: dict[str, Publisher] = {}
        self.informed: dict[str, Informed] = {}
        """By neighbour in the tree."""
        self._by_kind: dict[Kind, dict[str, Publisher]] = {}
        self._held: dict[str, dict[str, None]] = {}
        """By neighbour: the ids that it advertises."""
        self._counts: dict[str, dict[int, int]] = {}
        """By neighbour: the numbers that it advertises, and how often."""
        self._turned: dict[str, dict[int, None]] = {}
        """By neighbour: the numbers that have come or gone since somebody asked."""
        self._numbers: dict[Advertised, int] = {}
        self._names: dict[int, Names | None] = {}
        self._uses: dict[int, int] = {}
        self._next = 0

    # -- who advertises what -------------------------------------------------------------------------------

    def number(self, advertised: Advertised) -> int:
        """The number of some paths; raises `AdvertisementError` for a text that cannot be read."""
        number = self._numbers.get(advertised)
        if number is None:
            number = self._next
            self.cover.advertise(number, advertised.texts, dict(advertised.namespaces))
            self._next += 1
            self._numbers[advertised] = number
            self._names[number] = advertised_names(advertised)
        self._uses[number] = self._uses.get(number, 0) + 1
        return number

    def names(self, number: int) -> Names | None:
        """The names of an advertisement; None for any."""
        return self._names[number]

    def _publisher(self, id: str, advertised: Advertised) -> Publisher:
        publisher = self.publishers.get(id)
        if publisher is None:
            publisher = self.publishers[id] = Publisher(id, advertised, self.number(advertised))
            self._by_kind.setdefault(self._kind(publisher), {})[id] = publisher
        elif publisher.advertised != advertised:
            raise ConflictError(f"the advertisement {id!r} is known with other paths")
        return publisher

    def _kind(self, publisher: Publisher) -> Kind:
        return publisher.number if self.covering else publisher.id

    def hold_for_neighbour(self, id: str, advertised: Advertised, neighbour: str) -> bool:
        """A neighbour advertises; whether that is new."""
        publisher = self._publisher(id, advertised)
        if neighbour in publisher.neighbours:
            return False
        publisher.neighbours.add(neighbour)
        self._held.setdefault(neighbour, {})[id] = None
        counts = self._counts.setdefault(neighbour, {})
        counts[publisher.number] = counts.get(publisher.number, 0) + 1
        self._turned.setdefault(neighbour, {})[publisher.number] = None
        self.store.put(("adv", neighbour, id), advertised_fields(advertised))
        self._changed(publisher)
        return True

    def hold_local(self, id: str, advertised: Advertised) -> None:
        """A client of this broker advertises."""
        publisher = self._publisher(id, advertised)
        publisher.is_local = True
        self._changed(publisher)

    def release_neighbour(self, id: str, neighbour: str) -> bool:
        """A neighbour no longer advertises it; whether it did."""
        publisher = self.publishers.get(id)
        if publisher is None or neighbour not in publisher.neighbours:
            return False
        publisher.neighbours.discard(neighbour)
        del self._held[neighbour][id]
        counts = self._counts[neighbour]
        counts[publisher.number] -= 1
        if not counts[publisher.number]:
            del counts[publisher.number]
            self._turned.setdefault(neighbour, {})[publisher.number] = None
        self.store.drop(("adv", neighbour, id))
        self._changed(publisher)
        self._forget(publisher)
        return True

    def release_local(self, id: str) -> None:
        """A client of this broker no longer advertises it."""
        publisher = self.publishers[id]
        publisher.is_local = False
        self._changed(publisher)
        self._forget(publisher)

    def _changed(self, publisher: Publisher) -> None:
        for neighbour, informed in self.informed.items():
            if neighbour not in self.leaves:
                informed.changed[self._kind(publisher)] = None

    def _forget(self, publisher: Publisher) -> None:
        if publisher.is_local or publisher.neighbours:
            return
        del self.publishers[publisher.id]
        kind = self._kind(publisher)
        del self._by_kind[kind][publisher.id]
        if not self._by_kind[kind]:
            del self._by_kind[kind]
        number = publisher.number
        self._uses[number] -= 1
        if not self._uses[number]:
            del self._uses[number]
            del self._numbers[publisher.advertised], self._names[number]
            self.cover.unadvertise(number)

    def from_neighbour(self, neighbour: str) -> dict[int, int]:
        """What documents from a neighbour may be like: numbers, with how many publishers each has."""
        return self._counts.setdefault(neighbour, {})

    def turned(self, neighbour: str) -> list[int]:
        """Numbers that a neighbour has begun or ceased to advertise since the last call."""
        return list(self._turned.pop(neighbour, ()))

    def held_by(self, neighbour: str) -> dict[str, None]:
        """The ids that a neighbour advertises."""
        return self._held.get(neighbour, {})

    # -- telling neighbours --------------------------------------------------------------------------------

    def open(self, neighbour: str, told: list[str] | None = None) -> None:
        """Begin to tell a neighbour everything; `told` are the ids it knows from before a restart."""
        informed = self.informed[neighbour] = Informed()
        if neighbour in self.leaves:
            informed.stale = [id for id in told or () if id != self.everything]
            informed.told = dict.fromkeys(set(told or ()) & {self.everything}, self.everything)
            return
        for id in told or ():
            publisher = self.publishers.get(id)
            if publisher is None or self._kind(publisher) in informed.told:
                informed.stale.append(id)
            else:
                informed.told[self._kind(publisher)] = id
        informed.changed = dict.fromkeys(self._by_kind)

    def close(self, neighbour: str) -> None:
        """A neighbour is told nothing more, and what it was told is forgotten."""
        for id in self.told_ids(neighbour):
            self.store.drop(("told-adv", neighbour, id))
        self.informed.pop(neighbour, None)

    def told_ids(self, neighbour: str) -> list[str]:
        """The ids that a neighbour knows."""
        informed = self.informed.get(neighbour)
        return [] if informed is None else [*informed.told.values(), *informed.stale]

    def settled(self, neighbour: str) -> list[Told]:
        """What a neighbour must be told now, new before old."""
        informed = self.informed[neighbour]
        changes = Changes(old=dict.fromkeys(informed.stale))
        informed.stale = []
        if neighbour in self.leaves and not informed.told:
            informed.told[self.everything] = self.everything
            changes.tell(self.everything)
        while informed.changed:
            kind = next(iter(informed.changed))
            del informed.changed[kind]
            self._settle(neighbour, informed, kind, changes)
        for id in changes.new:
            self.store.put(("told-adv", neighbour, id), {})
        for id in changes.old:
            self.store.drop(("told-adv", neighbour, id))
        return [
            *(Advertise(id, self._advertised(id)) for id in changes.new),
            *map(Unadvertise, changes.old),
        ]

    def _advertised(self, id: str) -> Advertised:
        return EVERYTHING if id == self.everything else self.publishers[id].advertised

    def _settle(self, neighbour: str, informed: Informed, kind: Kind, changes: Changes) -> None:
        publishers = self._by_kind.get(kind, {})
        known = informed.told.get(kind)
        if known is not None and known in publishers and publishers[known].known_besides(neighbour):
            return
        another = next((id for id, each in publishers.items() if each.known_besides(neighbour)), None)
        if known is not None:
            changes.withdraw(informed.told.pop(kind))
            if another is None:
                informed.surface(kind)
            else:
                informed.told[kind] = another
                changes.tell(another)
        elif another is None:
            informed.drop(kind)
        elif kind not in informed.hidden:
            self._introduce(informed, kind, another, changes)

    def _introduce(self, informed: Informed, kind: Kind, id: str, changes: Changes) -> None:
        if self.covering:
            candidates = [each for each in informed.candidates() if each in self._by_kind]
            for other in candidates:
                if self._covers(other, kind):
                    informed.hide(kind, other)
                    return
            for other in dict.fromkeys(candidates):
                if other in informed.told and self._covers(kind, other):
                    changes.withdraw(informed.told.pop(other))
                    for each in informed.hides.pop(other, {}):
                        informed.hide(each, kind)
                    informed.hide(other, kind)
        informed.told[kind] = id
        changes.tell(id)

    def _covers(self, general: Kind, specific: Kind) -> bool:
        assert isinstance(general, int)
        assert isinstance(specific, int)
        return self.cover.advertisement_covers(general, specific)
