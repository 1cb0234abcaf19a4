"""Which settings a running broker takes from a file that has changed, and what happens to those who are gone.

A neighbour that is no longer in the file is left and not dropped: the link is used until the neighbour has
answered the goodbye, so nothing that is on its way is lost.
"""

from __future__ import annotations

from dataclasses import replace

from pathcast.network.transports.settings import BrokerSettings, SettingsError

FIXED = (
    "name",
    "kafka",
    "state",
    "parts",
    "max_message_bytes",
    "monitor_host",
    "monitor_port",
    "traced",
)
"""What only a restart changes."""


def successor(old: BrokerSettings, new: BrokerSettings) -> BrokerSettings:
    """The settings to go on with: the new ones, and the neighbours that are still to be left.

    >>> from pathcast.network.transports.settings import broker_settings
    >>> def made(names):
    ...     return broker_settings({"name": "b1", "neighbours": names, "kafka": {"bootstrap.servers": "h:1"}})
    >>> list(successor(made(["b2", "b3"]), made(["b3", "b4"])).neighbours)
    ['b3', 'b4', 'b2']
    """
    fixed = [key for key in FIXED if getattr(old, key) != getattr(new, key)]
    if fixed:
        raise SettingsError(f"{', '.join(fixed)} cannot change while the broker runs: start it again")
    gone = {name: peer for name, peer in old.neighbours.items() if name not in new.neighbours}
    return replace(new, neighbours={**new.neighbours, **gone})


def without(settings: BrokerSettings, neighbours: set[str]) -> BrokerSettings:
    """The settings when some neighbours have been left."""
    kept = {name: peer for name, peer in settings.neighbours.items() if name not in neighbours}
    return replace(settings, neighbours=kept)
