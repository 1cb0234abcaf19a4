"""A random life of a small network, drawn from one number.

Topology, policy, schemas, clients and faults are all drawn from the seed: trees and overlays with cycles,
the strategies of the paper, merging, whole documents or paths, lost and repeated messages, crashes in the
middle of a transaction, brokers that join and leave, links that break and heal, leaves that lie.

``python -m tests.network.scenario --seeds 2000`` runs many and stops at the first violation;
a seed that fails fails again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import pairwise
from random import Random

from pathcast.generate import documents, subscriptions
from pathcast.index import matches
from pathcast.network.advertisement import advertisements, graph_advertisement
from pathcast.network.message import Advertised, Filter
from pathcast.network.policy import Merging, Policy
from pathcast.network.routing import document_id
from pathcast.network.simulation.channel import Wire
from pathcast.network.simulation.checks import Checks, Counted, Place, ViolationError
from pathcast.network.simulation.liar import Liar
from pathcast.network.simulation.world import World
from pathcast.schema import Schema

SCHEMAS = (
    """<!ELEMENT a (b | c)*> <!ELEMENT b (d?, e*)> <!ELEMENT c (b?, d)> <!ELEMENT d EMPTY> <!ELEMENT e
    (#PCDATA)> <!ATTLIST b x (1|2|3) #IMPLIED> <!ATTLIST d y CDATA #IMPLIED>""",
    """<!ELEMENT a (b, f?)> <!ELEMENT b (c | g)> <!ELEMENT c (b | d)> <!ELEMENT d EMPTY> <!ELEMENT f (f | d)*>
    <!ELEMENT g (#PCDATA)> <!ATTLIST c x (1|2|3) #IMPLIED>""",
    """<!ELEMENT r (p+)> <!ELEMENT p (#PCDATA | q | s)*> <!ELEMENT q (#PCDATA | s | p)*> <!ELEMENT s (t*)>
    <!ELEMENT t EMPTY> <!ATTLIST t x (1|2|3) #REQUIRED>""",
)
STUBBORN = (
    "not(//d)",
    "//b or //g",
    "//b[not(e)]",
    "//*[@x > 1]",
    "//*[@x >= 2][@x < 3]",
    "/*",
    "//*",
    "/a/*",
    "//s[t/@x = 2]",
    "//b[following-sibling::c]",
    "//e[. != '']",
    "/a[b][c]",
)


@dataclass(frozen=True)
class Material:
    """What one schema gives to draw from."""

    texts: tuple[Advertised, ...]
    """The same schema advertised in several ways."""
    documents: tuple[bytes, ...]
    filters: tuple[Filter, ...]


@cache
def material(number: int) -> Material:
    """Documents and subscriptions of one of the schemas."""
    schema = Schema.from_text(SCHEMAS[number])
    paths = tuple(advertisements(schema))
    drawn = subscriptions(
        schema, 60, max_depth=5, wildcard=0.2, descendant=0.25, branch=0.15, predicates=0, seed=number
    )
    valued = subscriptions(schema, 25, max_depth=4, wildcard=0.1, descendant=0.2, predicates=1, seed=number)
    linear = subscriptions(schema, 60, max_depth=5, wildcard=0.25, descendant=0.2, seed=number + 10)
    filters = dict.fromkeys((*drawn, *valued, *linear, *STUBBORN))
    return Material(
        (Advertised((graph_advertisement(schema),)), Advertised(paths)),
        tuple(documents(schema, 40, max_levels=6, max_repeats=3, seed=number)),
        tuple(map(Filter, filters)),
    )


@lru_cache(maxsize=1 << 18)
def satisfied(filter: Filter, body: bytes) -> bool:
    """One document, one expression, nothing shared: what flooding would find."""
    return matches(filter.xpath, body)


LEAF, LIAR = "z-leaf", "z-liar"


