"""The experiments of "Schema-Conscious Filtering of XML Documents" on documents of 24 MB.

NCBI BLAST (not recursive) stands in for the protein sequences, XMark (slightly recursive) for the
astronomical data, NITF (26 of 123 elements in cycles) for Treebank. Documents are drawn from their DTDs: as
large as the paper's, as deep as its filters, and each candidate sees each once. *Guarded* is pruning as users
have it, where an index holds documents to the schema. Without the guard, as in the paper, the pruned filters
are registered as they are. Every answer is compared with that of the filters as they were drawn.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

from bench.corpus import corpus_schema
from bench.harness.answers import WrongAnswerError
from bench.harness.columns import BESIDE, Form, forms
from bench.harness.kept import Kept, Row
from bench.harness.turns import in_turns, scale, timed
from bench.plan import Plan
from bench.pruning import WIDE
from pathcast.generate import documents, subscriptions
from pathcast.index import Index
from pathcast.schema import Pruning, Schema

PLAIN, RECURSIVE = "blast", "xmark"
SETS = (PLAIN, RECURSIVE)
SIZE = 24_000_000
DEPTH = 8
SETTINGS = ((0.2, 0.2), (0.2, 0.4), (0.2, 0.6), (0.4, 0.2), (0.6, 0.2))
NUMBERS = (10_000, 25_000, 50_000, 75_000, 100_000)
PARENT = "singleton, * by parent"
EXAMPLE = """
<!ELEMENT a (b?, c?, d?)> <!ELEMENT b (f?)> <!ELEMENT c (f?)> <!ELEMENT d (e?)> <!ELEMENT e (f?)>
<!ELEMENT f (i?, j?)> <!ELEMENT i (k?)> <!ELEMENT j (k?)> <!ELEMENT k EMPTY>
"""
"""The DTD of the paper's Figure 1."""
TABLE_1 = {
    "/a//f": ("/a/b/f", "/a/c/f", "/a/d/e/f"),
    "//c/f//k": ("//c/f/i/k", "//c/f/j/k"),
    "/*/b": ("/a/b",),
    "/a/*": ("/a/b", "/a/c", "/a/d"),
    "/a/*/f": ("/a/b/f", "/a/c/f"),
    "/*/*/*": ("/a/b/f/i", "/a/b/f/j", "/a/c/f/i", "/a/c/f/j", "/a/d/e/f"),
}
"""What the paper says its filters become."""
FOUR = "/*/*/*/*"
"""What becomes what the paper prints beside three wildcards."""
WITHIN = 6.0
"""Seconds for the rounds of a row; there are two at least."""


def subject(name: str, wildcard: float, descendant: float, number: int) -> str:
    """The name of a row.

    >>> subject("blast", 0.2, 0.4, 10_000)
    'blast *0.2 //0.4 10,000'
    """
    return f"{name} *{wildcard} //{descendant} {number:,}"


@cache
def large(name: str, size: int = SIZE, rounds: int = 3) -> tuple[bytes, ...]:
    """Documents of that size, all different."""
    schema = corpus_schema(name)
    assert schema is not None
    target = max(1_000, int(size * scale()))
    # With few repetitions some documents cannot grow so large.
    return tuple(documents(schema, rounds, max_levels=DEPTH, max_repeats=10, target_size=target, seed=2))


def drawn(
    schema: Schema,
    number: int,
    wildcard: float,
    descendant: float,
    *,
    depth: int = DEPTH,
    predicates: int = 0,
) -> list[str]:
    """Filters as the paper's generator draws them, with repetitions."""
    return list(
        subscriptions(
            schema,
            int(number * scale()) or 1,
            max_depth=depth,
            wildcard=wildcard,
            descendant=descendant,
            predicates=predicates,
            seed=1,
        )
    )


