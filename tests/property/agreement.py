"""Holds engines against the reference on random pairs, as a library and as a command.

    python -m tests.property.agreement --pairs 1000000 --seed 1 --processes 2

A pair is one document and one subscription. Each set puts 40 subscriptions into one index, so that what
subscriptions share is tested too. The status is 1 when any engine disagrees; the seed and number of the set
that are printed reproduce it: `--seed 1 --only 1234`. With `--resume FILE --minutes 4` a long run can be
taken in parts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Literal

import pathcast
from pathcast import reference
from tests.engines import ENGINES, index_with
from tests.property.generate import Batch, Document, Subscription, draw_batch

AttributeFilters = Literal["inline", "postponed"]

DOCUMENTS = 5
SUBSCRIPTIONS = 40
CACHE_BYTES = 64 << 20


@dataclass(frozen=True)
class Disagreement:
    """One pair on which an engine and the reference differ."""

    engine: str
    seed: str
    document: str
    subscription: Subscription
    default: str
    ignore_namespaces: bool
    expected: bool | None
    found: str
    alone: str

    def __str__(self) -> str:
        subscription = self.subscription
        return (
            f"{self.engine} disagrees (seed {self.seed})\n"
            f"  expression {subscription.xpath}\n"
            f"  document   {self.document!r}\n"
            f"  variables={subscription.variables}\n"
            f"  ordered={subscription.ordered} namespaces={subscription.namespaces} default={self.default!r} "
            f"ignore_namespaces={self.ignore_namespaces}\n"
            f"  reference  {self.expected}\n"
            f"  engine     {self.found}; alone in its index: {self.alone}"
        )


def batch_of(seed: int, number: int) -> Batch:
    """The set with this number, the same on every machine."""
    return draw_batch(Random(f"{seed}:{number}"), DOCUMENTS, SUBSCRIPTIONS)


def verdicts(batch: Batch) -> list[list[bool]]:
    """What the reference says: one row a document."""
    expressions = [
        reference.Expression(
            subscription.xpath,
            ordered=subscription.ordered,
            namespaces=batch.namespaces(subscription),
            ignore_namespaces=batch.ignore_namespaces,
            variables=subscription.variables,
        )
        for subscription in batch.subscriptions
    ]
    trees = [reference.parse(document.text) for document in batch.documents]
    return [[expression.matches(tree) for expression in expressions] for tree in trees]


def disagreements(
    batch: Batch,
    expected: list[list[bool]],
    engine: str,
    seed: str = "",
    *,
    attribute_filters: AttributeFilters = "inline",
    cache_bytes: int = CACHE_BYTES,
) -> Iterator[Disagreement]:
    """Every pair of the set that the engine answers otherwise."""

    def differs(document: str, subscription: Subscription, said: bool | None, found: str) -> Disagreement:
        alone = _alone(document, subscription, empty())
        mode = (batch.default, batch.ignore_namespaces)
        return Disagreement(engine, seed, document, subscription, *mode, said, found, alone)

    def empty() -> pathcast.Index:
        return index_with(
            engine,
            namespaces={"": batch.default} if batch.default else None,
            ignore_namespaces=batch.ignore_namespaces,
            attribute_filters=attribute_filters,
            cache_bytes=cache_bytes,
        )

    index = empty()
    refused = set()
    for number, subscription in enumerate(batch.subscriptions):
        try:
            _add(index, number, subscription)
        except pathcast.PathcastError as error:
            refused.add(number)
            yield differs("", subscription, None, f"refused: {error}")
    for document, row in zip(batch.documents, expected, strict=True):
        found = _match(index, document)
        if isinstance(found, str):
            yield differs(document.text, batch.subscriptions[0], row[0], found)
            continue
        if found != sorted(set(found)):
            yield differs(
                document.text, batch.subscriptions[0], None, f"not in order of registration: {found}"
            )
        for number, said in enumerate(row):
            if number not in refused and (number in found) != said:
                yield differs(document.text, batch.subscriptions[number], said, str(not said))


def _add(index: pathcast.Index, number: int, subscription: Subscription) -> None:
    index.add(
        number,
        subscription.xpath,
        ordered=subscription.ordered,
        namespaces=subscription.namespaces or None,
        variables=subscription.variables or None,
    )


def _match(index: pathcast.Index, document: Document) -> list[int] | str:
    """The ids, or why the document was refused."""
    try:
        return [int(number) for number in index.match(document.text.encode())]
    except pathcast.PathcastError as error:
        return f"document refused: {error}"


def _alone(document: str, subscription: Subscription, index: pathcast.Index) -> str:
    try:
        _add(index, 0, subscription)
        return str(bool(index.match(document.encode())))
    except pathcast.PathcastError as error:
        return str(error)


def run(
    seed: int,
    numbers: Sequence[int],
    engines: Sequence[str],
    attribute_filters: AttributeFilters = "inline",
    cache_bytes: int = CACHE_BYTES,
) -> tuple[int, int, list[str]]:
    """Check sets by number: pairs seen, pairs that match, and what disagreed, as text."""
    pairs = true = 0
    wrong: list[str] = []
    for number in numbers:
        batch = batch_of(seed, number)
        expected = verdicts(batch)
        pairs += sum(map(len, expected))
        true += sum(map(sum, expected))
        for engine in engines:
            found = disagreements(
                batch,
                expected,
                engine,
                f"{seed}:{number}",
                attribute_filters=attribute_filters,
                cache_bytes=cache_bytes,
            )
            wrong.extend(map(str, found))
    return pairs, true, wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.property.agreement", description="engines against reference"
    )
    parser.add_argument("--pairs", type=int, default=100_000, help="pairs for each engine")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--engine", action="append", help="an engine; may be repeated; all when left out")
    parser.add_argument("--cache-bytes", type=int, default=CACHE_BYTES, help="what an engine may keep")
    parser.add_argument("--attribute-filters", choices=("inline", "postponed"), default="inline")
    parser.add_argument("--only", type=int, help="the number of one set to run again")
    parser.add_argument("--resume", type=Path, help="a file that keeps how far a run came; the next goes on")
    parser.add_argument(
        "--minutes", type=float, default=1e9, help="stop after the set that is under way then"
    )
    parser.add_argument("--stop-after", type=int, default=20, help="stop after so many disagreements")
    options = parser.parse_args(arguments)
    engines = tuple(options.engine or ENGINES)
    sets = range(-(-options.pairs // (DOCUMENTS * SUBSCRIPTIONS)))
    total = Total.read(options.resume)
    chunks = [list(sets[start : start + 20]) for start in range(total.sets, len(sets), 20)]
    if options.only is not None:
        chunks = [[options.only]]
    began = shown = time.monotonic()
    with ProcessPoolExecutor(options.processes) as pool:
        settings = (options.attribute_filters, options.cache_bytes)
        jobs = [pool.submit(run, options.seed, chunk, engines, *settings) for chunk in chunks]
        for chunk, job in zip(chunks, jobs, strict=True):
            seen, matched, texts = job.result()
            total.add(len(chunk), seen, matched, len(texts))
            print("".join(f"{text}\n" for text in texts), end="")
            total.write(options.resume)
            now = time.monotonic()
            if total.wrong >= options.stop_after or now - began > 60 * options.minutes:
                pool.shutdown(wait=False, cancel_futures=True)
                break
            if now - shown > 5:
                shown = now
                print(f"{total.pairs:,} pairs", file=sys.stderr, flush=True)
    print(
        f"seed {options.seed}: {total.pairs:,} pairs on each of {len(engines)} engines, "
        f"{total.true / max(total.pairs, 1):.1%} match, {total.wrong} disagreements; "
        f"{time.monotonic() - began:.0f} s now"
    )
    return 1 if total.wrong else 0


@dataclass
class Total:
    """What has been checked so far, perhaps by several runs."""

    sets: int = 0
    pairs: int = 0
    true: int = 0
    wrong: int = 0

    def add(self, sets: int, pairs: int, true: int, wrong: int) -> None:
        """A chunk more."""
        self.sets, self.pairs, self.true = self.sets + sets, self.pairs + pairs, self.true + true
        self.wrong += wrong

    @classmethod
    def read(cls, path: Path | None) -> Total:
        """What a file says; nothing without one."""
        return cls(**json.loads(path.read_text())) if path and path.exists() else cls()

    def write(self, path: Path | None) -> None:
        """Keeps it, for the next run."""
        if path:
            path.write_text(json.dumps(asdict(self)))


if __name__ == "__main__":
    sys.exit(main())
