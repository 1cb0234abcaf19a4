"""What a broker may be told to do differently: the strategies of the paper, and the bounds on strangers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pathcast.limits import Limits
from pathcast.network.message import Advertised
from pathcast.network.wire import WireLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """Which expressions are replaced by one that covers them."""

    max_degree: float = 0.0
    """The share of paths that a merger may select and no member does; 0 allows perfect ones only."""
    rules: tuple[int, ...] = (1,)
    """1: one name differs. 2: two things differ, names or operators. 3: a part in the middle differs.
    4: values differ."""
    depth: int = 12
    """Levels down to which paths are counted."""
    advertised: Advertised | None = None
    """Where paths are counted when the neighbour has advertised nothing."""

    def __post_init__(self) -> None:
        if not 0 <= self.max_degree <= 1:
            raise ValueError(f"max_degree is a share between 0 and 1, not {self.max_degree}")
        if not self.rules or not set(self.rules) <= {1, 2, 3, 4}:
            raise ValueError(f"rules are some of 1, 2, 3 and 4, not {self.rules}")
        if self.depth < 1:
            raise ValueError(f"depth must be at least 1, not {self.depth}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a broker works. The defaults are the paper's best strategy without merging."""

    advertisements: bool = True
    """Send subscriptions only towards publishers whose documents can satisfy them; otherwise everywhere."""
    covering: bool = True
    """Do not forward what something else that is forwarded covers."""
    merging: Merging | None = None
    """Forward one expression in place of several alike."""
    unit: Literal["document", "path"] = "document"
    """What travels: documents, or only those of their paths that somebody needs."""
    unadvertised: Literal["flood", "refuse"] = "flood"
    """What to do with a document that its publisher has not advertised: send it everywhere, or refuse it."""
    roots: tuple[str, ...] = ()
    """Brokers that may be the root of the tree, the best first and the same in the whole network; others come
    after them, by name."""
    leaves: frozenset[str] = frozenset()
    """Neighbours that are trusted with what is their own and nothing else: no way leads through them, nobody
    waits for them, and what they say about others is refused. A leaf has one neighbour, whose root is better
    than the leaf itself."""
    flooded: int = 1_000
    """Documents that are kept for brokers that join or come back: of those that were flooded, and of those
    that clients of this broker have published."""
    flooded_bytes: int = 16 << 20
    heartbeat: float = 3.0
    """Seconds after which a neighbour that was told nothing gets a heartbeat."""
    suspect_after: float = 15.0
    """Seconds of silence after which a neighbour is suspected, and ways around it are looked for."""
    remembered: int = 100_000
    """Ids of documents that are kept to tell duplicates."""
    max_filters: int = 2_000_000
    """Expressions of one neighbour, subscriptions of one client."""
    max_advertisements: int = 10_000
    """Advertisements of one neighbour or client."""
    rate: float | None = None
    """Messages a second from one sender; more go to the quarantine. None means no bound."""
    total_rate: float | None = None
    """Messages a second from all senders together, so that using many names does not get around `rate`."""
    max_clients: int = 100_000
    """Clients that have subscribed or advertised something."""
    burst: int = 1_000
    """Messages that may come at once from one sender; from all together ten times as many."""
    placed: int = 1_000
    """Filters that are compared with others in each step after a restart, until all are."""
    seed: int | None = None
    """Of the hashes by which expressions are found. Without it one is drawn when the process starts, so that
    nobody can prepare expressions that are found together; a simulation gives its own and repeats itself."""
    durable: bool = True
    """Whether changes of state are reported as records."""
    limits: Limits = field(default_factory=Limits)
    wire: WireLimits = field(default_factory=WireLimits)

    @property
    def routing(self) -> str:
        """What decides which filters a neighbour is told of, as text."""
        return f"{self.advertisements} {self.covering} {self.unit} {self.merging}"

    def __post_init__(self) -> None:
        if self.unit not in ("document", "path"):
            raise ValueError(f"unit is 'document' or 'path', not {self.unit!r}")
        if self.placed < 1:
            raise ValueError(f"placed must be at least 1, not {self.placed}")
        if not 0 < self.heartbeat < self.suspect_after:
            raise ValueError("heartbeat must be more than 0 and less than suspect_after")
        if self.unadvertised not in ("flood", "refuse"):
            raise ValueError(f"unadvertised is 'flood' or 'refuse', not {self.unadvertised!r}")
        if self.merging is not None and not self.covering:
            raise ValueError("merging needs covering: a merger covers its members")
