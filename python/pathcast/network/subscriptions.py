"""The subscription routing table (SRT): from where which documents may come, and what neighbours know of it.

An advertisement is held by neighbours, or by a client of this broker. A neighbour is told of every
advertisement that somebody else holds, unless another that it is told of covers it. Publishers with the
same schema send the same paths, which have one number, so a thousand of them cost one automaton.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pathcast import _core
from pathcast.network.message import Advertise, Advertised, Unadvertise
from pathcast.network.state import Store
from pathcast.network.wire import advertised_fields

COMPARED = 64
"""Different advertisements that are compared with each other; of more, only equal ones are left out."""

Told = Advertise | Unadvertise


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
        """Whether anybody but a neighbour holds it."""
        return self.is_local or len(self.neighbours) > (neighbour in self.neighbours)


class Subscriptions:
    """The table of one broker."""

    def __init__(self, cover: _core.Cover, store: Store, *, covering: bool) -> None:
        self.cover = cover
        self.store = store
        self.covering = covering
        self.publishers: dict[str, Publisher] = {}
        self.told: dict[str, dict[str, None]] = {}
        """By neighbour: the ids it knows."""
        self._numbers: dict[Advertised, int] = {}
        self._uses: dict[int, int] = {}
        self._next = 0
        self._covers: dict[tuple[int, int], bool] = {}

    # -- who advertises what -------------------------------------------------------------------------------

    def number(self, advertised: Advertised) -> int:
        """The number of some paths; raises `AdvertisementError` for a text that cannot be read."""
        number = self._numbers.get(advertised)
        if number is None:
            number = self._next
            self.cover.advertise(number, advertised.texts, dict(advertised.namespaces))
            self._next += 1
            self._numbers[advertised] = number
        self._uses[number] = self._uses.get(number, 0) + 1
        return number

    def _publisher(self, id: str, advertised: Advertised) -> Publisher:
        publisher = self.publishers.get(id)
        if publisher is None:
            publisher = self.publishers[id] = Publisher(id, advertised, self.number(advertised))
        elif publisher.advertised != advertised:
            raise ConflictError(f"the advertisement {id!r} is known with other paths")
        return publisher

    def hold_for_neighbour(self, id: str, advertised: Advertised, neighbour: str) -> bool:
        """A neighbour advertises; whether that is new."""
        publisher = self._publisher(id, advertised)
        if neighbour in publisher.neighbours:
            return False
        publisher.neighbours.add(neighbour)
        self.store.put(("adv", neighbour, id), advertised_fields(advertised))
        return True

    def hold_local(self, id: str, advertised: Advertised) -> None:
        """A client of this broker advertises."""
        self._publisher(id, advertised).is_local = True

    def release_neighbour(self, id: str, neighbour: str) -> bool:
        """A neighbour no longer advertises it; whether it did."""
        publisher = self.publishers.get(id)
        if publisher is None or neighbour not in publisher.neighbours:
            return False
        publisher.neighbours.discard(neighbour)
        self.store.drop(("adv", neighbour, id))
        self._forget(publisher)
        return True

    def release_local(self, id: str) -> None:
        """A client of this broker no longer advertises it."""
        publisher = self.publishers[id]
        publisher.is_local = False
        self._forget(publisher)

    def _forget(self, publisher: Publisher) -> None:
        if publisher.is_local or publisher.neighbours:
            return
        del self.publishers[publisher.id]
        number = publisher.number
        self._uses[number] -= 1
        if not self._uses[number]:
            del self._uses[number]
            del self._numbers[publisher.advertised]
            self.cover.unadvertise(number)
            self._covers = {pair: known for pair, known in self._covers.items() if number not in pair}

    def from_neighbour(self, neighbour: str) -> set[int]:
        """What documents from a neighbour may be like."""
        return {each.number for each in self.publishers.values() if neighbour in each.neighbours}

    def held_by(self, neighbour: str) -> list[str]:
        """The ids that a neighbour advertises."""
        return [each.id for each in self.publishers.values() if neighbour in each.neighbours]

    # -- telling neighbours --------------------------------------------------------------------------------

    def settled(self, neighbour: str) -> list[Told]:
        """What a neighbour must be told now, new before old."""
        known = self.told.setdefault(neighbour, {})
        wanted = self._wanted(neighbour)
        told: list[Told] = []
        for id in wanted:
            if id not in known:
                known[id] = None
                self.store.put(("told-adv", neighbour, id), {})
                told.append(Advertise(id, self.publishers[id].advertised))
        for id in [id for id in known if id not in wanted]:
            del known[id]
            self.store.drop(("told-adv", neighbour, id))
            told.append(Unadvertise(id))
        return told

    def close(self, neighbour: str) -> None:
        """A neighbour is told nothing more, and what it was told is forgotten."""
        for id in self.told.pop(neighbour, {}):
            self.store.drop(("told-adv", neighbour, id))

    def _wanted(self, neighbour: str) -> dict[str, None]:
        """The publishers a neighbour should know, one for each number, without those that others cover.

        Whom it knows already is preferred, so that a newcomer alike changes nothing.
        """
        known = self.told.get(neighbour, {})
        by_number: dict[int, str] = {}
        for publisher in self.publishers.values():
            if publisher.known_besides(neighbour):
                standing = by_number.get(publisher.number)
                if standing is None or not self.covering:
                    by_number[publisher.number if self.covering else len(by_number)] = publisher.id
                elif publisher.id in known and standing not in known:
                    by_number[publisher.number] = publisher.id
        if self.covering and 1 < len(by_number) <= COMPARED:
            return dict.fromkeys(by_number[number] for number in self._uncovered(by_number))
        return dict.fromkeys(by_number.values())

    def _uncovered(self, numbers: Iterable[int]) -> list[int]:
        kept: list[int] = []
        for number in numbers:
            if any(self._covering(other, number) for other in kept):
                continue
            kept = [other for other in kept if not self._covering(number, other)]
            kept.append(number)
        return kept

    def _covering(self, general: int, specific: int) -> bool:
        known = self._covers.get((general, specific))
        if known is None:
            known = self._covers[general, specific] = self.cover.advertisement_covers(general, specific)
        return known
