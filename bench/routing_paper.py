"""The experiments of "Routing of XML and XPath Queries in Data Dissemination Networks" as the paper ran them.

`bench.network` has two sets of queries that were tuned to the paper's covering rates, and counts messages
between brokers. Here are the queries of the generator that the paper used (those of the YFilter release) and
sets drawn with the parameters that it names, routing times from the first publication on, as the paper
averages them, and traffic counted as it does: everything that a broker receives, also from clients.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from math import inf
from typing import TypeAlias

from bench.corpus import corpus_schema, yfilter_queries
from bench.harness.answers import WrongAnswerError
from bench.harness.columns import forms
from bench.harness.kept import Kept, Row
from bench.harness.turns import scale
from bench.network import EXPRESSIONS, STRATEGIES, expressions, nitf, wanted
from bench.plan import Plan
from pathcast import _core
from pathcast.generate import documents, subscriptions
from pathcast.index import Index
from pathcast.limits import Limits
from pathcast.network import Advertised, Filter, Policy, advertisements, overlaps
from pathcast.network.simulation.simulate import simulate
from pathcast.network.simulation.topology import Publishing, Subscribing, tree
from pathcast.schema import Schema

SCALE = scale()
DOCUMENTS = 500
"""From which the paper extracts its 23,098 publications, and we ours."""
ENGINES = ("xfilter", "yfilter", "auto")
BATCH = 200
"""Publications that are routed between two looks at the clock."""
ROUNDS = 3
SECONDS = 20.0
"""For all rounds; the one that is under way ends."""
PSD_DOCUMENTS, PSD_PUBLICATIONS = 50, 4_182
LONG = 5
"""Steps of a query at least with which publications have about their share of the paper's messages."""
Said: TypeAlias = Mapping[tuple[str, str], bool | None]
"""What the text says of two expressions; `None` where only its algorithm says so."""
RULES: Said = {
    ("/*", "/*"): True,
    ("/*", "/t"): True,
    ("/t", "/*"): False,
    ("/t", "/t"): True,
    ("/t", "/u"): False,
}
"""Whether the first step covers the second: Table 1."""
EXAMPLES: Said = {
    ("/*/a//*/c", "/a/a/*//c/e/c/d"): True,
    ("/*/a//*/c", "/a/a/*//c/b/d"): False,
    ("/a/*//*/d", "/a//b/c/d"): True,
    ("/*", "//a"): None,
    ("//b/*//b//*", "/a/b//b/b"): None,
    ("/a/*//a//a", "/a//a/*/a/b"): None,
}
"""Whether the first covers the second."""
OVERLAPS: Said = {
    ("/*", "/*"): True,
    ("/*", "/t"): True,
    ("/t", "/*"): True,
    ("/t", "/t"): True,
    ("/t", "/u"): False,
    ("/b/*/*/c/c/d", "/*/c/*/b/c"): False,
    ("/a/*/e/*/d/*/c/b", "*/a//d/*/c//b"): True,
    ("/a/*/c(/e/d)+/*/c/e", "/*/a/c/*/d/e/d/*"): True,
    ("/a/*/b/a", "a/b/a"): None,
    ("/a/b/a/b", "a/*/b"): None,
}
"""Whether an advertisement overlaps a subscription: the rules of Figure 3, then the examples of the text."""


SETS: dict[str, Callable[[Schema], tuple[str, ...]]] = {
    "YFilter's own": lambda _: tuple((yfilter_queries("153928-d") or [])[:EXPRESSIONS]),
    "W 0.1, DO 0": lambda schema: _drawn(schema, 0.1, 0.0),
    "W 0, DO 0.1": lambda schema: _drawn(schema, 0.0, 0.1),
    "tuned to A": lambda _: expressions(5),
    "tuned to B": lambda _: expressions(8),
}
"""100,000 distinct NITF queries: of the release, drawn with the paper's parameters, and tuned."""


def _drawn(schema: Schema, wildcard: float, descendant: float) -> tuple[str, ...]:
    return tuple(
        subscriptions(
            schema,
            EXPRESSIONS,
            max_depth=10,
            wildcard=wildcard,
            descendant=descendant,
            distinct=True,
            seed=1,
        )
    )


def _roots(paths: tuple[str, ...]) -> list[tuple[int, str]]:
    """What covering leaves of a table."""
    cover = _core.Cover(Limits())
    for handle, xpath in enumerate(paths):
        cover.register(handle, xpath)
        cover.insert(0, handle)
    return [(handle, paths[handle]) for handle in cover.roots(0)]


