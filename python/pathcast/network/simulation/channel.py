"""One direction of a link: a queue that survives crashes, over a wire that loses, repeats and reorders.

The sending end keeps messages until they are acknowledged and sends them again after a while. The receiving
end takes them in order, each once. What both ends must not forget (the queue and the two numbers) is
durable; what is held because something before it is missing is not.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathcast.network.simulation.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """How a link behaves; times are in seconds of the simulation."""

    delay: tuple[float, float] = (0.001, 0.010)
    loss: float = 0.0
    duplication: float = 0.0
    retry: float = 0.1

    def __post_init__(self) -> None:
        low, high = self.delay
        if not 0 <= low <= high:
            raise ValueError(f"delay is a range of seconds, not {self.delay}")
        for name, share in (("loss", self.loss), ("duplication", self.duplication)):
            if not 0 <= share < 1:
                raise ValueError(f"{name} is a share below 1, not {share}")
        if self.retry <= 0:
            raise ValueError(f"retry must be more than 0 seconds, not {self.retry}")

    @property
    def is_faithful(self) -> bool:
        """Whether everything arrives, once."""
        return not self.loss and not self.duplication


@dataclass(slots=True, eq=False)
class Channel:
    """Messages from one broker to another."""

    world: World
    sender: str
    receiver: str
    wire: Wire
    incarnation: int
    queue: deque[tuple[int, Any]] = field(default_factory=deque)
    next_number: int = 0
    expected: int = 0
    held: dict[int, Any] = field(default_factory=dict)
    is_waiting: bool = False
    last_arrival: float = 0.0
    silent_until: float = 0.0
    """Until then nothing arrives; what is sent is sent again later."""
    carried: dict[str, int] = field(default_factory=dict)
    """What has been sent, by kind."""
    bytes: int = 0

    def push(self, kind: str, payload: Any, size: int, *, transmit: bool) -> None:
        """Queue a message and put it on the wire, unless the sender crashes right now."""
        self.carried[kind] = self.carried.get(kind, 0) + 1
        self.bytes += size
        number = self.next_number
        self.next_number += 1
        self.queue.append((number, payload))
        if transmit:
            self._transmit(number, payload)

    @property
    def _random(self) -> Random:
        return self.world.random

    def _transmit(self, number: int, payload: Any) -> None:
        wire = self.wire
        if wire.is_faithful:
            # In order, and never again: an acknowledgement would say nothing.
            at = max(self.last_arrival, self.world.now + self._random.uniform(*wire.delay))
            self.last_arrival = at
            self.world.schedule(at, self._arrive, number, payload)
        else:
            for _ in range(1 + (self._random.random() < wire.duplication)):
                if self._random.random() >= wire.loss:
                    at = self.world.now + self._random.uniform(*wire.delay)
                    self.world.schedule(at, self._arrive, number, payload)
        if not self.is_waiting:
            self.is_waiting = True
            self.world.schedule(self.world.now + wire.retry, self._retry)

    def _retry(self) -> None:
        self.is_waiting = False
        if self.world.channels.get((self.sender, self.receiver)) is not self:
            return
        if not self.queue or not self.world.is_up(self.sender):
            return
        if self.wire.is_faithful and self.world.is_up(self.receiver) and self.last_arrival > self.world.now:
            self._wait()
            return
        for number, payload in list(self.queue):
            self._transmit(number, payload)
        self._wait()

    def _wait(self) -> None:
        if not self.is_waiting:
            self.is_waiting = True
            self.world.schedule(self.world.now + self.wire.retry, self._retry)

    def resume(self) -> None:
        """The sender is back after a crash: what was not acknowledged is sent again."""
        self._retry()

    def forget(self) -> None:
        """The receiver has crashed: what it held is gone."""
        self.held.clear()

    def _arrive(self, number: int, payload: Any) -> None:
        current = self.world.channels.get((self.sender, self.receiver)) is self
        if not current or not self.world.can_receive(self.receiver, self.sender):
            return
        if self.world.now < self.silent_until:
            return
        if number >= self.expected:
            self.held[number] = payload
        while self.expected in self.held:
            payload = self.held[self.expected]
            if not self.world.receive(self.receiver, self.sender, payload, self._taken):
                return
        if not self.wire.is_faithful and self._random.random() >= self.wire.loss:
            at = self.world.now + self._random.uniform(*self.wire.delay)
            self.world.schedule(at, self._acknowledge, self.expected)

    def _taken(self) -> None:
        """Part of the receiver's commit: the message counts as received."""
        self.held.pop(self.expected, None)
        self.expected += 1
        if self.wire.is_faithful and self.queue:
            self.queue.popleft()

    def _acknowledge(self, expected: int) -> None:
        while self.queue and self.queue[0][0] < expected:
            self.queue.popleft()
