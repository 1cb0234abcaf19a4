"""Who uses what: the references that are counted before a row is taken out.

What a subscription asks for, its root, uses slots, patterns, predicates, subjects and steps, all the way
down. These pairs are written when it is compiled. So what nobody uses any more is found by two queries,
however deep it is: what the roots without a subscriber used is *loose*, and what no other root uses of that
is free. Files never change: a free number is a row of `Free`, and what it numbers is not seen any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

LINKS = (
    ("Slot", "slot", ("step", "low")),
    ("Pattern", "id", ("first_slot", "second_slot")),
    ("OtherSlot", "id", ("slot",)),
    ("Predicate", "predicate", ("subject",)),
    ("Step", "step", ("parent",)),
)

LOOSE = """
select distinct u.number
from {Use} u
left semi join (
    select pattern from {before} left semi join {Gone} using (subscription)
    minus
    select pattern from {Subscriber}
) r on r.pattern = u.pattern
"""
"""What the roots used that have lost their last subscriber."""

FREE = """
select l.number
from {Loose} l
left anti join (
    select u.number
    from (select u.* from {Use} u left semi join {Loose} l on l.number = u.number) u
    left semi join {Subscriber} s on s.pattern = u.pattern
) o on o.number = l.number
"""
"""What no other root uses."""


def used(compiled: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of `Use` for compiled rows: every root with itself and all that it uses.

    >>> rows = {name: pa.table({key: [], **{each: [] for each in below}}) for name, key, below in LINKS}
    >>> rows["Step"] = pa.table({"step": [5, 9], "parent": [0, 5]})
    >>> rows["Subscriber"] = pa.table({"pattern": [9]})
    >>> {name: column.to_pylist() for name, column in used(rows).items()}
    {'pattern': [9, 9], 'number': [9, 5]}
    """
    below: dict[int, list[int]] = {}
    for table, key, columns in LINKS:
        users = compiled[table].column(key).to_pylist()
        for column in columns:
            for user, number in zip(users, compiled[table].column(column).to_pylist(), strict=True):
                if number:
                    below.setdefault(user, []).append(number)
    roots = list(dict.fromkeys(compiled["Subscriber"].column("pattern").to_pylist()))
    found = [list(_closure(root, below)) for root in roots]
    patterns = [root for root, numbers in zip(roots, found, strict=True) for _ in numbers]
    numbers = [number for numbers in found for number in numbers]
    return {"pattern": pa.array(patterns, pa.int64()), "number": pa.array(numbers, pa.int64())}


def _closure(root: int, below: Mapping[int, list[int]]) -> Iterator[int]:
    seen = {root}
    waiting = [root]
    while waiting:
        number = waiting.pop()
        yield number
        for each in below.get(number, ()):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