@dataclass(frozen=True)
class Pruned:
    """What filters become, each result with the number of the filter it came from."""

    results: list[str]
    origins: list[int]

    @classmethod
    def of(
        cls,
        filters: Sequence[str],
        schema: Schema,
        pruning: Pruning = WIDE,
    ) -> Pruned:
        """By the rules; equal filters are pruned once."""
        pruner = Index("yfilter", schema=schema, prune=pruning, impossible="ignore")
        known = {xpath: pruner.pruned(xpath) for xpath in dict.fromkeys(filters)}
        pairs = [(result, number) for number, xpath in enumerate(filters) for result in known[xpath]]
        return cls([result for result, _ in pairs], [number for _, number in pairs])

    def index(self, engine: str) -> Index:
        """An index of the results alone, without a schema and so without a guard."""
        index = Index(engine, prune=False) if engine.startswith("pma") else Index(engine)
        index.add_many(list(enumerate(self.results)))
        return index

    def keywords(self) -> set[tuple[str, ...]]:
        """What stands between `//`; a keyword that starts at the root starts with #.

        >>> sorted(Pruned(["/a/b//c/d", "//c/d"], [0, 1]).keywords())
        [('#', 'a', 'b'), ('c', 'd')]
        """
        return {
            tuple(part.split("/"))
            for result in dict.fromkeys(self.results)
            for part in re.sub("^/(?=[^/])", "#/", result).split("//")
            if part
        }

    def states(self) -> int:
        """Of the automaton: one for each beginning of a keyword, the empty one included.

        >>> Pruned(["/a/b", "/a/c"], [0, 1]).states()
        5
        """
        return len({word[:at] for word in self.keywords() for at in range(len(word) + 1)})


def registered(
    engine: str, filters: Sequence[str], schema: Schema | None = None, guard: bool = True
) -> Index:
    """An index of filters as they are, or pruned with a schema, and guarded unless that is turned off."""
    if schema is not None:
        validate = None if guard else False
        index = Index(engine, schema=schema, prune=WIDE, validate=validate, impossible="error")
    else:
        index = Index(engine, prune=False) if engine.startswith("pma") else Index(engine)
    index.add_many(list(enumerate(filters)))
    return index


def measured(
    schema: Schema,
    filters: Sequence[str],
    candidates: Mapping[str, tuple[Index, Sequence[int] | None]],
    shown: Sequence[bytes],
) -> dict[str, float]:
    """Seconds for 24 MB by candidate, the best of the rounds; answers are compared on small documents.

    With a candidate stands for each of its ids the filter it came from, or nothing where ids are filters.
    """
    plain = registered("yfilter", filters)
    for document in islice(documents(schema, 20, max_levels=DEPTH, seed=7), 20):
        expected = set(plain.match(document))
        for name, (index, origins) in candidates.items():
            found = index.match(document)
            if {origins[int(each)] if origins else each for each in found} != expected:
                raise WrongAnswerError(f"{name} answers otherwise on {document[:200]!r}")
    asked: dict[str, Form] = {name: forms(index)["arrow"] for name, (index, _) in candidates.items()}
    return _seconds(asked | {"tokeniser": BESIDE["tokeniser"]}, shown) | {"MB": len(shown[0]) / 1e6}


def _seconds(asked: Mapping[str, Form], shown: Sequence[bytes]) -> dict[str, float]:
    """For 24 MB, from documents that have about that size."""

    def per_size(form: Form) -> Form:
        def task(block: Sequence[bytes]) -> float:
            took, _ = timed(lambda: form(block), time.process_time)
            return took * SIZE / sum(map(len, block))

        return task

    tasks = {name: per_size(form) for name, form in asked.items()}
    times = in_turns(tasks, iter(shown), size=1, rounds=len(shown), within=WITHIN)
    return {f"{name} s": each.best for name, each in times.items()}