def tables(kept: Kept, _: Plan) -> Iterator[Row]:
    """The size of a routing table with and without covering, by set of queries."""
    schema = nitf()
    for name, draw in SETS.items():
        if schema is not None and not kept.has(name) and (paths := draw(schema)):
            left = len(_roots(paths))
            yield Row(
                name,
                {
                    "no covering": float(len(paths)),
                    "covering": float(left),
                    "covered %": 100 * (1 - left / len(paths)),
                    "with * %": 100 * sum("*" in each for each in paths) / len(paths),
                    "with // %": 100 * sum("//" in each for each in paths) / len(paths),
                },
            )


def cold(kept: Kept, _: Plan) -> Iterator[Row]:
    """Routing a publication from a cold start: the mean of all paths of 500 documents, each shown once.

    The best of three starts, or of one where that takes long.
    """
    schema = nitf()
    if schema is None:
        return
    drawn = documents(schema, max(10, int(DOCUMENTS * SCALE)), max_levels=10, seed=3)
    publications = [path for body in drawn for _, path in _core.leaf_paths(body, Limits())]
    for name, draw in SETS.items():
        if all(kept.has(f"{name}, {engine}") for engine in ENGINES) or not (paths := draw(schema)):
            continue
        roots = _roots(paths)
        for engine in ENGINES:
            yield _cold(f"{name}, {engine}", engine, list(enumerate(paths)), roots, publications)


