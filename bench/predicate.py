"""Predicate-based filtering: figures 6 to 10 of "Predicate-based Filtering of XPath Expressions".

Expressions of at most six levels with a fifth of wildcards and of ``//``, documents of six levels and about
150 tags, as in the paper: over NITF, and over the BLAST DTD in the place of PSD, the protein sequences that
the paper takes. Both have 66 or 67 elements, no recursion and about the same depth; BLAST has no attributes,
so where filters are asked for, some are declared. `PATHCAST_BENCH_SCALE` makes the sets smaller.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from typing import Any

from bench.corpus import corpus, corpus_schema
from bench.filters import attribute_values, with_filters
from bench.harness.answers import WrongAnswerError, check
from bench.harness.columns import BESIDE, Form, forms
from bench.harness.kept import Kept, Row
from bench.harness.turns import Times, in_turns, rest, scale, timed
from bench.plan import Plan
from bench.xtrie_sets import size
from pathcast import _core
from pathcast.generate import documents, subscriptions
from pathcast.index import Index
from pathcast.schema import Schema

BYTES = 5_000  # the paper has 8,770 for 140 tags; ours have shorter values
SECONDS = 0.5  # for one engine at one point
ROUNDS = 4
PAPERS = ("predicate", "predicate-pc-longest", "predicate-pc-ap-first")
OURS = ("predicate-pc", "predicate-pc-ap")
OTHERS = ("yfilter", "index-filter")
DISTINCT = {
    "nitf": (25_000, 50_000, 75_000, 100_000, 125_000),
    "blast": (1_000, 2_500, 5_000, 7_500, 10_000),
}
MILLIONS = (500_000, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000)
WILD = tuple(share / 10 for share in range(10))
WILD_EXPRESSIONS = 2_000_000
WILD_ENGINES = ("predicate-pc-ap-first", "predicate-pc-ap", "yfilter")
OPEN_ENGINES = (*WILD_ENGINES, "index-filter")  # which the paper leaves out where wildcards vary
STAGE = "predicates alone"
ADDED = """
<!ATTLIST Iteration id CDATA #REQUIRED>
<!ATTLIST Hit id CDATA #REQUIRED>
<!ATTLIST Hsp id CDATA #REQUIRED label CDATA #IMPLIED>
<!ATTLIST Statistics label CDATA #IMPLIED>
"""


@cache
def schema_of(name: str) -> Schema | None:
    """NITF, BLAST, or BLAST with some attributes; none without the corpus."""
    folder = corpus()
    if name != "blast with attributes":
        return corpus_schema(name)
    if folder is None or corpus_schema("blast") is None:
        return None
    parts = (folder / "blast" / f"NCBI_{part}.mod.dtd" for part in ("Entity", "BlastOutput"))
    return Schema.from_text("".join(part.read_text() for part in parts) + ADDED, "BlastOutput")


def feed(schema: Schema, seed: int) -> Iterator[bytes]:
    """Documents of six levels, or of eight where six are too few for any."""
    levels = max(6, (schema.height(schema.root) or 0) + 2)
    return documents(schema, 1 << 40, max_levels=levels, target_size=BYTES, attributes=0.3, seed=seed)


def drawn(schema: Schema, n: int, **changes: Any) -> Iterator[str]:
    """Expressions as the paper draws them, but for what is changed."""
    odds = {"max_depth": 6, "wildcard": 0.2, "descendant": 0.2, "even_depth": True, "seed": 1, **changes}
    return subscriptions(schema, n, **odds)


def distinct(kept: Kept, _: Plan) -> Iterator[Row]:
    """Figure 6: distinct expressions, more and more of them."""
    for name, counts in DISTINCT.items():
        schema = schema_of(name)
        if schema is not None:
            queries = list(drawn(schema, _scaled(counts[-1]), distinct=True))
            subjects = (*PAPERS, *OURS, *OTHERS)
            yield from _growing(kept, name, schema, queries, counts, subjects, "match")


def duplicates(kept: Kept, _: Plan) -> Iterator[Row]:
    """Figures 7 and 10: millions of expressions, equal ones among them, and what the stages take."""
    for name in DISTINCT:
        schema = schema_of(name)
        if schema is not None:
            queries = drawn(schema, _scaled(MILLIONS[-1]))
            subjects = ("predicate-pc-ap-first", "predicate-pc-ap", *OTHERS, STAGE)
            yield from _growing(kept, name, schema, queries, MILLIONS, subjects, "arrow")


def wildcards(kept: Kept, _: Plan) -> Iterator[Row]:
    """Figure 8: two million expressions, with more and more wildcards; after it the same with ``//``."""
    schema = schema_of("nitf")
    if schema is None:
        return
    for parameter, subjects in (("wildcard", WILD_ENGINES), ("descendant", OPEN_ENGINES)):
        for share in WILD:
            name = f"{parameter} {share:g}"
            queries = drawn(schema, _scaled(WILD_EXPRESSIONS), **{parameter: share})
            yield from _growing(kept, name, schema, queries, (WILD_EXPRESSIONS,), subjects, "arrow")