def examples(kept: Kept, _: Plan) -> Iterator[Row]:
    """What the filters of the paper's Table 1 become by its DTD; leading `//` stay there."""
    schema = Schema.from_text(EXAMPLE, "a")
    index = Index("yfilter", schema=schema, prune=replace(WIDE, expand_leading=False))
    for xpath, said in {**TABLE_1, FOUR: TABLE_1["/*/*/*"]}.items():
        if not kept.has(xpath):
            found = sorted(index.pruned(xpath))
            values = {"the paper's": len(said), "here": len(found), "both": len({*said} & {*found})}
            yield Row(xpath, {name: float(value) for name, value in values.items()}, note=" ".join(found))


def figure_5(kept: Kept, _: Plan) -> Iterator[Row]:
    """YFilter on 24 MB with filters as drawn, pruned and guarded, and pruned without the guard."""
    for name in SETS:
        schema = corpus_schema(name)
        for number in NUMBERS if schema else ():
            if schema is None or kept.has(f"{name} {number:,}"):
                continue
            filters = drawn(schema, number, 0.2, 0.2)
            pruned = Pruned.of(filters, schema)
            candidates = {
                "unpruned": (registered("yfilter", filters), None),
                "guarded": (registered("yfilter", filters, schema), None),
                "pruned": (pruned.index("yfilter"), pruned.origins),
            }
            values = measured(schema, filters, candidates, large(name))
            matches = len(candidates["unpruned"][0].match(large(name)[0]))
            yield Row(
                f"{name} {number:,}",
                {"filters": float(len(filters)), "matched %": 100 * matches / len(filters)}
                | values
                | {
                    "speed-up": values["unpruned s"] / values["pruned s"],
                    "speed-up guarded": values["unpruned s"] / values["guarded s"],
                },
            )


def tables_4_and_5(kept: Kept, _: Plan) -> Iterator[Row]:
    """PMA and YFilter with pruned filters on a document of 24 MB, without and with the guard."""
    for name in SETS:
        schema = corpus_schema(name)
        for wildcard, descendant in SETTINGS if schema else ():
            for number in (10_000, 100_000):
                row = subject(name, wildcard, descendant, number)
                if schema is None or kept.has(row):
                    continue
                filters = drawn(schema, number, wildcard, descendant)
                pruned = Pruned.of(filters, schema)
                candidates = {
                    engine: (pruned.index(engine), pruned.origins)
                    for engine in ("pma", "yfilter", "pma-updating")
                } | {
                    f"{engine} guarded": (registered(engine, filters, schema), None)
                    for engine in ("pma", "yfilter")
                }
                yield Row(row, measured(schema, filters, candidates, large(name)))


def table_3(kept: Kept, _: Plan) -> Iterator[Row]:
    """What pruning and building take, and how large the automaton is, by number of filters and by setting."""
    settings = [
        *((name, number, 0.2, 0.2) for name in SETS for number in (1_000, 10_000)),
        *(("blast", number, 0.2, 0.2) for number in (100_000, 200_000, 500_000, 1_000_000)),
        *(("blast", 100_000, wildcard, 0.2) for wildcard in (0.0, 0.4, 0.6, 0.8)),
        *((name, 100_000, 0.2, descendant) for name in SETS for descendant in (0.2, 0.4, 0.6, 0.8)),
    ]
    for name, number, wildcard, descendant in dict.fromkeys(settings):
        schema = corpus_schema(name)
        row = subject(name, wildcard, descendant, number)
        if schema is not None and not kept.has(row):
            filters = drawn(schema, number, wildcard, descendant)
            if number <= 10_000:  # as the paper's table has them
                filters = list(dict.fromkeys(drawn(schema, 100 * number, wildcard, descendant)))[:number]
            yield Row(row, _built(filters, schema, name))


def _built(filters: Sequence[str], schema: Schema, name: str) -> dict[str, float]:
    seconds, pruned = timed(lambda: Pruned.of(filters, schema), time.process_time)
    small = large(name, 50_000, 1)[0]
    begun = time.process_time()
    index = pruned.index("pma")
    index.match(small)  # its arcs are made by the first document
    building = time.process_time() - begun
    return {
        "filters": float(len(filters)),
        "pruned filters": float(len(pruned.results)),
        "pruning s": seconds,
        "PMA build s": building,
        "keywords": float(len(pruned.keywords())),
        "states": float(pruned.states()),
        "PMA MB": index.stats()["memory_bytes"] / 1e6,
        "with wildcards": float(index.stats()["unsuited_paths"]),
    }


