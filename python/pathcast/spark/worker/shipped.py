"""The files that the driver sent to this executor: finding them, and deleting those that are no longer held.

    pathcast-<sender>-<number>-<name>

A sender numbers what it sends. A job knows what was held when it was planned, and nothing of what was sent
later: only files up to the last number that it knows are deleted.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Shipped", "find_shipped", "forget", "shipped_name"]


@dataclass(frozen=True)
class Shipped:
    """What a sender has sent and still holds."""

    sender: str
    last: int
    """The number of what it sent last."""
    held: tuple[int, ...]


def shipped_name(sender: str, number: int, name: str) -> str:
    """The name under which a file travels."""
    return f"pathcast-{sender}-{number:08}-{name}"


def find_shipped(name: str) -> str | None:
    """Where this worker has a file that was sent, whoever sent it; an empty one was forgotten."""
    folder = _folder()
    for found in os.listdir(folder) if folder else ():
        if found.startswith("pathcast-") and found.endswith(f"-{name}"):
            path = os.path.join(folder, found)
            with suppress(FileNotFoundError):
                if os.path.getsize(path):
                    return path
    return None


@lru_cache(maxsize=8)  # each state once in a worker: its executor has few folders
def forget(shipped: Shipped) -> None:
    """Deletes what the sender sent to this executor and no longer holds."""
    folder = _folder()
    start, held = f"pathcast-{shipped.sender}-", set(shipped.held)
    for name in os.listdir(folder) if folder else ():
        if name.startswith(start):
            number = int(name.removeprefix(start).partition("-")[0])
            if number <= shipped.last and number not in held:
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, name))


def _folder() -> str:
    """Where Spark puts files for this process; empty if it has no such place."""
    from pyspark import SparkFiles

    try:
        folder = SparkFiles.getRootDirectory()
    except (AssertionError, TypeError):  # no worker, or one that was sent nothing
        return ""
    return folder if folder and os.path.isdir(folder) else ""
