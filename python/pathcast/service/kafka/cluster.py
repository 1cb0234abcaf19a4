"""Which Kafka the service uses, and which of its topics a tenant may name.

``--kafka`` takes the address alone, and then the tenant of the first administrator may use all topics:

    pathcast serve --kafka localhost:9092

or a TOML file with librdkafka's settings and the topics of each tenant:

```toml
[kafka]
bootstrap.servers = "kafka:9092"
sasl.password = "${KAFKA_PASSWORD}"      # from the environment

[tenants]
default = ["*"]
newsroom = ["wire-*", "alerts"]
```
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib

from pathcast.network.transports.settings import Kafka, SettingsError, kafka_settings

_EVERYTHING = {"default": ("*",)}


@dataclass(frozen=True, slots=True)
class Cluster:
    """One Kafka with what tenants may do there.

    >>> cluster = Cluster.read("localhost:9092")
    >>> cluster.permits("default", "wire"), cluster.permits("newsroom", "wire")
    (True, False)
    """

    kafka: Kafka
    tenants: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, given: str) -> Cluster:
        """From an address or a file; `SettingsError` with the mistake."""
        if not given.endswith(".toml"):
            return cls(kafka_settings({"kafka": {"bootstrap.servers": given}}, "--kafka"), _EVERYTHING)
        try:
            content = tomllib.loads(Path(given).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise SettingsError(f"{given}: {error}") from None
        if unknown := content.keys() - {"kafka", "tenants"}:
            raise SettingsError(f"{given}: there is no table {min(unknown)!r}; there are kafka and tenants")
        return cls(kafka_settings(content, given), _tenants(content.get("tenants", _EVERYTHING), given))

    def permits(self, tenant: str, topic: str) -> bool:
        """Whether a tenant may read or write this topic of Kafka."""
        return any(fnmatch.fnmatchcase(topic, pattern) for pattern in self.tenants.get(tenant, ()))


def _tenants(given: Any, where: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for tenant, topics in given.items() if isinstance(given, Mapping) else [("tenants", None)]:
        if not isinstance(topics, (list, tuple)) or not all(isinstance(each, str) for each in topics):
            raise SettingsError(f"{where}: tenants.{tenant} must be a list of topics, not {topics!r}")
        found[tenant] = tuple(topics)
    return found
