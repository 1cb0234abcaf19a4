"""Pruning by a DTD: Table 2 and Figure 5 of "Schema-Conscious Filtering of XML Documents".

The paper's protein-sequence and NASA data are not to be had; NCBI BLAST (not recursive) and XMark (slightly
recursive) stand in for them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import chain, islice

from bench.corpus import ROOT, corpus_schema
from bench.harness.columns import forms
from bench.harness.kept import Kept, Row
from bench.harness.turns import in_turns
from bench.plan import Plan
from pathcast.generate import documents, subscriptions
from pathcast.index import Index
from pathcast.schema import Pruning, Schema

SETTINGS = ((0.2, 0.0), (0.2, 0.2), (0.2, 0.4), (0.2, 0.6), (0.4, 0.2), (0.6, 0.2))
FILTERS = 100_000
# For `auto`: probabilities of *, // and branches, the second without anything to prune.
SHAPES = ((0.2, 0.2, 0.0), (0.0, 0.0, 0.0), (0.1, 0.1, 0.2), (0.0, 0.05, 0.2))
SIZES = (10_000, 100_000)
NAMES = ("plain", "pruned", "unguarded")
# Wide enough to eliminate all that can be, as the paper does.
WIDE = Pruning(max_substitutes=1_000, max_length=10_000, max_results=1_000)


def table(kept: Kept, _: Plan) -> Iterator[Row]:
    """Pruned filters, // left and leading // for 100,000 filters, and what pruning costs and brings."""
    for name in ("blast", "xmark"):
        schema = corpus_schema(name)
        if schema is None:
            continue
        for wildcard, descendant in SETTINGS:
            if not kept.has(_subject(name, wildcard, descendant)):
                yield _row(name, schema, wildcard, descendant)


def guarded(kept: Kept, _: Plan) -> Iterator[Row]:
    """What pruning brings to `auto` on documents seen once, held to the schema where that is needed."""
    for name in ("nitf", "wire"):
        schema = corpus_schema(name) if name == "nitf" else Schema.from_dtd(ROOT / "examples/news/wire.dtd")
        for number in SIZES if schema else ():
            for wildcard, descendant, branch in SHAPES:
                branches = f" [{branch}]" if branch else ""
                subject = f"{_subject(name, wildcard, descendant)}{branches} {number:,}"
                if schema is not None and not kept.has(subject):
                    yield _guarded_row(subject, schema, number, wildcard, descendant, branch)


def _guarded_row(
    subject: str, schema: Schema, number: int, wildcard: float, descendant: float, branch: float
) -> Row:
    drawn = subscriptions(
        schema, number, max_depth=8, wildcard=wildcard, descendant=descendant, branch=branch, seed=1
    )
    rows = list(enumerate(drawn))
    plain, pruned = Index(), Index(schema=schema, prune=True, impossible="error")
    for index in (plain, pruned):
        index.add_many(rows)
    stream = documents(schema, 1 << 40, max_levels=8, seed=2)
    _same(plain, pruned, stream)
    tasks = {"plain": forms(plain)["match"], "pruned": forms(pruned)["match"]}
    times = in_turns(tasks, stream, size=50, warm=200, within=6)
    return Row(
        subject,
        {
            "distinct": plain.stats()["distinct"],
            "distinct pruned": pruned.stats()["distinct"],
            "unseen plain µs": times["plain"].best * 1e6,
            "unseen pruned µs": times["pruned"].best * 1e6,
            "auto speed-up": times["plain"].best / times["pruned"].best,
        },
    )


def _same(plain: Index, pruned: Index, stream: Iterator[bytes]) -> None:
    for document in islice(stream, 50):
        if plain.match(document) != pruned.match(document):
            raise AssertionError(f"pruning changes the answer for {document[:200]!r}")


def _subject(name: str, wildcard: float, descendant: float) -> str:
    return f"{name} *{wildcard} //{descendant}"


def _row(name: str, schema: Schema, wildcard: float, descendant: float) -> Row:
    filters = list(
        subscriptions(schema, FILTERS, max_depth=8, wildcard=wildcard, descendant=descendant, seed=1)
    )
    rows = list(enumerate(filters))
    start = time.process_time()
    plain = Index("yfilter")
    plain.add_many(rows)
    registered = time.process_time()
    pruned = Index("yfilter", schema=schema, prune=WIDE, impossible="error")
    pruned.add_many(rows)
    done = time.process_time()
    results = list(chain.from_iterable(map(pruned.pruned, filters)))
    free = Index("yfilter")
    free.add_many(enumerate(results))
    stream = documents(schema, 1 << 40, max_levels=8, seed=2)
    _same(plain, pruned, stream)
    tasks = {name: forms(index)["match"] for name, index in zip(NAMES, (plain, pruned, free), strict=True)}
    times = in_turns(tasks, stream, size=50, warm=200, within=6)
    return Row(
        _subject(name, wildcard, descendant),
        {
            "pruned filters": len(results),
            "//": _inner(filters),
            "leading //": _leading(filters),
            "// left": _inner(results),
            "leading left": _leading(results),
            "* left": sum("*" in result for result in results),
            "plain MB": plain.stats()["memory_bytes"] / 1e6,
            "pruned MB": free.stats()["memory_bytes"] / 1e6,
            "distinct": plain.stats()["distinct"],
            "distinct pruned": free.stats()["distinct"],
            "time / registering": (done - registered) / (registered - start),
            "unseen plain µs": times["plain"].best * 1e6,
            "unseen pruned µs": times["pruned"].best * 1e6,
            "unseen unguarded µs": times["unguarded"].best * 1e6,
            "yfilter speed-up": times["plain"].best / times["pruned"].best,
            "speed-up unguarded": times["plain"].best / times["unguarded"].best,
        },
    )


def _inner(filters: list[str]) -> int:
    return sum(len(re.findall("//", each)) for each in filters)


def _leading(filters: list[str]) -> int:
    return sum(each.startswith("//") for each in filters)
