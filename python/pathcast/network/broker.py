"""A broker without input and output: messages in, messages out, time passed in.

A broker knows its neighbours and its clients. `handle_*` takes one event and gives an `Outcome`; nothing
here opens a socket, reads a clock or draws a number, so a whole network of brokers runs in one process
under one seed, and the same code runs on a real transport. Everything a broker must not forget is in the
records of its outcomes, and `restored` makes a broker of them.

Documents go where the publication routing table says (`pathcast.network.publications`), subscriptions where
the subscription routing table says (`pathcast.network.subscriptions`), both along a tree
(`pathcast.network.tree`). While the tables cannot be trusted, documents go everywhere
(`pathcast.network.agreement`). After "Routing of XML and XPath Queries in Data Dissemination Networks".

>>> from pathcast.network.message import ClientPublish, ClientSubscribe, Filter
>>> broker = Broker("b1")
>>> _ = broker.handle_client("ann", ClientSubscribe("s1", Filter("//item[@lang='en']")), now=0.0)
>>> broker.handle_client("news", ClientPublish("1", b"<item lang='en'/>"), now=1.0).deliveries
[Delivery(client='ann', document='b1/news/1', ids=('s1',), body=b"<item lang='en'/>")]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from pathcast import _core
from pathcast.errors import AdvertisementError, DocumentError, XPathError, printable
from pathcast.network import message as m
from pathcast.network.agreement import Agreement
from pathcast.network.handover import Handover
from pathcast.network.liveness import Liveness
from pathcast.network.message import Advertised, BrokerMessage, ClientMessage, Filter, Publish, Quarantined
from pathcast.network.outcome import Counters, Outcome, Rates, RefusedError
from pathcast.network.policy import Policy
from pathcast.network.publications import Publications
from pathcast.network.routing import Router, document_id
from pathcast.network.seen import Kept, Seen
from pathcast.network.state import Store
from pathcast.network.subscriptions import ConflictError, Subscriptions
from pathcast.network.trace import SHOWN, Step
from pathcast.network.tree import Link, best_path, is_sound, is_used
from pathcast.network.wire import WireError, advertised_fields, decode, encode, filter_fields


@dataclass(slots=True)
class Client:
    """What a client of this broker has asked for."""

    filters: dict[str, Filter] = field(default_factory=dict)
    advertised: dict[str, tuple[str, Advertised]] = field(default_factory=dict)
    """By its own id: the id in the network, and the paths."""


class Broker:
    """One broker of the network."""

    def __init__(self, name: str, policy: Policy | None = None) -> None:
        if not name:
            raise ValueError("a broker needs a name")
        self.name = name
        self.policy = policy or Policy()
        self.store = Store(self.policy.durable)
        self.cover = _core.Cover(self.policy.limits, self.policy.seed)
        self.subscriptions = Subscriptions(
            name, self.cover, self.store, covering=self.policy.covering, leaves=self.policy.leaves
        )
        self.publications = Publications(self.policy, self.cover, self.store, self.subscriptions.names)
        self.links: dict[str, Link] = {}
        self.clients: dict[str, Client] = {}
        self.path: tuple[str, ...] = (name,)
        self.counters = Counters()
        self.epochs: dict[str, tuple[int, int]] = {}
        """By former neighbour: the epoch, and how much it was told."""
        self.advertised_before = 0
        self.seen = Seen(self.policy.remembered, self.store)
        bounds = (self.policy.flooded, self.policy.flooded_bytes, self.store)
        self.flooded = Kept("flooded", *bounds)
        self.published = Kept("published", *bounds)
        """What clients have published since the last unrest, and what was not flooded."""
        self.router = Router(self)
        self.agreement = Agreement(self, self.store)
        self.liveness = Liveness(self)
        self.handover = Handover(self, self.store)
        self.is_leaving = False
        self.rates = Rates(self.policy.rate, self.policy.burst, self.policy.total_rate)
        self._redirected: set[str] = set()
        self._kept: dict[str, Link] = {}
        self._advertised_changed = False
        if self.policy.merging is not None and self.policy.merging.advertised is not None:
            number = self.subscriptions.number(self.policy.merging.advertised)
            self.publications.fallback = [number]

    # -- events --------------------------------------------------------------------------------------------

    def handle_link_up(self, neighbour: str, now: float) -> Outcome:
        """A link to a neighbour is there."""
        out = Outcome()
        if neighbour == self.name:
            raise ValueError(f"{self.name} cannot be its own neighbour")
        if neighbour not in self.links:
            epoch, told = self.epochs.get(neighbour, (1, 0))
            link = self.links[neighbour] = Link(neighbour, epoch, told=told, asked=told, synced=told)
            link.is_leaf = neighbour in self.policy.leaves
            self.keep(link)
            self.router.repeat(out, neighbour)
            before = self.agreement.stamp
            self.agreement.disturb(out)
            if self.agreement.stamp == before:
                self.agreement.introduce(out, link)
            self.send(out, neighbour, m.Hello(self.path, link.epoch))
        return self.finish(out)

    def handle_link_down(self, neighbour: str, now: float, undelivered: Iterable[Publish] = ()) -> Outcome:
        """A link is gone for good; what the neighbour wanted and advertised is forgotten.

        `undelivered` are documents that were sent to the neighbour and may not have arrived. They are flooded
        over the other links, and given to the next neighbour that comes.
        """
        out = Outcome()
        link = self.links.pop(neighbour, None)
        if link is not None:
            self.agreement.disturb(out)
            self._close(link)
            self.epochs[neighbour] = (link.epoch, link.told)
            self.store.put(("epoch", neighbour), {"epoch": link.epoch, "told": link.told})
            self._kept.pop(neighbour, None)
            self.liveness.forget(neighbour)
            self.store.drop(("link", neighbour))
            self.review(out)
        for each in undelivered:
            self.router.flood(out, neighbour, each, f"broker {neighbour} is gone")
        return self.finish(out)

    def handle_leave(self, neighbour: str | None, now: float) -> Outcome:
        """Give up the link to a neighbour, or to all of them because this broker leaves the network.

        A link has been left when `has_left` says so. Until then the broker goes on passing documents.
        """
        out = Outcome()
        self.is_leaving = self.is_leaving or neighbour is None
        for link in list(self.links.values()):
            if (neighbour is None or link.name == neighbour) and not link.is_leaving:
                self.agreement.disturb(out)
                link.is_leaving = True
                self._leave(out, link)
        return self.finish(out)

    @property
    def has_left(self) -> bool:
        """Whether no document can come from any neighbour that this broker has said goodbye to."""
        return all(link.said_bye for link in self.links.values() if link.is_leaving)

    def handle_tick(self, now: float) -> Outcome:
        """Time passes: heartbeats are due, and neighbours that are silent for too long are suspected.

        A transport that never calls this suspects nobody.
        """
        out = Outcome()
        self.liveness.tick(out, now)
        return self.finish(out)

    def handle_bytes(self, kind: str, sender: str, data: bytes, now: float) -> Outcome:
        """A message as bytes, from a ``"broker"`` or a ``"client"``; what cannot be read is quarantined."""
        try:
            message = decode(data, self.policy.wire)
        except WireError as error:
            return self._refuse(Outcome(), f"{kind} {sender}", str(error), data)
        if kind == "broker" and isinstance(message, m.BrokerMessage):
            return self.handle_message(sender, message, now)
        if kind == "client" and isinstance(message, m.ClientMessage):
            return self.handle_client(sender, message, now)
        return self._refuse(Outcome(), f"{kind} {sender}", f"a {kind} does not send such messages", data)

    def handle_message(self, neighbour: str, message: BrokerMessage, now: float) -> Outcome:
        """A message from a neighbour."""
        out = Outcome()
        kind = type(message).__name__
        self.counters.received[kind] = self.counters.received.get(kind, 0) + 1
        sender = f"broker {neighbour}"
        link = self.links.get(neighbour)
        try:
            if link is None:
                raise RefusedError("it is not a neighbour")
            self._admit(sender, now)
            self.liveness.heard(out, link, message)
            if isinstance(message, Publish):
                self.router.arrive(out, neighbour, message)
            elif type(message) in _OF_LINKS:
                _OF_LINKS[type(message)](self, out, link, message)
            elif link.is_current:
                _FROM_BROKER[type(message)](self, link, message)
            else:
                self.counters.ignored += 1
        except (RefusedError, XPathError, AdvertisementError, DocumentError, ConflictError) as error:
            self._refuse(out, sender, str(error), encode(message))
            if isinstance(message, Publish):
                out.steps.append(Step(message.document, "refused", sender, str(error)[:SHOWN]))
        return self.finish(out)

    def handle_client(self, client: str, message: ClientMessage, now: float) -> Outcome:
        """A message from a client."""
        out = Outcome()
        kind = type(message).__name__
        self.counters.received[kind] = self.counters.received.get(kind, 0) + 1
        sender = f"client {client}"
        try:
            self._admit(sender, now)
            if self.handover.handle(out, client, message):
                pass
            elif isinstance(message, m.ClientPublish):
                self._publish(out, client, message)
            else:
                _FROM_CLIENT[type(message)](self, client, message)
        except (RefusedError, XPathError, AdvertisementError, DocumentError) as error:
            self._refuse(out, sender, str(error), encode(message))
            if isinstance(message, m.ClientPublish):
                document = document_id(self.name, client, message.id)
                out.steps.append(Step(document, "refused", sender, str(error)[:SHOWN]))
        return self.finish(out)

    # -- neighbours ----------------------------------------------------------------------------------------

    def _hello(self, out: Outcome, link: Link, hello: m.Hello) -> None:
        if not is_sound(hello, link.name):
            raise RefusedError("its way to the root cannot be right")
        link.path, link.theirs = hello.path, hello.epoch
        self.keep(link)
        self.review(out)

    def _unrest(self, out: Outcome, link: Link, unrest: m.Unrest) -> None:
        self.agreement.hear(out, link, unrest)

    def _wave(self, out: Outcome, link: Link, message: m.Settle | m.Settled | m.Visited) -> None:
        self.agreement.wave(link, message)

    def _synced(self, out: Outcome, link: Link, message: m.Synced) -> None:
        self.agreement.synced(link, message)

    def _sync(self, link: Link, message: m.Sync) -> None:
        self.agreement.asked(link, message)

    def _heartbeat(self, out: Outcome, link: Link, message: m.Heartbeat) -> None:
        pass

    def _bye(self, out: Outcome, link: Link, message: m.Bye) -> None:
        link.said_bye = True
        self.keep(link)
        if not link.is_leaving:
            self._disturb(out, link)
            link.is_leaving = link.is_deserted = True
            self._leave(out, link)

    def _leave(self, out: Outcome, link: Link) -> None:
        """Use a link no more. What was said by it before counts until this side has found another way."""
        self.keep(link)
        self.review(out)
        self.send(out, link.name, m.Bye())

    def review(self, out: Outcome) -> None:
        """After something about links has changed: which way is the root, and which links are used."""
        path = best_path(self.name, self.links, self.policy.roots)
        if path != self.path:
            if path[1:2] != self.path[1:2]:
                self.agreement.disturb(out)
            self.path = path
            self.store.put(("path",), {"path": path})
            for link in self.links.values():
                self.send(out, link.name, m.Hello(path, link.epoch))
        for link in self.links.values():
            used = is_used(self.name, path, link)
            if link.is_used and not used:
                self._disturb(out, link)
                self._close(link)
                self.keep(link)
                self.send(out, link.name, m.Hello(path, link.epoch))
            if used and (not link.is_used or link.sent_for != link.theirs):
                self._open(out, link)

    def _disturb(self, out: Outcome, link: Link) -> None:
        """What was known by a link is not known any more. A leaf is not waited for: it gets everything."""
        if not link.is_leaf:
            self.agreement.disturb(out)

    def _open(self, out: Outcome, link: Link) -> None:
        """Tell a neighbour everything, from the beginning."""
        self._disturb(out, link)
        self.publications.close_side(link.name)
        self.subscriptions.close(link.name)
        self.agreement.restart(link)
        link.is_used, link.sent_for = True, link.theirs
        self.keep(link)
        self.send(out, link.name, m.Reset(link.theirs))
        self.publications.open_side(link.name, self.subscriptions.from_neighbour(link.name))
        self.subscriptions.open(link.name)
        self._advertised_changed = True

    def _close(self, link: Link) -> None:
        """Forget what a neighbour said and was told."""
        self._empty(link.name)
        self.publications.close_side(link.name)
        self.subscriptions.close(link.name)
        self.agreement.restart(link)
        link.is_used = link.is_current = link.is_complete = False
        link.sent_for = 0
        link.epoch += 1

    def _reset(self, out: Outcome, link: Link, reset: m.Reset) -> None:
        if reset.epoch > link.epoch:
            raise RefusedError(f"epoch {reset.epoch} has not been")
        link.is_current = link.is_used and reset.epoch == link.epoch
        link.is_complete, link.owes = False, 0
        if link.is_current:
            self._disturb(out, link)
            self._empty(link.name)
        elif not link.is_used and reset.epoch == link.epoch:
            # It will be needed again when the link is used: the neighbour must know that it was not taken.
            link.epoch += 1
            self.send(out, link.name, m.Hello(self.path, link.epoch))
        self.keep(link)

    def _empty(self, neighbour: str) -> None:
        """Forget what a neighbour wants and advertises."""
        held = [entry.filter for entry in self.publications.entries.values() if neighbour in entry.neighbours]
        for filter in held:
            self.publications.release_neighbour(filter, neighbour)
        for id in list(self.subscriptions.held_by(neighbour)):
            self.subscriptions.release_neighbour(id, neighbour)
            self._advertised_changed = True
        if neighbour in self.links:
            self.links[neighbour].filters = 0
        self._redirected.add(neighbour)

    def _subscribe(self, link: Link, message: m.Subscribe) -> None:
        if link.filters >= self.policy.max_filters:
            raise RefusedError(f"it has {self.policy.max_filters:,} filters, the most that are taken")
        if not self.publications.hold_for_neighbour(message.filter, link.name):
            raise RefusedError("it has already subscribed to that")
        link.filters += 1

    def _unsubscribe(self, link: Link, message: m.Unsubscribe) -> None:
        if not self.publications.release_neighbour(message.filter, link.name):
            raise RefusedError("it has not subscribed to that")
        link.filters -= 1

    def _advertise(self, link: Link, message: m.Advertise) -> None:
        if len(self.subscriptions.held_by(link.name)) >= self.policy.max_advertisements:
            raise RefusedError(
                f"it has {self.policy.max_advertisements:,} advertisements, the most that are taken"
            )
        if link.is_leaf and not message.id.startswith(f"{link.name}/"):
            raise RefusedError("it is a leaf and advertises for others")
        if not self.subscriptions.hold_for_neighbour(message.id, message.advertised, link.name):
            raise RefusedError("it has already advertised that")
        self._redirected.add(link.name)
        self._advertised_changed = True

    def _unadvertise(self, link: Link, message: m.Unadvertise) -> None:
        if not self.subscriptions.release_neighbour(message.id, link.name):
            raise RefusedError("it has not advertised that")
        self._redirected.add(link.name)
        self._advertised_changed = True

    # -- clients -------------------------------------------------------------------------------------------

    def _client_subscribe(self, name: str, message: m.ClientSubscribe) -> None:
        client = self.known(name)
        old = client.filters.get(message.id)
        if old == message.filter:
            return
        if old is None and len(client.filters) >= self.policy.max_filters:
            raise RefusedError(f"it has {self.policy.max_filters:,} subscriptions, the most that are taken")
        self.publications.hold_for_client(message.filter, name, message.id)
        self.clients[name] = client
        client.filters[message.id] = message.filter
        self.store.put(("client-sub", name, message.id), filter_fields(message.filter))
        self.agreement.subscribed(name, message.id)
        if old is not None:
            self.publications.release_client(old, name, message.id)

    def _client_unsubscribe(self, name: str, message: m.ClientUnsubscribe) -> None:
        client = self.clients.get(name)
        if client is None or message.id not in client.filters:
            raise RefusedError("it has no such subscription")
        filter = client.filters.pop(message.id)
        self.store.drop(("client-sub", name, message.id))
        self.agreement.unsubscribed(name, message.id)
        self.publications.release_client(filter, name, message.id)
        self._tidy(name)

    def _client_advertise(self, name: str, message: m.ClientAdvertise) -> None:
        client = self.known(name)
        old = client.advertised.get(message.id)
        if old is not None and old[1] == message.advertised:
            return
        if len(client.advertised) >= self.policy.max_advertisements:
            raise RefusedError(
                f"it has {self.policy.max_advertisements:,} advertisements, the most that are taken"
            )
        id = f"{self.name}/{self.advertised_before}"
        self.subscriptions.hold_local(id, message.advertised)
        self.advertised_before += 1
        self.store.put(("advertised",), {"before": self.advertised_before})
        self.clients[name] = client
        client.advertised[message.id] = (id, message.advertised)
        self.store.put(("client-adv", name, message.id), {"as": id, **advertised_fields(message.advertised)})
        if old is not None:
            self.subscriptions.release_local(old[0])
        self._advertised_changed = True

    def _client_unadvertise(self, name: str, message: m.ClientUnadvertise) -> None:
        client = self.clients.get(name)
        if client is None or message.id not in client.advertised:
            raise RefusedError("it has no such advertisement")
        id, _ = client.advertised.pop(message.id)
        self.store.drop(("client-adv", name, message.id))
        self.subscriptions.release_local(id)
        self._advertised_changed = True
        self._tidy(name)

    def _client_leave(self, name: str, message: m.ClientLeave) -> None:
        self.drop_client(name)

    def drop_client(self, name: str) -> None:
        """Forget everything of a client."""
        client = self.clients.get(name)
        if client is not None:
            for id in list(client.filters):
                self._client_unsubscribe(name, m.ClientUnsubscribe(id))
            for id in list(client.advertised):
                self._client_unadvertise(name, m.ClientUnadvertise(id))
        self.handover.forget(name)

    def _tidy(self, name: str) -> None:
        client = self.clients[name]
        if not client.filters and not client.advertised:
            del self.clients[name]
            if name not in self.handover.arriving:
                self.handover.forget(name)

    def _publish(self, out: Outcome, client: str, message: m.ClientPublish) -> None:
        if len(message.body) > self.policy.wire.body_bytes:
            raise RefusedError(f"the document has more than {self.policy.wire.body_bytes:,} bytes")
        document = document_id(self.name, client, message.id)
        mark = blake2b(message.body, digest_size=8).hexdigest()
        before = self.seen.mark(document)
        if before is not None:
            self.counters.duplicates += 1
            if before != mark:
                raise RefusedError(f"the id {message.id!r} was used before for another document")
            out.steps.append(Step(document, "again", f"client {client}"))
            return
        self.router.publish(out, client, document, mark, message.body)

    # -- the end of a step ---------------------------------------------------------------------------------

    def _admit(self, sender: str, now: float) -> None:
        if not self.rates.admits(sender, now):
            raise RefusedError("more messages a second than are allowed")

    def known(self, name: str) -> Client:
        """A client, or a place for a new one."""
        client = self.clients.get(name)
        if client is None and len(self.clients) >= self.policy.max_clients:
            raise RefusedError(f"there are {self.policy.max_clients:,} clients, the most that are taken")
        return client or Client()

    def keep(self, link: Link) -> None:
        """A link has changed and is recorded at the end of the step."""
        self._kept[link.name] = link

    def send(self, out: Outcome, neighbour: str, message: BrokerMessage) -> None:
        """A message for a neighbour."""
        kind = type(message)
        self.counters.sent[kind.__name__] = self.counters.sent.get(kind.__name__, 0) + 1
        if kind in _TOLD:
            link = self.links[neighbour]
            self.agreement.told(link, message)
            self.keep(link)
        self.liveness.sent(neighbour)
        out.messages.append((neighbour, message))

    def _refuse(self, out: Outcome, sender: str, reason: str, data: bytes) -> Outcome:
        self.counters.quarantined += 1
        out.quarantined.append(Quarantined(sender, reason, data))
        out.notes.append(printable(f"{sender}: a message was quarantined: {reason}"))
        return out

    def finish(self, out: Outcome) -> Outcome:
        """Tell neighbours what has changed for them, and keep it."""
        self._settle(out)
        while self.handover.progress(out):
            self._settle(out)
        for link in self._kept.values():
            self.store.put(("link", link.name), link.values())
        self._kept.clear()
        out.records = self.store.taken()
        return out

    def _settle(self, out: Outcome) -> None:
        if self._advertised_changed and self.policy.advertisements:
            for link in self.links.values():
                if link.is_used:
                    for advert in self.subscriptions.settled(link.name):
                        self.send(out, link.name, advert)
        self._advertised_changed = False
        for name in sorted(self._redirected):
            if name in self.publications.sides:
                advertised = self.subscriptions.from_neighbour(name)
                self.publications.readvertised(name, advertised, self.subscriptions.turned(name))
        self._redirected.clear()
        for name, told in self.publications.settled():
            self.send(out, name, told)
        self.agreement.settle(out)
        self.agreement.progress(out)
        self.agreement.confirm(out)
        self.handover.confirmed(out)


_FROM_BROKER: dict[type[Any], Callable[[Broker, Link, Any], None]] = {
    m.Subscribe: Broker._subscribe,
    m.Unsubscribe: Broker._unsubscribe,
    m.Advertise: Broker._advertise,
    m.Unadvertise: Broker._unadvertise,
    m.Sync: Broker._sync,
}
_TOLD = frozenset([m.Reset, m.Advertise, m.Unadvertise, m.Subscribe, m.Unsubscribe])
"""Routing state: what a neighbour answers for."""
_OF_LINKS: dict[type[Any], Callable[[Broker, Outcome, Link, Any], None]] = {
    m.Hello: Broker._hello,
    m.Reset: Broker._reset,
    m.Synced: Broker._synced,
    m.Unrest: Broker._unrest,
    m.Settle: Broker._wave,
    m.Settled: Broker._wave,
    m.Visited: Broker._wave,
    m.Bye: Broker._bye,
    m.Heartbeat: Broker._heartbeat,
}
_FROM_CLIENT: dict[type[Any], Callable[[Broker, str, Any], None]] = {
    m.ClientSubscribe: Broker._client_subscribe,
    m.ClientUnsubscribe: Broker._client_unsubscribe,
    m.ClientAdvertise: Broker._client_advertise,
    m.ClientUnadvertise: Broker._client_unadvertise,
    m.ClientLeave: Broker._client_leave,
}
