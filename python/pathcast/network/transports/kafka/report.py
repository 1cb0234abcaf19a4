"""What a broker process tells people: a line now and then, and what was refused, without being flooded.

Every line starts with the name of the broker and is printable, whatever strangers put into their messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from pathcast.errors import printable
from pathcast.network.broker import Broker

NOTES = 20
"""Lines about single messages between two reports; a stranger must not fill a disk with a log."""


class Report:
    """Counts, and lines for standard error."""

    def __init__(self, name: str, seconds: float, log: Callable[[str], None]) -> None:
        self.name, self.seconds, self.log = name, seconds, log
        self.taken = self.sent = self.undone = 0
        self._notes = 0
        self._since = time.monotonic()
        self._taken_before = 0

    def say(self, text: str) -> None:
        """One line."""
        self.log(printable(f"{self.name}: {text}"))

    def note(self, notes: Iterable[str]) -> None:
        """Lines about single messages, the first of them."""
        for text in notes:
            self._notes += 1
            if self._notes <= NOTES:
                self.say(text)

    def tables(self, broker: Broker) -> str:
        """How large the tables are."""
        return (
            f"{len(broker.links):,} neighbours, {len(broker.clients):,} clients, "
            f"{len(broker.publications.entries):,} filters"
        )

    def tick(self, broker: Broker, behind: int, *, last: bool = False) -> None:
        """A report, if it is time and something has happened, or if it is the last one."""
        now = time.monotonic()
        if not last and now - self._since < self.seconds:
            return
        taken = self.taken - self._taken_before
        if taken or self._notes or last:
            if self._notes > NOTES:
                self.say(f"and {self._notes - NOTES:,} more such lines")
            counted = broker.counters
            rate = taken / max(now - self._since, 1e-9)
            self.say(
                f"taken {self.taken:,} ({rate:,.0f}/s), sent {self.sent:,}, delivered {counted.delivered:,}, "
                f"quarantined {counted.quarantined:,}, violations {counted.violations:,}, "
                f"undone {self.undone:,}, behind {behind:,}; {self.tables(broker)}"
            )
        self._since, self._taken_before, self._notes = now, self.taken, 0
