"""Holds a database against the reference on random pairs, as a library and as a command.

    python -m tests.relational.agreement --pairs 100000 --seed 1 --backend duckdb

The sets are those of `tests.property.agreement`. Many sets share one database and one batch of documents, so
that what subscriptions share is tested too: the pairs of a set are held against the reference, and all pairs
across sets against `pathcast.Index`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import pathcast
from pathcast.relational import Relational
from tests.property.agreement import batch_of, verdicts
from tests.property.generate import Batch

TOGETHER = 100  # sets in one database


def disagreements(
    database: Relational, sets: Sequence[tuple[str, Batch]], *, across: bool = True
) -> Iterator[str]:
    """Every pair that is answered otherwise; the sets are of one mode of namespaces."""
    index = pathcast.Index(ignore_namespaces=sets[0][1].ignore_namespaces)
    rows = []
    for number, batch in sets:
        for at, subscription in enumerate(batch.subscriptions):
            namespaces = {**subscription.namespaces, **({"": batch.default} if batch.default else {})}
            rows.append(
                (
                    f"{number}/{at}",
                    subscription.xpath,
                    subscription.ordered,
                    namespaces,
                    subscription.variables or None,
                )
            )
    database.subscribe(rows)
    index.add_many(rows)
    documents = [
        (f"{number}/{at}", document.text.encode())
        for number, batch in sets
        for at, document in enumerate(batch.documents)
    ]
    found: dict[str, set[str]] = {str(id): set() for id, _ in documents}
    for id, name in database.match(documents):
        found[str(id)].add(str(name))
    for letter in database.dead_letters:
        yield f"document {letter.document} was refused: {letter.error}"
    for number, batch in sets:
        for at, row in enumerate(verdicts(batch)):
            for which, said in enumerate(row):
                if (f"{number}/{which}" in found[f"{number}/{at}"]) != said:
                    subscription = batch.subscriptions[which]
                    yield (
                        f"set {number}: the reference says {said}\n  {subscription}\n"
                        f"  {batch.documents[at].text!r} default={batch.default!r} "
                        f"ignore_namespaces={batch.ignore_namespaces}"
                    )
    if across:
        for id, text in documents:
            if differ := found[id] ^ {str(name) for name in index.match(text)}:
                yield f"{id}: the index answers otherwise on {sorted(differ)[:5]}: {text!r}"


def run(
    seed: int, numbers: Sequence[int], make: Callable[[bool], Relational], *, across: bool = True
) -> tuple[int, list[str]]:
    """Check sets by number: pairs seen, and what disagreed, as text."""
    sets = [(f"{seed}:{number}", batch_of(seed, number)) for number in numbers]
    wrong: list[str] = []
    for ignore in (False, True):
        some = [(number, batch) for number, batch in sets if batch.ignore_namespaces is ignore]
        for at in range(0, len(some), TOGETHER):
            database = make(ignore)
            wrong.extend(disagreements(database, some[at : at + TOGETHER], across=across))
            database.close()
    return sum(len(batch.documents) * len(batch.subscriptions) for _, batch in sets), wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.relational.agreement")
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", choices=("duckdb", "postgresql", "spark"), default="duckdb")
    options = parser.parse_args(arguments)
    from tests.relational.backends import opened

    started = time.monotonic()
    with opened(options.backend) as make:
        pairs, wrong = run(options.seed, range(options.pairs // 200), make)
    print(
        f"{options.backend}: {pairs:,} pairs, seed {options.seed}, {len(wrong)} disagreements, "
        f"{time.monotonic() - started:.0f} s"
    )
    for each in wrong[:5]:
        print(each)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
