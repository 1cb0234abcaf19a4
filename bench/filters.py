"""Filters on attributes: decided with the structure or after it, as their number for each query grows.

After the figure "Varying the number of filters per expression" of "Predicate-based Filtering of XPath
Expressions".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from xml.etree import ElementTree

from bench.harness.answers import check
from bench.harness.columns import BESIDE, Form, forms
from bench.harness.kept import Kept, Row
from bench.harness.turns import in_turns
from bench.plan import Plan
from bench.workloads import WORKLOADS
from pathcast.index import Index

QUERIES = 10_000
NAMES: dict[str, tuple[str, dict[str, str]]] = {
    "predicate-pc-ap inline": ("predicate-pc-ap", {"attribute_filters": "inline"}),
    "predicate-pc-ap postponed": ("predicate-pc-ap", {"attribute_filters": "postponed"}),
    "yfilter and twigs": ("yfilter", {}),
}


def filters(kept: Kept, _: Plan) -> Iterator[Row]:
    """Filters on attributes, inline and postponed, beside twigs on an automaton."""
    workload = WORKLOADS["nitf"]
    queries = workload.queries(QUERIES)
    values = attribute_values(list(islice(workload.documents(2), 500)))
    for count in (0, 1, 2):
        subject = f"{len(queries):,} with {count} filters"
        if not all(kept.has(f"{subject}: {name}") for name in NAMES):
            yield from _side_by_side(subject, with_filters(queries, values, count, seed=count))


def _side_by_side(subject: str, queries: list[str]) -> Iterator[Row]:
    workload = WORKLOADS["nitf"]
    documents = list(islice(workload.documents(3), 20))
    indexes = {name: Index(engine, **options) for name, (engine, options) in NAMES.items()}  # type: ignore[arg-type]
    for index in indexes.values():
        index.add_many(enumerate(queries))
        check(index, queries, documents, pairs=1_000)
    tasks: dict[str, Form] = {name: forms(index)["match"] for name, index in indexes.items()}
    times = in_turns(tasks | BESIDE, workload.documents(1), size=60, warm=1_000)
    for name, index in indexes.items():
        matches = sum(len(index.match(document)) for document in documents)
        yield Row(
            f"{subject}: {name}",
            {
                "matches / document": matches / len(documents),
                "unseen match µs": times[name].best * 1e6,
                "median µs": times[name].median * 1e6,
                "× tokeniser": times[name].best / times["tokeniser"].best,
            },
        )


def attribute_values(documents: Sequence[bytes]) -> dict[str, list[tuple[str, str]]]:
    """By element: the attributes and values it has in the documents.

    >>> attribute_values([b"<a x='1'><b/></a>"])
    {'a': [('x', '1')]}
    """
    found: dict[str, set[tuple[str, str]]] = {}
    for document in documents:
        for element in ElementTree.fromstring(document).iter():
            if element.attrib:
                found.setdefault(element.tag, set()).update(element.attrib.items())
    return {name: sorted(pairs) for name, pairs in sorted(found.items())}


def with_filters(
    queries: Sequence[str], values: dict[str, list[tuple[str, str]]], count: int, seed: int
) -> list[str]:
    """The queries with so many filters each, on steps whose elements have attributes.

    >>> with_filters(["/a/b"], {"a": [("x", "1")]}, 1, seed=0)
    ["/a[@x = '1']/b"]
    """
    random = Random(seed)

    def filtered(query: str) -> str:
        steps = re.split(r"(/+)", query)
        places = [at for at, step in enumerate(steps) if step in values]
        for at in random.choices(places, k=count) if places else ():
            attribute, value = random.choice(values[steps[at].split("[")[0]])
            quote = '"' if "'" in value else "'"
            steps[at] += f"[@{attribute} = {quote}{value}{quote}]"
        return "".join(steps)

    return [filtered(query) for query in queries]
