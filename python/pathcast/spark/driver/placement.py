"""Which shard a subscription goes to, so that a document concerns few of them.

A document has one language and one author, but the subscriptions that compare them have many. So those that
compare the same field are put side by side, and a document concerns of a field the shards of its own values.
Fields are chosen greedily, those that most of the remaining subscriptions compare first: the fewer fields,
the fewer shards a document concerns.

It is decided from a sample on the driver. Requirements that many subscriptions of the sample have get a place
of their own; the others of a field are spread by a hash. Where a field has very many values, such as ids, the
first characters take their place, so that the routing index stays small. Subscriptions of which no
requirement is known go to shards that see every document.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from pathcast.spark.artifact import Field, Routing
from pathcast.spark.requirements import Requirement, first_required, prefixed, requirements

__all__ = ["SAMPLE", "placement"]

SAMPLE = 50_000
"""Subscriptions that are looked at."""
_LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)  # of prefixes, in characters
_PREFIXES = 2_000  # of a field in the sample; longer ones are as many as values
_FIELDS = 64  # more would be more shards for a document than they are worth
_OFTEN = 5  # in the sample, for a place of its own
_VALUES = 100_000  # of a field; with more, the routing index would be as large as a shard


def placement(xpaths: Iterable[str], shards: int) -> Routing:
    """Where subscriptions like these go.

    >>> found = placement([f"/a[b = {n % 7}][c = 1]" for n in range(70)] + ["//x or //y"] * 10, 8)
    >>> [field.text for field in found.fields], found.places["/a[b = 3]"], found.always
    (['/a[b]'], (3, 3), (7, 7))
    """
    rows = list(xpaths)
    needs = [requirements(xpath) for xpath in rows]
    order = {field: at for at, field in enumerate(_fields(needs))}
    counts: dict[str, Counter[Requirement]] = {field: Counter() for field in order}
    for xpath in rows:
        found = first_required(xpath, order)
        if found is not None:
            counts[found.field][found] += 1
    share = max(1, len(rows)) / shards
    filling = _Filling(share, shards)
    fields, places = [], {}
    for field, found_values in counts.items():
        prefix, values = _tested(found_values, share)
        often = sorted(text for text, count in values.items() if count >= _OFTEN)
        for text in often:
            places[text] = filling.take(values[text])
        rest = values.total() - sum(values[text] for text in often)
        fields.append(Field(field, *filling.take(rest), prefix))
    return Routing(tuple(fields), places, filling.take(len(rows) - sum(c.total() for c in counts.values())))


def _fields(needs: Sequence[list[Requirement]]) -> list[str]:
    """The fields that count, in order."""
    values: dict[str, set[str]] = defaultdict(set)
    left: Counter[frozenset[str]] = Counter()
    for each in needs:
        left[frozenset(requirement.field for requirement in each)] += 1
        for requirement in each:
            values[requirement.field].add(requirement.text)
    chosen: list[str] = []
    while len(chosen) < _FIELDS:
        covered: Counter[str] = Counter()
        for fields, count in left.items():
            for field in fields:
                covered[field] += count
        if not covered:
            break
        # A field with one value tells nothing apart.
        best = max(sorted(covered), key=lambda field: covered[field] * (1 - 0.9 / len(values[field])))
        chosen.append(best)
        left = Counter({fields: count for fields, count in left.items() if best not in fields})
    return chosen


def _tested(values: Counter[Requirement], share: float) -> tuple[int | None, Counter[str]]:
    """By how many characters documents are routed, None for the whole value, and the tests that makes."""
    whole = Counter({requirement.text: count for requirement, count in values.items()})
    if _distinct(whole) <= _VALUES:
        return None, whole
    tests = whole
    for length in _LENGTHS:
        tests = Counter()
        for requirement, count in values.items():
            tests[prefixed(requirement, length)] += count
        # Enough of them to fill shards evenly, and to tell documents apart.
        if max(tests.values()) <= share / 4 or len(tests) > _PREFIXES:
            break
    return length, tests


def _distinct(values: Counter[str]) -> float:
    """How many values there are in all, by those that the sample has once and twice (Chao's estimate)."""
    once = sum(count == 1 for count in values.values())
    twice = sum(count == 2 for count in values.values())
    return len(values) + once * (once - 1) / (2 * (twice + 1))


class _Filling:
    """Shards that are filled one after the other, each up to its share."""

    def __init__(self, share: float, shards: int) -> None:
        self._share, self._shards, self._filled = share, shards, 0.0

    def take(self, count: int) -> tuple[int, int]:
        """The first and the last shard for so many; few of them are not divided."""
        first = min(self._shards - 1, int(self._filled / self._share))
        self._filled += count
        last = min(self._shards - 1, int(max(0.0, self._filled - 1) / self._share))
        return first, last if count > self._share / 4 and last > first else first