def inner(filters: Sequence[str]) -> int:
    """How many `//` there are, leading ones included."""
    return sum(each.count("//") for each in filters)


def counted(pruned: Pruned) -> dict[str, float]:
    """What is left in the results."""
    return {
        "pruned filters": float(len(pruned.results)),
        "// left": float(inner(pruned.results)),
        "* left": float(sum("*" in each for each in pruned.results)),
        "keywords": float(len(pruned.keywords())),
        "states": float(pruned.states()),
    }


def bounds(kept: Kept, _: Plan) -> Iterator[Row]:
    """How far pruning goes: a bound for the substitutes of a gap, the polynomial rules, leading `//`."""
    rules = {
        **{f"at most {most}": replace(WIDE, max_substitutes=most) for most in (2, 4, 16, 64)},
        "all": WIDE,
        "singleton": replace(WIDE, singleton=True),
        PARENT: replace(WIDE, singleton=True, single_parent=True),
        "leading // kept": replace(WIDE, expand_leading=False),
    }
    for name in SETS:
        schema = corpus_schema(name)
        for rule, pruning in rules.items() if schema else ():
            if schema is None or kept.has(f"{name}, {rule}"):
                continue
            filters = drawn(schema, 100_000, 0.2, 0.2)
            pruned = Pruned.of(filters, schema, pruning)
            candidates = {
                engine: (pruned.index(engine), pruned.origins) for engine in ("pma", "yfilter", "lazy-dfa")
            }
            yield Row(f"{name}, {rule}", counted(pruned) | measured(schema, filters, candidates, large(name)))


def variants(kept: Kept, _: Plan) -> Iterator[Row]:
    """What the text adds: filters as drawn, too deep ones, values, the lazy DFA, two passes."""
    for name in (*SETS, "nitf"):
        schema = corpus_schema(name)
        for descendant in (0.2, 0.4, 0.6) if schema else ():
            row = f"{name}, unpruned //{descendant}"
            if schema is not None and not kept.has(row):
                filters = drawn(schema, 100_000, 0.0, descendant)
                candidates = {engine: (registered(engine, filters), None) for engine in ("pma", "yfilter")}
                yield Row(row, measured(schema, filters, candidates, large(name)))
    for name in ("xmark", "nitf"):
        schema = corpus_schema(name)
        for depth in (DEPTH, 20) if schema else ():
            row = f"{name}, filters to depth {depth}"
            if schema is not None and not kept.has(row):
                yield _deep(row, name, schema, depth)
    for name in SETS:
        schema = corpus_schema(name)
        if schema is None:
            continue
        if not kept.has(f"{name}, values"):
            yield _valued(f"{name}, values", name, schema)
        if not kept.has(f"{name}, lazy DFA"):
            yield _lazy(f"{name}, lazy DFA", name, schema)
        if not kept.has(f"{name}, two passes"):
            yield _two_passes(f"{name}, two passes", name, schema)


def _deep(row: str, name: str, schema: Schema, depth: int) -> Row:
    filters = drawn(schema, 100_000, 0.0, 0.2, depth=depth)
    pruned = Pruned.of(filters, schema)
    candidates = {engine: (pruned.index(engine), pruned.origins) for engine in ("pma", "yfilter")}
    values = measured(schema, filters, candidates, large(name))
    matches = set(map(pruned.origins.__getitem__, map(int, candidates["pma"][0].match(large(name)[0]))))
    return Row(row, {"matched %": 100 * len(matches) / len(filters)} | values)


