"""Where a document goes: to neighbours that want it, and to clients whose own subscriptions it satisfies.

Documents are matched once with everything in the table. A client gets a document only through its own
filters, so mergers and coverings on the way never deliver what nobody asked for.

A document is *flooded*, to every neighbour and by every broker, while the tables cannot be trusted
(`pathcast.network.agreement`), and when it is not what its publisher has advertised: then nobody can know
who wants it. A neighbour that has not answered an advertisement yet gets documents whatever the table says.

With paths as the unit, as in the paper, a neighbour gets only those root-to-leaf paths that its linear
filters need, each as a small document with the number of the path and the id of the document. A neighbour
one of whose other filters the document satisfies gets the whole of it. From a path only linear filters are
answered, because branches, values and negations need the rest.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from pathcast import _core
from pathcast.errors import DocumentError, printable
from pathcast.network.message import Delivery, Publish
from pathcast.network.outcome import RefusedError
from pathcast.network.trace import SHOWN, Step, What

if TYPE_CHECKING:
    from pathcast.network.broker import Broker
    from pathcast.network.outcome import Outcome
    from pathcast.network.publications import Entry

WHOLE = ""
_ESCAPED = str.maketrans({mark: f"%{ord(mark):02X}" for mark in "%/#>!"})


def document_id(broker: str, client: str, id: str) -> str:
    """The id of a document in the network; different for every broker, client and id.

    >>> document_id("b1", "a", "b/1"), document_id("b1", "a/b", "1")
    ('b1/a/b%2F1', 'b1/a%2Fb/1')
    """
    return "/".join(part.translate(_ESCAPED) for part in (broker, client, id))


def delivery_mark(document: str, client: str, id: str) -> str:
    """What tells that a subscription has a document; different for every document, client and id.

    >>> delivery_mark("b1/p/1", "a", "b>c"), delivery_mark("b1/p/1", "a>b", "c")
    ('b1/p/1>a>b>c', 'b1/p/1>a%3Eb>c')
    """
    return f"{document}>{client.translate(_ESCAPED)}>{id}"


class Router:
    """Routes documents through one broker."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    def publish(self, out: Outcome, client: str, document: str, mark: str, body: bytes) -> None:
        """A client of this broker publishes; raises `DocumentError` if it is not well-formed."""
        broker = self.broker
        entries = broker.publications.matching(body)
        flood = not self._is_as_advertised(out, client, document, body)
        broker.seen.first(document, mark)
        broker.counters.documents += 1
        _tell(out, document, "published", f"client {client}")
        why = "it was not advertised" if flood else ""
        self._route(out, None, Publish(document, body, flood=flood), entries, why)

    def arrive(self, out: Outcome, neighbour: str, message: Publish) -> None:
        """A neighbour passes a document on, or a path of one."""
        broker = self.broker
        self._check_origin(neighbour, message)
        key = message.document if message.path is None else f"{message.document}#{message.path}"
        whole = broker.seen.mark(message.document)
        if whole is not None or broker.seen.mark(key) is not None:
            broker.counters.duplicates += 1
            _tell(out, message.document, "again", f"broker {neighbour}", _of_path(message))
            if message.flood:
                self.flood(out, neighbour, message, "it came flooded")
            if late := broker.handover.lacking(message.document):
                self._deliver_late(out, message, late)
            return
        entries = broker.publications.matching(message.body)
        if message.path is not None:
            entries = [entry for entry in entries if broker.publications.is_linear(entry)]
        broker.seen.first(key, WHOLE)
        broker.counters.documents += 1
        broker.counters.unmatched += not entries
        _tell(out, message.document, "received", f"broker {neighbour}", _of_path(message))
        self._route(out, neighbour, message, entries, "it came flooded" if message.flood else "")

    def flood(self, out: Outcome, origin: str | None, message: Publish, why: str) -> None:
        """Pass a document to every neighbour but the one it came from, once."""
        broker = self.broker
        key = f"{message.document}!" if message.path is None else f"{message.document}#{message.path}!"
        if not broker.seen.first(key, WHOLE):
            return
        broker.counters.flooded += 1
        message = message._replace(flood=True)
        broker.flooded.add(message)
        for link in broker.links.values():
            if link.name != origin and not link.is_deserted:
                self._send(out, link.name, message, f"flooded: {why}")

    def repeat(self, out: Outcome, neighbour: str) -> None:
        """A new neighbour gets what was flooded before it came."""
        for message in self.broker.flooded.messages():
            self._send(out, neighbour, message, "flooded: it is a new neighbour")

    def repeat_to_client(self, out: Outcome, client: str) -> None:
        """A client that has moved here gets what was here before it and not where it was."""
        for kept in (self.broker.flooded, self.broker.published):
            for message in list(kept.messages()):
                if client in self.broker.handover.lacking(message.document):
                    self._deliver_late(out, message, [client])

    def _deliver_late(self, out: Outcome, message: Publish, clients: list[str]) -> None:
        entries = self.broker.publications.matching(message.body)
        if message.path is not None:
            entries = [entry for entry in entries if self.broker.publications.is_linear(entry)]
        self._deliver(out, message.document, message.body, entries, clients)

    def _send(self, out: Outcome, target: str, message: Publish, why: str) -> None:
        _tell(out, message.document, "sent", f"broker {target}", _of_path(message, why))
        self.broker.send(out, target, message)

    def _route(
        self, out: Outcome, origin: str | None, message: Publish, entries: list[Entry], why: str
    ) -> None:
        broker = self.broker
        before = len(out.steps)
        if message.flood or not broker.agreement.is_calm:
            # Who passed it on by its table must flood it too: the way may lead back through there.
            self.flood(out, origin if message.flood else None, message, why or "links are changing")
        else:
            if origin is None:
                broker.published.add(message)
            self._forward(out, origin, message, entries)
        self._deliver(out, message.document, message.body, entries)
        if len(out.steps) == before:
            _tell(out, message.document, "unwanted", "nobody else", _of_path(message))

    def _forward(self, out: Outcome, origin: str | None, message: Publish, entries: list[Entry]) -> None:
        broker = self.broker
        whole = {
            link.name: "an advertisement is on its way there"
            for link in broker.links.values()
            if link.is_unsettled and link.name != origin
        }
        targets = _neighbours(entries, origin)
        if broker.policy.unit == "path" and message.path is None:
            branched = [entry for entry in entries if not broker.publications.is_linear(entry)]
            whole.update(_neighbours(branched, origin))
            partly = {target: why for target, why in targets.items() if target not in whole}
            if any(broker.links[target].is_gone_around for target in partly):
                whole.update(partly)
            elif partly:
                self._send_paths(out, message, partly)
        else:
            whole.update(targets)
        silent = [target for target in whole if broker.links[target].is_gone_around]
        if silent:
            self.flood(out, None, message, f"broker {min(silent)} is silent")
            return
        for target in sorted(whole):
            self._send(out, target, message, whole[target])

    def _send_paths(self, out: Outcome, message: Publish, targets: Iterable[str]) -> None:
        broker = self.broker
        for number, (_, path) in enumerate(_core.leaf_paths(message.body, broker.policy.limits)):
            matching = broker.publications.matching(path)
            entries = [entry for entry in matching if broker.publications.is_linear(entry)]
            wanted = _neighbours(entries, None)
            for target in targets:
                if target in wanted:
                    self._send(out, target, Publish(message.document, path, number), wanted[target])

    def _deliver(
        self,
        out: Outcome,
        document: str,
        body: bytes,
        entries: list[Entry],
        only: Container[str] | None = None,
    ) -> None:
        broker = self.broker
        clients: dict[str, list[str]] = {}
        for entry in entries:
            for client, held in entry.clients.items():
                if only is None or client in only:
                    clients.setdefault(client, []).extend(held)
        for client in sorted(clients):
            ids: list[str] = clients[client]
            if broker.policy.unit == "path":
                # Several paths of a document may satisfy one subscription.
                ids = [id for id in ids if broker.seen.first(delivery_mark(document, client, id), WHOLE)]
            if ids:
                broker.handover.deliver(out, Delivery(client, document, tuple(sorted(ids)), body))

    def hand_out(self, out: Outcome, delivery: Delivery) -> None:
        """A client gets a document."""
        ids = delivery.ids
        self.broker.counters.delivered += 1
        more = f" and {len(ids) - 5:,} more" if len(ids) > 5 else ""
        _tell(out, delivery.document, "delivered", f"client {delivery.client}", ", ".join(ids[:5]) + more)
        out.deliveries.append(delivery)

    def _check_origin(self, neighbour: str, message: Publish) -> None:
        """Documents of this broker start here, a leaf has only its own, and marks are not part of an id."""
        broker = self.broker
        origin, _, rest = message.document.partition("/")
        if rest.count("/") != 1 or any(mark in message.document for mark in "#>!"):
            raise RefusedError("the id of the document cannot be right")
        if broker.links[neighbour].is_leaf and origin != neighbour.translate(_ESCAPED):
            raise RefusedError("it is a leaf and passes on a document of others")
        if origin == broker.name.translate(_ESCAPED) and broker.seen.mark(message.document) is None:
            raise RefusedError("the document claims to come from here, and does not")

    def _is_as_advertised(self, out: Outcome, client: str, document: str, body: bytes) -> bool:
        """Whether the tables know where a document belongs; one that was not advertised is told of."""
        broker = self.broker
        if not broker.policy.advertisements:
            return True
        known = broker.clients.get(client)
        advertised = known.advertised.values() if known is not None else ()
        numbers = [broker.subscriptions.publishers[id].number for id, _ in advertised]
        path = self._surprise(body, numbers)
        if path is None:
            return True
        broker.counters.violations += 1
        note = f"the document {document} has the path {path}, which {client} has not advertised"
        if broker.policy.unadvertised == "refuse":
            raise RefusedError(note)
        out.notes.append(printable(f"{note}; it is sent to every broker"))
        return False

    def _surprise(self, body: bytes, numbers: list[int]) -> str | None:
        """A path of a document that none of the advertisements allows."""
        broker = self.broker
        try:
            paths = {tuple(names) for names, _ in _core.leaf_paths(body, broker.policy.limits)}
        except DocumentError as error:
            return f"(too large to look at: {error})"
        for path in sorted(paths):
            if not any(broker.cover.accepts(number, path) for number in numbers):
                return "".join(f"/{local}" for _, local in path)
        return None


def _neighbours(entries: Iterable[Entry], origin: str | None) -> dict[str, str]:
    """Who wants a document, with why."""
    found: dict[str, Entry] = {}
    for entry in entries:
        for name in entry.neighbours:
            found.setdefault(name, entry)
    return {name: f"it wants {found[name].filter.xpath}" for name in sorted(found) if name != origin}


def _of_path(message: Publish, why: str = "") -> str:
    """Why, and for which path if it is not the whole document."""
    if message.path is None:
        return why
    return f"path {message.path}" + (f": {why}" if why else "")


def _tell(out: Outcome, document: str, what: What, whom: str, why: str = "") -> None:
    out.steps.append(Step(document, what, whom, why[:SHOWN]))
