"""Where text and attribute values come from: integers in a range and words, uniform or skewed.

Documents and subscriptions that are drawn from the same `Values` meet: a test ``[@width > 7]`` finds widths
around seven. Words are plain name tokens, so they fit every attribute type.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

WORDS = (
    "amber",
    "bridge",
    "cedar",
    "delta",
    "ember",
    "field",
    "garden",
    "harbour",
    "island",
    "juniper",
    "kettle",
    "lantern",
    "meadow",
    "north",
    "orchard",
    "pepper",
    "quarry",
    "river",
    "summit",
    "timber",
    "umbra",
    "valley",
    "willow",
    "yarrow",
    "zephyr",
    "anchor",
    "basalt",
    "copper",
    "drift",
    "eagle",
)


@dataclass(frozen=True, slots=True)
class Values:
    """A source of values: integers `low`..`high` in the share `numbers` of all draws, words otherwise.

    `skew` is the Zipf exponent: 0 draws all integers alike and all words alike, 1 draws the second half
    as often as the first, and so on.

    >>> values = Values(low=1, high=3, words=("a", "b"), numbers=1.0)
    >>> sorted(set(values.distribution().values))
    ['1', '2', '3']
    """

    low: int = 1
    high: int = 20
    words: tuple[str, ...] = WORDS
    numbers: float = 0.5
    skew: float = 0.0

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"low must not be above high: {self.low} > {self.high}")
        if not 0 <= self.numbers <= 1:
            raise ValueError(f"numbers is a share from 0 to 1, not {self.numbers}")
        if not self.words and self.numbers < 1:
            raise ValueError("without words, numbers must be 1")
        check_skew(self.skew)

    def distribution(self) -> Distribution:
        """All values with their odds."""
        numbers = [str(number) for number in range(self.low, self.high + 1)] if self.numbers > 0 else []
        words = list(self.words) if self.numbers < 1 else []
        weights = [self.numbers * share for share in zipf(len(numbers), self.skew)]
        weights += [(1 - self.numbers) * share for share in zipf(len(words), self.skew)]
        return Distribution(numbers + words, weights)


class Distribution:
    """Items with odds.

    >>> Distribution(["a", "b"], [0.0, 1.0]).draw(Random(1))
    'b'
    """

    __slots__ = ("cumulative", "values")

    def __init__(self, values: Sequence[str], weights: Sequence[float]) -> None:
        """Weights are relative to one another."""
        total = sum(weights)
        self.values = list(values)
        self.cumulative = [share / total for share in accumulate(weights)]
        self.cumulative[-1] = 1.0  # a draw below 1 always finds a place, whatever was rounded

    def draw(self, random: Random) -> str:
        """One item."""
        return self.values[bisect(self.cumulative, random.random())]


def zipf(count: int, skew: float) -> list[float]:
    """The shares of `count` ranks, the first the largest.

    >>> zipf(2, 0.0), zipf(2, 1.0)
    ([0.5, 0.5], [0.6666666666666666, 0.3333333333333333])
    """
    weights = [(rank + 1) ** -skew for rank in range(count)]
    total = sum(weights)
    return [weight / total for weight in weights]


def check_skew(skew: float) -> None:
    """`ValueError` when this is no Zipf exponent."""
    if not 0 <= skew <= 100:
        raise ValueError(f"skew is a Zipf exponent from 0 (none) upwards, not {skew}")


def check_share(name: str, share: float) -> None:
    """`ValueError` when a probability is none."""
    if not 0 <= share <= 1:
        raise ValueError(f"{name} is a probability from 0 to 1, not {share}")
