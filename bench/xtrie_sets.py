"""The data sets of "Efficient filtering of XML documents with XPath expressions": NITF, and ten DTDs alike.

The paper's ten DTDs are not named and had more than 5,000 element names; ours are those of the corpus, with
about 850. Documents have about 100 tags and on average 17 to 18 levels, as in its Table 3: they are
drawn with 24 levels at most, and the deepest of two or three is taken. Expressions average half of their
most levels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from bench.corpus import corpus_schema
from pathcast.generate import documents, subscriptions
from pathcast.generate.subscriptions import DistinctError
from pathcast.schema import Schema

TEN = ("nitf", "docbook", "sdocbook", "svg", "smil", "vxml", "xhtml", "xmark", "blast", "mondial")
MOST_LEVELS = 24
TAGS = re.compile(rb"<(/?)[^!?][^>]*?(/?)>")


@dataclass(frozen=True)
class Kind:
    """What expressions are drawn with."""

    levels: int = 20
    wildcard: float = 0.1
    descendant: float = 0.1
    branch: float = 0.0
    skew: float = 0.0


Query = tuple[str, Mapping[str, str]]
"""An expression and the namespaces of its names."""


@dataclass
class DataSet:
    """Expressions and documents over schemas that each have the same share."""

    name: str
    schemas: Sequence[Schema]
    of: int = 2
    """The deepest of so many documents is taken."""
    _bytes_a_tag: dict[int, float] = field(default_factory=dict)

    def queries(self, kind: Kind, count: int) -> list[Query]:
        """Distinct expressions in turns of the schemas; fewer where a schema has no more."""
        share = -(-count // len(self.schemas))
        drawn = [
            [(one, schema.namespaces) for one in _distinct(schema, kind, share)] for schema in self.schemas
        ]
        turns = [one for place in range(share) for each in drawn for one in each[place : place + 1]]
        return turns[:count]

    def documents(self, tags: int, seed: int) -> Iterator[tuple[Schema, bytes]]:
        """Documents without end, in turns of the schemas, with about so many tags."""
        feeds = [self._feed(place, tags, seed) for place in range(len(self.schemas))]
        while True:
            for schema, feed in zip(self.schemas, feeds, strict=True):
                yield schema, next(feed)

    def _feed(self, place: int, tags: int, seed: int) -> Iterator[bytes]:
        """Most documents would be shallow: of some that follow each other the deepest is taken."""
        draw = partial(documents, self.schemas[place], 1 << 40, max_levels=MOST_LEVELS, attributes=0.05)
        if place not in self._bytes_a_tag:
            some = list(islice(draw(target_size=3_000, seed=seed + 1), 20))
            self._bytes_a_tag[place] = sum(map(len, some)) / sum(size(one)[0] for one in some)
        feed = draw(target_size=int(tags * self._bytes_a_tag[place]), seed=seed)
        while True:
            yield max(islice(feed, self.of), key=lambda one: size(one)[1])


def _distinct(schema: Schema, kind: Kind, count: int) -> list[str]:
    draw = partial(
        subscriptions,
        schema,
        max_depth=kind.levels,
        wildcard=kind.wildcard,
        descendant=kind.descendant,
        branch=kind.branch,
        skew=kind.skew,
        even_depth=True,
        seed=1,
    )
    try:
        return list(draw(n=count, distinct=True))
    except DistinctError:
        return list(dict.fromkeys(draw(n=3 * count)))[:count]


def data_sets() -> dict[str, DataSet]:
    """Those whose schemas are all there; without the corpus there are none."""
    found = {name: corpus_schema(name) for name in TEN}
    sets = {"ten": (TEN, 2), "nitf": (("nitf",), 3)}
    return {
        name: DataSet(name, [schema for each in members if (schema := found[each]) is not None], of)
        for name, (members, of) in sets.items()
        if all(found[each] is not None for each in members)
    }


def size(document: bytes) -> tuple[int, int]:
    """How many tags and levels a document has.

    >>> size(b"<a><b/><c><d x='1'>text</d></c></a>")
    (4, 3)
    """
    count = level = most = 0
    for ends, empty in TAGS.findall(document):
        if ends:
            level -= 1
            continue
        count += 1
        most = max(most, level + 1)
        level += not empty
    return count, most


def depth(query: str) -> int:
    """The levels of an expression's longest path, each step one.

    >>> depth("/a//b[c/d[e]]/*"), depth("/a"), depth("//a[.//b]")
    (5, 1, 2)
    """
    at, most, open_levels = 0, 0, []
    for piece in re.findall(r"//?|\[|\]|[^/\[\]]+", query):
        if piece == "[":
            open_levels.append(at)
        elif piece == "]":
            at = open_levels.pop()
        elif not piece.startswith("/") and piece != ".":
            at += 1
            most = max(most, at)
    return most
