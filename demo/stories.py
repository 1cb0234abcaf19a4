"""Stories of a news agency: headline, place, text and what the desk adds, as XML that reads like news."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from demo.words import CATEGORIES, COMPANIES, LANGUAGES, PEOPLE, PLACES, SAYINGS, TOPICS

__all__ = ["stories"]

_PLACES, _TICKERS = tuple(PLACES), tuple(COMPANIES)
HEADLINES = {
    "politics": "{place} argues over the {topic} as {person} calls for a vote",
    "markets": "{company} moves {move:+.1f} percent in {place} on news about {topic}",
    "sports": "{place} and {other} meet: {topic} decides the night",
    "weather": "{place} prepares for {topic}, services on alert",
    "culture": "{article} {topic} in {place} draws crowds from {other}",
}
OPENINGS = {
    "politics": "The {topic} divided the council of {place}, and {other} is watching.",
    "markets": "Traders in {place} and {other} blamed the price of {topic}.",
    "sports": "They came from {other} by the trainload, and the {topic} is all that {place} talks about.",
    "weather": "The {topic} has reached {place}. Trains to {other} are late.",
    "culture": "The {topic} opened in {place}; half of the audience had come from {other}.",
}


def stories(number: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """As many stories as asked for, each with its id; the same seed gives the same stories."""
    random = Random(seed)
    for place in range(number):
        name = f"story-{place:06}"
        yield name, _story(random, name).encode()


def _story(random: Random, name: str) -> str:
    choice = random.choice
    category, person = choice(CATEGORIES), choice(PEOPLE)
    place, other = random.sample(_PLACES, 2)  # nobody plays against themselves
    topic, ticker = choice(TOPICS[category]), choice(_TICKERS)
    move = round(random.gauss(0, 4), 1) or 0.1
    headline = HEADLINES[category].format(
        article="An" if topic[0] in "aeio" else "A",
        place=place,
        other=other,
        person=person,
        topic=topic,
        company=COMPANIES[ticker],
        move=move,
    )
    speaker, day = choice(PEOPLE), random.randrange(1, 29)
    return (
        f'<news date="2026-10-{day:02}">\n<item lang="{choice(LANGUAGES)}" id="{name}">\n'
        f"<category>{category}</category>\n<headline>{headline[0].upper()}{headline[1:]}</headline>\n"
        f'<byline>{person}, {place}</byline>\n<place country="{PLACES[place]}">{place}</place>\n<body>\n'
        f"<para>{OPENINGS[category].format(place=place, other=other, topic=topic)}</para>\n"
        f'<quote speaker="{speaker}">{choice(SAYINGS)}, about the {topic}.</quote>\n'
        f"{_desk(random, category, place, other, ticker, move)}\n"
        f"<para>More from {person} in the evening edition.</para>\n</body>\n</item>\n</news>\n"
    )


def _desk(random: Random, category: str, place: str, other: str, ticker: str, move: float) -> str:
    """What the desk adds to its stories."""
    if category == "sports":
        goals = random.randrange(6), random.randrange(6)
        return (
            f'<match><team goals="{goals[0]}">{place}</team><team goals="{goals[1]}">{other}</team></match>'
        )
    if category == "weather":
        level = random.choice((1, 1, 1, 2, 2, 3, 4, 5))
        return f'<warning level="{level}">Stay away from the shore of {place}</warning>'
    if category == "markets":
        return f'<company ticker="{ticker}" move="{move}">{COMPANIES[ticker]}</company>'
    return f"<para>A visitor from {other} spoke of {COMPANIES[ticker]}.</para>"
