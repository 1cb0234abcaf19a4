"""What publishers and subscribers do, whatever carries it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from pathcast.network import message as m
from pathcast.network.advertisement import graph_advertisement
from pathcast.network.message import Advertised, ClientMessage, Filter
from pathcast.schema import Schema
from pathcast.types import Namespaces, Variables


class Client(ABC):
    """A publisher, a subscriber, or both, at one broker. Ids are the client's own.

    Nothing here waits for an answer: what a broker refuses is in its quarantine, with the reason.
    """

    name: str

    @abstractmethod
    def send(self, message: ClientMessage) -> None:
        """Hand a message to the broker."""

    def subscribe(
        self,
        id: str,
        xpath: str,
        *,
        ordered: bool = False,
        namespaces: Namespaces | None = None,
        variables: Variables | None = None,
    ) -> None:
        """Ask for documents that satisfy an expression; a known id gets the new expression."""
        filter = Filter.of(xpath, ordered=ordered, namespaces=namespaces, variables=variables)
        self.send(m.ClientSubscribe(id, filter))

    def unsubscribe(self, id: str) -> None:
        """Give up a subscription."""
        self.send(m.ClientUnsubscribe(id))

    def advertise(
        self, id: str, what: Schema | Iterable[str], *, namespaces: Namespaces | None = None
    ) -> None:
        """Say which documents will be published: those of a schema, or texts as `advertisements` writes them.

        Subscriptions travel only towards publishers whose advertisements they overlap, so a publisher
        advertises before it publishes.
        """
        if isinstance(what, Schema):
            texts: tuple[str, ...] = (graph_advertisement(what),)
            namespaces = namespaces or what.namespaces
        else:
            texts = tuple([what] if isinstance(what, str) else what)
        pairs = sorted((prefix or "", uri) for prefix, uri in (namespaces or {}).items())
        self.send(m.ClientAdvertise(id, Advertised(texts, tuple(pairs))))

    def unadvertise(self, id: str) -> None:
        """Take an advertisement back."""
        self.send(m.ClientUnadvertise(id))

    def publish(self, id: str, document: bytes | str) -> None:
        """Publish a document. The same id again is not published again, so a publisher may retry."""
        self.send(m.ClientPublish(id, document.encode() if isinstance(document, str) else document))

    def leave(self) -> None:
        """Give up all subscriptions and advertisements."""
        self.send(m.ClientLeave())
