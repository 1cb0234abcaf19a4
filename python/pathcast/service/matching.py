"""Matching that may take long: in threads, of which each tenant gets its share.

A small document is matched in less time than it takes to wake a thread, so that is done where it is asked
for: in the event loop, or in the writer's transaction. But an expression that is decided on a tree may cost a
second on such a document, and a tenant may have many. What takes long is done here, where nobody else waits.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")

LARGE = 256 << 10  # bytes from which a document is always matched in a thread
_THREADS = 32
_SHARE = min(_THREADS // 4, max(2, os.cpu_count() or 1))  # threads of one tenant at a time


class Matching:
    """The threads; asked in the event loop."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, "matching")
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def apart(self, tenant: str, work: Callable[[], T]) -> T:
        """Do it in a thread, when it is the tenant's turn."""
        turns = self._turns.get(tenant)
        if turns is None:
            turns = self._turns[tenant] = asyncio.Semaphore(_SHARE)
        async with turns:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Begin nothing more; what runs ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
