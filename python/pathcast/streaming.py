"""Results one after another, in order, from documents that are taken one after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias

from pathcast import _core
from pathcast.errors import DocumentError
from pathcast.types import Document

AHEAD = 2  # documents that are taken ahead for each thread

Result: TypeAlias = "_core.Matches | DocumentError"


def streamed(index: _core.Index, documents: Iterator[Document | None], threads: int) -> Iterator[Result]:
    """One result for each document; whoever stops iterating ends the work on those that were taken ahead."""
    if threads == 1:
        for document in documents:
            yield index.match_many((document,), 1)[0]
        return
    cancellation = _core.Cancellation()
    begun: deque[Future[_core.Batch]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for document in documents:
                begun.append(pool.submit(index.match_many, (document,), 1, cancellation))
                while begun and (len(begun) >= AHEAD * threads or begun[0].done()):
                    yield begun.popleft().result()[0]
            while begun:
                yield begun.popleft().result()[0]
        finally:
            cancellation.cancel()
            for future in begun:
                future.cancel()
