"""Pruned against original: on documents that keep to a schema both must give the same answer.

``python -m tests.property.pruning --pairs 1000000 --seed 1`` runs until so many pairs of a document and an
expression were compared, over schemas of the corpus and random ones, and ends with status 1 if any disagree.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from random import Random

from pathcast.generate import documents, subscriptions
from pathcast.index import Index
from pathcast.schema import Pruning, Schema
from tests.engines import ENGINES
from tests.suite.test_corpus_schemas import CASES, CORPUS

MADE_FOR_PRUNED = ("auto", "pma", "pma-updating")
CORPUS_SCHEMAS = ("blast", "xmark", "nitf", "sigmod", "shakespeare")


def random_schema(random: Random) -> Schema:
    """A small DTD in which anything may stand next to anything, often recursive."""
    names = [f"e{number}" for number in range(random.randint(3, 8))]
    lines = []
    for place, name in enumerate(names):
        below = random.sample(names, random.randint(0, 3))
        if not below:
            below = [names[place + 1]] if place + 1 < len(names) and random.random() < 0.6 else []
        model = f"({' | '.join(['#PCDATA', *dict.fromkeys(below)])})*" if below else "(#PCDATA)"
        lines.append(f"<!ELEMENT {name} {model}>")
        if random.random() < 0.5:
            lines.append(f"<!ATTLIST {name} x CDATA #IMPLIED y (1 | 2 | 3) #IMPLIED>")
    return Schema.from_text("\n".join(lines), root=names[0])


def expressions(schema: Schema, count: int, random: Random) -> Iterator[str]:
    """Expressions that fit the schema, and some that fit it no longer because a name was changed."""
    names = list(schema.elements)
    drawn = subscriptions(
        schema,
        count,
        wildcard=random.choice((0.1, 0.3, 0.5)),
        descendant=random.choice((0.1, 0.3, 0.5)),
        relative=random.choice((0.0, 0.3)),
        branch=random.choice((0.0, 0.2)),
        predicates=random.choice((0, 1)),
        seed=random.randrange(1 << 30),
    )
    for xpath in drawn:
        if random.random() < 0.2:
            old, new = random.choice(names), random.choice(names)
            xpath = xpath.replace(f"/{old}", f"/{new}", 1)
        yield xpath


def pruning(random: Random) -> Pruning:
    """Bounds from the tightest to the widest."""
    return Pruning(
        max_substitutes=random.choice((1, 4, 16, 200)),
        max_length=random.choice((2, 16, 64, 2_000)),
        max_results=random.choice((1, 8, 64, 500)),
        singleton=random.random() < 0.2,
        single_parent=random.random() < 0.5,
        expand_leading=random.random() < 0.7,
    )


def disagreements(
    schema: Schema, random: Random, count: int, drawn: int, engines: Sequence[str]
) -> tuple[int, int, list[str]]:
    """Pairs compared with each engine, pairs that match, and what disagreed."""
    xpaths = list(expressions(schema, count, random))
    bounds = pruning(random)
    plain = Index()
    pruned = {name: Index(name, schema=schema, prune=bounds, impossible="ignore") for name in engines}
    for index in (plain, *pruned.values()):
        index.add_many(list(enumerate(xpaths)))
    compared, matched, wrong = 0, 0, []
    for document in documents(
        schema, drawn, max_levels=random.choice((6, 10)), seed=random.randrange(1 << 30)
    ):
        expected = plain.match(document)
        compared += len(xpaths)
        matched += len(expected)
        for name, index in pruned.items():
            for number in set(expected) ^ set(index.match(document)):
                verdict = "lost" if number in expected else "invented"
                wrong.append(f"{name} {verdict}: {xpaths[int(number)]} on {document[:300]!r}")
    return compared, matched, wrong


def schemas(random: Random) -> Iterator[Schema]:
    """Schemas of the corpus, if it is there, between random ones."""
    found = [] if CORPUS is None else [CASES[name] for name in CORPUS_SCHEMAS]
    known = [Schema.from_dtd(CORPUS / case.file, case.root) for case in found if CORPUS is not None]
    while True:
        yield from known
        for _ in range(5):
            yield random_schema(random)


def run(pairs: int, seed: int, quiet: bool = False, engines: Sequence[str] = MADE_FOR_PRUNED) -> list[str]:
    """Compares so many pairs; what disagreed."""
    random = Random(seed)
    compared, matched, wrong = 0, 0, []
    for schema in schemas(random):
        more, held, failures = disagreements(schema, random, 200, 25, engines)
        compared, matched = compared + more, matched + held
        wrong += failures
        if compared >= pairs or len(wrong) > 20:
            break
    if not quiet:
        share = matched / compared
        told = f"{compared:,} pairs on each of {len(engines)} engines, {share:.1%} match"
        print(f"seed {seed}: {told}, {len(wrong)} disagreements")
    return wrong


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", action="append", help="an engine; may be repeated; all when left out")
    arguments = parser.parse_args()
    wrong = run(arguments.pairs, arguments.seed, engines=arguments.engine or ENGINES)
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
