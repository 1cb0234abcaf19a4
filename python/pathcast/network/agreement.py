"""When the tables can be trusted: agreement on the tree, and on what was told along it.

**While links change, documents are flooded.** A broker whose links change declares *unrest*: it tells all
neighbours, by links inside and outside the tree, before anything that follows from the change, and they tell
theirs. In unrest a document goes to every neighbour and is marked so that every other broker does the same;
repetitions are known by its id. So a document that meets a table from which something was removed is
flooded from there, and one that meets no such table finds its way as before.

**What was published before is flooded too.** A broker may hear of a new link late, and what its clients have
published meanwhile went by a table that did not know of it. So it keeps their latest documents, and floods
them when it hears of unrest. A network that was cut in two gets what it missed when it is joined again.

**Unrest ends with a wave.** The root asks its children to settle, they ask theirs, and the answers come back.
A broker answers when everything below it has answered, when it has exchanged everything with its neighbours
in the tree, and when its neighbours outside the tree say that the same wave has reached them, so nobody who
is linked is left out. The first round makes all advertisements known, the second all filters that follow
from them, and the third says that tables can be trusted. Whatever changes after an answer begins a new
unrest, with a larger number; a wave with an older number is ignored.

**Advertisements are waited for.** A `Sync` after what a neighbour is told is answered when it has taken
effect behind the neighbour too. Until then documents go there whatever the table says, so a publisher may
publish right after it has advertised. A subscription is *confirmed* to its client in the same way: from then
on no document that it asks for is missed.

**Leaves are not waited for**, because they need not tell the truth. A leaf is told one filter, which asks for
everything, so its documents reach its neighbour whatever it believes. It is told one advertisement, of
everything, so it says what it wants before others advertise that, and it gets every document until it has
said everything that it has to say. Its neighbour leads it through the wave when the others are through.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from pathcast.network import message as m
from pathcast.network.outcome import RefusedError
from pathcast.network.state import Store
from pathcast.network.tree import Link

if TYPE_CHECKING:
    from pathcast.network.broker import Broker
    from pathcast.network.outcome import Outcome

WAITING = 1_000
"""Groups of subscriptions that wait for different answers."""
TRUSTED = 3
"""The round that ends an unrest."""
JUMP = 1 << 30
"""How far the number of an unrest may be ahead: one that lies must not use up all numbers."""


class Confirming(NamedTuple):
    """Subscriptions that are confirmed when neighbours have synced so much."""

    subscriptions: list[tuple[str, str, int]]
    """Client, id, and which of the subscriptions under that id it was."""
    awaits: dict[str, int]


class Agreement:
    """What one broker knows of the state of the tree."""

    def __init__(self, broker: Broker, store: Store) -> None:
        self.broker = broker
        self.store = store
        self.stamp: tuple[int, str] = (0, "")
        """The latest unrest: its number and who declared it."""
        self.is_calm = True
        self.answered = 0
        """The last round of the wave that this broker has answered, or passed as the root."""
        self._subscribed: list[tuple[str, str, int]] = []
        self._latest: dict[tuple[str, str], int] = {}
        self._number = 0
        self._confirming: deque[Confirming] = deque()

    def values(self) -> dict[str, Any]:
        """As a record."""
        return {"stamp": self.stamp, "calm": self.is_calm, "answered": self.answered}

    def restore(self, values: dict[str, Any]) -> None:
        """From a record."""
        number, origin = values["stamp"]
        self.stamp = (int(number), str(origin))
        self.is_calm, self.answered = bool(values["calm"]), int(values["answered"])

    # -- unrest --------------------------------------------------------------------------------------------

    def disturb(self, out: Outcome) -> None:
        """The links of this broker change. A wave that it has not answered yet takes care of that, too."""
        if self.is_calm or self.answered:
            self._begin(out, (self.stamp[0] + 1, self.broker.name), None)

    def hear(self, out: Outcome, link: Link, unrest: m.Unrest) -> None:
        """A neighbour tells of unrest."""
        stamp = (unrest.number, unrest.origin)
        if unrest.number > self.stamp[0] + JUMP:
            raise RefusedError(f"there have not been {unrest.number:,} changes of the network")
        if stamp > self.stamp:
            self._begin(out, stamp, link.name)

    def _begin(self, out: Outcome, stamp: tuple[int, str], source: str | None) -> None:
        broker = self.broker
        self.stamp, self.is_calm, self.answered = stamp, False, 0
        self.store.put(("unrest",), self.values())
        for link in broker.links.values():
            link.forget_wave()
            broker.keep(link)
            if link.name != source:
                self.introduce(out, link)
        for message in broker.published.taken():
            broker.router.flood(out, None, message, "links have changed since")

    def introduce(self, out: Outcome, link: Link) -> None:
        """Tell a neighbour of the latest unrest."""
        if self.stamp[0]:
            self.broker.send(out, link.name, m.Unrest(*self.stamp))

    # -- the wave ------------------------------------------------------------------------------------------

    def wave(self, link: Link, message: m.Settle | m.Settled | m.Visited) -> None:
        """A neighbour asks, answers, or says that it was asked."""
        if (message.number, message.origin) != self.stamp or not 0 < message.round <= TRUSTED:
            return
        if isinstance(message, m.Settle):
            link.settle_asked = max(link.settle_asked, message.round)
        elif isinstance(message, m.Settled):
            link.settled = max(link.settled, min(message.round, link.settle_sent))
        else:
            link.visited = max(link.visited, message.round)
        self.broker.keep(link)

    def progress(self, out: Outcome) -> None:
        """Pass on and answer what can be now; the end of every step."""
        while not self.is_calm and self._advance(out):
            pass
        if self.is_calm and self.stamp[0]:
            for link in self.broker.links.values():
                if link.is_leaf and link.is_open:
                    self._lead(out, link)

    def _lead(self, out: Outcome, link: Link) -> None:
        """Ask a leaf to settle, round by round, when everybody else has."""
        if not link.is_used:
            while link.announced < TRUSTED - 1:
                link.announced += 1
                self.broker.keep(link)
                self.broker.send(out, link.name, m.Visited(*self.stamp, link.announced))
        elif link.settle_sent <= link.settled and link.settle_sent < TRUSTED:
            link.settle_sent += 1
            self.broker.keep(link)
            self.broker.send(out, link.name, m.Settle(*self.stamp, link.settle_sent))

    def _advance(self, out: Outcome) -> bool:
        broker = self.broker
        parent = broker.links.get(broker.path[1]) if len(broker.path) > 1 else None
        asked = self.answered + 1 if parent is None else parent.settle_asked
        if asked <= self.answered or any(
            link.is_leaving and not link.is_deserted and not link.is_leaf for link in broker.links.values()
        ):
            # Who gives up a link floods what still comes by it.
            return False
        others = [link for link in broker.links.values() if link is not parent and link.is_awaited]
        for link in others:
            if link.is_used and link.settle_sent < asked:
                link.settle_sent = asked
                broker.keep(link)
                broker.send(out, link.name, m.Settle(*self.stamp, asked))
            elif not link.is_used and link.announced < asked < TRUSTED:
                link.announced = asked
                broker.keep(link)
                broker.send(out, link.name, m.Visited(*self.stamp, asked))
        if asked == TRUSTED:
            self.is_calm, self.answered = True, 0
            self.store.put(("unrest",), self.values())
            return False
        if parent is not None and not parent.is_whole:
            return False
        if not all(link.is_whole and link.settled >= asked for link in others if link.is_used):
            return False
        if not all(link.visited >= asked for link in others if not link.is_used):
            return False
        self.answered = asked
        self.store.put(("unrest",), self.values())
        if parent is not None:
            broker.send(out, parent.name, m.Settled(*self.stamp, asked))
        return True

    # -- what was told along the tree ----------------------------------------------------------------------

    def told(self, link: Link, message: m.BrokerMessage) -> None:
        """A message of routing state goes to a neighbour."""
        link.told += 1
        if isinstance(message, m.Advertise):
            link.advertised = link.told

    def restart(self, link: Link) -> None:
        """What was told before does not count any more, and is not waited for."""
        link.asked = link.synced = link.told
        link.owes = 0
        link.awaits = {}
        link.is_drained = False

    def asked(self, link: Link, sync: m.Sync) -> None:
        """A neighbour wants to know when what it has told has taken effect."""
        link.is_complete = True
        link.owes = sync.number
        if sync.through:
            self._drained(link)
        link.awaits = {
            other.name: other.told
            for other in self.broker.links.values()
            if other is not link and other.is_used and other.is_awaited and other.synced < other.told
        }
        self.broker.keep(link)

    def synced(self, link: Link, message: m.Synced) -> None:
        """What a neighbour was told has taken effect behind it."""
        if message.number == link.asked:
            link.synced = link.asked
            self.broker.keep(link)

    def settle(self, out: Outcome) -> None:
        """Ask for and answer what was told; the end of every step."""
        broker = self.broker
        for link in broker.links.values():
            if link.is_used and link.asked == link.synced < link.told:
                link.asked = link.told
                broker.keep(link)
                broker.send(out, link.name, m.Sync(link.asked, link.is_drained))
                link.is_drained = False
        for link in broker.links.values():
            if link.owes and self.is_reached(link.awaits):
                broker.send(out, link.name, m.Synced(link.owes))
                link.owes, link.awaits = 0, {}
                broker.keep(link)
        if self._subscribed:
            awaits = {
                link.name: link.told
                for link in broker.links.values()
                if link.is_used and link.is_awaited and link.synced < link.told
            }
            self._wait(Confirming(self._subscribed, awaits))
            self._subscribed = []

    def _wait(self, more: Confirming) -> None:
        if len(self._confirming) < WAITING:
            self._confirming.append(more)
            return
        # Together and a little later, so that a neighbour that does not answer costs no memory.
        last = self._confirming[-1]
        last.awaits.update(more.awaits)
        last.subscriptions.extend(more.subscriptions)
        if len(last.subscriptions) > 2 * len(self._latest) + WAITING:
            last.subscriptions[:] = [
                (client, id, number)
                for client, id, number in last.subscriptions
                if self._latest.get((client, id)) == number
            ]

    def confirm(self, out: Outcome) -> None:
        """Tell clients of subscriptions that are known everywhere; the end of every step."""
        while self.is_calm and self._confirming and self.is_reached(self._confirming[0].awaits):
            for client, id, number in self._confirming.popleft().subscriptions:
                if self._latest.get((client, id)) == number:
                    del self._latest[client, id]
                    out.confirmed.append((client, id))

    def drain(self) -> dict[str, int]:
        """Ask everybody to answer behind every document that is on its way; what is to be waited for."""
        return self._drained(None)

    def _drained(self, source: Link | None) -> dict[str, int]:
        awaits = {}
        for link in self.broker.links.values():
            if link is not source and link.is_used and link.is_awaited:
                link.told += 1
                link.is_drained = True
                self.broker.keep(link)
                awaits[link.name] = link.told
        return awaits

    def is_reached(self, awaits: dict[str, int]) -> bool:
        """Whether neighbours have synced so much, or are waited for no more."""
        links = self.broker.links
        return all(
            links[name].synced >= number
            for name, number in awaits.items()
            if name in links and links[name].is_used and links[name].is_awaited
        )

    def subscribed(self, client: str, id: str) -> None:
        """A client waits until its subscription is known everywhere."""
        self._number += 1
        self._latest[client, id] = self._number
        self._subscribed.append((client, id, self._number))

    def unsubscribed(self, client: str, id: str) -> None:
        """It does not wait any more."""
        self._latest.pop((client, id), None)
