"""A client moves from one broker to another, and gets every document once.

Brokers know only their neighbours, so the client carries what they have to say to each other:

1. The old broker lists what the client has (`ClientDepart`, answered by notices of kind ``holds``); nothing
   of it may change any more.
2. The new one is told to expect it (`ClientArrive`), says ``welcome``, and takes the same subscriptions. When
   it has all of them, what they ask for is *held*. When all of them are known everywhere, it says ``ready``:
   from now on it misses nothing.
3. The client leaves the old broker (`ClientLeave`), which first lets arrive what is on its way: a `Sync` goes
   *through* the whole tree, and links keep order, so its answer comes behind every document that was
   published before the new broker was ready. If links change meanwhile, the wave that ends the unrest does
   the same. Then it says ``departed``, with the documents that it has seen.
4. The new broker hears of those (`ClientArrived`) and delivers what it holds and the old one had not seen.

If the network is cut between the two brokers, the new one declares unrest, and what was published on its side
comes again. Later, too, a document that the old broker has seen is not delivered again: a network that was
cut in two and is joined may bring it. And one that the new broker had seen before the client came, and the
old one had not, is delivered when it comes again. Both are remembered for as long as ids of documents are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pathcast.network import message as m
from pathcast.network.message import ClientMessage, Delivery, Notice
from pathcast.network.outcome import RefusedError
from pathcast.network.routing import delivery_mark
from pathcast.network.state import Store
from pathcast.network.wire import encode

if TYPE_CHECKING:
    from pathcast.network.broker import Broker
    from pathcast.network.outcome import Outcome

Item = TypeVar("Item")
PART = 1_000
"""Documents or messages of one notice."""
SIZE = 30_000
"""Characters of them, at most six bytes each; the smallest message that may be too large has 256 KiB."""
LONGEST = 2
"""How many times as many documents as one broker remembers a client may name."""
MOST = 10
"""How many times as many are remembered for all clients that have moved here."""
MARKS = frozenset("#>!")
"""Not part of a document's id; see `pathcast.network.routing`."""


@dataclass(slots=True, eq=False)
class Departing:
    """A client that moves away."""

    leaves: bool = False
    """Whether it is gone when what is on its way has arrived."""
    stamp: tuple[int, str] | None = None
    """The unrest that was over when this broker began to wait for that."""
    awaits: dict[str, int] = field(default_factory=dict)
    """By neighbour: what must be synced until then."""


@dataclass(slots=True, eq=False)
class Arriving:
    """A client that moves here."""

    expected: int
    """Subscriptions that it will have."""
    is_whole: bool = False
    """Whether it has them; from then on documents are held."""
    is_ready: bool = False
    held: dict[int, Delivery] = field(default_factory=dict)
    number: int = 0
    """Of the next that is held."""
    bytes: int = 0
    confirmed: dict[str, None] = field(default_factory=dict)
    """Its subscriptions that are known everywhere."""

    def values(self) -> dict[str, Any]:
        """As a record."""
        return {"expected": self.expected, "whole": self.is_whole, "ready": self.is_ready}


@dataclass(slots=True, eq=False)
class Arrived:
    """What is remembered of a client that came from elsewhere."""

    had: dict[str, None] = field(default_factory=dict)
    """Documents that it need not get, because the broker where it was has seen them."""
    missed: dict[str, None] = field(default_factory=dict)
    """Documents that this broker had seen before the client came, and the other one had not."""
    parts: list[dict[str, list[str]]] = field(default_factory=list)
    """The same, as records."""

    def __len__(self) -> int:
        return len(self.had) + len(self.missed)


