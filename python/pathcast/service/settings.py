"""What an operator can set, with the defaults that are safe on one machine."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathcast.service.kafka.cluster import Cluster

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Clock: TypeAlias = Callable[[], float]

RETRIES = (5.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0)
"""Seconds from one failed attempt of a webhook to the next; after the last, a dead letter."""

WEEK = 7 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one process.

    >>> Settings(data=Path("data")).url
    'sqlite:///data/pathcast.db'
    """

    data: Path = Path("pathcast-data")
    """The folder of the SQLite store, when there is no `database`."""
    database: str | None = None
    """The address of a PostgreSQL database."""
    host: str = "127.0.0.1"
    port: int = 8080
    admin_key: str | None = None
    """The first administrator key; without it one is made and printed once."""
    webhook_networks: tuple[Network, ...] = ()
    """Loopback, link-local and private networks that webhooks may reach all the same."""
    kafka: Cluster | None = None
    """The Kafka that topics may take documents from and subscriptions be delivered to."""
    document_bytes: int = 32 << 20
    """The most bytes of one document, unpacked."""
    retention: float = WEEK
    """Seconds that documents and deliveries are kept, unless their topic says otherwise."""
    retries: tuple[float, ...] = RETRIES
    webhook_timeout: float = 15.0
    worker: bool = False
    """Only deliver webhooks; take no requests but those about health."""
    log_requests: bool = False
    """Log every request: method, path, status, seconds, trace."""
    playground: bool = False
    """Only the playground: no store, no keys."""
    clock: Clock = field(default=time.time)

    @property
    def url(self) -> str:
        """The address of the store as SQLAlchemy writes it."""
        if self.database is None:
            return f"sqlite:///{self.data / 'pathcast.db'}"
        scheme, _, rest = self.database.partition("://")
        return f"postgresql+psycopg://{rest}" if scheme in ("postgresql", "postgres") else self.database

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
