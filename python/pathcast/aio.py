"""Matching from `asyncio`: calls that leave the event loop free, and end when their task is cancelled.

>>> import asyncio
>>> from pathcast import Index, aio
>>> index = Index()
>>> index.add("s1", "/a/b")
>>> asyncio.run(aio.match(index, "<a><b/></a>"))
['s1']
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from functools import partial
from typing import TypeVar

from pathcast.arguments import thread_count
from pathcast.errors import DocumentError
from pathcast.index import Cancellation, Index, MatchBatch, Matches, Node
from pathcast.streaming import AHEAD
from pathcast.types import ArrowArray, ArrowStream, Document, Id

Result = TypeVar("Result")


async def match(index: Index, document: Document) -> list[Id]:
    """`Index.match` in another thread."""
    return await _cancellable(partial(index.match, document))


async def select(index: Index, document: Document) -> dict[Id, list[Node]]:
    """`Index.select` in another thread."""
    return await _cancellable(partial(index.select, document))


async def match_many(
    index: Index,
    documents: Iterable[Document | None] | ArrowArray | ArrowStream,
    threads: int | None = 1,
) -> MatchBatch:
    """`Index.match_many` in another thread, with as many more as it is told."""
    return await _cancellable(partial(index.match_many, documents, threads))


async def match_stream(
    index: Index,
    documents: Iterable[Document | None] | AsyncIterable[Document | None],
    threads: int | None = 1,
) -> AsyncIterator[Matches | DocumentError]:
    """`Index.match_stream` for documents that may themselves come asynchronously.

    >>> import asyncio
    >>> async def ids(index, documents):
    ...     return [list(matches) async for matches in match_stream(index, documents)]
    >>> index = Index()
    >>> index.add("s1", "//b")
    >>> asyncio.run(ids(index, ["<a><b/></a>", "<a/>"]))
    [['s1'], []]
    """
    begun: deque[asyncio.Task[MatchBatch]] = deque()
    most = thread_count(threads)
    most = 1 if most == 1 else AHEAD * most
    try:
        async for document in _each(documents):
            begun.append(asyncio.create_task(match_many(index, (document,))))
            while begun and (len(begun) >= most or begun[0].done()):
                yield (await begun.popleft())[0]
        while begun:
            yield (await begun.popleft())[0]
    finally:
        for task in begun:
            task.cancel()


async def _each(
    documents: Iterable[Document | None] | AsyncIterable[Document | None],
) -> AsyncIterator[Document | None]:
    if isinstance(documents, AsyncIterable):
        async for document in documents:
            yield document
    else:
        for document in documents:
            yield document


async def _cancellable(call: Callable[..., Result]) -> Result:
    """Runs a call in a thread of the loop's executor; a cancelled task ends it."""
    cancellation = Cancellation()
    loop = asyncio.get_running_loop()
    running = loop.run_in_executor(None, partial(call, cancellation=cancellation))
    try:
        return await running
    finally:
        cancellation.cancel()
