"""Where a document goes: to neighbours that want it, and to clients whose own subscriptions it satisfies.

Documents are matched once with everything in the table. A client gets a document only through its own
filters, so mergers and coverings on the way never deliver what nobody asked for.

With paths as the unit, as in the paper, a neighbour gets only those root-to-leaf paths that its linear
filters need, each as a small document with the number of the path and the id of the document. A neighbour
one of whose other filters the document satisfies gets the whole of it. From a path only linear filters are
answered, because branches, values and negations need the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathcast import _core
from pathcast.errors import DocumentError, printable
from pathcast.network.message import Delivery, Publish

if TYPE_CHECKING:
    from pathcast.network.broker import Broker
    from pathcast.network.outcome import Outcome
    from pathcast.network.publications import Entry

WHOLE = ""


class Router:
    """Routes documents through one broker."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    def publish(self, out: Outcome, client: str, document: str, mark: str, body: bytes) -> None:
        """A client of this broker publishes; raises `DocumentError` if it is not well-formed."""
        broker = self.broker
        entries = broker.publications.matching(body)
        broker.seen.first(document, mark)
        broker.counters.documents += 1
        self._hold_to_promise(out, client, document, body)
        self._route(out, None, document, body, entries)

    def arrive(self, out: Outcome, neighbour: str, message: Publish) -> None:
        """A neighbour passes a document on, or a path of one."""
        broker = self.broker
        whole = broker.seen.mark(message.document)
        if message.path is None:
            if whole is not None:
                broker.counters.duplicates += 1
                return
            entries = broker.publications.matching(message.body)
            broker.seen.first(message.document, WHOLE)
            broker.counters.documents += 1
            broker.counters.unmatched += not entries
            self._route(out, neighbour, message.document, message.body, entries)
            return
        if whole is not None or broker.seen.mark(f"{message.document}#{message.path}") is not None:
            broker.counters.duplicates += 1
            return
        entries = [entry for entry in broker.publications.matching(message.body) if entry.linear]
        broker.seen.first(f"{message.document}#{message.path}", WHOLE)
        broker.counters.documents += 1
        broker.counters.unmatched += not entries
        for target in _neighbours(entries, neighbour):
            broker._send(out, target, message)
        self._deliver(out, message.document, message.body, entries)

    def _route(
        self, out: Outcome, origin: str | None, document: str, body: bytes, entries: list[Entry]
    ) -> None:
        broker = self.broker
        targets = _neighbours(entries, origin)
        if broker.policy.unit == "path":
            whole = set(_neighbours([entry for entry in entries if not entry.linear], origin))
            partly = [target for target in targets if target not in whole]
            if partly:
                self._send_paths(out, document, body, partly)
            targets = [target for target in targets if target in whole]
        for target in targets:
            broker._send(out, target, Publish(document, body))
        self._deliver(out, document, body, entries)

    def _send_paths(self, out: Outcome, document: str, body: bytes, targets: list[str]) -> None:
        broker = self.broker
        for number, (_, path) in enumerate(_core.leaf_paths(body, broker.policy.limits)):
            entries = [entry for entry in broker.publications.matching(path) if entry.linear]
            wanted = set(_neighbours(entries, None))
            for target in targets:
                if target in wanted:
                    broker._send(out, target, Publish(document, path, number))

    def _deliver(self, out: Outcome, document: str, body: bytes, entries: list[Entry]) -> None:
        broker = self.broker
        clients: dict[str, list[str]] = {}
        for entry in entries:
            for client, held in entry.clients.items():
                clients.setdefault(client, []).extend(held)
        for client in sorted(clients):
            ids: list[str] = clients[client]
            if broker.policy.unit == "path":
                # Several paths of a document may satisfy one subscription.
                ids = [id for id in ids if broker.seen.first(f"{document}>{client}>{id}", WHOLE)]
            if ids:
                broker.counters.delivered += 1
                out.deliveries.append(Delivery(client, document, tuple(sorted(ids)), body))

    def _hold_to_promise(self, out: Outcome, client: str, document: str, body: bytes) -> None:
        """A document that is not as advertised is routed all the same, counted and told."""
        broker = self.broker
        known = broker.clients.get(client)
        if known is None or not known.advertised or not broker.policy.advertisements:
            return
        numbers = [broker.subscriptions.publishers[id].number for id, _ in known.advertised.values()]
        try:
            paths = {tuple(names) for names, _ in _core.leaf_paths(body, broker.policy.limits)}
        except DocumentError:
            return
        for path in sorted(paths):
            if not any(broker.cover.accepts(number, path) for number in numbers):
                broker.counters.violations += 1
                names = "/".join(local for _, local in path)
                note = f"the document {document} has the path /{names}, which {client} has not advertised"
                out.notes.append(printable(note))
                return


def _neighbours(entries: list[Entry], origin: str | None) -> list[str]:
    found: dict[str, None] = {}
    for entry in entries:
        found.update(dict.fromkeys(entry.neighbours))
    found.pop(origin or "", None)
    return sorted(found)
