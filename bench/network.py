"""Routing tables, routing time and traffic: the experiments of "Routing of XML and XPath Queries in Data
Dissemination Networks", and how a network grows beyond them.

The paper's queries come from a generator that is not to be had; here two sets of 100,000 distinct NITF
paths stand in, with about the same covering rates (90 % and 50 %). NCBI BLAST stands in for the protein
DTD. `PATHCAST_BENCH_SCALE` makes everything smaller: 0.1 is a tenth.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from itertools import islice
from statistics import median

from bench.corpus import corpus_schema
from bench.harness.answers import WrongAnswerError
from bench.harness.columns import Form, forms
from bench.harness.kept import Kept, Row
from bench.harness.turns import in_turns, scale
from bench.plan import Plan
from bench.workloads import twigs
from pathcast import _core
from pathcast.generate import documents, subscriptions
from pathcast.index import Index
from pathcast.limits import Limits
from pathcast.network import Broker, Filter, Merging, Policy, graph_advertisement
from pathcast.network import message as m
from pathcast.network.message import Advertised
from pathcast.network.simulation.simulate import simulate
from pathcast.network.simulation.topology import Publishing, Subscribing, tree
from pathcast.schema import Schema

SCALE = scale()
EXPRESSIONS = max(1_000, int(100_000 * SCALE))
SETS = {"A": 5, "B": 8}
"""The least number of steps: short paths cover many others."""
TRAFFIC_STEPS = 6
TENTHS = 10
ENGINES = ("yfilter", "auto")
UNITS = ("path", "document")
PAPER_SAVING = {"A": 84.6, "B": 47.5}
PAPER_MESSAGES = {
    "no-adv-no-cov": 58_138,
    "no-adv-with-cov": 50_931,
    "with-adv-no-cov": 39_849,
    "with-adv-with-cov": 38_492,
}


@cache
def nitf() -> Schema | None:
    """The NITF schema, if it is there."""
    return corpus_schema("nitf")


@cache
def expressions(least: int, number: int = EXPRESSIONS) -> tuple[str, ...]:
    """Distinct NITF paths of at least so many steps."""
    schema = nitf()
    assert schema is not None
    found: list[str] = []
    for xpath in drawn(int(2.4 * number)):
        if xpath.count("/") - xpath.count("//") >= least:
            found.append(xpath)
            if len(found) == number:
                break
    return tuple(found)


@cache
def drawn(number: int) -> tuple[str, ...]:
    """Distinct NITF paths of any length."""
    schema = nitf()
    assert schema is not None
    return tuple(
        subscriptions(schema, number, max_depth=10, wildcard=0.0, descendant=0.1, distinct=True, seed=1)
    )


def tree_patterns(number: int = EXPRESSIONS) -> tuple[str, ...]:
    """Distinct NITF tree patterns, each with a branch and a value."""
    return tuple(islice(dict.fromkeys(twigs.queries(int(1.06 * number))), number))


def advertised(schema: Schema) -> Advertised:
    """The graph of a schema as an advertisement."""
    return Advertised((graph_advertisement(schema),), tuple(sorted(schema.namespaces.items())))


def _forwarded(paths: tuple[str, ...], merging: Merging | None) -> int:
    """How many expressions a broker tells the neighbour whose documents it wants."""
    schema = nitf()
    assert schema is not None
    broker = Broker("b1", Policy(durable=False, merging=merging))
    broker.handle_link_up("b2", 0.0)
    for message in (m.Hello(("b2",), 1), m.Reset(1), m.Advertise("b2/0", advertised(schema))):
        broker.handle_message("b2", message, 0.0)
    for number, xpath in enumerate(paths):
        broker.handle_client("c", m.ClientSubscribe(str(number), Filter(xpath)), 0.0)
    return len(broker.publications.sides["b2"].told)


def tables(kept: Kept, _: Plan) -> Iterator[Row]:
    """Routing table size: 100,000 NITF expressions, with covering and with merging on top."""
    if nitf() is None:
        return
    for name, least in SETS.items():
        paths = expressions(least)
        for part in (0.2, 1.0):
            size = int(len(paths) * part)
            if not kept.has(f"set {name}, {size:,}"):
                yield _table(f"set {name}, {size:,}", paths[:size])


def _table(subject: str, paths: tuple[str, ...]) -> Row:
    cover = _core.Cover(Limits())
    for handle, xpath in enumerate(paths):
        cover.register(handle, xpath)
        cover.insert(0, handle)
    members, roots = cover.sizes(0)
    values = {
        "no covering": float(members),
        "covering": float(roots),
        "covered %": 100 * (1 - roots / members),
        "perfect merging": _forwarded(paths, Merging(depth=10)),
        "merging 10 %": _forwarded(paths, Merging(max_degree=0.1, rules=(1, 2, 3), depth=10)),
    }
    return Row(subject, values)


def insertion(kept: Kept, _: Plan) -> Iterator[Row]:
    """The rate of insertion into the covering forest, by tenths of 100,000 NITF expressions; CPU time."""
    if nitf() is None or kept.has(f"to {EXPRESSIONS:,}"):
        return
    rates = {f"set {name}": _rates(expressions(least)) for name, least in SETS.items()}
    rates["twigs"] = _rates(tree_patterns(), rounds=3)
    for place in range(TENTHS):
        values: dict[str, float] = {}
        for name, found in rates.items():
            values[f"{name} / s"] = found[place]
            values[f"{name}, of the first"] = found[place] / found[0]
        yield Row(f"to {EXPRESSIONS * (place + 1) // TENTHS:,}", values)


def _rates(paths: tuple[str, ...], rounds: int = 5) -> list[float]:
    """By tenth: expressions inserted a second, the median of several rounds."""
    size = len(paths) // TENTHS
    found: list[list[float]] = [[] for _ in range(TENTHS)]
    for _ in range(rounds):
        cover = _core.Cover(Limits())
        for handle, xpath in enumerate(paths):
            cover.register(handle, xpath)
        for place in range(TENTHS):
            began = time.process_time()
            for handle in range(place * size, (place + 1) * size):
                cover.insert(0, handle)
            found[place].append(size / (time.process_time() - began))
    return [median(rates) for rates in found]


def routing(kept: Kept, _: Plan) -> Iterator[Row]:
    """Time to route one publication, a path as in the paper or a document, with and without covering."""
    schema = nitf()
    if schema is None:
        return
    for name, least in SETS.items():
        if all(kept.has(f"set {name}, {engine}, {unit}") for engine in ENGINES for unit in UNITS):
            continue
        all_of_them = expressions(least)
        cover = _core.Cover(Limits())
        for handle, xpath in enumerate(all_of_them):
            cover.register(handle, xpath)
            cover.insert(0, handle)
        roots = [(handle, all_of_them[handle]) for handle in cover.roots(0)]
        for engine in ENGINES:
            every, covering = Index(engine), Index(engine)
            every.add_many(list(enumerate(all_of_them)))
            covering.add_many(roots)
            for unit in UNITS:
                yield _routed(f"set {name}, {engine}, {unit}", every, covering, unit, PAPER_SAVING[name])


def _routed(subject: str, every: Index, covering: Index, unit: str, paper: float) -> Row:
    """Both indexes in turns on publications that neither has seen."""
    schema = nitf()
    assert schema is not None
    stream = documents(schema, 1 << 40, max_levels=10, target_size=4_000, seed=3)
    if unit == "path":
        stream = (path for body in stream for _, path in _core.leaf_paths(body, Limits()))
    some = list(islice(stream, 200))
    for one, other in zip(every.match_many(some), covering.match_many(some), strict=True):
        if bool(len(one)) != bool(len(other)):  # type: ignore[arg-type]
            raise WrongAnswerError("covering changes where a document goes")
    tasks: dict[str, Form] = {"no": forms(every)["match"], "yes": forms(covering)["match"]}
    size = max(20, int((2_000 if unit == "path" else 200) * SCALE))
    times = in_turns(tasks, stream, size=size, warm=max(20, int(1_000 * SCALE)))
    return Row(
        subject,
        {
            "publications": len(times["no"].rounds) * size,
            "no covering µs": times["no"].best * 1e6,
            "covering µs": times["yes"].best * 1e6,
            "saving %": 100 * (1 - times["yes"].best / times["no"].best),
            "paper saving %": paper,
        },
    )


STRATEGIES = {
    "no-adv-no-cov": {"advertisements": False, "covering": False},
    "no-adv-with-cov": {"advertisements": False, "covering": True},
    "with-adv-no-cov": {"advertisements": True, "covering": False},
    "with-adv-with-cov": {"advertisements": True, "covering": True},
}


def wanted(schema: Schema, number: int, seed: int, least: int = TRAFFIC_STEPS) -> list[str]:
    """Distinct paths of some length: a single ``/*`` would cover all others."""
    drawn = subscriptions(
        schema, 8 * number, max_depth=10, wildcard=0.2, descendant=0.2, distinct=True, seed=seed
    )
    return [xpath for xpath in drawn if xpath.count("/") - xpath.count("//") >= least][:number]


def traffic(kept: Kept, _: Plan) -> Iterator[Row]:
    """Messages between eight brokers in a tree: the paper's four strategies, then merging; BLAST."""
    schema = corpus_schema("blast")
    if schema is None:
        return
    number = max(100, int(1_000 * SCALE))
    bodies = list(documents(schema, max(10, int(50 * SCALE)), max_levels=10, target_size=3_000, seed=5))
    asked = {
        place: [(str(at), Filter(xpath)) for at, xpath in enumerate(wanted(schema, number, place))]
        for place in range(4)
    }
    merging = {
        "+ perfect merging": Merging(advertised=advertised(schema)),
        "+ merging 10 %": Merging(max_degree=0.1, rules=(1, 2, 3), advertised=advertised(schema)),
        "+ merging 50 %": Merging(max_degree=0.5, rules=(1, 2, 3), advertised=advertised(schema)),
    }
    for unit in UNITS:
        if all(kept.has(f"{unit}: {name}") for name in (*STRATEGIES, *merging)):
            continue
        first = 0
        deliveries: set[int] = set()
        for name in (*STRATEGIES, *merging):
            options = STRATEGIES.get(name, STRATEGIES["with-adv-with-cov"])
            topology = tree(8)
            topology.policy = Policy(unit=unit, merging=merging.get(name), durable=False, **options)  # type: ignore[arg-type]
            topology.publishers = [Publishing("b1", "p", advertised(schema), bodies)]
            topology.subscribers = [
                Subscribing(broker, "s", asked[place]) for place, broker in enumerate(topology.leaves)
            ]
            report = simulate(topology, checked=False)
            deliveries.add(report.counted.delivered)
            total = report.routing_messages
            first = first or total
            sent = report.messages
            paper = PAPER_MESSAGES.get(name, float("nan"))  # it does not measure merging
            yield Row(
                f"{unit}: {name}",
                {
                    "messages": total,
                    "% of first": 100 * total / first,
                    "paper": paper,
                    "paper %": 100 * paper / PAPER_MESSAGES["no-adv-no-cov"],
                    "subscriptions": sent.get("Subscribe", 0) + sent.get("Unsubscribe", 0),
                    "advertisements": sent.get("Advertise", 0) + sent.get("Unadvertise", 0),
                    "publications": sent.get("Publish", 0),
                    "false %": 100
                    * sum(each.unmatched for each in report.brokers)
                    / max(1, sent.get("Publish", 0)),
                },
            )
        if len(deliveries) > 1:
            raise AssertionError(f"strategies deliver differently: {deliveries}")