class Handover:
    """The clients of one broker that move."""

    def __init__(self, broker: Broker, store: Store) -> None:
        self.broker = broker
        self.store = store
        self.departing: dict[str, Departing] = {}
        self.arriving: dict[str, Arriving] = {}
        self.arrived: dict[str, Arrived] = {}

    # -- what clients ask for ------------------------------------------------------------------------------

    def handle(self, out: Outcome, name: str, message: ClientMessage) -> bool:
        """A message of a client, if it is about moving."""
        if isinstance(message, m.ClientDepart):
            self._depart(out, name)
        elif isinstance(message, m.ClientArrive):
            self._arrive(out, name, message)
        elif isinstance(message, m.ClientArrived):
            self._arrived(out, name, message)
        elif isinstance(message, m.ClientStay):
            if not self._stay(name):
                raise RefusedError("it is not moving away, or has gone")
        elif name in self.departing and not isinstance(message, m.ClientPublish):
            if not isinstance(message, m.ClientLeave):
                raise RefusedError("it is moving to another broker")
            self.departing[name].leaves = True
            self.store.put(("departing", name), {"leaves": True})
        else:
            return False
        return True

    def _depart(self, out: Outcome, name: str) -> None:
        if name in self.arriving:
            raise RefusedError("it is just moving here")
        client = self.broker.clients.get(name) or self.broker.known(name)
        self.departing.setdefault(name, Departing())
        self.store.put(("departing", name), {"leaves": self.departing[name].leaves})
        asked: list[ClientMessage] = [
            *(m.ClientAdvertise(id, advertised) for id, (_, advertised) in client.advertised.items()),
            *(m.ClientSubscribe(id, filter) for id, filter in client.filters.items()),
        ]
        parts = _parts(asked, lambda message: len(encode(message)))
        for number, part in enumerate(parts, 1):
            out.notices.append(Notice(name, "holds", messages=tuple(part), is_last=number == len(parts)))

    def _stay(self, name: str) -> bool:
        departing = self.departing.get(name)
        if departing is None or departing.leaves:
            return False
        del self.departing[name]
        self.store.drop(("departing", name))
        return True

    def _arrive(self, out: Outcome, name: str, message: m.ClientArrive) -> None:
        if name in self.arriving:
            # It asks again after a crash.
            out.notices.append(Notice(name, "ready" if self.arriving[name].is_ready else "welcome"))
            return
        if name in self.broker.clients or name in self.departing:
            out.notices.append(Notice(name, "ended"))
            raise RefusedError("it is a client here already, and cannot move here")
        self.broker.known(name)
        self.arriving[name] = Arriving(message.subscriptions)
        self.arrived[name] = Arrived()
        self.store.put(("arriving", name), self.arriving[name].values())
        out.notices.append(Notice(name, "welcome"))

    def _arrived(self, out: Outcome, name: str, message: m.ClientArrived) -> None:
        arriving = self.arriving.get(name)
        if arriving is None or not arriving.is_ready:
            raise RefusedError("it is not moving here, or too early")
        if len(self.arrived[name].had) + len(message.documents) > LONGEST * self.broker.policy.remembered:
            raise RefusedError("it names more documents than any broker remembers")
        self._remember(name, "had", message.documents)
        if message.is_last:
            for number in arriving.held:
                self.store.drop(("held", name, number))
            self.store.drop(("arriving", name))
            del self.arriving[name]
            for _, delivery in sorted(arriving.held.items()):
                self._hand_out(out, delivery)
            self.broker.router.repeat_to_client(out, name)
            if message.unrest != self._unrest() or not self.broker.agreement.stamp[0]:
                # The network is cut between the brokers: what was published on this side is published again.
                self.broker.agreement.disturb(out)
            out.confirmed.extend((name, id) for id in arriving.confirmed)

    def forget(self, name: str) -> None:
        """A client is gone."""
        if self.departing.pop(name, None) is not None:
            self.store.drop(("departing", name))
        arriving = self.arriving.pop(name, None)
        if arriving is not None:
            self.store.drop(("arriving", name))
            for number in arriving.held:
                self.store.drop(("held", name, number))
        self._forget_arrived(name)

    def _forget_arrived(self, name: str) -> None:
        arrived = self.arrived.pop(name, None)
        for part in range(len(arrived.parts) if arrived is not None else 0):
            self.store.drop(("arrived", name, part))

    # -- what it gets --------------------------------------------------------------------------------------

    def deliver(self, out: Outcome, delivery: Delivery) -> None:
        """A delivery, unless the client is to get it later or has it."""
        name = delivery.client
        arriving = self.arriving.get(name)
        if arriving is None:
            self._hand_out(out, delivery)
            return
        if not arriving.is_whole:
            # As if it had come before the client.
            return
        policy = self.broker.policy
        arriving.bytes += len(delivery.body)
        if arriving.bytes > policy.flooded_bytes or len(arriving.held) >= policy.remembered:
            self._give_up(out, name)
            return
        arriving.held[arriving.number] = delivery
        self.store.put(("held", name, arriving.number), _held_values(delivery))
        arriving.number += 1

    def _hand_out(self, out: Outcome, delivery: Delivery) -> None:
        arrived = self.arrived.get(delivery.client)
        if arrived is not None:
            ids = tuple(id for id in delivery.ids if self._key(delivery.document, id) not in arrived.had)
            if not ids:
                return
            delivery = delivery._replace(ids=ids)
            if delivery.document in arrived.missed:
                # It may come again, and then it is had.
                keys = [self._key(delivery.document, id) for id in ids]
                self._remember(delivery.client, "had", keys)
        self.broker.router.hand_out(out, delivery)

    def _give_up(self, out: Outcome, name: str) -> None:
        """Nobody may make a broker hold documents without end; the client is told."""
        self.broker.drop_client(name)
        out.notices.append(Notice(name, "ended"))
        out.notes.append(f"client {name}: it did not finish moving here, and is forgotten")

    def _unrest(self) -> str:
        """The latest unrest as text, the same wherever it is known."""
        number, origin = self.broker.agreement.stamp
        return f"{number} {origin}"

    def _key(self, document: str, id: str) -> str:
        return f"{document}>{id}" if self.broker.policy.unit == "path" else document

    def seen_for(self, name: str) -> list[str]:
        """What a client need not get elsewhere: documents, or with paths as the unit parts of them."""
        seen, policy = self.broker.seen.marks, self.broker.policy
        before = self.arrived[name].had if name in self.arrived else {}
        if policy.unit == "path":
            own = delivery_mark("", name, "")
            parts = [key.partition(own) for key in seen]
            found = [self._key(document, id) for document, mark, id in parts if mark and ">" not in document]
        else:
            found = [id for id in seen if MARKS.isdisjoint(id)]
        return list(dict.fromkeys([*before, *found]))[-policy.remembered :]

    def lacking(self, document: str) -> list[str]:
        """Clients that came after a document was here, and were where it was not."""
        return [name for name, arrived in self.arrived.items() if document in arrived.missed]

    def _remember(self, name: str, kind: str, documents: Iterable[str]) -> None:
        arrived = self.arrived[name]
        listed = list(documents)
        getattr(arrived, kind).update(dict.fromkeys(listed))
        for each in _parts(listed, len) if listed else ():
            part = {kind: each}
            self.store.put(("arrived", name, len(arrived.parts)), part)
            arrived.parts.append(part)
        total = sum(map(len, self.arrived.values()))
        for other in list(self.arrived):
            if total <= MOST * self.broker.policy.remembered:
                break
            if other not in self.arriving and other != name:
                total -= len(self.arrived[other])
                self._forget_arrived(other)

    # -- the end of a step ---------------------------------------------------------------------------------

    def confirmed(self, out: Outcome) -> None:
        """Subscriptions of those who are moving here are confirmed when they are here."""
        if not self.arriving:
            return
        waiting = [(name, id) for name, id in out.confirmed if name in self.arriving]
        for name, id in waiting:
            self.arriving[name].confirmed[id] = None
        out.confirmed = [each for each in out.confirmed if each not in waiting]
        for name, arriving in self.arriving.items():
            client = self.broker.clients.get(name)
            known = set(client.filters) if client is not None else set()
            if not arriving.is_whole and len(known) >= arriving.expected:
                arriving.is_whole = True
                self.store.put(("arriving", name), arriving.values())
                self._remember(name, "missed", [id for id in self.broker.seen.marks if MARKS.isdisjoint(id)])
            is_known = self.broker.agreement.is_calm and known <= arriving.confirmed.keys()
            if arriving.is_whole and not arriving.is_ready and is_known:
                arriving.is_ready = True
                self.store.put(("arriving", name), arriving.values())
                out.notices.append(Notice(name, "ready"))

    def progress(self, out: Outcome) -> bool:
        """Clients leave when what was on its way to them has arrived; whether anything has changed."""
        agreement = self.broker.agreement
        changed = False
        for name, departing in list(self.departing.items()):
            if not departing.leaves or not agreement.is_calm:
                continue
            if departing.stamp is None:
                departing.stamp, departing.awaits = agreement.stamp, agreement.drain()
                changed = True
            elif departing.stamp != agreement.stamp or agreement.is_reached(departing.awaits):
                parts = _parts(self.seen_for(name), len)
                for number, part in enumerate(parts, 1):
                    is_last = number == len(parts)
                    notice = Notice(name, "departed", (), tuple(part), is_last, self._unrest())
                    out.notices.append(notice)
                self.broker.drop_client(name)
                changed = True
        return changed

    # -- records -------------------------------------------------------------------------------------------

    def snapshot(self, put: Callable[[tuple[Any, ...], dict[str, Any]], None]) -> None:
        """Everything as records."""
        for name, departing in self.departing.items():
            put(("departing", name), {"leaves": departing.leaves})
        for name, arriving in self.arriving.items():
            put(("arriving", name), arriving.values())
            for number, delivery in arriving.held.items():
                put(("held", name, number), _held_values(delivery))
        for name, arrived in self.arrived.items():
            for number, part in enumerate(arrived.parts):
                put(("arrived", name, number), part)

    def restore(self, kinds: Callable[[str], list[tuple[tuple[Any, ...], dict[str, Any]]]]) -> None:
        """From records."""
        for (name,), value in kinds("departing"):
            self.departing[name] = Departing(bool(value["leaves"]))
        for (name,), value in kinds("arriving"):
            whole, ready = bool(value["whole"]), bool(value["ready"])
            self.arriving[name] = Arriving(int(value["expected"]), whole, ready)
            self.arrived.setdefault(name, Arrived())
        for (name, number), value in kinds("held"):
            body = str(value["body"]).encode("latin-1")
            arriving = self.arriving[name]
            arriving.held[int(number)] = Delivery(name, str(value["document"]), tuple(value["ids"]), body)
            arriving.number = max(arriving.number, int(number) + 1)
            arriving.bytes += len(body)
        for (name, _), part in sorted(kinds("arrived"), key=lambda each: each[0]):
            arrived = self.arrived.setdefault(name, Arrived())
            arrived.parts.append(part)
            arrived.had.update(dict.fromkeys(part.get("had", ())))
            arrived.missed.update(dict.fromkeys(part.get("missed", ())))


def _parts(items: Sequence[Item], size: Callable[[Item], int]) -> list[list[Item]]:
    """In parts that fit a message, one at least."""
    parts: list[list[Item]] = [[]]
    room = SIZE
    for item in items:
        if len(parts[-1]) == PART or (parts[-1] and size(item) > room):
            parts.append([])
            room = SIZE
        parts[-1].append(item)
        room -= size(item)
    return parts


def _held_values(delivery: Delivery) -> dict[str, Any]:
    return {
        "document": delivery.document,
        "ids": list(delivery.ids),
        "body": delivery.body.decode("latin-1"),
    }
