"""A network as a TOML file: brokers, links, who publishes and who subscribes, how links behave.

```toml
seed = 1
tree = { brokers = 7, children = 2 }     # b1 … b7; or [[broker]] tables with name and links

[policy]                                 # the fields of pathcast.network.Policy
covering = true
merging = { max_degree = 0.1, rules = [1, 2] }

[wire]                                   # delay, loss, duplication, retry; and the odds of a crash at each
event delay = [0.001, 0.01]

[[publisher]]
broker = "b1"
dtd = "wire.dtd"                         # advertised; documents are drawn from it, or read from files
documents = 20

[[subscriber]]
broker = "leaves"                        # one name, "leaves" or "all"
subscriptions = { dtd = "wire.dtd", number = 100, wildcard = 0.2 }   # or the name of a file
```

Unknown keys are refused, so that a misspelt one is not silently without effect. Files are found from the
TOML file on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pathcast import _core
from pathcast.errors import PathcastError, XPathError
from pathcast.generate import documents, subscriptions
from pathcast.limits import Limits
from pathcast.network.advertisement import graph_advertisement
from pathcast.network.message import Advertised, Filter
from pathcast.network.policy import Merging, Policy
from pathcast.network.simulation.channel import Wire
from pathcast.schema import Schema
from pathcast.subscriptions import SubscriptionFile

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_BROKERS = 10_000


class TopologyError(PathcastError, ValueError):
    """A topology that cannot be simulated, and why."""


@dataclass(slots=True)
class Publishing:
    """One publisher."""

    broker: str
    client: str
    advertised: Advertised
    documents: list[bytes]


@dataclass(slots=True)
class Subscribing:
    """One subscriber."""

    broker: str
    client: str
    filters: list[tuple[str, Filter]]


@dataclass(slots=True)
class Topology:
    """A network to simulate."""

    brokers: list[str]
    links: list[tuple[str, str]]
    policy: Policy = field(default_factory=Policy)
    wire: Wire = field(default_factory=Wire)
    crashes: float = 0.0
    seed: int = 0
    publishers: list[Publishing] = field(default_factory=list)
    subscribers: list[Subscribing] = field(default_factory=list)

    def neighbours(self) -> dict[str, list[str]]:
        """By broker: whom it is linked with."""
        found: dict[str, list[str]] = {name: [] for name in self.brokers}
        for one, other in self.links:
            found[one].append(other)
            found[other].append(one)
        return found

    @property
    def leaves(self) -> list[str]:
        """Brokers with one link at most, the first broker aside."""
        near = self.neighbours()
        return [name for name in self.brokers[1:] if len(near[name]) <= 1] or self.brokers[-1:]


def tree(brokers: int, children: int = 2) -> Topology:
    """A tree of brokers, each with so many below it, numbered level by level.

    >>> tree(4).links
    [('b1', 'b2'), ('b1', 'b3'), ('b2', 'b4')]
    """
    if brokers < 1 or children < 1:
        raise TopologyError("a tree has at least one broker, and each at least one below it")
    names = [f"b{number}" for number in range(1, brokers + 1)]
    links = [(names[(place - 1) // children], names[place]) for place in range(1, brokers)]
    return Topology(names, links)


def read_topology(path: Path, *, seed: int | None = None) -> Topology:
    """The network that a TOML file describes; `TopologyError` says what is wrong with it."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TopologyError(f"{path}: {error}") from None
    reader = _Reader(path)
    try:
        return reader.topology(content, seed)
    except (TypeError, ValueError) as error:
        if isinstance(error, PathcastError):
            raise
        raise TopologyError(f"{path}: {error}") from None


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.schemas: dict[tuple[str, str | None], Schema] = {}

    def error(self, message: str) -> TopologyError:
        return TopologyError(f"{self.path}: {message}")

    def keys(self, table: Any, where: str, known: str) -> Mapping[str, Any]:
        if not isinstance(table, dict):
            raise self.error(f"{where} is not a table")
        unknown = set(table) - set(known.split())
        if unknown:
            raise self.error(
                f"{min(unknown)!r} is not a key of {where}; its keys are {', '.join(known.split())}"
            )
        return table

    def topology(self, content: dict[str, Any], seed: int | None) -> Topology:
        self.keys(content, "a topology", "seed tree broker policy wire publisher subscriber")
        made = self.overlay(content)
        made.seed = seed if seed is not None else int(content.get("seed", 0))
        made.policy = self.policy(content.get("policy", {}))
        wire = dict(self.keys(content.get("wire", {}), "[wire]", "delay loss duplication retry crashes"))
        made.crashes = float(wire.pop("crashes", 0.0))
        if not 0 <= made.crashes < 1:
            raise self.error(f"crashes is a share below 1, not {made.crashes}")
        if "delay" in wire:
            wire["delay"] = tuple(map(float, wire["delay"]))
        made.wire = Wire(**wire)
        for number, table in enumerate(content.get("publisher", ())):
            made.publishers += self.publisher(made, number, table)
        for number, table in enumerate(content.get("subscriber", ())):
            made.subscribers += self.subscriber(made, number, table)
        return made

    def overlay(self, content: dict[str, Any]) -> Topology:
        if ("tree" in content) == ("broker" in content):
            raise self.error("say either tree = { brokers = … } or [[broker]]")
        if "tree" in content:
            table = self.keys(content["tree"], "tree", "brokers children")
            if int(table.get("brokers", 0)) > MAX_BROKERS:
                raise self.error(f"there are more than {MAX_BROKERS:,} brokers")
            return tree(int(table["brokers"]) if "brokers" in table else 0, int(table.get("children", 2)))
        names: list[str] = []
        links: dict[tuple[str, str], None] = {}
        for table in content["broker"]:
            table = self.keys(table, "[[broker]]", "name links")
            names.append(str(table.get("name", "")))
            for other in table.get("links", ()):
                one, other = sorted((names[-1], str(other)))
                links[one, other] = None
        if not all(names) or len(set(names)) != len(names) or len(names) > MAX_BROKERS:
            raise self.error("brokers need names, each its own")
        for one, other in links:
            if one == other or one not in names or other not in names:
                raise self.error(f"a link between {one!r} and {other!r} cannot be")
        return Topology(names, list(links))

    def policy(self, table: Any) -> Policy:
        known = " ".join(each.name for each in fields(Policy) if each.name not in ("limits", "wire"))
        values = dict(self.keys(table, "[policy]", known))
        if isinstance(values.get("merging"), dict):
            merging = dict(self.keys(values["merging"], "merging", "max_degree rules depth"))
            if "rules" in merging:
                merging["rules"] = tuple(merging["rules"])
            values["merging"] = Merging(**merging)
        if "roots" in values:
            values["roots"] = tuple(map(str, values["roots"]))
        return Policy(**values)

    def schema(self, table: Mapping[str, Any]) -> Schema:
        name, root = table.get("dtd"), table.get("root")
        if not isinstance(name, str):
            raise self.error("a publisher, or subscriptions to be drawn, need a dtd")
        if (name, root) not in self.schemas:
            self.schemas[name, root] = Schema.from_dtd(self.path.parent / name, root)
        return self.schemas[name, root]

    def places(self, made: Topology, table: Mapping[str, Any]) -> list[str]:
        name = table.get("broker")
        if name == "leaves":
            return made.leaves
        if name == "all":
            return made.brokers
        if name not in made.brokers:
            raise self.error(f"there is no broker {name!r}")
        return [name]

    def publisher(self, made: Topology, number: int, table: Any) -> Iterator[Publishing]:
        table = self.keys(table, "[[publisher]]", "broker dtd root documents files max_depth")
        schema = self.schema(table)
        advertised = Advertised((graph_advertisement(schema),), tuple(sorted(schema.namespaces.items())))
        for place, broker in enumerate(self.places(made, table)):
            bodies = [
                file.read_bytes()
                for pattern in table.get("files", ())
                for file in sorted(self.path.parent.glob(pattern))
            ]
            wanted = int(table.get("documents", 0 if "files" in table else 10))
            levels = int(table.get("max_depth", 10))
            drawn = documents(schema, wanted, max_levels=levels, seed=made.seed + 97 * number + place)
            yield Publishing(broker, f"publisher{number + 1}", advertised, [*bodies, *drawn])

    def subscriber(self, made: Topology, number: int, table: Any) -> Iterator[Subscribing]:
        table = self.keys(table, "[[subscriber]]", "broker subscriptions")
        source = table.get("subscriptions")
        for place, broker in enumerate(self.places(made, table)):
            client = f"subscriber{number + 1}"
            if isinstance(source, str):
                yield Subscribing(broker, client, self.listed(source))
            else:
                yield Subscribing(broker, client, self.drawn(source, made.seed + 31 * number + place))

    def listed(self, name: str) -> list[tuple[str, Filter]]:
        file = SubscriptionFile(str(self.path.parent / name))
        cover = _core.Cover(Limits())
        found: list[tuple[str, Filter]] = []
        for row in file:
            try:
                cover.register(0, row.xpath, bool(row.ordered), row.namespaces, row.variables)
            except XPathError as error:
                raise self.error(f"{name}:{row.line}: {error}") from None
            filter = Filter.of(
                row.xpath,
                ordered=bool(row.ordered),
                namespaces=row.namespaces,
                variables=row.variables,
            )
            found.append((str(row.id), filter))
        if file.problems:
            line, message = file.problems[0]
            raise self.error(f"{name}:{line}: {message}")
        return found

    def drawn(self, source: Any, seed: int) -> list[tuple[str, Filter]]:
        known = "dtd root number max_depth wildcard descendant branch predicates skew distinct"
        table = dict(self.keys(source, "subscriptions", known))
        schema = self.schema(table)
        number = int(table.pop("number", 100))
        options = {name: value for name, value in table.items() if name not in ("dtd", "root")}
        drawn = subscriptions(schema, number, seed=seed, **options)
        return [
            (f"s{place}", Filter.of(xpath, namespaces=schema.namespaces)) for place, xpath in enumerate(drawn)
        ]
