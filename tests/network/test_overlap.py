"""Filters that documents from a neighbour can satisfy: what is kept is what a look at all would find."""

from __future__ import annotations

from random import Random

from pathcast import _core, matches
from pathcast.limits import Limits
from pathcast.network import Advertised
from pathcast.network.overlap import Overlap, advertised_names, needed
from tests.network import oracle

FORMS = [
    "{}",
    "{}[@x = 'a]/q']",
    "{}[b or c]/a",
    "({})[1]",
    "not({})",
    "{} | //b",
    "count({}) > 0",
    "{}[a[b]]//c",
]


def expression(random: Random) -> str:
    return random.choice(FORMS).format(oracle.pattern(random, 4))


def advertisement(random: Random) -> Advertised:
    texts = [oracle.advertisement(random, 3) for _ in range(random.randint(1, 2))]
    if random.random() < 0.7:
        texts = [text.replace("*", random.choice("abc")) for text in texts]
    return Advertised(tuple(texts))


def test_what_is_kept_is_what_a_look_at_all_finds() -> None:
    for seed in range(30):
        random = Random(seed)
        cover = _core.Cover(Limits())
        names: dict[int, Advertised] = {}
        filters: dict[int, str] = {}
        overlap = Overlap(cover, lambda number, names=names: advertised_names(names[number]))  # type: ignore[misc]
        for step in range(60):
            kind = random.random()
            if kind < 0.4:
                filters[step] = expression(random)
                cover.register(step, filters[step])
                overlap.add(step, filters[step])
            elif kind < 0.5 and filters:
                gone = random.choice(sorted(filters))
                del filters[gone]
                overlap.drop(gone)
                cover.release(gone)
            elif kind < 0.8:
                names[step] = advertisement(random)
                cover.advertise(step, names[step].texts)
                before = set(overlap.witness)
                assert set(overlap.come(step)) == set(overlap.witness) - before
            elif names:
                leaving = random.sample(sorted(names), random.randint(1, min(3, len(names))))
                for number in leaving:
                    cover.unadvertise(number)
                before = set(overlap.witness)
                assert set(overlap.go(leaving, filters.__getitem__)) == before - set(overlap.witness)
                for number in leaving:
                    del names[number]
            fitting = set(cover.overlapping(sorted(names), sorted(filters)))
            assert set(overlap.witness) == fitting, (seed, step)
            assert set(overlap.waiting) == set(filters) - fitting, (seed, step)
        again = Overlap(cover, lambda number, names=names: advertised_names(names[number]))  # type: ignore[misc]
        for number in names:
            again.come(number)
        assert sorted(again.fill(filters.items())) == sorted(overlap.witness)


def test_names_that_are_needed_are_there() -> None:
    """No document satisfies an expression without the names that it is said to need."""
    random = Random(2)
    found = 0
    for _ in range(3_000):
        xpath = expression(random)
        names = random.choice(["ab", "ac", "bc", "abc"])
        path = [random.choice(names) for _ in range(4)]
        body = "".join(f"<{name}>" for name in path) + "".join(f"</{name}>" for name in reversed(path))
        if matches(xpath, body):
            found += 1
            assert needed(xpath) <= set(path), (xpath, body)
    assert found > 300
    assert needed("//a[b]") == {"a"}
    assert needed("//n:a/*/m:b") == {"a", "b"}
    assert needed("//a = 'x'") == set()
    assert needed("'//a'") == set()
    assert needed("//a/@b") <= {"a"}
