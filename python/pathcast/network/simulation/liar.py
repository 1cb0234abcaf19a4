"""A broker that does what it should and lies besides.

It knows what its neighbour believes, so that its lies are those that would be believed: documents and
advertisements of others, ways to a root that is better than any, answers that nobody gave, numbers that are
too large. Where it is a leaf (`Policy.leaves`), everybody else must get what they are owed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from pathcast.network import message as m
from pathcast.network.message import Advertised, BrokerMessage, Filter
from pathcast.network.simulation.world import World


class Liar:
    """Lies to the neighbours of one broker of a world."""

    def __init__(
        self,
        world: World,
        name: str,
        random: Random,
        bodies: Sequence[bytes],
        filters: Sequence[Filter],
        coming: Callable[[], str],
    ) -> None:
        self.world, self.name, self.random = world, name, random
        self.bodies, self.filters = bodies, filters
        self.coming = coming
        """Gives the id of a document that somebody else has published, or will soon."""

    def lie(self) -> None:
        """Say something false to a neighbour, if there is one."""
        node = self.world.nodes.get(self.name)
        neighbours = sorted(node.links) if node is not None else []
        if neighbours:
            victim = self.random.choice(neighbours)
            self.world.forge(self.name, victim, self._lie(victim))

    def _lie(self, victim: str) -> BrokerMessage:
        lies = (
            self._document,
            self._way,
            self._unrest,
            self._wave,
            self._advertisement,
            self._filter,
            self._of_the_link,
        )
        return self.random.choice(lies)(victim)

    def _somebody(self) -> str:
        return self.random.choice(sorted(self.world.nodes))

    def _number(self) -> int:
        return self.random.choice((0, 1, 2, 3, 7, 1 << 31, (1 << 53) - 1))

    def _stamp(self, victim: str) -> tuple[int, str]:
        broker = self.world.nodes[victim].broker
        return broker.agreement.stamp if broker is not None else (1, victim)

    def _document(self, victim: str) -> BrokerMessage:
        """One of somebody else."""
        path = self.random.choice((None, None, 0, 3))
        return m.Publish(self.coming(), self.random.choice(self.bodies), path, self.random.random() < 0.5)

    def _way(self, victim: str) -> BrokerMessage:
        """To a root that comes before all others."""
        ways = ((self.name, "!"), (self.name,), (self.name, self._somebody()), (self.name, victim))
        return m.Hello(self.random.choice(ways), self._number())

    def _unrest(self, victim: str) -> BrokerMessage:
        number, _ = self._stamp(victim)
        return m.Unrest(self.random.choice((number + 1, number + 5, (1 << 53) - 1)), self._somebody())

    def _wave(self, victim: str) -> BrokerMessage:
        kind = self.random.choice((m.Settle, m.Settled, m.Visited))
        return kind(*self._stamp(victim), self.random.randint(1, 3))

    def _advertisement(self, victim: str) -> BrokerMessage:
        id = f"{self._somebody()}/{self.random.randrange(4)}"
        return self.random.choice((m.Advertise(id, Advertised(("/lie",))), m.Unadvertise(id)))

    def _filter(self, victim: str) -> BrokerMessage:
        filter = self.random.choice(self.filters)
        return self.random.choice((m.Subscribe(filter), m.Unsubscribe(filter)))

    def _of_the_link(self, victim: str) -> BrokerMessage:
        number = self._number()
        return self.random.choice(
            (m.Reset(number), m.Sync(number), m.Synced(number), m.Heartbeat(True), m.Bye())
        )