def attributes(kept: Kept, _: Plan) -> Iterator[Row]:
    """Figure 9: one and two filters on attributes an expression, decided at once or afterwards."""
    for name, count in (("nitf", 50_000), ("blast with attributes", 10_000)):
        schema = schema_of(name)
        if schema is None:
            continue
        plain = list(drawn(schema, _scaled(count), distinct=True))
        values = attribute_values(list(islice(feed(schema, 2), 200)))
        for filters in (0, 1, 2):
            queries = with_filters(plain, values, filters, seed=filters)
            made = {
                "predicate-pc-ap-first inline": Index("predicate-pc-ap-first", attribute_filters="inline"),
                "predicate-pc-ap-first postponed": Index(
                    "predicate-pc-ap-first", attribute_filters="postponed"
                ),
                "yfilter": Index("yfilter"),
            }
            subjects = {subject: f"{name}, {filters} filters: {subject}" for subject in made}
            if all(map(kept.has, subjects.values())):
                continue
            for index in made.values():
                index.add_many(enumerate(queries))
            yield from _rows(subjects, made, schema, queries, "match")


def nested(kept: Kept, _: Plan) -> Iterator[Row]:
    """Nested paths: match vectors compared as in the paper, and the core's way."""
    schema = schema_of("nitf")
    for branch in (0.1, 0.3):
        made = {engine: Index(engine) for engine in ("predicate-nested", "predicate-pc-ap", "yfilter")}
        subjects = {subject: f"nested paths, branching {branch:g}: {subject}" for subject in made}
        if schema is None or all(map(kept.has, subjects.values())):
            continue
        queries = [one for one in drawn(schema, _scaled(60_000), branch=branch) if "[" in one]
        queries = list(dict.fromkeys(queries))[: _scaled(10_000)]
        for index in made.values():
            index.add_many(enumerate(queries))
        yield from _rows(subjects, made, schema, queries, "match")


def _scaled(count: int) -> int:
    return max(200, int(count * scale()))


def _growing(
    kept: Kept,
    name: str,
    schema: Schema,
    queries: Iterable[str],
    counts: Sequence[int],
    subjects: Sequence[str],
    form: str,
) -> Iterator[Row]:
    """The same indexes at one size after the other."""
    sizes = [_scaled(count) for count in counts]
    labels = {at: {one: f"{name}, {at:,} expressions: {one}" for one in subjects} for at in sizes}
    if all(kept.has(label) for names in labels.values() for label in names.values()):
        return
    made = {subject: _index(subject) for subject in subjects}
    stream, asked = iter(queries), list[str]()
    for at in sizes:
        more = list(islice(stream, at - len(asked)))
        for index in made.values():
            index.add_many(enumerate(more, len(asked)))
        asked += more
        rest()  # growing lets go of memory, which a thread gives back
        if not all(map(kept.has, labels[at].values())):
            yield from _rows(labels[at], made, schema, asked, form)


def _index(subject: str) -> Index:
    if subject != STAGE:
        return Index(subject)
    index = Index("predicate-pc-ap")
    index._core = _core.predicate_stage()
    return index


def _rows(
    subjects: Mapping[str, str], made: Mapping[str, Index], schema: Schema, queries: Sequence[str], form: str
) -> Iterator[Row]:
    """What each index takes for a document that it has not seen."""
    stream = feed(schema, 5)
    first = list(islice(stream, 2))
    answering = {subject: index for subject, index in made.items() if subject != STAGE}
    found = [[sorted(index.match(one)) for one in first] for index in answering.values()]
    if any(answer != found[0] for answer in found):
        raise WrongAnswerError(f"the engines disagree: {', '.join(answering)}")
    check(next(iter(answering.values())), queries, first, pairs=200)
    used: list[bytes] = []
    times = _times(made, stream, form, used)
    described = [size(document) for document in used]
    for subject, index in made.items():
        stats = index.stats()
        values = {
            "µs / document": times[subject].best * 1e6,
            "median µs": times[subject].median * 1e6,
            "reading µs": times["strict reader"].best * 1e6,
            "matched %": 100 * sum(map(len, found[0])) / len(first) / len(queries),
            "distinct": float(stats["distinct"]),
            "MB": stats["memory_bytes"] / 1e6,
            "tags": sum(tags for tags, _ in described) / len(described),
            "bytes": sum(map(len, used)) / len(used),
        }
        if f"{subject} match" in times:
            values["without ids µs"] = times[f"{subject} match"].best * 1e6
        if subject.startswith("predicate") and subject != "predicate-nested":
            values["predicates"] = float(_core.predicate_count(index._core))
        yield Row(subjects[subject], values)


def _times(
    made: Mapping[str, Index], stream: Iterator[bytes], form: str, used: list[bytes]
) -> dict[str, Times]:
    tasks: dict[str, Form] = {name: forms(index)[form] for name, index in made.items()}
    if form != "match":
        tasks |= {f"{name} match": forms(index)["match"] for name, index in made.items()}
    one = list(islice(stream, 1))
    slowest = max(timed(partial(task, one), time.process_time)[0] for task in tasks.values())
    count = max(2, min(40, int(SECONDS / ROUNDS / max(slowest, 1e-6))))
    tasks |= {"strict reader": lambda documents: _core.strict_elements(list(documents))}

    def noted() -> Iterator[bytes]:
        for document in stream:
            used.append(document)
            yield document

    return in_turns(tasks | BESIDE, noted(), size=count, rounds=ROUNDS, warm=2 * count)
