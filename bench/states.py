"""How often a state would be met again: what lazily built states could save where conjuncts are counted now.

A state of a bottom-up automaton is what is so of one element: its place, its own values and the states
below it. Values that no subscription names are one value, and order and repetition do not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from lxml import etree

from bench.harness.kept import Kept, Row
from bench.plan import Plan
from bench.workloads import WORKLOADS

NUMBER = 100_000
WARM, SHOWN = 1_500, 500
CONSTANT = re.compile(r"'([^']*)'|(?<=[=<>] )([0-9.]+)")


def table(kept: Kept, _: Plan) -> Iterator[Row]:
    """Elements of unseen documents, and the share whose state, or whose names alone, were met before."""
    for name in ("twigs", "alerts"):
        if kept.has(f"{name}, the root"):
            continue
        met = Met(WORKLOADS[name].queries(NUMBER))
        documents = WORKLOADS[name].documents(1)
        for document in islice(documents, WARM):
            met.meet(etree.fromstring(document))
        met.forget_counts()
        for document in islice(documents, SHOWN):
            met.meet(etree.fromstring(document))
        for level in sorted(met.elements):
            yield Row(f"{name}, {f'level {level}' if level else 'the root'}", met.values(level))


class Met:
    """States and chains of names that were met.

    >>> met = Met(["/a[b = 'x']"])
    >>> for text in ("<a><b>x</b></a>", "<a><b>y</b></a>", "<a><b>z</b><b>z</b></a>"):
    ...     met.meet(etree.fromstring(text))
    >>> [round(met.values(0)[f"{what} met %"]) for what in ("states", "names")]
    [33, 67]
    """

    def __init__(self, queries: list[str]) -> None:
        self._constants = {text or number for query in queries for text, number in CONSTANT.findall(query)}
        self._states: set[int] = set()
        self._names: set[tuple[str, ...]] = set()
        self._documents = 0
        self.forget_counts()

    def forget_counts(self) -> None:
        """Counts from here."""
        self._documents = 0
        self.elements: Counter[int] = Counter()
        self._states_met: Counter[int] = Counter()
        self._names_met: Counter[int] = Counter()

    def meet(self, root: etree._Element) -> None:
        """Takes a document in."""
        self._documents += 1
        self._meet(root, ())

    def _meet(self, element: etree._Element, above: tuple[str, ...]) -> int:
        names = (*above, str(element.tag))
        below = frozenset(self._meet(child, names) for child in element)
        values = frozenset((name, self._known(value)) for name, value in element.attrib.items())
        text = self._known("".join(map(str, element.itertext())))
        state = hash((names, values, text, below))
        level = len(above)
        self.elements[level] += 1
        self._states_met[level] += state in self._states
        self._names_met[level] += names in self._names
        self._states.add(state)
        self._names.add(names)
        return state

    def _known(self, value: str | bytes) -> str | None:
        return str(value) if value in self._constants else None

    def values(self, level: int) -> dict[str, float]:
        """Of the elements of one level."""
        elements = self.elements[level]
        return {
            "elements / document": elements / self._documents,
            "states met %": 100 * self._states_met[level] / elements,
            "names met %": 100 * self._names_met[level] / elements,
        }
