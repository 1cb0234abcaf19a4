"""`alerts`: what people subscribe to in a news service, and news items of 1.6 KB.

A subscription names fields and values: 35 % two equal fields; 20 % a language, a category and a threshold;
20 % a word in the headline and a category; 15 % an author's id; 10 % a category and *not* a region. Constants
follow Zipf's law on both sides. Items and alerts are values first, so that they can be written as XML and
XPath, and as JSON and rules for a program that takes those; the meaning is the same but for one thing:
`contains` finds a word inside a longer one, a rule on a list of words does not.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice
from random import Random
from typing import Literal

Kind = Literal["two fields", "threshold", "headline", "author", "not region"]
KINDS: dict[Kind, float] = {
    "two fields": 0.35,
    "threshold": 0.20,
    "headline": 0.20,
    "author": 0.15,
    "not region": 0.10,
}
# fmt: off
_SYLLABLES = (
    "ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu", "bra", "cle",
    "dri", "flo", "gru", "sta", "tre", "plo", "kri", "sno", "wen", "har", "tol", "mar", "quin",
)
# fmt: on


def _words(count: int, syllables: tuple[int, int], seed: int) -> tuple[str, ...]:
    random = Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(random.choices(_SYLLABLES, k=random.randint(*syllables)))] = None
    return tuple(found)


class Zipf:
    """Values drawn by rank: the second half as often as the first at exponent 1, and so on."""

    def __init__(self, values: tuple[str, ...], exponent: float) -> None:
        self.values = values
        self._sums = list(accumulate((rank + 1) ** -exponent for rank in range(len(values))))

    def draw(self, random: Random) -> str:
        """One value."""
        return self.values[bisect(self._sums, random.random() * self._sums[-1])]


LANGUAGES = Zipf(_words(24, (1, 1), 1), 1.0)
REGIONS = Zipf(_words(60, (2, 3), 2), 1.0)
CATEGORIES = Zipf(_words(200, (2, 3), 3), 0.8)
SOURCES = Zipf(_words(300, (2, 3), 4), 1.0)
AUTHORS = Zipf(tuple(f"a{number}" for number in range(20_000)), 0.9)
WORDS = Zipf(_words(4_000, (2, 4), 5), 0.9)
FIELDS = {"language": LANGUAGES, "region": REGIONS, "category": CATEGORIES, "source": SOURCES}


@dataclass(frozen=True)
class Item:
    """A news item."""

    number: int
    language: str
    region: str
    categories: tuple[str, ...]
    source: str
    priority: int
    author: str
    headline: str
    body: tuple[str, ...]

    def xml(self) -> bytes:
        """As a document."""
        categories = "".join(f"<category>{each}</category>" for each in self.categories)
        body = "".join(f"<p>{each}</p>" for each in self.body)
        return (
            f'<item id="n{self.number}"><language>{self.language}</language><region>{self.region}</region>'
            f"{categories}<source>{self.source}</source><priority>{self.priority}</priority>"
            f'<author id="{self.author}">{self.author} of {self.source}</author>'
            f"<headline>{self.headline}</headline><body>{body}</body></item>"
        ).encode()

    def event(self) -> dict[str, object]:
        """As an object for JSON; the headline is there as a list of its words."""
        return {
            "language": self.language,
            "region": self.region,
            "category": list(self.categories),
            "source": self.source,
            "priority": self.priority,
            "author": self.author,
            "headline": self.headline.split(),
            "body": " ".join(self.body),
        }


@dataclass(frozen=True)
class Alert:
    """What somebody wants: fields that equal values, and perhaps one more condition."""

    kind: Kind
    equal: dict[str, str]
    threshold: int | None = None
    word: str | None = None
    not_region: str | None = None

    def xpath(self) -> str:
        """As a subscription."""
        if self.kind == "author":
            return f"/item[author/@id = '{self.equal['author']}']"
        tests = [f"[{field} = '{value}']" for field, value in self.equal.items()]
        if self.threshold is not None:
            tests.append(f"[priority >= {self.threshold}]")
        if self.word is not None:
            tests.insert(0, f"[contains(headline, '{self.word}')]")
        if self.not_region is not None:
            tests.append(f"[not(region = '{self.not_region}')]")
        return f"/item{''.join(tests)}"

    def rule(self) -> dict[str, list[object]]:
        """As a rule of Event Ruler, on `Item.event`."""
        rule: dict[str, list[object]] = {field: [value] for field, value in self.equal.items()}
        if self.threshold is not None:
            rule["priority"] = [{"numeric": [">=", self.threshold]}]
        if self.word is not None:
            rule["headline"] = [self.word]
        if self.not_region is not None:
            rule["region"] = [{"anything-but": [self.not_region]}]
        return rule


def items(seed: int) -> Iterator[Item]:
    """News items without end."""
    random = Random(seed)
    number = 0
    while True:
        categories = dict.fromkeys(CATEGORIES.draw(random) for _ in range(random.randint(1, 4)))
        paragraphs = random.randint(2, 5)
        yield Item(
            number,
            LANGUAGES.draw(random),
            REGIONS.draw(random),
            tuple(categories),
            SOURCES.draw(random),
            random.randint(1, 10),
            AUTHORS.draw(random),
            " ".join(WORDS.draw(random) for _ in range(random.randint(5, 10))),
            tuple(" ".join(WORDS.draw(random) for _ in range(150 // paragraphs)) for _ in range(paragraphs)),
        )
        number += 1


def documents(seed: int) -> Iterator[bytes]:
    """The items as XML.

    >>> 1_300 < len(next(documents(1))) < 1_900
    True
    """
    return (item.xml() for item in items(seed))


def alerts(number: int, seed: int = 2) -> list[Alert]:
    """That many alerts; the first of many are the same as few."""
    return list(islice(_drawn(Random(seed)), number))


def queries(number: int) -> list[str]:
    """The alerts as subscriptions.

    >>> len(queries(3)), queries(3) == queries(5)[:3]
    (3, True)
    """
    return [alert.xpath() for alert in alerts(number)]


def _drawn(random: Random) -> Iterator[Alert]:
    kinds, odds = list(KINDS), list(KINDS.values())
    while True:
        kind = random.choices(kinds, odds)[0]
        if kind == "author":
            yield Alert(kind, {"author": AUTHORS.draw(random)})
        elif kind == "two fields":
            names = random.sample(sorted(FIELDS), 2)
            yield Alert(kind, {name: FIELDS[name].draw(random) for name in names})
        elif kind == "threshold":
            equal = {"language": LANGUAGES.draw(random), "category": CATEGORIES.draw(random)}
            yield Alert(kind, equal, threshold=random.randint(3, 9))
        elif kind == "headline":
            yield Alert(kind, {"category": CATEGORIES.draw(random)}, word=WORDS.draw(random))
        else:
            yield Alert(kind, {"category": CATEGORIES.draw(random)}, not_region=REGIONS.draw(random))
