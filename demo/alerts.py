"""Alerts of readers: what a person would ask a news agency for, as XPath, and who asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from demo.words import (
    CATEGORIES,
    COMPANIES,
    FIRST_NAMES,
    LANGUAGES,
    OUTLETS,
    PEOPLE,
    PLACES,
    TOPICS,
)
from pathcast.generate.values import Distribution, zipf

__all__ = ["MISTAKES", "alerts", "readers"]

_PLACES, _TICKERS = tuple(PLACES), tuple(COMPANIES)

MISTAKES = (
    "/news/item[@lang = 'en'",
    "//item[category = weather']",
    "/news/item/",
    "//item[1 to 3]",
    "//item[unknown-function(headline)]",
)
"""What readers typed that is no XPath."""


def _topic(random: Random) -> tuple[str, str]:
    category = random.choice(CATEGORIES)
    return category, random.choice(TOPICS[category])


def _place_and_topic(random: Random) -> str:
    category, topic = _topic(random)
    return (
        f"//item[category = '{category}'][place = '{random.choice(_PLACES)}'][contains(headline, '{topic}')]"
    )


def _country(random: Random) -> str:
    country, speaker = random.choice(tuple(PLACES.values())), random.choice(PEOPLE)
    item = f"/news/item[@lang = '{random.choice(LANGUAGES)}'][place/@country = '{country}']"
    return f"{item}//quote[@speaker = '{speaker}']"


def _move(random: Random) -> str:
    limit = random.randrange(60, 160) / 10
    side = f"@move > {limit}" if random.random() < 0.5 else f"@move < -{limit}"
    return f"//company[@ticker = '{random.choice(_TICKERS)}'][{side}]"


def _company_somewhere(random: Random) -> str:
    return f"//item[place = '{random.choice(_PLACES)}'][.//company/@ticker = '{random.choice(_TICKERS)}']"


def _warning(random: Random) -> str:
    where, topic, level = random.choice(_PLACES), random.choice(TOPICS["weather"]), random.randrange(3, 6)
    return f"//item[place = '{where}'][contains(headline, '{topic}')][.//warning/@level >= {level}]"


def _match(random: Random) -> str:
    one, other = random.sample(_PLACES, 2)
    return f"//match[team = '{one}'][team = '{other}']"


def _goals(random: Random) -> str:
    team, goals = random.choice(_PLACES), random.randrange(1, 5)
    return f"//match/team[. = '{team}'][@goals >= 5][../team/@goals < {goals}]"


def _author(random: Random) -> str:
    byline = f"{random.choice(PEOPLE)}, {random.choice(_PLACES)}"
    return f"//item[byline = '{byline}'][@lang = '{random.choice(LANGUAGES)}']"


def _said(random: Random) -> str:
    _, topic = _topic(random)
    where = random.choice(_PLACES)
    return (
        f"//item[place = '{where}']/body/quote[@speaker = '{random.choice(PEOPLE)}'][contains(., '{topic}')]"
    )


def _not_sports(random: Random) -> str:
    where, person = random.choice(_PLACES), random.choice(PEOPLE)
    return f"//item[place = '{where}'][not(category = 'sports')][starts-with(byline, '{person}')]"


KINDS: tuple[Callable[[Random], str], ...] = (
    _place_and_topic,
    _country,
    _move,
    _company_somewhere,
    _warning,
    _match,
    _goals,
    _author,
    _said,
    _not_sports,
)


def alerts(number: int, seed: int) -> Iterator[str]:
    """Distinct expressions of all kinds, as many as asked for."""
    random, seen = Random(seed), set[str]()
    while len(seen) < number:
        expression = random.choice(KINDS)(random)
        if expression not in seen:
            seen.add(expression)
            yield expression


def readers(number: int, seed: int) -> Callable[[], str]:
    """Draws the owner of an alert: some readers have many, most have few."""
    names = [f"{first} {last}" for last in PEOPLE for first in FIRST_NAMES]
    chosen = Random(seed).sample(names, min(number, len(names)))
    owners = [f"{name}, {OUTLETS[place % len(OUTLETS)]}" for place, name in enumerate(chosen)]
    drawn, random = Distribution(owners, zipf(len(owners), 0.6)), Random(seed)
    return lambda: drawn.draw(random)