def _cold(
    subject: str,
    engine: str,
    every: list[tuple[int, str]],
    roots: list[tuple[int, str]],
    publications: list[bytes],
) -> Row:
    tables = {"no covering": every, "covering": roots}
    seconds = dict.fromkeys(tables, inf)
    routed: dict[str, list[bool]] = {}
    spent = 0.0
    for _ in range(ROUNDS):  # in turns, each round with new indexes: every start is a cold one
        for name, table in tables.items():
            took, index = _from_cold(engine, table, publications)
            seconds[name] = min(seconds[name], took / len(publications))
            spent += took
            some = publications[:: max(1, len(publications) // 200)]
            routed[name] = [bool(index.match(each)) for each in some]
        if spent > SECONDS:
            break
    if routed["no covering"] != routed["covering"]:
        raise WrongAnswerError("covering changes where a publication goes")
    return Row(
        subject,
        {
            "publications": float(len(publications)),
            "table": float(len(every)),
            "covering leaves": float(len(roots)),
            "no covering µs": seconds["no covering"] * 1e6,
            "covering µs": seconds["covering"] * 1e6,
            "saving %": 100 * (1 - seconds["covering"] / seconds["no covering"]),
        },
    )


def _from_cold(engine: str, table: list[tuple[int, str]], publications: list[bytes]) -> tuple[float, Index]:
    index = Index(engine)
    index.add_many(table)
    match = forms(index)["match"]
    took = 0.0
    for at in range(0, len(publications), BATCH):
        begun = time.process_time()
        match(publications[at : at + BATCH])
        took += time.process_time() - begun
    return took, index


def traffic(kept: Kept, _: Plan) -> Iterator[Row]:
    """What eight brokers receive, from brokers and from clients, with 4,182 publications of BLAST paths.

    Once with queries of any length, and once with longer ones, of which each selects fewer publications.
    """
    schema = corpus_schema("blast")
    for least in (1, LONG) if schema else ():
        if schema is not None and not all(kept.has(traffic_row(name, least)) for name in STRATEGIES):
            yield from _traffic(schema, least)


def traffic_row(strategy: str, least: int) -> str:
    """The name of a row.

    >>> traffic_row("no-adv-no-cov", 1), traffic_row("no-adv-no-cov", 5)
    ('no-adv-no-cov', 'no-adv-no-cov, 5 steps or more')
    """
    return strategy if least == 1 else f"{strategy}, {least} steps or more"


def _queries(schema: Schema, number: int, place: int, least: int) -> Iterable[str]:
    if least > 1:
        return wanted(schema, number, place, least)
    return subscriptions(
        schema, number, max_depth=10, wildcard=0.2, descendant=0.2, distinct=True, seed=place
    )


def _traffic(schema: Schema, least: int) -> Iterator[Row]:
    number = max(50, int(1_000 * SCALE))
    bodies, publications = _publications(schema)
    asked = {
        place: [(str(at), Filter(xpath)) for at, xpath in enumerate(_queries(schema, number, place, least))]
        for place in range(4)
    }
    advertised = advertisements(schema)
    delivered: set[int] = set()
    for name, options in STRATEGIES.items():
        topology = tree(8)
        topology.policy = Policy(unit="path", durable=False, unadvertised="refuse", **options)  # type: ignore[arg-type]
        topology.publishers = [Publishing("b1", "p", Advertised(tuple(advertised)), bodies)]
        topology.subscribers = [
            Subscribing(broker, "s", asked[place]) for place, broker in enumerate(topology.leaves)
        ]
        report = simulate(topology, checked=False)
        delivered.add(report.counted.delivered)
        sent = report.messages
        between = {
            "subscriptions": sent.get("Subscribe", 0) + sent.get("Unsubscribe", 0),
            # One message here has all paths; in the paper a path is an advertisement.
            "advertisements": len(advertised) * (sent.get("Advertise", 0) + sent.get("Unadvertise", 0)),
            "publications": sent.get("Publish", 0),
        }
        clients = {
            "subscriptions": sum(map(len, asked.values())),
            "advertisements": len(advertised) if options["advertisements"] else 0,
            "publications": publications,
        }
        total = sum(between.values()) + sum(clients.values())
        yield Row(
            traffic_row(name, least),
            {"between brokers": sum(between.values()), "with clients": total}
            | {f"{kind} received": between[kind] + clients[kind] for kind in between}
            | {"publications %": 100 * (between["publications"] + publications) / total},
        )
    if len(delivered) > 1:
        raise AssertionError(f"strategies deliver differently: {delivered}")


def _publications(schema: Schema) -> tuple[list[bytes], int]:
    """Documents with about as many paths to their leaves as the paper's 50 have."""
    bodies: list[bytes] = []
    paths = 0
    for body in documents(schema, 1 << 20, max_levels=10, target_size=9_000, seed=5):
        bodies.append(body)
        paths += len(_core.leaf_paths(body, Limits()))
        if paths >= PSD_PUBLICATIONS * SCALE:
            return bodies, paths
    raise AssertionError("documents have no end")


def examples(kept: Kept, _: Plan) -> Iterator[Row]:
    """Whether one expression covers another or overlaps it: ours, and what all paths show."""
    for (general, specific), said in {**RULES, **EXAMPLES}.items():
        if not kept.has(f"{general} covers {specific}"):
            cover = _core.Cover(Limits())
            cover.register(0, general)
            cover.register(1, specific)
            index = Index()
            index.add_many([("general", general), ("specific", specific)])
            used = dict.fromkeys(re.findall("[a-z]", general + specific))
            names = [*used, *"vwxyz"][:5]
            among, missed = 0, 0
            for length in range(1, 8):
                for path in product(names, repeat=length):
                    found = set(index.match(_document(path)))
                    among += "specific" in found
                    missed += found == {"specific"}
            values = {
                "covers": float(cover.covers(0, 1)),
                "paths": float(among),
                "not covered": float(missed),
            }
            yield Row(f"{general} covers {specific}", values | _said(said))
    for (advertisement, subscription), said in OVERLAPS.items():
        if not kept.has(f"{advertisement} overlaps {subscription}"):
            index = Index()
            index.add("subscription", subscription)
            paths = list(_advertised(advertisement, subscription))
            values = {
                "overlaps": float(overlaps(advertisement, subscription)),
                "paths": float(len(paths)),
                "selected": float(sum(bool(index.match(_document(path))) for path in paths)),
            }
            yield Row(f"{advertisement} overlaps {subscription}", values | _said(said))


def _said(said: bool | None) -> dict[str, float]:
    return {} if said is None else {"the paper says": float(said)}


def _advertised(advertisement: str, subscription: str) -> Iterator[tuple[str, ...]]:
    """The paths of an advertisement over the names of both and another, with up to three repetitions.

    >>> list(_advertised("/a(/b)+", "b"))
    [('a', 'b'), ('a', 'b', 'b'), ('a', 'b', 'b', 'b')]
    >>> list(_advertised("/a/*", "b"))
    [('a', 'a'), ('a', 'b'), ('a', 'z')]
    """
    names = [*dict.fromkeys(re.findall("[a-z]", advertisement + subscription)), "z"]
    repeated = (
        re.sub(r"\((.*?)\)\+", lambda part: part[1] * times, advertisement)  # noqa: B023 - used at once
        for times in (1, 2, 3)
    )
    for text in dict.fromkeys(repeated):
        yield from product(*(names if step == "*" else (step,) for step in text[1:].split("/")))


def _document(names: tuple[str, ...]) -> bytes:
    """Elements in one another.

    >>> _document(("a", "b"))
    b'<a><b></b></a>'
    """
    starts, ends = (f"<{name}>" for name in names), (f"</{name}>" for name in reversed(names))
    return "".join((*starts, *ends)).encode()
