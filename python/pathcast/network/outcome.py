"""What a broker wants done after a step, and what it has counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from pathcast.network.message import BrokerMessage, Delivery, Notice, Quarantined
from pathcast.network.state import Record
from pathcast.network.trace import Step

KNOWN = 10_000
"""Senders whose rate is measured at one time."""


class RefusedError(Exception):
    """A message that goes to the quarantine, and why."""


@dataclass(slots=True)
class Outcome:
    """To be done as one: keep the records, send, deliver and quarantine, and only then forget the message.

    A transport that does all or nothing of it, with the message that caused it, loses nothing and repeats
    nothing. Messages to one neighbour keep their order.
    """

    messages: list[tuple[str, BrokerMessage]] = field(default_factory=list)
    """By neighbour."""
    deliveries: list[Delivery] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    """For clients that move, behind the deliveries."""
    quarantined: list[Quarantined] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    confirmed: list[tuple[str, str]] = field(default_factory=list)
    """Client and id of subscriptions from which on no document is missed."""
    notes: list[str] = field(default_factory=list)
    """What a log should say; printable."""
    steps: list[Step] = field(default_factory=list)
    """What happened to documents, and why; nothing depends on it."""


@dataclass(slots=True)
class Counters:
    """What has happened at a broker since it was made."""

    received: dict[str, int] = field(default_factory=dict)
    """Messages by kind."""
    sent: dict[str, int] = field(default_factory=dict)
    documents: int = 0
    delivered: int = 0
    duplicates: int = 0
    flooded: int = 0
    """Documents that were passed to every neighbour, because tables could not be trusted."""
    violations: int = 0
    """Documents that are not what their publisher advertised."""
    unmatched: int = 0
    """Documents that came from a neighbour and were wanted by nobody: what imperfect mergers cost."""
    quarantined: int = 0
    ignored: int = 0
    """Messages of an epoch that is over."""


class Bucket:
    """How many messages a sender may still send; it fills with the time that is passed in.

    >>> bucket = Bucket(rate=1.0, burst=2)
    >>> [bucket.takes(0.0), bucket.takes(0.0), bucket.takes(0.0), bucket.takes(1.5), bucket.takes(0.5)]
    [True, True, False, True, False]
    """

    def __init__(self, rate: float, burst: int) -> None:
        self.rate, self.burst = rate, burst
        self.left, self.at = float(burst), 0.0

    def is_full(self, now: float) -> bool:
        """Whether nothing of the allowance is used."""
        return self.left + max(0.0, now - self.at) * self.rate >= self.burst

    def takes(self, now: float) -> bool:
        """Whether one more is allowed. A clock that jumps back gives nothing and takes nothing."""
        self.left = min(float(self.burst), self.left + max(0.0, now - self.at) * self.rate)
        self.at = max(self.at, now)
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Rates:
    """How much each sender may send, and all of them together.

    A sender that has been quiet for long enough is like a new one and is forgotten, so that memory is bounded
    by what comes in a burst and not by how many names there are.

    >>> rates = Rates(rate=1.0, burst=1, total=None)
    >>> [rates.admits("a", 0.0), rates.admits("a", 0.0), rates.admits("b", 0.0)]
    [True, False, True]
    """

    def __init__(self, rate: float | None, burst: int, total: float | None) -> None:
        self.rate, self.burst = rate, burst
        self.total = None if total is None else Bucket(total, 10 * burst)
        self.buckets: dict[str, Bucket] = {}

    def admits(self, sender: str, now: float) -> bool:
        """Whether one more message of a sender is allowed."""
        if self.rate is not None:
            bucket = self.buckets.get(sender)
            if bucket is None:
                if len(self.buckets) >= KNOWN:
                    self._forget(now)
                bucket = self.buckets[sender] = Bucket(self.rate, self.burst)
            if not bucket.takes(now):
                return False
        return self.total is None or self.total.takes(now)

    def _forget(self, now: float) -> None:
        """Those whose allowance is whole again; if there are none, those who were first."""
        for sender in [sender for sender, bucket in self.buckets.items() if bucket.is_full(now)]:
            del self.buckets[sender]
        while len(self.buckets) >= KNOWN:
            del self.buckets[next(iter(self.buckets))]