def _valued(row: str, name: str, schema: Schema) -> Row:
    """One test on a value a filter."""
    filters = drawn(schema, 10_000, 0.2, 0.2, predicates=1)
    candidates = {
        "unpruned": (registered("yfilter", filters), None),
        "guarded": (registered("yfilter", filters, schema), None),
        "pruned": (registered("yfilter", filters, schema, guard=False), None),
    }
    values = measured(schema, filters, candidates, large(name))
    return Row(
        row,
        values
        | {
            "speed-up": values["unpruned s"] / values["pruned s"],
            "speed-up guarded": values["unpruned s"] / values["guarded s"],
        },
    )


def _lazy(row: str, name: str, schema: Schema) -> Row:
    """The lazy DFA beside YFilter, with the settings of its own paper."""
    filters = drawn(schema, 100_000, 0.1, 0.1)
    pruned = Pruned.of(filters, schema)
    candidates = {
        "unpruned yfilter": (registered("yfilter", filters), None),
        "unpruned lazy-dfa": (registered("lazy-dfa", filters), None),
        "pruned lazy-dfa": (pruned.index("lazy-dfa"), pruned.origins),
    }
    return Row(row, measured(schema, filters, candidates, large(name)))


def _two_passes(row: str, name: str, schema: Schema) -> Row:
    """The first pass finds keywords; the second runs the filters of several keywords that may match.

    The paper's automaton is told which filters to look for; here one of these alone is built for each
    document.
    """
    filters = drawn(schema, 100_000, 0.2, 0.2)
    pruned = Pruned.of(filters, schema)
    several = {
        each: Pruned([each], [0]).keywords()
        for each in sorted({each for each in pruned.results if "//" in each.lstrip("/")})
    }
    words = sorted(pruned.keywords())
    first = registered(
        "pma",
        ["/".join(word).replace("#", "") if word[0] == "#" else "//" + "/".join(word) for word in words],
    )

    def possible(document: bytes) -> list[str]:
        found = {tuple(words[int(each)]) for each in first.match(document)}
        return [each for each, needed in several.items() if needed <= found]

    def true(document: bytes) -> list[str]:
        some = possible(document)
        return [some[int(each)] for each in registered("pma", some).match(document)] if some else []

    tasks: dict[str, Form] = {
        "one pass": forms(pruned.index("pma"))["arrow"],
        "two passes": lambda block: [true(each) for each in block],
    }
    shown = large(name)
    matched = true(shown[0])
    names = list(several)
    if several and matched != [names[int(each)] for each in registered("pma", names).match(shown[0])]:
        raise WrongAnswerError(f"two passes over {name} answer otherwise than one")
    return Row(
        row,
        _seconds(tasks, shown)
        | {
            "filters of several keywords": float(len(several)),
            "possible after the first pass": float(len(possible(shown[0]))),
            "true": float(len(matched)),
            "MB": len(shown[0]) / 1e6,
        },
    )


def throughput(kept: Kept, _: Plan) -> Iterator[Row]:
    """MB a second with a million filters pruned, by size of the document; the paper's largest is the last."""
    schema = corpus_schema("blast")
    sizes = [size for size in (1, 4, 24, 96, 683) if not kept.has(f"blast 1,000,000 filters, {size} MB")]
    if schema is None or not sizes:
        return
    filters = drawn(schema, 1_000_000, 0.2, 0.2)
    pruned = Pruned.of(filters, schema)
    tasks: dict[str, Form] = {
        "PMA": forms(pruned.index("pma"))["arrow"],
        "YFilter": forms(pruned.index("yfilter"))["arrow"],
        "guarded PMA": forms(registered("pma", filters, schema))["arrow"],
        **BESIDE,
    }
    for size in sizes:
        shown = large("blast", size * 1_000_000)
        # A document that did not grow to the size counts for what it has.
        rates = {
            f"{name.removesuffix(' s')} MB/s": SIZE / 1e6 / seconds
            for name, seconds in _seconds(tasks, shown).items()
        }
        yield Row(f"blast 1,000,000 filters, {size} MB", rates | {"MB": len(shown[0]) / 1e6})
