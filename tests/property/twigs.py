"""Holds engines against definitions on random twigs, ordered, unordered and hybrid: a library and a command.

    python -m tests.property.twigs --pairs 500000 --seed 1 --engine xtrie --engine xtrie-lazy
    python -m tests.property.twigs --pairs 500000 --seed 1 --engine auto --values

Unordered twigs and twigs with order axes are held against lxml. Ordered ones are held against the definition
in "Efficient filtering of XML documents with XPath expressions" word for word (`tests.property.definition`)
or, with tests on attributes and values, against `pathcast.reference.ordered`. Each set puts 40 subscriptions
into one index, every fourth each into one of its own, so that what subscriptions share is tested, and what
one alone makes an engine look at. With `--values` all are unordered and rich in tests of values, `not` and
`or`, and each document comes again and again, so that keys that were chosen anew answer as the first. The
status is 1 when any engine disagrees.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from random import Random

from pathcast import reference
from tests.engines import ENGINES, index_with
from tests.property.definition import Twig, draw_twig, maps
from tests.property.generate import ATTRIBUTES, NAMES, Document, draw_document

DOCUMENTS = 5
SUBSCRIPTIONS = 40
AGAIN = 20  # times, after which keys were chosen anew
AXES = ("following-sibling", "following-sibling", "preceding-sibling", "following", "preceding")
TESTS = ("@x", "@x = 1", "not(@y)", ". = 'x'", "text()", ". != '1'", "@x or @y", ". > 1", "text() = 'x'")


VALUES = (
    "{path} = '{text}'", "{path} != '{text}'", "not({path} = '{text}')", "not({path} != '{text}')",
    "contains({path}, '{text}')", "not(contains({path}, '{text}'))", "starts-with({path}, '{text}')",
    "{path} > {number}", "{path} <= {number}", "{path} = {number}", "{path} != {number}",
    "normalize-space({path}) = '{text}'", "count({path}) > {number}", "string-length({path}) < {number}",
    "contains('{text}', {path})", "{path}",
)  # fmt: skip
PATHS = (".", "@x", "@y", "text()", "a", "b", "*", "a/@x", "b/text()", "a/b", "*/c", ".//a", ".//@y", "../@x")


class Writer:
    """Draws expressions with branches, tests and order axes."""

    def __init__(self, random: Random, *, ordered: bool) -> None:
        self.random = random
        self.ordered = ordered

    def step(self, depth: int) -> str:
        random = self.random
        written = random.choice((*NAMES, *NAMES, "*"))
        if random.random() < 0.15:
            tests = [test for test in TESTS if not (self.ordered and ("or" in test or "not" in test))]
            written += f"[{random.choice(tests)}]"
        for _ in range(random.choice((0, 0, 0, 1, 1, 2)) if depth < 3 else 0):
            written += f"[{self.branch(depth + 1)}]"
        return written

    def branch(self, depth: int) -> str:
        random = self.random
        written = random.choice(("", "", ".//")) + self.path(depth)
        if self.ordered or random.random() < 0.8:
            return written
        kind = random.random()
        if kind < 0.4:
            return f"not({written})"
        if kind < 0.8:
            return f"{written} or {self.path(depth)}"
        return f"{written} and not({self.path(depth)})"

    def path(self, depth: int) -> str:
        random = self.random
        parts = [self.step(depth)]
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            joint = random.choice(("/", "/", "//"))
            if not self.ordered and random.random() < 0.3:
                joint = f"/{random.choice(AXES)}::"
            parts += [joint, self.step(depth)]
        if random.random() < 0.1:
            parts.append("/@" + random.choice(ATTRIBUTES))
        return "".join(parts)

    def expression(self) -> str:
        """A whole one."""
        start = self.random.choice(("/", "/", "//", "//", ""))
        return start + self.path(0)


class ValueWriter(Writer):
    """Draws expressions in which nearly every step tests values."""

    def __init__(self, random: Random) -> None:
        super().__init__(random, ordered=False)

    def step(self, depth: int) -> str:
        random = self.random
        written = random.choice((*NAMES, "*"))
        for _ in range(random.choice((0, 1, 1, 2))):
            written += f"[{self.condition(1)}]"
        if depth < 2 and random.random() < 0.3:
            written += f"[{self.branch(depth + 1)}]"
        return written

    def condition(self, depth: int) -> str:
        random = self.random
        if depth and random.random() < 0.5:
            left, right = self.condition(depth - 1), self.condition(depth - 1)
            joined = random.choice(("{0} or {1}", "{0} and {1}", "{0} and not({1})", "not({0} or {1})"))
            return "(" + joined.format(left, right) + ")"
        return random.choice(VALUES).format(
            path=random.choice(PATHS),
            text=random.choice(("x", "y", "1", "2", "", "xy", "10")),
            number=random.choice((0, 1, 2, 1.5, 10, -1)),
        )


def draw_set(random: Random, *, values: bool) -> tuple[list[Document], list[Twig | str], list[str]]:
    """Documents, ordered subscriptions (twigs of the definition or text), unordered ones."""
    documents = [draw_document(random, namespaced=False) for _ in range(DOCUMENTS)]
    if values:
        return documents, [], [ValueWriter(random).expression() for _ in range(SUBSCRIPTIONS)]
    ordered: list[Twig | str] = []
    for number in range(SUBSCRIPTIONS // 2):
        ordered.append(draw_twig(random) if number % 2 else Writer(random, ordered=True).expression())
    unordered = [Writer(random, ordered=False).expression() for _ in range(SUBSCRIPTIONS // 2)]
    return documents, ordered, unordered


def run(
    seed: int, number: int, engines: Sequence[str], *, values: bool = False
) -> tuple[int, int, list[str]]:
    """Checks one set: pairs, pairs that match, and what disagreed, as text."""
    documents, ordered, unordered = draw_set(Random(f"twigs:{seed}:{number}"), values=values)
    written = [each if isinstance(each, str) else each.written() for each in ordered]
    texts = [(text, True) for text in written] + [(text, False) for text in unordered]
    expressions = [reference.Expression(text, ordered=flag) for text, flag in texts]
    together = 1 if number % 4 == 0 else len(texts)
    indexes = {engine: [index_with(engine) for _ in texts[::together]] for engine in engines}
    for shares in indexes.values():
        for place, (text, flag) in enumerate(texts):
            shares[place // together].add(place, text, ordered=flag)
    if values and number % 8 == 1:
        for (index,) in indexes.values():
            index.match_many([document.text.encode() for document in documents] * AGAIN)
    pairs = true = 0
    wrong: list[str] = []
    for document in documents:
        tree = reference.parse(document.text)
        expected = []
        for place, expression in enumerate(expressions):
            twig = ordered[place] if place < len(ordered) else ""
            holds = maps(twig, tree) if isinstance(twig, Twig) else expression.matches(tree)
            if holds:
                expected.append(place)
        pairs, true = pairs + len(texts), true + len(expected)
        for engine, shares in indexes.items():
            found = [int(place) for index in shares for place in index.match(document.text.encode())]
            for place in sorted(set(found) ^ set(expected)):
                text, flag = texts[place]
                said = place in expected
                wrong.append(
                    f"{engine} disagrees (set {seed}:{number})\n  expression {text}\n  ordered    {flag}\n"
                    f"  document   {document.text!r}\n  expected   {said}"
                )
    return pairs, true, wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.property.twigs", description="twigs and order")
    parser.add_argument("--pairs", type=int, default=20_000, help="pairs for each engine")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", action="append", help="an engine; may be repeated; all when left out")
    parser.add_argument("--values", action="store_true", help="twigs that are rich in tests of values")
    parser.add_argument("--only", type=int, help="the number of one set to run again")
    parser.add_argument("--stop-after", type=int, default=20, help="stop after so many disagreements")
    options = parser.parse_args(arguments)
    engines = tuple(options.engine or ENGINES)
    sets = range(-(-options.pairs // (DOCUMENTS * SUBSCRIPTIONS)))
    numbers = sets if options.only is None else [options.only]
    pairs = true = wrong = 0
    began = time.monotonic()
    for number in numbers:
        seen, matched, texts = run(options.seed, number, engines, values=options.values)
        pairs, true, wrong = pairs + seen, true + matched, wrong + len(texts)
        print("".join(f"{text}\n" for text in texts), end="", flush=True)
        if wrong >= options.stop_after:
            break
    took = time.monotonic() - began
    print(
        f"seed {options.seed}: {pairs:,} pairs on each of {', '.join(engines)} in {took:.0f} s, "
        f"{true / max(pairs, 1):.1%} match, {wrong} disagreements"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
