"""Quotas: what one key may use in a second, and what its tenant may have waiting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pathcast.service.problems import too_much
from pathcast.service.settings import Clock


@dataclass(slots=True)
class Bucket:
    """Tokens that come back at a steady rate, up to one second's worth.

    >>> bucket = Bucket(2.0, 2.0, 0.0)
    >>> bucket.take(1, 0.0), bucket.take(1, 0.0), bucket.take(1, 0.0), bucket.take(1, 1.0)
    (0.0, 0.0, 0.5, 0.0)
    """

    rate: float
    tokens: float
    filled: float

    def take(self, amount: float, now: float) -> float:
        """Nothing when there were enough, or the seconds until there will be.

        More than the bucket can ever hold is let through when it is full, and paid back after.
        """
        self.tokens = min(max(self.rate, 1.0), self.tokens + max(0.0, now - self.filled) * self.rate)
        self.filled = now
        needed = min(amount, max(self.rate, 1.0))
        if self.tokens < needed:
            return (needed - self.tokens) / self.rate
        self.tokens -= amount
        return 0.0


class Meter:
    """The buckets of all keys of this process."""

    RATES: ClassVar = {"documents_per_second": "documents a second", "bytes_per_second": "bytes a second"}

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._buckets: dict[tuple[str, str], Bucket] = {}

    def spend(self, key: str, quota: dict[str, float], documents: int, size: int) -> None:
        """Count documents against a key's quota; a `Problem` when it is used up."""
        now = self._clock()
        for name, amount in (("documents_per_second", documents), ("bytes_per_second", size)):
            rate = quota.get(name)
            if rate is None:
                continue
            if rate <= 0:
                raise too_much(self.RATES[name], rate, 3600)
            bucket = self._buckets.get((key, name))
            if bucket is None or bucket.rate != rate:
                bucket = self._buckets[key, name] = Bucket(rate, max(rate, 1.0), now)
            if wait := bucket.take(amount, now):
                raise too_much(self.RATES[name], rate, wait)
