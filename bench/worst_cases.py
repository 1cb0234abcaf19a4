"""What strangers can make an engine do at most: milliseconds a kilobyte, on input made to be slow.

Each case is a set of subscriptions and documents that nobody has seen, drawn from a seed. An engine that
takes longer than its time is cut off, and the row says so: that is the figure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from random import Random

import pathcast
from bench.harness.kept import Kept, Row
from bench.plan import Plan
from pathcast.index import needs_schema

PATIENCE = 20.0  # seconds for the documents of a case; reading them takes milliseconds
DOCUMENTS = 8


@dataclass(frozen=True)
class Case:
    """Subscriptions and documents that are made for each other."""

    queries: Callable[[Random], list[str]]
    document: Callable[[Random], str]


def _nest(tag: str, depth: int, inside: str) -> str:
    return f"<{tag}>" * depth + inside + f"</{tag}>" * depth


def _walk(random: Random, tags: int, deepest: int) -> str:
    """A random tree of few names."""
    out = ["<r>"]
    open_tags: list[str] = []
    for _ in range(tags):
        if open_tags and (random.random() < 0.4 or len(open_tags) == deepest):
            out.append(f"</{open_tags.pop()}>")
        else:
            open_tags.append(random.choice("abc"))
            out.append(f"<{open_tags[-1]}>")
    out += [f"</{tag}>" for tag in reversed(open_tags)]
    return "".join([*out, "</r>"])


def _chain(random: Random, steps: int) -> str:
    return "".join(random.choice(("/", "//")) + random.choice("**ab") for _ in range(steps))


CASES = {
    "numbers of nested elements": Case(
        lambda random: [f"//a[. < -{number} or . < -{number}.5]" for number in range(100)],
        lambda random: _nest("a", 1_000, str(random.randrange(10**9)) * 1_000),
    ),
    "chains of // and *": Case(
        lambda random: [_chain(random, 8) for _ in range(1_000)],
        lambda random: _walk(random, 300, 40),
    ),
    "every test passes": Case(
        lambda random: [f"//a[not(. = 'x{number}')][@k != 'y{number}']" for number in range(10_000)],
        lambda random: "<r>" + f"<a k='{random.random()}'>t</a>" * 20 + "</r>",
    ),
    "branches below branches": Case(
        lambda random: [
            f"//*[.//*[.//{random.choice('ab')}[.//{random.choice('abc')}]]]" for _ in range(200)
        ],
        lambda random: _walk(random, 400, 60),
    ),
    "words in every text": Case(
        lambda random: [f"//a[contains(., 'a{'b' * random.randrange(1, 60)}')]" for _ in range(2_000)],
        lambda random: "<r>" + f"<a>{'a' + 'b' * random.randrange(20, 60)}</a>" * 50 + "</r>",
    ),
    "looking back and forth": Case(
        lambda random: [f"//a[count(preceding::*) > count(following::*) + {number}]" for number in range(20)],
        lambda random: _walk(random, 600, 10),
    ),
    "the same name at every level": Case(
        lambda random: ["//a" * steps for steps in range(1, 60)],
        lambda random: _nest("a", 200 + random.randrange(50), "x"),
    ),
}


def table(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Milliseconds of processor time a kilobyte of documents made to be slow, by engine."""
    engines = [name for name in pathcast.engines() if not needs_schema(name)]
    for name, case in CASES.items():
        if kept.has(name):
            continue
        values, cut = {}, []
        for engine in engines:
            if plan.engines and engine not in plan.engines:
                continue
            took = _cut_off(case, engine)
            if took is None:
                cut.append(engine)
            else:
                values[engine] = took
        yield Row(name, values, f"cut after {PATIENCE:.0f} s: {', '.join(cut)}" if cut else "")


def _cut_off(case: Case, engine: str) -> float | None:
    """The figure of an engine; nothing when its time was over."""
    context = get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    worker = context.Process(target=_worker, args=(sending, case, engine))
    worker.start()
    sending.close()
    try:
        return float(receiving.recv()) if receiving.poll(2 * PATIENCE) else None
    except EOFError:
        raise RuntimeError(f"{engine} ended without an answer") from None
    finally:
        worker.kill()
        worker.join()


def _worker(out: Connection, case: Case, engine: str) -> None:
    random = Random(1)
    index = pathcast.Index(engine=engine)
    index.add_many(enumerate(case.queries(random)))
    documents = [case.document(random) for _ in range(DOCUMENTS)]
    taken, read = 0.0, 0
    for document in documents:
        start = time.process_time()
        index.match(document)
        taken += time.process_time() - start
        read += len(document)
        if taken > PATIENCE:
            break
    out.send(1e3 * taken / (read / 1e3))
