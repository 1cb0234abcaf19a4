"""Which filters the documents from one neighbour can satisfy, kept up to date advertisement by advertisement.

An expression needs names: those of its steps, outside of predicates. A document has no other names than its
advertisement, unless that has a ``*``. So a filter that fits nothing yet waits under one name that it needs,
and a new advertisement is compared with those that wait under its names. A filter that fits keeps one
advertisement as its *witness*, and is looked at again only when that one goes.

Cost: that of the filters that wait under the names of an advertisement, however many others there are, and
however many advertisements. Names are only a first look; what fits is decided by the core.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from pathcast import _core
from pathcast.errors import XPathError
from pathcast.network.merging import steps
from pathcast.network.message import Advertised

Names = frozenset[str]

FEW = 8
"""Up to so many advertisements, comparing a filter with all of them is quicker than reading its names."""
_ANY = ""
"""Where filters wait that need no name."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_INNERMOST = re.compile(r"\[[^\[\]]*\]")
_BETWEEN = re.compile(r"[/(){}+=;,!#\s]+")


@lru_cache(maxsize=1 << 12)
def needed(xpath: str) -> Names:
    """Names that every document has which satisfies an expression, without prefixes.

    >>> sorted(needed("/news//n:item[@lang = 'a]b'][p or q]/*")), sorted(needed("count(//a) > 1"))
    (['item', 'news'], [])
    """
    path = _QUOTED.sub("", xpath)
    while (shorter := _INNERMOST.sub("", path)) != path:
        path = shorter
    try:
        found = steps(path)
    except XPathError:
        return frozenset()
    return frozenset(name.rpartition(":")[2] for _, name in found or () if not name.endswith("*"))


def advertised_names(advertised: Advertised) -> Names | None:
    """The names that documents of an advertisement have, without prefixes; None for any.

    >>> sorted(advertised_names(Advertised(("/a(/n:b/c)+/d", "{#=news;news!=item,p}"))))
    ['a', 'b', 'c', 'd', 'item', 'news', 'p']
    >>> advertised_names(Advertised(("/a(/*)+",))) is None
    True
    """
    if any("*" in text for text in advertised.texts):
        return None
    found = {name.rpartition(":")[2] for text in advertised.texts for name in _BETWEEN.split(text)}
    return frozenset(found - {""})


class Overlap:
    """The filters that somebody wants and the advertisements of one neighbour."""

    def __init__(self, cover: _core.Cover, names: Callable[[int], Names | None]) -> None:
        self.cover = cover
        self.names = names
        """The names of an advertisement."""
        self.advertised: dict[int, Names | None] = {}
        """With the names that each has."""
        self.witness: dict[int, int] = {}
        """By filter that fits: an advertisement that it fits."""
        self.waiting: dict[int, str] = {}
        """By filter that fits nothing: the name under which it waits."""
        self._witnessed: dict[int, dict[int, None]] = {}
        self._under: dict[str, dict[int, None]] = {}
        """By name: the filters that wait."""
        self._having: dict[str, dict[int, None]] = {}
        """By name: the advertisements; under the empty one those that may have any."""

    def __contains__(self, handle: int) -> bool:
        return handle in self.witness or handle in self.waiting

    def add(self, handle: int, xpath: str) -> bool:
        """Somebody wants a filter; whether documents from the neighbour can satisfy it."""
        names = needed(xpath)
        if not self._find(handle, self._candidates(names)):
            self._wait(handle, names)
        return handle in self.witness

    def fill(self, filters: Iterable[tuple[int, str]]) -> list[int]:
        """Many filters at once; those that fit."""
        rest = dict(filters)
        if len(self.advertised) > FEW:
            for handle, xpath in rest.items():
                self._wait(handle, needed(xpath))
            return [handle for number in self.advertised for handle in self._fitting(number)]
        fitting: list[int] = []
        for number in self.advertised:
            for handle in self.cover.overlapping([number], list(rest)):
                self._fits(handle, number)
                del rest[handle]
                fitting.append(handle)
        for handle, xpath in rest.items():
            self._wait(handle, needed(xpath))
        return fitting

    def drop(self, handle: int) -> None:
        """Nobody wants a filter any more."""
        number = self.witness.pop(handle, None)
        if number is not None:
            _discard(self._witnessed, number, handle)
        name = self.waiting.pop(handle, None)
        if name is not None:
            _discard(self._under, name, handle)

    def come(self, number: int) -> list[int]:
        """The neighbour advertises something new; the filters that fit now and did not before."""
        self.advertised[number] = self.names(number)
        for name in self._places(number):
            self._having.setdefault(name, {})[number] = None
        return self._fitting(number)

    def go(self, numbers: Sequence[int], xpath: Callable[[int], str]) -> list[int]:
        """It advertises some things no more; the filters that fit nothing now."""
        for number in numbers:
            for name in self._places(number):
                _discard(self._having, name, number)
            del self.advertised[number]
        lost: list[int] = []
        for handle in [each for number in numbers for each in self._witnessed.pop(number, ())]:
            del self.witness[handle]
            names = needed(xpath(handle))
            if not self._find(handle, self._candidates(names)):
                self._wait(handle, names)
                lost.append(handle)
        return lost

    def forget(self) -> None:
        """Nothing is advertised: which filters wait does not matter until something is."""
        self.witness.clear()
        self.waiting.clear()
        self._witnessed.clear()
        self._under.clear()

    def having(self, names: Names) -> list[int]:
        """The advertisements that may have documents with some names."""
        return sorted(self._candidates(names))

    def _places(self, number: int) -> Iterable[str]:
        names = self.advertised[number]
        return (_ANY,) if names is None else names

    def _candidates(self, names: Names) -> list[int]:
        if not names:
            return list(self.advertised)
        rarest = min((self._having.get(name, {}) for name in sorted(names)), key=len)
        return [*rarest, *self._having.get(_ANY, ())]

    def _find(self, handle: int, numbers: Iterable[int]) -> bool:
        for number in numbers:
            if self.cover.overlapping([number], [handle]):
                self._fits(handle, number)
                return True
        return False

    def _fitting(self, number: int) -> list[int]:
        names = self.advertised[number]
        places = self._under if names is None else (_ANY, *names)
        candidates = [handle for name in places for handle in self._under.get(name, ())]
        found = self.cover.overlapping([number], sorted(candidates))
        for handle in found:
            _discard(self._under, self.waiting.pop(handle), handle)
            self._fits(handle, number)
        return found

    def _fits(self, handle: int, number: int) -> None:
        self.witness[handle] = number
        self._witnessed.setdefault(number, {})[handle] = None

    def _wait(self, handle: int, names: Names) -> None:
        # Under the name that the fewest advertisements have, and the fewest wait for.
        name = min(sorted(names), key=self._commonness, default=_ANY)
        self.waiting[handle] = name
        self._under.setdefault(name, {})[handle] = None

    def _commonness(self, name: str) -> tuple[int, int]:
        return len(self._having.get(name, ())), len(self._under.get(name, ()))


def _discard(
    table: dict[str, dict[int, None]] | dict[int, dict[int, None]], key: str | int, each: int
) -> None:
    """Take an entry out, and the key with the last."""
    found = table[key]  # type: ignore[index]
    del found[each]
    if not found:
        del table[key]  # type: ignore[arg-type]
