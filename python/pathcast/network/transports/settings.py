"""What a broker or a client on Kafka is told in a TOML file.

```toml
name = "berlin"
neighbours = ["paris", { name = "rome", inbox = "rome-in", speaks_on = "rome-to-berlin" }]

[kafka]                                  # librdkafka's own settings, passed through as they are
bootstrap.servers = "localhost:9092"
security.protocol = "SASL_SSL"
sasl.password = "${KAFKA_PASSWORD}"      # from the environment
```

A key that is not known is refused, so that a misspelt one is not silently without effect, and an error names
the file and the key. What makes a crash harmless (transactions, offsets, isolation) cannot be set.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from pathcast.errors import PathcastError
from pathcast.limits import Limits
from pathcast.network.policy import Merging, Policy
from pathcast.network.wire import WireLimits

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RESERVED = 64 << 10
"""Bytes of a message that are kept for what a broker adds: names, ids, the id of a document."""
SMALLEST = 4 * RESERVED
OURS = frozenset(
    [
        "transactional.id",
        "transaction.timeout.ms",
        "enable.idempotence",
        "acks",
        "group.id",
        "group.instance.id",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "auto.offset.reset",
        "isolation.level",
        "enable.partition.eof",
        "message.max.bytes",
        "fetch.message.max.bytes",
        "max.partition.fetch.bytes",
        "fetch.max.bytes",
        "receive.message.max.bytes",
    ]
)
"""Settings of librdkafka that the broker decides itself."""

Gap = Literal["stop", "skip"]


class SettingsError(PathcastError, ValueError):
    """A file of settings with a mistake: which file, which key, and what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A neighbour or a client, and the topics between it and this broker."""

    name: str
    sent_to: str
    """Where this broker writes for it: a neighbour's inbox, a client's outbox."""
    speaks_on: str | None = None
    """The topic that only it may write, if it has one; what comes in its name from elsewhere is forged."""
    leaf: bool = False
    """Whether a neighbour is trusted with what is its own and nothing else."""
    principal: str = ""
    """Who it is to Kafka's access control."""
    monitor: str | None = None
    """Where a neighbour shows its status, as host:port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kafka:
    """How Kafka is reached: librdkafka's settings, for everything, for producers, for consumers."""

    both: Mapping[str, str] = field(default_factory=dict)
    producer: Mapping[str, str] = field(default_factory=dict)
    consumer: Mapping[str, str] = field(default_factory=dict)

    @property
    def servers(self) -> str:
        """Where it is, for messages to people."""
        return self.both["bootstrap.servers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """Everything that one broker on Kafka is told."""

    name: str
    kafka: Kafka
    inbox: str
    state: str
    outbox: str
    quarantine: str
    documents: str
    """Where documents for several clients are stored once."""
    neighbours: Mapping[str, Peer] = field(default_factory=dict)
    clients: Mapping[str, Peer] = field(default_factory=dict)
    """Those that have topics of their own or are let in by name."""
    open: bool = False
    """Whether whoever can write to the inbox may be a client, and is who it says. Otherwise only those that
    are listed are, each with topics of its own, so that Kafka's access control says who is who."""
    principal: str = ""
    """Who this broker is to Kafka's access control."""
    policy: Policy = field(default_factory=Policy)
    parts: int = 1
    """Parts that processes can share; see `pathcast.network.transports.parts`."""
    replication: int = 1
    """Copies of topics that are created."""
    max_message_bytes: int = 1_000_000
    batch: int = 500
    """Messages of one transaction, at most."""
    report_seconds: float = 10.0
    monitor_host: str = "127.0.0.1"
    monitor_port: int | None = None
    """Where metrics, health, status and traces are served; None is nowhere."""
    traced: int = 1_000
    """Documents of which traces are kept, the latest."""
    gap: Gap = "stop"
    """What to do when Kafka has thrown messages away that were not read: end with an error, or go on."""

    @property
    def shares(self) -> str:
        """The topic with a partition for each part, by which processes share them."""
        return f"{self.state}.parts"

    @property
    def sources(self) -> list[str]:
        """Topics that are read: the inbox, then those that peers have for themselves."""
        own = [peer.speaks_on for peer in (*self.neighbours.values(), *self.clients.values())]
        return list(dict.fromkeys([self.inbox, *(topic for topic in own if topic is not None)]))

    @property
    def targets(self) -> list[str]:
        """Topics that are written, the state apart."""
        out = [peer.sent_to for peer in (*self.neighbours.values(), *self.clients.values())]
        return list(dict.fromkeys([self.outbox, self.quarantine, self.documents, *out]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """What a client on Kafka is told."""

    name: str
    kafka: Kafka
    inbox: str
    """Of its broker, or the topic that this client alone may write."""
    outbox: str
    documents: str
    """Where its broker stores documents that are for several clients."""
    max_message_bytes: int = 1_000_000


def read_broker(path: Path) -> BrokerSettings:
    """The settings of a broker in a TOML file."""
    return _Reader(str(path)).broker(_parsed(path))


def read_client(path: Path) -> ClientSettings:
    """The settings of a client in a TOML file."""
    return _Reader(str(path)).client(_parsed(path))


def broker_settings(content: Mapping[str, Any], where: str = "the settings") -> BrokerSettings:
    """The settings of a broker from what a TOML file would hold.

    >>> found = broker_settings({"name": "berlin", "neighbours": ["paris"],
    ...                          "kafka": {"bootstrap": {"servers": "localhost:9092"}}})
    >>> found.sources, found.targets[-1]
    (['pathcast.berlin.inbox', 'pathcast.berlin.from.paris'], 'pathcast.paris.from.berlin')
    >>> try:
    ...     broker_settings({"name": "berlin", "neighbours": "paris"})
    ... except SettingsError as error:
    ...     print(error)
    the settings: kafka.bootstrap.servers is missing: where Kafka is, as host:port
    """
    return _Reader(where).broker(content)


def client_settings(content: Mapping[str, Any], where: str = "the settings") -> ClientSettings:
    """The settings of a client from what a TOML file would hold."""
    return _Reader(where).client(content)


def kafka_settings(content: Mapping[str, Any], where: str = "the settings") -> Kafka:
    """How Kafka is reached, from the table `kafka` of what a TOML file would hold."""
    return _Reader(where).kafka(content)


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from None


class _Reader:
    def __init__(self, where: str) -> None:
        self.where = where

    def error(self, message: str) -> SettingsError:
        return SettingsError(f"{self.where}: {message}")

    def table(self, value: Any, key: str, known: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise self.error(f"{key} must be a table, not {value!r}")
        names = sorted(known.split())
        unknown = sorted(set(value) - set(names))
        if unknown:
            shown = f"{key}.{unknown[0]}" if key else unknown[0]
            raise self.error(f"there is no key {shown!r}; the keys are {', '.join(names)}")
        return dict(value)

    def get(self, table: Mapping[str, Any], key: str, default: Any, *, inside: str = "") -> Any:
        """The value of a key, of the type of its default; an integer will do for a float."""
        value = table.get(key, default)
        shown = f"{inside}.{key}" if inside else key
        wanted = type(default)
        if wanted is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not wanted:
            raise self.error(f"{shown} must be {_TYPES[wanted]}, not {value!r}")
        return value

    def at_least(self, table: Mapping[str, Any], key: str, default: int, least: int) -> int:
        number: int = self.get(table, key, default)
        if number < least:
            raise self.error(f"{key} must be at least {least:,}, not {number:,}")
        return number

    def name(self, value: Any, key: str) -> str:
        """A name that can be part of the name of a topic."""
        if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", value):
            raise self.error(f"{key} must be a name of letters, digits, '.', '_' and '-', not {value!r}")
        return value

    def broker(self, content: Mapping[str, Any]) -> BrokerSettings:
        keys = (
            "name prefix neighbours clients open kafka topics replication policy max_message_bytes batch "
            "report_seconds gap monitor principal parts"
        )
        table = self.table(content, "", keys)
        if "name" not in table:
            raise self.error("name is missing: the name of the broker, its own in the network")
        name = self.name(table["name"], "name")
        prefix = self.name(table.get("prefix", "pathcast"), "prefix")
        topics = self.table(table.get("topics", {}), "topics", _TOPICS)
        named: dict[str, Any] = {
            kind: self.name(topics.get(kind, f"{prefix}.{name}.{kind}"), f"topics.{kind}")
            for kind in _TOPICS.split()
        }
        gap = self.get(table, "gap", "stop")
        if gap not in ("stop", "skip"):
            raise self.error(f"gap must be 'stop' or 'skip', not {gap!r}")
        largest = self.at_least(table, "max_message_bytes", 1_000_000, SMALLEST)
        seconds: float = self.get(table, "report_seconds", 10.0)
        if seconds <= 0:
            raise self.error(f"report_seconds must be more than 0, not {seconds:g}")
        kafka = self.kafka(table)
        own = f"{prefix}.{name}"
        neighbours = self.peers(
            table, "neighbours", "inbox leaf monitor", f"{prefix}.{{}}.from.{name}", f"{own}.from.{{}}"
        )
        policy = self.policy(table.get("policy", {}), largest)
        leaves = frozenset(peer.name for peer in neighbours.values() if peer.leaf)
        is_open: bool = self.get(table, "open", False)
        between = (named["outbox"], None) if is_open else (f"{own}.to.{{}}", f"{own}.from.{{}}")
        made = BrokerSettings(
            name=name,
            principal=self.get(table, "principal", f"User:{name}"),
            kafka=kafka,
            neighbours=neighbours,
            clients=self.peers(table, "clients", "outbox", *between),
            open=is_open,
            policy=replace(policy, leaves=leaves),
            parts=self.at_least(table, "parts", 1, 1),
            replication=self.at_least(table, "replication", 1, 1),
            max_message_bytes=largest,
            batch=self.at_least(table, "batch", 500, 1),
            report_seconds=seconds,
            gap=gap,
            **self.monitor(table.get("monitor")),
            **named,
        )
        if is_open and made.parts > 1:
            raise self.error("parts: a broker that is open has one; list its clients")
        taken = {f"{name}.{number}" for number in range(1, made.parts)} & made.neighbours.keys()
        if taken:
            raise self.error(f"neighbours has {min(taken)!r}, which is the name of a part")
        if name in made.neighbours:
            raise self.error(f"neighbours has {name!r}, which is the broker itself")
        if made.state in (*made.sources, *made.targets) or set(made.sources) & set(made.targets):
            raise self.error("topics: one topic cannot be both read and written, or hold more than the state")
        return made

    def monitor(self, value: Any) -> dict[str, Any]:
        if value is None:
            return {}
        table = self.table(value, "monitor", "host port traced")
        port: int = self.get(table, "port", 9464, inside="monitor")
        if not 0 <= port < 1 << 16:
            raise self.error(f"monitor.port must be a port, not {port}")
        host: str = self.get(table, "host", "127.0.0.1", inside="monitor")
        traced: int = self.get(table, "traced", 1_000, inside="monitor")
        if traced < 0:
            raise self.error(f"monitor.traced must be at least 0, not {traced}")
        return {"monitor_host": host, "monitor_port": port, "traced": traced}

    def client(self, content: Mapping[str, Any]) -> ClientSettings:
        table = self.table(
            content, "", "name broker prefix open inbox outbox documents kafka max_message_bytes"
        )
        for key, what in (("name", "the name of the client"), ("broker", "the name of its broker")):
            if key not in table:
                raise self.error(f"{key} is missing: {what}")
        prefix = self.name(table.get("prefix", "pathcast"), "prefix")
        broker = self.name(table["broker"], "broker")
        name: str = self.get(table, "name", "")
        kinds = ("inbox", "outbox") if self.get(table, "open", False) else (f"from.{name}", f"to.{name}")
        inbox, outbox, documents = (f"{prefix}.{broker}.{kind}" for kind in (*kinds, "documents"))
        return ClientSettings(
            name=name,
            kafka=self.kafka(table),
            inbox=self.name(table.get("inbox", inbox), "inbox"),
            outbox=self.name(table.get("outbox", outbox), "outbox"),
            documents=self.name(table.get("documents", documents), "documents"),
            max_message_bytes=self.at_least(table, "max_message_bytes", 1_000_000, SMALLEST),
        )

    def peers(
        self, table: Mapping[str, Any], key: str, known: str, usual: str, own: str | None
    ) -> dict[str, Peer]:
        """Those that are listed, with the topics that this broker usually writes and that they do."""
        found: dict[str, Peer] = {}
        target = known.split()[0]
        for place, each in enumerate(self.get(table, key, [])):
            where = f"{key}[{place}]"
            values = self.table(
                {"name": each} if isinstance(each, str) else each, where, f"name principal speaks_on {known}"
            )
            name = self.name(values.get("name"), f"{where}.name")
            if name in found:
                raise self.error(f"{where}: {name!r} is there twice")
            said = values.get("speaks_on", None if own is None else own.format(name))
            found[name] = Peer(
                name=name,
                principal=self.get(values, "principal", f"User:{name}", inside=where),
                sent_to=self.name(values.get(target, usual.format(name)), f"{where}.{target}"),
                speaks_on=None if said is None else self.name(said, f"{where}.speaks_on"),
                leaf=self.get(values, "leaf", False, inside=where),
                monitor=self.address(values.get("monitor"), f"{where}.monitor"),
            )
        return found

    def address(self, value: Any, key: str) -> str | None:
        """Where a monitor is, as host:port."""
        if value is None:
            return None
        if not isinstance(value, str) or not re.fullmatch(r"[^\s/?#@]+:[0-9]{1,5}", value):
            raise self.error(f"{key} must be host:port, not {value!r}")
        return value

    def policy(self, value: Any, largest: int) -> Policy:
        known = [each.name for each in fields(Policy) if each.name not in ("wire", "durable", "leaves")]
        table = self.table(value, "policy", " ".join(known))
        usual = Policy()
        merging, limits, roots = (table.pop(key, None) for key in ("merging", "limits", "roots"))
        rates: dict[str, Any] = {key: table.pop(key) for key in ("rate", "total_rate") if key in table}
        given: dict[str, Any] = {
            key: self.get(table, key, getattr(usual, key), inside="policy") for key in table
        }
        for key in rates:
            given[key] = self.get(rates, key, 0.0, inside="policy")
            if given[key] <= 0:
                raise self.error(f"policy.{key} must be more than 0 messages a second, not {rates[key]!r}")
        if roots is not None:
            named = self.get({"roots": roots}, "roots", [], inside="policy")
            given["roots"] = tuple(self.name(each, "policy.roots") for each in named)
        if merging is not None:
            merging = self.table(merging, "policy.merging", "max_degree rules depth")
            merging["rules"] = tuple(self.get(merging, "rules", [1], inside="policy.merging"))
        room = largest - RESERVED
        wire = replace(WireLimits(), header_bytes=room, body_bytes=room)
        try:
            if merging is not None:
                given["merging"] = Merging(**merging)
            if limits is not None:
                names = " ".join(each.name for each in fields(Limits))
                given["limits"] = Limits(**self.table(limits, "policy.limits", names))
            return Policy(**given, wire=wire)
        except (TypeError, ValueError) as error:
            if isinstance(error, SettingsError):
                raise
            raise self.error(f"policy: {error}") from None

    def kafka(self, table: Mapping[str, Any]) -> Kafka:
        content = table.get("kafka")
        if not isinstance(content, Mapping):
            raise self.error("kafka.bootstrap.servers is missing: where Kafka is, as host:port")
        kinds = {kind: content.get(kind, {}) for kind in ("producer", "consumer")}
        rest = {key: value for key, value in content.items() if key not in kinds}
        both = self.flat(rest, "kafka")
        if not both.get("bootstrap.servers"):
            raise self.error("kafka.bootstrap.servers is missing: where Kafka is, as host:port")
        parts = {kind: self.flat(value, f"kafka.{kind}") for kind, value in kinds.items()}
        return Kafka(both=both, **parts)

    def flat(self, table: Any, key: str) -> dict[str, str]:
        """A setting may be written ``bootstrap.servers = …`` or ``"bootstrap.servers" = …``."""
        if not isinstance(table, Mapping):
            raise self.error(f"{key} must be a table, not {table!r}")
        found: dict[str, str] = {}
        for name, value in table.items():
            if isinstance(value, Mapping):
                inner = self.flat(value, f"{key}.{name}")
                found.update((f"{name}.{rest}", each) for rest, each in inner.items())
            elif isinstance(value, bool):
                found[name] = str(value).lower()
            elif isinstance(value, str | int | float):
                found[name] = self.resolved(str(value), f"{key}.{name}")
            else:
                raise self.error(f"{key}.{name} must be text, a number, true or false")
        if key.count(".") <= 1:
            for name in found:
                if name in OURS:
                    raise self.error(f"{key}.{name} cannot be set: the broker decides it")
        return found

    def resolved(self, text: str, key: str) -> str:
        """With ``${NAME}`` replaced by what the environment has."""

        def value(found: re.Match[str]) -> str:
            if found[1] not in os.environ:
                raise self.error(f"{key} needs the environment variable {found[1]}, which is not set")
            return os.environ[found[1]]

        return re.sub(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", value, text)


_TOPICS = "inbox state outbox quarantine documents"
_TYPES = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a text",
    list: "a list",
}
