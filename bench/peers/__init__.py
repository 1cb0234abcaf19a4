"""Programs of others that answer the same question, each behind an adapter that says why it cannot run.

A peer takes all subscriptions once and then documents in blocks; it tells the processor time of each block
itself when it runs in a process of its own. None is slowed down: a Java program counts only the thread that
matches, not its compiler and its collector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.peers import lxml_xpath, ruler, yfilter
from bench.workloads import Workload

__all__ = ["PEERS", "Peer", "Running"]


class Running(Protocol):
    """A peer that has taken its subscriptions."""

    added_seconds: float

    def match(self, documents: Sequence[bytes]) -> tuple[float, list[list[int]]]:
        """Seconds of processor time for a block, and the numbers of the subscriptions that match."""

    def close(self) -> None:
        """Ends it."""


@dataclass(frozen=True)
class Peer:
    """How to run one."""

    name: str
    workloads: tuple[str, ...]
    largest: int
    missing: Callable[[], str]
    """Why it cannot run here; nothing if it can."""
    start: Callable[[Workload, int], Running]
    exact: bool = True
    """Whether it must give the very same answers."""


PEERS = (
    Peer(
        "lxml, an XPath each",
        ("nitf", "wire", "alerts", "twigs", "rules"),
        1_000,
        lambda: "",
        lxml_xpath.Lxml,
    ),
    Peer("Event Ruler", ("alerts",), 100_000, ruler.missing, ruler.Ruler, exact=False),
    Peer("YFilter 1.0", ("nitf",), 500_000, yfilter.missing, yfilter.YFilter),
)
