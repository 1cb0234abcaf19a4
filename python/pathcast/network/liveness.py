"""Which neighbours are there: heartbeats, suspicion, and ways around who is silent. Time is passed in.

A broker that has nothing to say to a neighbour sends a heartbeat now and then. A neighbour that is silent
for too long is *suspected*: no way to the root leads through it and no wave waits for it, so on a cycle the
others find another tree. The heartbeat to it says so, and then it suspects in turn: a link that carries
messages one way only is given up by both ends.

Nothing is forgotten by suspicion. What the neighbour wants stays in the table and documents for it stay on
the link, so one that was only away gets everything when it is back. Meanwhile they are flooded too, and so
are those that were published before, in case somebody behind the neighbour can be reached another way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathcast.errors import printable
from pathcast.network import message as m
from pathcast.network.tree import Link

if TYPE_CHECKING:
    from pathcast.network.broker import Broker
    from pathcast.network.outcome import Outcome


class Liveness:
    """What one broker knows of its neighbours' being there. Not durable: a restart begins anew."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.now: float | None = None
        """The time of the last tick; None if nobody passes time in, and then nobody is suspected."""
        self._heard: dict[str, float] = {}
        self._sent: dict[str, float] = {}

    def tick(self, out: Outcome, now: float) -> None:
        """Time passes. A clock that jumps back stands still."""
        policy = self.broker.policy
        now = self.now = now if self.now is None else max(now, self.now)
        for link in list(self.broker.links.values()):
            if now - self._heard.setdefault(link.name, now) >= policy.suspect_after and not link.is_silent:
                link.is_silent = True
                self._changed(out, link, f"has been silent for {policy.suspect_after:g} seconds")
            if link.name not in self._sent or now - self._sent[link.name] >= policy.heartbeat:
                self.broker.send(out, link.name, m.Heartbeat(link.is_silent))

    def heard(self, out: Outcome, link: Link, message: m.BrokerMessage) -> None:
        """A neighbour says something."""
        if self.now is not None:
            self._heard[link.name] = self.now
        was, shunned = link.is_suspected, link.is_shunned
        if isinstance(message, m.Heartbeat) and not link.is_leaf:
            shunned = message.suspects
        if link.is_silent or shunned != link.is_shunned:
            if link.is_silent:
                # It was told that it is suspected.
                self.broker.send(out, link.name, m.Heartbeat(False))
            link.is_silent, link.is_shunned = False, shunned
            self.broker.keep(link)
        if was != link.is_suspected:
            self._changed(out, link, "does not hear this broker" if link.is_suspected else "is there again")

    def sent(self, name: str) -> None:
        """A neighbour is told something."""
        if self.now is not None:
            self._sent[name] = self.now

    def forget(self, name: str) -> None:
        """A link is gone."""
        self._heard.pop(name, None)
        self._sent.pop(name, None)

    def _changed(self, out: Outcome, link: Link, why: str) -> None:
        self.broker.keep(link)
        if not link.is_leaf:
            self.broker.agreement.disturb(out)
        self.broker.review(out)
        out.notes.append(printable(f"broker {link.name} {why}"))
