"""Filters on values where it must not matter how they are written, and one large document.

The cheap form of a set names the rare value alone or first; the other names a value of every item first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import BinaryIO

from bench.harness.answers import check
from bench.harness.columns import BESIDE, forms
from bench.harness.kept import Kept, Row
from bench.harness.turns import in_turns, scale
from bench.plan import Plan
from bench.workloads import WORKLOADS
from pathcast.index import Index

NUMBER = 100_000
SIZE, WARM = 100, 200
LARGE = 1_000_000_000
PAIRS = {
    "an id behind a language": ("//item[@id = 'i{}'][@lang = 'en']", "//item[@lang = 'en'][@id = 'i{}']"),
    "a keyword below a language": ("//item/keyword[. = 'kw{}']", "//item[@lang = 'en']/keyword[. = 'kw{}']"),
}
WORDS = "//item[contains(headline, 'word{}x')]"


def table(kept: Kept, _: Plan) -> Iterator[Row]:
    """Microseconds an unseen document, beside the cheap form, lxml's parse, or the memory before."""
    number = max(100, int(NUMBER * scale()))
    for name, written in PAIRS.items():
        if not kept.has(name):
            yield _pair(name, written, number)
    if not kept.has("words of one headline"):
        yield _words("words of one headline", number)
    if not kept.has("one large document"):
        yield _large("one large document", max(1_000_000, int(LARGE * scale())))


def items(number: int, seed: int) -> Iterator[bytes]:
    """English items with an id, four keywords and a headline of five words that are asked for.

    >>> next(items(10, 1))[:10]
    b'<item id="'
    """
    random = Random(seed)
    for _ in count():
        keywords = "".join(f"<keyword>kw{random.randrange(number)}</keyword>" for _ in range(4))
        headline = " ".join(f"word{random.randrange(number)}x" for _ in range(5))
        body = " ".join(f"text{random.randrange(10**6)}" for _ in range(100))
        text = (
            f'<item id="i{random.randrange(number)}" lang="en"><headline>{headline}</headline>{keywords}'
            f"<body>{body}</body></item>"
        )
        yield text.encode()


def _indexed(written: str, number: int) -> tuple[Index, list[str]]:
    queries = [written.format(place) for place in range(number)]
    index = Index()
    index.add_many(enumerate(queries))
    return index, queries


def _pair(name: str, written: tuple[str, str], number: int) -> Row:
    some = list(islice(items(number, 2), 5))
    tasks = {}
    for form, text in zip(("cheap", "other"), written, strict=True):
        index, queries = _indexed(text, number)
        check(index, queries, some, pairs=300)
        tasks[form] = forms(index)["arrow"]
    times = in_turns(tasks | BESIDE, items(number, 1), size=SIZE, warm=WARM)
    values = {f"{form} µs": times[form].best * 1e6 for form in ("cheap", "other", "lxml")}
    return Row(name, values | {"× cheap": times["other"].best / times["cheap"].best})


def _words(name: str, number: int) -> Row:
    index, queries = _indexed(WORDS, number)
    some = list(islice(items(number, 2), 5))
    check(index, queries, some, pairs=300)
    times = in_turns({"arrow": forms(index)["arrow"]} | BESIDE, items(number, 1), size=SIZE, warm=WARM)
    values = {"other µs": times["arrow"].best * 1e6, "lxml µs": times["lxml"].best * 1e6}
    values["matches / document"] = sum(len(index.match(each)) for each in some) / len(some)
    return Row(name, values | {"× lxml's parse": times["arrow"].best / times["lxml"].best})


class Stream:
    """One document of about so many bytes, read in pieces and kept nowhere."""

    def __init__(self, pieces: Iterator[bytes], size: int) -> None:
        self._pieces, self._left, self._rest = pieces, size, b"<feed>"

    def read(self, size: int = -1) -> bytes:
        """The next piece, empty at the end."""
        while self._left > 0 and len(self._rest) < size:
            piece = next(self._pieces)
            self._left -= len(piece)
            self._rest += piece if self._left > 0 else piece + b"</feed>"
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


def _large(name: str, size: int) -> Row:
    """In a process of its own: what others have given back would hide what this one takes."""
    with get_context("spawn").Pool(1) as pool:
        return Row(name, pool.apply(large_document, (size,)))


def large_document(size: int) -> dict[str, float]:
    """A feed of items of `alerts` as one document; memory is the peak beyond what the process had before."""
    workload = WORKLOADS["alerts"]
    queries = [query.replace("/item", "//item", 1) for query in workload.queries(10_000)]
    index = workload.index(queries=queries)
    some = list(islice(workload.documents(1), 200))
    random = Random(1)
    ctypes.CDLL(None).malloc_trim(0)  # what building has given back is not there to be used
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    stream: BinaryIO = Stream((random.choice(some) for _ in count()), size)  # type: ignore[assignment]
    found = index.match(stream)
    beyond = _resident("VmHWM") - before
    return {"MB": size / 1e6, "matches / document": len(found), "MB beyond the index": beyond}


def _resident(name: str) -> float:
    """Megabytes, as the system tells."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(float(line.split()[1]) / 1e3 for line in status.splitlines() if line.startswith(f"{name}:"))
