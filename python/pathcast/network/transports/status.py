"""What one broker says about itself and its links, as JSON that another process reads.

>>> Status.of(Broker("b1"), behind=0).path
('b1',)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from pathcast.network.broker import Broker
from pathcast.network.tree import Link

LinkState = Literal["tree", "spare", "silent", "leaving", "new"]


class StatusError(ValueError):
    """An answer that is not the status of a broker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkStatus:
    """A link, as one end sees it."""

    name: str
    """The neighbour."""
    state: LinkState
    """In the tree, spare on a cycle, silent for too long, given up, or not heard of yet."""
    leaf: bool
    wants: int
    """Filters that the neighbour has asked for."""
    told: int
    """Filters that it was asked for."""
    monitor: str | None = None
    """Where the neighbour shows its own status, if the settings say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A broker at one moment; counts are since its process was started."""

    broker: str
    path: tuple[str, ...]
    """Its way to the root."""
    calm: bool
    """Whether tables are trusted; otherwise documents are flooded."""
    clients: int
    filters: int
    advertisements: int
    documents: int
    delivered: int
    flooded: int
    quarantined: int
    behind: int
    links: tuple[LinkStatus, ...] = ()

    @classmethod
    def of(cls, broker: Broker, *, behind: int, monitors: Mapping[str, str] | None = None) -> Status:
        """The status of a broker; `monitors` says where its neighbours show theirs."""
        return cls(
            broker=broker.name,
            path=broker.path,
            calm=broker.agreement.is_calm,
            clients=len(broker.clients),
            filters=len(broker.publications.entries),
            advertisements=len(broker.subscriptions.publishers),
            documents=broker.counters.documents,
            delivered=broker.counters.delivered,
            flooded=broker.counters.flooded,
            quarantined=broker.counters.quarantined,
            behind=behind,
            links=tuple(_link(broker, each, monitors or {}) for each in broker.links.values()),
        )

    def values(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def read(cls, values: Any) -> Status:
        """From JSON that somebody sent; `StatusError` says what is wrong with it.

        >>> Status.read(Status.of(Broker("b1"), behind=3).values()).behind
        3
        """
        table = _checked(values, _TYPES)
        links = [_checked(each, _LINK_TYPES) for each in table.pop("links")]
        for each in links:
            if each["state"] not in get_args(LinkState):
                raise StatusError(f"a link cannot be {each['state']!r}")
        path = table.pop("path")
        if not all(isinstance(each, str) for each in path):
            raise StatusError("path must be a list of names")
        return cls(**table, path=tuple(path), links=tuple(LinkStatus(**each) for each in links))


_COUNTS = (
    "clients",
    "filters",
    "advertisements",
    "documents",
    "delivered",
    "flooded",
    "quarantined",
    "behind",
)
_TYPES: dict[str, tuple[type, ...]] = {
    "broker": (str,),
    "path": (list, tuple),
    "calm": (bool,),
    "links": (list, tuple),
    **dict.fromkeys(_COUNTS, (int,)),
}
_LINK_TYPES: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "state": (str,),
    "leaf": (bool,),
    "wants": (int,),
    "told": (int,),
    "monitor": (str, type(None)),
}


def _checked(values: Any, types: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """The values that are known, each of its type. More may be there: another version says more."""
    if not isinstance(values, Mapping):
        raise StatusError("it is not an object")
    for key, wanted in types.items():
        if key not in values or not isinstance(values[key], wanted):
            raise StatusError(f"{key} is missing or of another type")
    return {key: values[key] for key in types}


def _link(broker: Broker, link: Link, monitors: Mapping[str, str]) -> LinkStatus:
    side = broker.publications.sides.get(link.name)
    return LinkStatus(
        name=link.name,
        state=_state(link),
        leaf=link.is_leaf,
        wants=link.filters,
        told=0 if side is None else len(side.told),
        monitor=monitors.get(link.name),
    )


def _state(link: Link) -> LinkState:
    if link.is_leaving:
        return "leaving"
    if link.is_suspected:
        return "silent"
    if link.is_used:
        return "tree"
    return "spare" if link.path else "new"