class Scenario:
    """The life of one network."""

    SILENCE = 3.0
    """Seconds for which a link may carry nothing."""

    def __init__(
        self,
        seed: int,
        *,
        satisfied: Callable[[Filter, bytes], bool] = satisfied,
        faults: bool = True,
        timed: bool = False,
        moving: bool = False,
    ) -> None:
        self.random = random = Random(seed)
        self.seed = seed
        self.faults = faults
        self.world = World(seed, policy=self._policy())
        self.wire = Wire(
            delay=(0.001, random.choice((0.002, 0.05))),
            loss=random.choice((0.0, 0.1, 0.3)) if faults else 0.0,
            duplication=random.choice((0.0, 0.2)) if faults else 0.0,
        )
        self.checks = Checks(self.world, satisfied, liars=frozenset([LIAR]))
        self.kinds = random.sample(range(len(SCHEMAS)), random.choice((1, 1, 2)))
        known = material(self.kinds[0])
        self.liar = Liar(self.world, LIAR, random, known.documents, known.filters, self._coming)
        self.number = 0
        self.is_timed = timed
        """Whether brokers notice that time passes, and links fall silent."""
        self.is_moving = moving
        """Whether clients move from broker to broker."""
        self.digest = blake2b(digest_size=8)
        self.world.trace = lambda line: self.digest.update(line.encode())

    def _policy(self) -> Policy:
        random = self.random
        covering = random.random() < 0.85
        merging = None
        if covering and random.random() < 0.5:
            rules = random.choice(((1,), (1, 2, 4), (1, 2, 3, 4)))
            fallback = material(0).texts[0] if random.random() < 0.5 else None
            merging = Merging(max_degree=random.choice((0.0, 0.3, 0.9)), rules=rules, advertised=fallback)
        return Policy(
            advertisements=random.random() < 0.8,
            covering=covering,
            merging=merging,
            unit="path" if random.random() < 0.25 else "document",
            leaves=frozenset([LEAF, LIAR]),
            heartbeat=0.2,
            suspect_after=0.7,
            placed=(1_000, 1, 3)[self.seed % 3],
        )

    def run(self) -> Counted:
        """From the first broker until everybody has left; raises `ViolationError`."""
        world, checks, random = self.world, self.checks, self.random
        for _ in range(random.randint(1, 6)):
            self._join()
        if random.random() < 0.4:
            for _ in range(random.randint(1, 3)):
                self._link()
        for name in (LEAF, LIAR):
            if self.faults and random.random() < 0.3:
                self._attach(name)
        checks.rest()
        for _ in range(random.randint(1, 3)):
            self._advertise()
        for _ in range(random.randint(1, 8)):
            self._subscribe()
        checks.rest()
        world.crash_odds = random.choice((0.0, 0.0, 0.01, 0.05)) if self.faults else 0.0
        for _ in range(random.randint(2, 5)):
            for _ in range(random.randint(1, 12)):
                self._act()
                if random.random() < 0.5:
                    self._pass(random.uniform(0.0, 0.5 if self.is_timed else 0.05))
            lies = LIAR in world.nodes
            self._calm(checks.rest)
            if lies:
                self._attach(LIAR)
        if LEAF in world.nodes:
            self._retire(LEAF)
        self._calm(checks.everybody_leaves)
        return checks.counted

    def _calm(self, finish: Callable[[], None]) -> None:
        """Crashes and silence go on while things settle, only not for ever."""
        self._pass(2.0)
        if LIAR in self.world.nodes:
            # It would argue for ever with those whom it has deceived.
            self.world.remove_broker(LIAR)
        if self.is_timed:
            self.world.run(self.world.now + self.SILENCE)
            odds, self.world.crash_odds = self.world.crash_odds, 0.0
            self.world.live(2.0)
            self.world.crash_odds = odds
        odds, self.world.crash_odds = self.world.crash_odds, 0.0
        finish()
        self.world.crash_odds = odds

    def _pass(self, seconds: float) -> None:
        if self.is_timed:
            self.world.live(seconds)
        else:
            self.world.run(self.world.now + seconds)

    def _silence(self) -> None:
        """A link carries nothing for a while, in one direction or both."""
        pairs = sorted(self.world.channels)
        if not pairs:
            return
        one, other = self.random.choice(pairs)
        seconds = self.random.uniform(0.0, self.SILENCE)
        self.world.silence(one, other, seconds)
        if self.random.random() < 0.6:
            self.world.silence(other, one, seconds)

    def _act(self) -> None:
        random = self.random
        actions: list[tuple[float, Callable[[], None]]] = [
            (5, self._subscribe),
            (3, self._unsubscribe),
            (6, self._publish),
            (0.7, self._advertise),
            (0.7, self._announce),
            (0.5, self._unadvertise),
        ]
        if self.faults:
            actions += [(0.7, self._crash), (0.3, self._join), (0.2, self._leave), (0.3, self._break)]
            actions += [(0.3, self._link), (0.2, self._divide)]
        if LIAR in self.world.nodes:
            actions += [(8, self.liar.lie)]
        if self.is_timed:
            actions += [(0.6, self._silence)]
        if self.is_moving:
            actions += [(3, self._move)]
        weights, choices = zip(*actions, strict=True)
        random.choices(choices, weights)[0]()

    def _fresh(self, kind: str) -> str:
        self.number += 1
        return f"{kind}{self.number}"

    def _broker(self) -> str:
        return self.random.choice(self._staying())

    def _staying(self) -> list[str]:
        """Brokers that clients may use."""
        return sorted(name for name, node in self.world.nodes.items() if not node.is_leaving and name != LIAR)

    def _inner(self) -> list[str]:
        """Brokers that may lead to others."""
        return [name for name in self._staying() if name != LEAF]

    def _attach(self, name: str) -> None:
        """A leaf comes. It has one link, unless it lies about being one."""
        inner = self._inner()
        self.world.add_broker(name)
        number = self.random.choice((1, 2)) if name == LIAR else 1
        for other in self.random.sample(inner, min(len(inner), number)):
            self.world.connect(name, other, self.wire)

    def _coming(self) -> str:
        """The id of a document that a publisher has used or will soon."""
        places = self._held(self.checks.advertised)
        broker, client, _ = self.random.choice(places) if places else (self._broker(), "stranger", "")
        return document_id(broker, client, f"d{max(1, self.number + self.random.randint(-3, 3))}")

    def _held(self, places: Iterable[Place]) -> list[Place]:
        """Those of brokers that stay and of clients that do."""
        return sorted(
            place
            for place in places
            if not self.world.nodes[place[0]].is_leaving and not self._moves(place[0], place[1])
        )

    def _moves(self, broker: str, client: str) -> bool:
        """Whether a client is on its way from or to a broker."""
        return (client, broker) in self.checks.moving

    def _move(self) -> None:
        """A client moves to a broker where nobody has its name."""
        checks = self.checks
        clients = {place[:2] for place in self._held((*checks.subscribed, *checks.advertised))}
        if not clients:
            return
        old, client = self.random.choice(sorted(clients))
        free = [
            name
            for name in self._staying()
            if (name, client) not in clients and not self._moves(name, client)
        ]
        if free:
            checks.move(client, old, self.random.choice(free))

    def _material(self) -> Material:
        return material(self.random.choice(self.kinds))

    def _join(self) -> None:
        names = self._inner()
        if len(names) >= 8:
            return
        name = f"b{self.random.randrange(1000)}-{self._fresh('')}"
        self.world.add_broker(name)
        if names:
            self.world.connect(name, self.random.choice(names), self.wire)

    def _leave(self) -> None:
        names = self._inner()
        if len(names) <= 1:
            return
        name = self.random.choice(names)
        if any(name in (move.old, move.new) for move in self.checks.moving.values()):
            return
        neighbours = sorted(self.world.nodes[name].links - {LEAF, LIAR})
        if self.world.nodes[name].pending or not neighbours or LEAF in self.world.nodes[name].links:
            # Alone it would have nobody to leave its documents to.
            return
        # Whoever would lose its way gets another first.
        for one, other in pairwise(neighbours):
            self._connect(one, other)
        self._retire(name)

    def _retire(self, name: str) -> None:
        checks = self.checks
        for place in [place for place in checks.subscribed if place[0] == name]:
            checks.unsubscribe(*place)
        for place in [place for place in checks.advertised if place[0] == name]:
            checks.unadvertise(*place)
        self.world.retire(name)

    def _connect(self, one: str, other: str) -> None:
        if other not in self.world.nodes[one].links:
            self.world.connect(one, other, self.wire)

    def _link(self) -> None:
        names = self._inner()
        if len(names) >= 2:
            self._connect(*self.random.sample(names, 2))

    def _break(self) -> None:
        """A link breaks; it heals at once, later, or never."""
        staying = set(self._staying())
        links = sorted({tuple(sorted(pair)) for pair in self.world.channels if staying.issuperset(pair)})
        if not links:
            return
        one, other = self.random.choice(links)
        self.world.disconnect(one, other)
        if self.random.random() < 0.7:
            self.world.connect(one, other, self.wire)

    def _divide(self) -> None:
        """The network falls into two parts; one of the links heals at once, later, or never."""
        staying = self._staying()
        part = set(self.random.sample(staying, len(staying) // 2))
        cut = sorted(
            (one, other)
            for one, other in self.world.channels
            if one in part and other in staying and other not in part
        )
        for one, other in cut:
            self.world.disconnect(one, other)
        if cut and self.random.random() < 0.5:
            self._pass(self.random.uniform(0.0, 0.2))
            one, other = self.random.choice(cut)
            if {one, other} <= set(self._staying()):
                self.world.connect(one, other, self.wire)

    def _crash(self) -> None:
        self.world.crash(self._broker())

    def _subscribe(self) -> None:
        filter = self.random.choice(self._material().filters)
        held = self._held(self.checks.subscribed)
        if held and self.random.random() < 0.15:
            broker, client, id = self.random.choice(held)
        else:
            broker, client, id = self._broker(), f"c{self.random.randrange(3)}", self._fresh("s")
        if self._moves(broker, client):
            return
        self.checks.subscribe(broker, client, id, filter)

    def _unsubscribe(self) -> None:
        held = self._held(self.checks.subscribed)
        if held:
            self.checks.unsubscribe(*self.random.choice(held))

    def _advertise(self) -> None:
        kind = self.random.choice(self.kinds)
        broker = self._broker()
        advertised = self.random.choice(material(kind).texts)
        client = f"p{self.random.randrange(2)}"
        if not self._moves(broker, client):
            self.checks.advertise(broker, client, f"k{kind}", advertised)

    def _unadvertise(self) -> None:
        held = self._held(self.checks.advertised)
        if held:
            self.checks.unadvertise(*self.random.choice(held))

    def _publish(self) -> None:
        random = self.random
        places = self._held(self.checks.advertised)
        if places and random.random() < 0.85:
            broker, client, id = random.choice(places)
            body = random.choice(material(int(id[1:])).documents)
            self.checks.publish(broker, client, self._fresh("d"), body)
        else:
            # Nobody has said that it would come.
            body = random.choice(self._material().documents)
            self.checks.publish(self._broker(), "stranger", self._fresh("d"), body)

    def _announce(self) -> None:
        """A publisher advertises and publishes at once."""
        kind, broker, client = self.random.choice(self.kinds), self._broker(), self._fresh("p")
        self.checks.advertise(broker, client, f"k{kind}", self.random.choice(material(kind).texts))
        for _ in range(self.random.randint(1, 3)):
            body = self.random.choice(material(kind).documents)
            self.checks.publish(broker, client, self._fresh("d"), body)


def run(seed: int, **options: object) -> tuple[Counted, str]:
    """The life that a seed stands for: what was counted, and a digest of every message in it."""
    scenario = Scenario(seed, **options)  # type: ignore[arg-type]
    try:
        counted = scenario.run()
    except Exception as error:
        raise ViolationError(f"seed {seed}: {error}") from error
    return counted, scenario.digest.hexdigest()


def main() -> None:
    """Run many seeds."""
    parser = argparse.ArgumentParser(description="Random lives of small networks with faults.")
    parser.add_argument("--seeds", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument(
        "--timed", action="store_true", help="with failure detection, and links that fall silent"
    )
    parser.add_argument("--moving", action="store_true", help="with clients that move from broker to broker")
    parser.add_argument("--twice", action="store_true", help="run each seed again and compare every message")
    parser.add_argument("--all", action="store_true", help="go on after a violation, and list them all")
    options = parser.parse_args()
    start = time.process_time()
    total = Counted()
    failed = 0
    lives = {"timed": options.timed, "moving": options.moving}
    for seed in range(options.first, options.first + options.seeds):
        try:
            counted, digest = run(seed, **lives)
        except ViolationError as error:
            if not options.all:
                raise
            failed += 1
            print(error, flush=True)
            continue
        if options.twice and run(seed, **lives)[1] != digest:
            sys.exit(f"seed {seed}: a second run differs")
        for name in ("published", "delivered", "owed", "checked", "rests", "moved"):
            setattr(total, name, getattr(total, name) + getattr(counted, name))
    seconds = time.process_time() - start
    print(f"{options.seeds:,} seeds from {options.first}, {seconds:.0f} s, {failed or 'no'} violations")
    print(f"{total.published:,} documents, {total.owed:,} deliveries owed, {total.delivered:,} made")
    if options.moving:
        print(f"{total.moved:,} moves of clients")
    print(f"{total.rests:,} times at rest, {total.checked:,} states compared")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
