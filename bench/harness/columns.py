"""The three columns of an index: documents at first, documents never seen, the same documents again.

*First* is an empty cache and the first 500 documents. *Unseen* comes after at least 1,000 other documents,
and each document once. *Repeated* is the documents of *unseen* again. Each has three forms: matching without
ids, every id in Arrow, and every id in Python lists, document by document. An index sees a document in one
form only, so the forms take turns on documents of their own, and the bare tokeniser and lxml's parse run on
the same ones: what is compared is their ratio.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import pyarrow  # noqa: F401 - to import it is no part of the first document
from lxml import etree

from bench.harness.turns import Times, timed
from pathcast import _core
from pathcast.index import Index

FIRST = 500
WARM = 1_000
BLOCK = 20  # documents that are matched between two looks at the clock
ROUNDS = 6
FORMS = ("match", "arrow", "lists")
NEEDED = FIRST + WARM + 1 + ROUNDS * len(FORMS) * 4 * BLOCK
"""Documents that the columns take at most."""
Form = Callable[[Sequence[bytes]], object]


@dataclass(frozen=True)
class Budget:
    """Seconds of processor time for each column; what is over is cut, and the numbers of documents say so."""

    first: float
    warm: float
    unseen: float
    repeated: float

    @classmethod
    def of(cls, seconds: float) -> Budget:
        """That many in all."""
        return cls(0.2 * seconds, 0.4 * seconds, 0.3 * seconds, 0.1 * seconds)


def forms(index: Index) -> dict[str, Form]:
    """What a user asks an index for."""

    def lists(documents: Sequence[bytes]) -> object:
        return [index.match(document) for document in documents]

    return {
        "match": lambda documents: index.match_many(documents),
        "arrow": lambda documents: index.match_many(documents).to_arrow(),
        "lists": lists,
    }


def columns(index: Index, documents: Sequence[bytes], seconds: float) -> dict[str, float]:
    """Microseconds a document by column and form, with what the tokeniser and lxml take beside them.

    `documents` are fresh ones, `NEEDED` at most are used.
    """
    budget = Budget.of(seconds)
    asked = forms(index)
    left = iter(documents)
    values: dict[str, float] = {}

    at_first, shown = _first(asked, left, budget.first)
    for form, blocks in at_first.items():
        values[f"first {form} µs"] = _mean(blocks)
    values["first documents"] = shown

    values["warmed with"] = shown + _warm(asked["arrow"], left, budget.warm)
    unseen, used = _unseen(asked, left, budget.unseen)
    for name, times in unseen.items():
        values[f"unseen {name} µs"] = times.best * 1e6
        values[f"unseen {name} median µs"] = times.median * 1e6
    values["unseen documents"] = sum(map(len, used))

    for form, times in _repeated(asked, used, budget.repeated).items():
        values[f"repeated {form} µs"] = times.best * 1e6
    values["× tokeniser"] = values["unseen arrow µs"] / values["unseen tokeniser µs"]
    return values


def _mean(blocks: Sequence[tuple[float, int]]) -> float:
    documents = sum(count for _, count in blocks)
    return sum(took for took, _ in blocks) / documents * 1e6 if documents else float("nan")


def _first(
    asked: dict[str, Form], left: Iterator[bytes], seconds: float
) -> tuple[dict[str, list[tuple[float, int]]], int]:
    """The forms by turns, in small blocks, so that each meets a cache that is as empty as the others'."""
    found: dict[str, list[tuple[float, int]]] = {form: [] for form in FORMS}
    end = time.process_time() + seconds
    shown = 0
    while shown < FIRST:
        for form in _turned(FORMS, shown // (BLOCK * len(FORMS))):
            block = _take(left, min(BLOCK, FIRST - shown) if shown else 1)
            if block:
                found[form].append((timed(partial(asked[form], block), time.process_time)[0], len(block)))
            shown += len(block)
        if time.process_time() > end:
            break
    return found, shown


def _warm(form: Form, left: Iterator[bytes], seconds: float) -> int:
    end = time.process_time() + seconds
    shown = 0
    while shown < WARM and time.process_time() < end:
        block = _take(left, BLOCK)
        form(block)
        shown += len(block)
    return shown


def _unseen(
    asked: dict[str, Form], left: Iterator[bytes], seconds: float
) -> tuple[dict[str, Times], list[list[bytes]]]:
    """Rounds of fresh documents: each form on its own block, the tokeniser and lxml on all of them."""
    found = {name: Times() for name in (*FORMS, "tokeniser", "lxml")}
    used: list[list[bytes]] = []
    took = timed(lambda: asked["arrow"](_take(left, 1)), time.process_time)[0]
    size = max(1, min(4 * BLOCK, int(seconds / (ROUNDS * len(FORMS)) / max(took, 1e-6))))
    end = time.process_time() + seconds
    for place in range(ROUNDS):
        if place >= 2 and time.process_time() > end:
            break
        blocks = {form: _take(left, size) for form in _turned(FORMS, place)}
        everything = [document for block in blocks.values() for document in block]
        runs = [(name, task, everything) for name, task in BESIDE.items()]
        runs += [(form, asked[form], block) for form, block in blocks.items()]
        for name, task, block in reversed(runs) if place % 2 else runs:
            seconds_taken = timed(partial(task, block), time.process_time)[0]
            found[name].rounds.append(seconds_taken / len(block))
        used += [blocks[form] for form in FORMS]
    return found, used


def _repeated(asked: dict[str, Form], used: list[list[bytes]], seconds: float) -> dict[str, Times]:
    """The blocks of the last round, by the form that had them; once to be remembered, then timed."""
    found = {form: Times() for form in FORMS}
    blocks = dict(zip(FORMS, used[-len(FORMS) :], strict=True))
    end = time.process_time() + seconds
    for place in range(1 + ROUNDS):
        for form in _turned(FORMS, place):
            took = timed(partial(asked[form], blocks[form]), time.process_time)[0]
            if place:
                found[form].rounds.append(took / len(blocks[form]))
        if place >= 1 and time.process_time() > end:
            break
    return found


def _turned(names: Sequence[str], place: int) -> list[str]:
    """The names from another start each time.

    >>> _turned("abc", 1)
    ['b', 'c', 'a']
    """
    at = place % len(names)
    return [*names[at:], *names[:at]]


def _take(left: Iterator[bytes], count: int) -> list[bytes]:
    block = list(islice(left, count))
    if len(block) < count:
        raise ValueError(f"the columns need {NEEDED:,} documents")
    return block


def _parse(documents: Sequence[bytes]) -> None:
    for document in documents:
        etree.fromstring(document)


BESIDE: dict[str, Form] = {
    "tokeniser": lambda documents: _core.bare_elements(list(documents)),
    "lxml": _parse,
}
"""What reads a document and matches nothing."""
