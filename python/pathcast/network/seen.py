"""Documents that a broker has seen, to tell repetitions, and those that it keeps for who is not reached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from pathcast.network.message import Publish
from pathcast.network.state import Store


class Seen:
    """Ids of documents, the latest of them, with a mark of their content.

    >>> seen = Seen(2, Store(False))
    >>> [seen.first(id, "1") for id in "aabca"]
    [True, False, True, True, True]
    """

    def __init__(self, most: int, store: Store) -> None:
        self.most = most
        self.store = store
        self.marks: OrderedDict[str, str] = OrderedDict()

    def mark(self, id: str) -> str | None:
        """The mark that an id was seen with."""
        return self.marks.get(id)

    def first(self, id: str, mark: str) -> bool:
        """Whether an id is new; now it is not."""
        if id in self.marks:
            return False
        self.marks[id] = mark
        self.store.put(("doc", id), {"mark": mark})
        while len(self.marks) > self.most:
            gone, _ = self.marks.popitem(last=False)
            self.store.drop(("doc", gone))
        return True


class Kept:
    """The latest documents of one kind, so that who joins or comes back gets them too.

    Bounded by number and by bytes; the oldest go first.
    """

    def __init__(self, kind: str, most: int, most_bytes: int, store: Store) -> None:
        self.kind = kind
        self.most, self.most_bytes = most, most_bytes
        self.store = store
        self.documents: OrderedDict[tuple[str, int | None], bytes] = OrderedDict()
        self.bytes = 0
        self.dropped = 0
        """Documents that had to make room."""

    def add(self, message: Publish) -> None:
        """Keep a document."""
        key = (message.document, message.path)
        if key in self.documents:
            return
        self.documents[key] = message.body
        self.bytes += len(message.body)
        self.store.put((self.kind, *key), {"body": message.body.decode("latin-1")})
        while len(self.documents) > self.most or self.bytes > self.most_bytes:
            self._drop()
            self.dropped += 1

    def taken(self) -> list[Publish]:
        """All of them, the oldest first; they are kept no longer."""
        found = list(self.messages())
        while self.documents:
            self._drop()
        return found

    def _drop(self) -> None:
        gone, body = self.documents.popitem(last=False)
        self.bytes -= len(body)
        self.store.drop((self.kind, *gone))

    def restore(self, document: str, path: int | None, body: str) -> None:
        """From a record."""
        self.documents[document, path] = body.encode("latin-1")
        self.bytes += len(body)

    def messages(self) -> Iterable[Publish]:
        """All of them, the oldest first."""
        for (document, path), body in self.documents.items():
            yield Publish(document, body, path, flood=True)
