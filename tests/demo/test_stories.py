"""The stories of the demo read like news, and every kind of alert finds some of them."""

from __future__ import annotations

import re
from random import Random

import pathcast
from demo.alerts import KINDS
from demo.stories import stories
from demo.strangers import ATTACKS
from demo.words import PLACES

SEED = 1


def test_stories_are_in_good_english() -> None:
    for name, document in stories(5_000, SEED):
        headline, opening = (
            re.findall(rf"<{element}>(.*?)</{element}>", document.decode())[0]
            for element in ("headline", "para")
        )
        for line in (headline, opening):
            assert not re.search(r"\bAn? ", line) or re.search(r"\b(An [aeio]|A [^aeiou])", line), name
            assert not any(line.count(place) > 1 for place in PLACES), f"{name} has one place twice"


def test_every_kind_of_alert_finds_stories() -> None:
    index = pathcast.Index()
    random = Random(SEED)
    for kind in KINDS:
        expressions = {kind(random) for _ in range(2_000)}
        index.add_many((f"{kind.__name__} {place}", each) for place, each in enumerate(sorted(expressions)))
    found = {str(name).split()[0] for _, document in stories(2_000, SEED) for name in index.match(document)}
    assert found == {kind.__name__ for kind in KINDS}


def test_a_bad_actor_is_described_as_it_is() -> None:
    """The entity is as large as the report says: counted from its declarations, not expanded."""
    (what,) = (each for each in ATTACKS if "entity that grows" in each)
    sizes: dict[bytes, int] = {}
    for name, text in re.findall(rb'<!ENTITY (\w+) "([^"]*)">', ATTACKS[what]):
        inner = re.findall(rb"&(\w+);", text)
        sizes[name] = sum(sizes[each] for each in inner) if inner else len(text)
    assert (what.split()[-3:], max(sizes.values())) == (["two", "billion", "letters"], 2_000_000_000)
