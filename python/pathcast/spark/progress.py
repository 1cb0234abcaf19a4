"""How far tasks are, told through a folder that a command shares with the workers of its machine.

Spark tells how many tasks are done, and a task may last minutes. So each worker keeps a small file in the
folder that `PATHCAST_PROGRESS` names: what it has done, and what it is at. Without the variable nothing is
written. A task that ran twice counts twice: this is for people who wait, not for counting.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from time import time

__all__ = ["VARIABLE", "Progress", "Reporter", "gathered", "reporter"]

VARIABLE = "PATHCAST_PROGRESS"
_EVERY = 0.3  # seconds between two writes of a worker that gets on
_LONG = 8 << 20  # bytes that are worth telling before they are done


@dataclass
class Progress:
    """What was done, and what is being done."""

    documents: int = 0
    bytes: int = 0
    matches: int = 0
    dead: int = 0
    at: int = 0
    """Bytes that a worker matches at this moment, if they are many."""
    since: float = 0.0
    """When it began with them, in seconds since 1970."""
    read: int = 0
    """Documents that were taken out of archives or cut out of huge files, matched or not yet."""

    began: float = 0.0
    """When the first documents were begun."""
    told: float = 0.0
    """When the last of what is counted here was done."""

    def line(self, now: float) -> str:
        """As a person reads it, without what is nothing; rates are of the time that workers were at it.

        >>> Progress(1200, 48_000_000, 9000, 2, began=100.0, told=104.0).line(110.0)
        '1,200 documents (300/s), 9,000 matches (2,250/s), 2 dead letters, 48 MB'
        >>> Progress(at=200_000_000, since=100.0).line(112.0)
        'at 200 MB for 12 s'
        >>> Progress(1, 200_000_000, began=100.0, told=108.0).line(112.0)
        '1 document, 200 MB'
        >>> Progress(read=3000).line(112.0)
        '3,000 documents read'
        """
        parts = [f"{_counted(self.read, 'document')} read"] if self.read > self.documents else []
        for name, count in (("document", self.documents), ("match", self.matches)):
            seconds = self.told - self.began
            rate = count / seconds if seconds >= 1 else 0.0  # sooner it would say nothing
            if count:
                parts.append(_counted(count, name) + (f" ({rate:,.0f}/s)" if rate >= 1 else ""))
        if self.dead:
            parts.append(_counted(self.dead, "dead letter"))
        if self.bytes >= 1e6:
            parts.append(f"{self.bytes / 1e6:,.0f} MB")
        at = f"at {self.at / 1e6:,.0f} MB for {max(0.0, now - self.since):,.0f} s" if self.at else ""
        return "; ".join(filter(None, (", ".join(parts), at)))


def _counted(count: int, name: str) -> str:
    ending = "" if count == 1 else "es" if name.endswith("ch") else "s"
    return f"{count:,} {name}{ending}"


class Reporter:
    """Writes the file of this worker."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / f"{os.getpid()}.json"
        self._so_far = Progress()
        self._written = 0.0

    def begin(self, size: int) -> None:
        """So many bytes are being matched from now on."""
        self._so_far.began = self._so_far.began or time()
        if size >= _LONG:
            self._so_far.at, self._so_far.since = size, time()
            self._write()

    def end(self, documents: int, size: int, matches: int, dead: int) -> None:
        """They are done."""
        so_far = self._so_far
        so_far.documents += documents
        so_far.bytes += size
        so_far.matches += matches
        so_far.dead += dead
        so_far.told = time()
        long = bool(so_far.at)
        so_far.at = 0
        if long or time() - self._written > _EVERY:
            self._write()

    def read(self, documents: int) -> None:
        """So many documents were taken out of a file; perhaps another task matches them later."""
        self._so_far.read += documents
        if time() - self._written > _EVERY:
            self._write()

    def _write(self) -> None:
        self._written = time()
        part = self._file.with_suffix(".part")
        with suppress(OSError):  # the command has ended, and nobody waits any more
            part.write_text(json.dumps(asdict(self._so_far)))
            part.replace(self._file)


@cache
def reporter() -> Reporter | None:
    """The one of this worker, if somebody waits."""
    folder = os.environ.get(VARIABLE)
    return Reporter(Path(folder)) if folder else None


def gathered(folder: Path) -> Progress:
    """What all workers have told so far."""
    total = Progress()
    for file in folder.glob("*.json"):
        with suppress(OSError, ValueError):
            one = Progress(**json.loads(file.read_text()))
            for name in ("documents", "bytes", "matches", "dead", "read"):
                setattr(total, name, getattr(total, name) + getattr(one, name))
            if one.began:  # not by those that only read
                total.began = min(total.began or one.began, one.began)
            total.told = max(total.told, one.told)
            if one.at and (not total.at or one.since < total.since):
                total.at, total.since = one.at, one.since
    return total
