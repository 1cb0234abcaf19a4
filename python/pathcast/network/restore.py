"""A broker as records, and a broker from records.

What the tables hold is rebuilt by doing again what the records say. What neighbours have been told is a
record of its own, because the same subscriptions may be covered or merged differently when they come in
another order: where the rebuilt tables want something else, the neighbours are told. Under the policy of
before, what they were told is right as it is, and covering is found out later
(`pathcast.network.publications`).
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import Any

from pathcast.network.broker import Broker, Client
from pathcast.network.message import Advertised, Filter
from pathcast.network.outcome import Outcome
from pathcast.network.policy import Policy
from pathcast.network.state import VERSION, Key, Record, StateError, Store, read_records
from pathcast.network.tree import Link
from pathcast.network.wire import advertised_fields, filter_fields, read_variables


def snapshot(broker: Broker) -> list[Record]:
    """The whole state of a broker."""
    store = Store(True)
    store.put(("broker",), _of_broker(broker))
    store.put(("path",), {"path": broker.path})
    store.put(("unrest",), broker.agreement.values())
    store.put(("advertised",), {"before": broker.advertised_before})
    for name, (epoch, told) in broker.epochs.items():
        store.put(("epoch", name), {"epoch": epoch, "told": told})
    for link in broker.links.values():
        store.put(("link", link.name), link.values())
    for name, client in broker.clients.items():
        for id, (known_as, advertised) in client.advertised.items():
            store.put(("client-adv", name, id), {"as": known_as, **advertised_fields(advertised)})
        for id, filter in client.filters.items():
            store.put(("client-sub", name, id), filter_fields(filter))
    for publisher in broker.subscriptions.publishers.values():
        for neighbour in sorted(publisher.neighbours):
            store.put(("adv", neighbour, publisher.id), advertised_fields(publisher.advertised))
    for neighbour in broker.subscriptions.informed:
        for id in broker.subscriptions.told_ids(neighbour):
            store.put(("told-adv", neighbour, id), {})
    for entry in broker.publications.entries.values():
        for neighbour in sorted(entry.neighbours):
            store.put(("sub", neighbour, *entry.filter), {})
    for side in broker.publications.sides.values():
        for filter in side.told:
            store.put(("told", side.name, *filter), {})
    for document, mark in broker.seen.marks.items():
        store.put(("doc", document), {"mark": mark})
    broker.handover.snapshot(store.put)
    for kept in (broker.flooded, broker.published):
        for each in kept.messages():
            store.put((kept.kind, each.document, each.path), {"body": each.body.decode("latin-1")})
    return store.taken()


def restored(
    name: str, records: Iterable[Record | tuple[bytes, bytes | None]], policy: Policy | None = None
) -> tuple[Broker, Outcome]:
    """The broker that records leave behind, and what it wants done at once; `StateError` when they are
    damaged.

    >>> from pathcast.network.message import ClientSubscribe
    >>> broker = Broker("b1")
    >>> _ = broker.handle_client("ann", ClientSubscribe("s1", Filter("//a")), now=0.0)
    >>> again, outcome = restored("b1", snapshot(broker))
    >>> again.clients["ann"].filters, outcome.messages
    ({'s1': Filter(xpath='//a', ordered=False, namespaces=(), variables=())}, [])
    """
    # Next to nothing of what is made here is garbage, and the collector would look for it again and again.
    collects = gc.isenabled()
    gc.disable()
    try:
        return _restored(name, records, policy)
    finally:
        if collects:
            gc.enable()


def _restored(
    name: str, records: Iterable[Record | tuple[bytes, bytes | None]], policy: Policy | None
) -> tuple[Broker, Outcome]:
    state = read_records(records)
    kept = state.pop(("broker",), {"version": VERSION, "name": name})
    if kept.get("version") != VERSION:
        raise StateError(f"the state has version {kept.get('version')!r}, and {VERSION} is known")
    if kept.get("name") != name:
        raise StateError(f"the state is that of {kept.get('name')!r}, not of {name!r}")
    broker = Broker(name, policy)
    try:
        is_trusted = kept.get("routing") == broker.policy.routing
        out = _Restoring(broker, state, is_trusted).run()
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, StateError):
            raise
        raise StateError(f"the state of {name!r} is damaged: {type(error).__name__}: {error}") from error
    return broker, out


class _Restoring:
    def __init__(self, broker: Broker, state: dict[Key, dict[str, Any]], is_trusted: bool) -> None:
        self.broker = broker
        self.is_trusted = is_trusted
        """Whether neighbours were told what this policy tells them."""
        self.is_other = False
        """Whether other neighbours are leaves than before."""
        self.by_kind: dict[str, list[tuple[Key, dict[str, Any]]]] = {}
        for key, value in state.items():
            self.by_kind.setdefault(str(key[0]), []).append((key[1:], value))
        unknown = set(self.by_kind) - _KNOWN
        if unknown:
            raise StateError(f"the state has records of the kind {min(unknown)!r}, which is not known")

    def kind(self, name: str) -> list[tuple[Key, dict[str, Any]]]:
        return self.by_kind.get(name, [])

    def run(self) -> Outcome:
        broker = self.broker
        for _, value in self.kind("advertised"):
            broker.advertised_before = int(value["before"])
        for (name,), value in self.kind("epoch"):
            broker.epochs[name] = (int(value["epoch"]), int(value["told"]))
        for (name,), value in self.kind("link"):
            link = broker.links[name] = Link.of(name, value)
            link.is_leaf = name in broker.policy.leaves
            self.is_other |= link.is_leaf != bool(value.get("is_leaf", link.is_leaf))
        for (document,), value in self.kind("doc"):
            broker.seen.marks[document] = str(value["mark"])
        for kept in (broker.flooded, broker.published):
            for (document, path), value in self.kind(kept.kind):
                kept.restore(document, path, str(value["body"]))
        broker.handover.restore(self.kind)
        for _, value in self.kind("unrest"):
            broker.agreement.restore(value)
        self._advertisements()
        self._filters()
        for _, value in self.kind("path"):
            broker.path = tuple(map(str, value["path"]))
        if broker.path[0] != broker.name or not set(broker.path[1:2]) <= set(broker.links):
            raise StateError(f"the way of {broker.name!r} to the root does not fit its links")
        out = self._open_sides()
        if self.is_other:
            broker.agreement.disturb(out)
        # The roots may be others than before.
        broker.review(out)
        for client, known in broker.clients.items():
            for id in known.filters:
                broker.agreement.subscribed(client, id)
        broker.store.put(("broker",), _of_broker(broker))
        return broker.finish(out)

    def _advertisements(self) -> None:
        broker = self.broker
        for (client, id), value in self.kind("client-adv"):
            advertised = _advertised(value)
            broker.clients.setdefault(client, Client()).advertised[id] = (str(value["as"]), advertised)
            broker.subscriptions.hold_local(str(value["as"]), advertised)
        for (neighbour, id), value in self.kind("adv"):
            broker.subscriptions.hold_for_neighbour(id, _advertised(value), neighbour)

    def _filters(self) -> None:
        broker = self.broker
        held: list[tuple[Filter, str, str | None]] = []
        for (client, id), value in self.kind("client-sub"):
            filter = Filter(str(value["xpath"])) if len(value) == 1 else _client_filter(value)
            broker.clients.setdefault(client, Client()).filters[id] = filter
            held.append((filter, client, id))
        for (neighbour, *parts), _ in self.kind("sub"):
            broker.links[neighbour].filters += 1
            held.append((_filter(parts), neighbour, None))
        broker.publications.restore(held)

    def _open_sides(self) -> Outcome:
        broker = self.broker
        out = Outcome()
        told: dict[str, list[Filter]] = {}
        for (neighbour, *parts), _ in self.kind("told"):
            told.setdefault(neighbour, []).append(_filter(parts))
        known: dict[str, list[str]] = {}
        for (neighbour, id), _ in self.kind("told-adv"):
            known.setdefault(neighbour, []).append(id)
        # What was done again to fill the tables is on record already.
        broker.store.taken()
        for link in broker.links.values():
            if not link.is_used:
                continue
            broker.publications.open_side(
                link.name,
                broker.subscriptions.from_neighbour(link.name),
                told.get(link.name, ()),
                later=self.is_trusted,
            )
            broker.subscriptions.open(link.name, known.get(link.name))
            if broker.policy.advertisements:
                for advert in broker.subscriptions.settled(link.name):
                    broker.send(out, link.name, advert)
        return out


_KNOWN = frozenset(
    [
        "path",
        "unrest",
        "flooded",
        "published",
        "advertised",
        "epoch",
        "link",
        "client-adv",
        "client-sub",
        "adv",
        "told-adv",
        "sub",
        "told",
        "doc",
        "departing",
        "arriving",
        "held",
        "arrived",
    ]
)


def _advertised(value: dict[str, Any]) -> Advertised:
    return Advertised(tuple(map(str, value["texts"])), tuple(sorted(value.get("namespaces", {}).items())))


def _of_broker(broker: Broker) -> dict[str, Any]:
    return {"version": VERSION, "name": broker.name, "routing": broker.policy.routing}


def _client_filter(value: dict[str, Any]) -> Filter:
    return Filter.of(
        value["xpath"],
        ordered=bool(value.get("ordered")),
        namespaces=value.get("namespaces"),
        variables=read_variables(value["variables"]) if "variables" in value else None,
    )


def _filter(parts: list[Any]) -> Filter:
    xpath, ordered, namespaces, *variables = parts  # states of before had no variables
    if not namespaces and not any(variables):
        return Filter(str(xpath), bool(ordered))
    pairs = [tuple((str(name), str(value)) for name, value in each) for each in (namespaces, *variables)]
    return Filter(str(xpath), bool(ordered), *pairs)
