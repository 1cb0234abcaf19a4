"""A broker of several parts, which several processes share.

Each part is a broker of its own, with a state of its own, and serves some of the clients: a client's name
says which, so what one publisher sends stays in one order. The first part has the broker's name and its
neighbours. The others are linked with it alone and are called ``NAME.1``, ``NAME.2`` and so on. All share
the topics to which clients write and from which they read, so nobody outside can tell how many there are.

Documents pass from part to part as they do between brokers. So there is nothing that two processes change,
and everything that holds for a network with several brokers holds for the parts of one.

>>> from pathcast.network.transports.settings import broker_settings
>>> made = parts(broker_settings({"name": "berlin", "parts": 2, "clients": ["ann", "bob"],
...                               "kafka": {"bootstrap.servers": "localhost:9092"}}))
>>> [(part.name, list(part.neighbours), list(part.clients)) for part in made]
[('berlin', ['berlin.1'], ['bob']), ('berlin.1', ['berlin'], ['ann'])]
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

from pathcast.network.transports.settings import BrokerSettings, Peer


def part_of(client: str, number: int) -> int:
    """Which of so many parts serves a client; the same for ever."""
    return int.from_bytes(blake2b(client.encode(), digest_size=8).digest(), "big") % number


def parts(settings: BrokerSettings) -> list[BrokerSettings]:
    """The settings of each part."""
    if settings.parts == 1:
        return [settings]
    others = range(1, settings.parts)
    linked = {_name(settings, each): _other(settings, each) for each in others}
    first = replace(settings, neighbours={**settings.neighbours, **linked}, clients=_clients(settings, 0))
    return [first, *(_part(settings, each) for each in others)]


def _part(settings: BrokerSettings, number: int) -> BrokerSettings:
    inbox, back = _between(settings, number)
    first = Peer(
        name=settings.name,
        principal=settings.principal,
        sent_to=back,
        speaks_on=inbox,
        monitor=_monitor(settings, 0),
    )
    return replace(
        settings,
        name=_name(settings, number),
        inbox=inbox,
        state=f"{settings.state}.{number}",
        neighbours={settings.name: first},
        clients=_clients(settings, number),
        policy=replace(settings.policy, leaves=frozenset()),
        monitor_port=_port(settings, number),
    )


def _other(settings: BrokerSettings, number: int) -> Peer:
    """A part as the first one sees it."""
    inbox, back = _between(settings, number)
    return Peer(
        name=_name(settings, number),
        principal=settings.principal,
        sent_to=inbox,
        speaks_on=back,
        monitor=_monitor(settings, number),
    )


def _between(settings: BrokerSettings, number: int) -> tuple[str, str]:
    """The topics between the first part and another: there, and back."""
    return f"{settings.inbox}.{number}", f"{settings.inbox}.from.{number}"


def _name(settings: BrokerSettings, number: int) -> str:
    return f"{settings.name}.{number}"


def _clients(settings: BrokerSettings, number: int) -> dict[str, Peer]:
    return {name: peer for name, peer in settings.clients.items() if part_of(name, settings.parts) == number}


def _port(settings: BrokerSettings, number: int) -> int | None:
    return None if settings.monitor_port is None else settings.monitor_port + number


def _monitor(settings: BrokerSettings, number: int) -> str | None:
    return None if settings.monitor_port is None else f"{settings.monitor_host}:{_port(settings, number)}"
