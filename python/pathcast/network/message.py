"""What brokers and clients say to one another.

Between brokers a filter is its own name: neighbours exchange *sets* of expressions, so a million
subscribers of one expression are one message, and nobody but the broker at the edge knows who they are. A
document carries an id that is unique in the network, by which duplicates on cycles are told.
"""

from __future__ import annotations

import json
import math
from typing import Literal, NamedTuple, TypeAlias

from pathcast.subscriptions import variables_from
from pathcast.types import Namespaces, Variables, XPath


class Filter(NamedTuple):
    """An expression with what it takes to read it; equal texts are equal filters.

    >>> Filter.of("//n:b", namespaces={"n": "urn:x"})
    Filter(xpath='//n:b', ordered=False, namespaces=(('n', 'urn:x'),), variables=())
    """

    xpath: str
    ordered: bool = False
    namespaces: tuple[tuple[str, str], ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    """Names to JSON, in the order given: a number equals no boolean then."""

    @classmethod
    def of(
        cls,
        xpath: str,
        *,
        ordered: bool = False,
        namespaces: Namespaces | None = None,
        variables: Variables | None = None,
    ) -> Filter:
        """A filter from what a person writes.

        >>> Filter.of("//a[@t = $t]", variables={"t": "x"}).bound
        {'t': 'x'}
        """
        if not namespaces and not variables:
            return cls(xpath, ordered)
        pairs = sorted((prefix or "", uri) for prefix, uri in (namespaces or {}).items())
        bound = tuple((name, _json(name, value)) for name, value in (variables or {}).items())
        return cls(xpath, ordered, tuple(pairs), bound)

    @property
    def bound(self) -> Variables | None:
        """What the variables are bound to."""
        if not self.variables:
            return None
        return variables_from({name: json.loads(text) for name, text in self.variables}) or None


def _json(name: str, value: str | float | bool | XPath) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"the variable {name!r} must be a finite number to travel, not {value}")
    return json.dumps({"xpath": value.expression} if isinstance(value, XPath) else value)


class Advertised(NamedTuple):
    """What one publisher advertises: texts as `pathcast.network.advertisements` writes them."""

    texts: tuple[str, ...]
    namespaces: tuple[tuple[str, str], ...] = ()


class Hello(NamedTuple):
    """The way from the sender to the root of the overlay, the sender first.

    `epoch` counts how often the sender has forgotten what it knew from the receiver.
    """

    path: tuple[str, ...]
    epoch: int


class Reset(NamedTuple):
    """From here on comes everything that the sender has to say, for this epoch of the receiver."""

    epoch: int


class Advertise(NamedTuple):
    """Documents of a publisher may come from here."""

    id: str
    advertised: Advertised


class Unadvertise(NamedTuple):
    """The publisher has withdrawn its advertisement."""

    id: str


class Subscribe(NamedTuple):
    """Documents that satisfy a filter are wanted here."""

    filter: Filter


class Unsubscribe(NamedTuple):
    """The filter has been withdrawn."""

    filter: Filter


class Publish(NamedTuple):
    """A document, or one of its paths as a document of its own, numbered from 0."""

    document: str
    body: bytes
    path: int | None = None
    flood: bool = False
    """Whether it goes to every broker, because the tables could not be trusted where it came through."""


class Sync(NamedTuple):
    """Answer when everything that the sender told you before this has taken effect behind you too."""

    number: int
    through: bool = False
    """Whether all other neighbours are asked before, and theirs: the answer comes behind every document that
    was on its way."""


class Synced(NamedTuple):
    """It has."""

    number: int


class Unrest(NamedTuple):
    """Links have changed somewhere: flood documents until the tree is agreed on."""

    number: int
    origin: str


class Settle(NamedTuple):
    """From a parent: pass this on to your children, and answer when the tree below you is whole."""

    number: int
    origin: str
    round: int


class Settled(NamedTuple):
    """To a parent: the part of the tree below the sender is whole."""

    number: int
    origin: str
    round: int


class Visited(NamedTuple):
    """To a neighbour by a link outside the tree: the sender's parent has asked it to settle."""

    number: int
    origin: str
    round: int


class Bye(NamedTuple):
    """The sender gives up the link; no document comes after the answer, which is the same."""


class Heartbeat(NamedTuple):
    """The sender is there and has nothing else to say."""

    suspects: bool = False
    """Whether it has not heard from the receiver for too long."""


class ClientSubscribe(NamedTuple):
    """A client subscribes; a known id gets the new filter."""

    id: str
    filter: Filter


class ClientUnsubscribe(NamedTuple):
    """A client gives up a subscription."""

    id: str


class ClientAdvertise(NamedTuple):
    """A client will publish such documents; a known id gets the new paths."""

    id: str
    advertised: Advertised


class ClientUnadvertise(NamedTuple):
    """A client withdraws an advertisement."""

    id: str


class ClientPublish(NamedTuple):
    """A client publishes a document under an id of its own."""

    id: str
    body: bytes


class ClientLeave(NamedTuple):
    """A client gives up everything; one that departs, when what is on its way to it has arrived."""


class ClientDepart(NamedTuple):
    """A client begins to move to another broker; it is told what it has, and may not change it."""


class ClientStay(NamedTuple):
    """A client that departs and has not left stays after all."""


class ClientArrive(NamedTuple):
    """A client begins to move here; what its subscriptions ask for is held until it has arrived."""

    subscriptions: int
    """How many it will have."""


class ClientArrived(NamedTuple):
    """A client has left where it was; there it need not get these documents."""

    documents: tuple[str, ...]
    is_last: bool = True
    unrest: str = ""
    """The latest that was known there."""


BrokerMessage: TypeAlias = (
    Hello
    | Reset
    | Advertise
    | Unadvertise
    | Subscribe
    | Unsubscribe
    | Publish
    | Sync
    | Synced
    | Unrest
    | Settle
    | Settled
    | Visited
    | Bye
    | Heartbeat
)
ClientMessage: TypeAlias = (
    ClientSubscribe
    | ClientUnsubscribe
    | ClientAdvertise
    | ClientUnadvertise
    | ClientPublish
    | ClientLeave
    | ClientDepart
    | ClientStay
    | ClientArrive
    | ClientArrived
)
Message: TypeAlias = BrokerMessage | ClientMessage


class Delivery(NamedTuple):
    """A document for a client, with those of its subscriptions that it satisfies."""

    client: str
    document: str
    ids: tuple[str, ...]
    body: bytes


class Notice(NamedTuple):
    """What a broker says to a client that moves; see `pathcast.network.handover`."""

    client: str
    kind: Literal["holds", "welcome", "ready", "departed", "ended"]
    messages: tuple[ClientMessage, ...] = ()
    """With ``holds``: what to say to the new broker."""
    documents: tuple[str, ...] = ()
    """With ``departed``: what this broker has seen."""
    is_last: bool = True
    unrest: str = ""
    """With ``departed``: the latest that it has heard of; who has heard of another is cut off from it."""


class Quarantined(NamedTuple):
    """A message that was refused, who sent it, and why."""

    sender: str
    reason: str
    data: bytes
