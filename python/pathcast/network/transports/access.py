"""What Kafka's access control must allow for one broker, and no more: who may read and write which topic.

A client or neighbour is who its principal is: it may write the one topic on which the broker believes it, and
read the one to which the broker writes for it, and the sealed documents. Everything is a literal grant on a
topic of this broker; what the broker writes to a neighbour is among the neighbour's own grants.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Literal, NamedTuple

from pathcast.network.transports.parts import parts
from pathcast.network.transports.settings import BrokerSettings

Resource = Literal["topic", "group", "transactional-id"]


class Grant(NamedTuple):
    """Somebody may do something with something."""

    principal: str
    operation: Literal["Read", "Write"]
    """Kafka lets who may do either also look."""
    resource: Resource
    name: str

    def command(self, servers: str) -> str:
        """As a call of Kafka's own program.

        >>> Grant("User:ann", "Read", "topic", "pathcast.berlin.to.ann").command("localhost:9092")
        'kafka-acls.sh --bootstrap-server localhost:9092 --add --allow-principal User:ann --operation Read \
--topic pathcast.berlin.to.ann'
        """
        words = ["kafka-acls.sh", "--bootstrap-server", servers, "--add", "--allow-principal", self.principal]
        return shlex.join([*words, "--operation", self.operation, f"--{self.resource}", self.name])


def client_group(name: str) -> str:
    """The consumer group of a client."""
    return f"pathcast-client-{name}"


def grants(settings: BrokerSettings) -> list[Grant]:
    """Everything that must be allowed, each once.

    >>> from pathcast.network.transports.settings import broker_settings
    >>> made = broker_settings({"name": "berlin", "clients": ["ann"],
    ...                         "kafka": {"bootstrap.servers": "localhost:9092"}})
    >>> [each[1:] for each in grants(made) if each.principal == "User:ann"]
    [('Write', 'topic', 'pathcast.berlin.from.ann'), ('Read', 'topic', 'pathcast.berlin.to.ann'), \
('Read', 'topic', 'pathcast.berlin.documents'), ('Read', 'group', 'pathcast-client-ann')]
    """
    own = settings.principal
    found = [each for part in parts(settings) for each in _all(part)]
    if settings.parts > 1:
        found += [Grant(own, "Read", "topic", settings.shares), Grant(own, "Read", "group", settings.shares)]
    return list(dict.fromkeys(found))


def _all(settings: BrokerSettings) -> Iterator[Grant]:
    own = settings.principal
    for topic in settings.sources:
        yield Grant(own, "Read", "topic", topic)
    outboxes = [settings.outbox, *(peer.sent_to for peer in settings.clients.values())]
    for topic in (settings.state, settings.quarantine, settings.documents, *outboxes):
        yield Grant(own, "Write", "topic", topic)
    yield Grant(own, "Read", "topic", settings.state)
    yield Grant(own, "Read", "group", settings.state)
    yield Grant(own, "Write", "transactional-id", settings.state)
    for peer in (*settings.neighbours.values(), *settings.clients.values()):
        yield Grant(peer.principal, "Write", "topic", peer.speaks_on or settings.inbox)
    for peer in settings.clients.values():
        yield Grant(peer.principal, "Read", "topic", peer.sent_to)
        yield Grant(peer.principal, "Read", "topic", settings.documents)
        yield Grant(peer.principal, "Read", "group", client_group(peer.name))
