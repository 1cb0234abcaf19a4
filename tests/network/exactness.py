"""Covering and overlap of linear patterns compared with exact oracles.

``python -m tests.network.exactness --pairs 1000000 --seed 1``
"""

from __future__ import annotations

import argparse
import sys
from random import Random

from pathcast import _core
from pathcast.limits import Limits
from tests.network import oracle

BLOCK = 50  # patterns that are compared with each other


def disagreements(pairs: int, seed: int) -> tuple[list[str], int, int]:
    """What is answered wrongly, and how many pairs cover or overlap."""
    random = Random(seed)
    wrong: list[str] = []
    positive = 0
    done = 0
    while done < pairs:
        cover = _core.Cover(Limits())
        texts = [oracle.pattern(random) for _ in range(BLOCK)]
        advertised = [oracle.advertisement(random) for _ in range(BLOCK)]
        for number, text in enumerate(texts):
            assert cover.register(number, text), f"{text} is linear"
        for number, text in enumerate(advertised):
            cover.advertise(number, [text])
        for first, general in enumerate(texts):
            for second, specific in enumerate(texts):
                if done >= pairs:
                    return wrong, done, positive
                expected = oracle.contains(oracle.steps_of(general), oracle.steps_of(specific))
                if cover.covers(first, second) != expected:
                    wrong.append(f"{general} covers {specific} is {expected}")
                positive += expected
                done += 1
                if done % 4 == 0:
                    other = advertised[second]
                    expected = oracle.meets(other, oracle.steps_of(general))
                    if bool(cover.overlapping([second], [first])) != expected:
                        wrong.append(f"{other} overlaps {general} is {expected}")
                    positive += expected
                    done += 1
                if done % 200 == 0:
                    expected = oracle.advertised(advertised[first], advertised[second])
                    if cover.advertisement_covers(first, second) != expected:
                        wrong.append(f"{advertised[first]} advertises {advertised[second]} is {expected}")
    return wrong, done, positive


def main() -> None:
    """Compare and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong, done, positive = disagreements(options.pairs, options.seed)
    for line in wrong[:20]:
        print(line)
    print(f"seed {options.seed}: {done:,} pairs, {positive:,} of them true, {len(wrong):,} disagreements")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
