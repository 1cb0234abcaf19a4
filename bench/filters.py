"""Filters on attributes: decided with the structure or after it, as their number for each query grows.

After the figure "Varying the number of filters per expression" of "Predicate-based Filtering of XPath
Expressions".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from xml.etree import ElementTree

from bench.answers import check
from bench.foundation import Row
from bench.measure import best_times
from bench.workloads import Workload
from pathcast import _core
from pathcast.index import Index, Matches

QUERIES = 10_000


def filters(workload: Workload) -> Iterator[Row]:
    """Filters on attributes, inline and postponed, beside twigs on an automaton."""
    queries = next(iter(workload.queries.values()))[:QUERIES]
    values = attribute_values(workload.documents)
    for count in (0, 1, 2):
        yield from _side_by_side(workload, with_filters(queries, values, count, seed=count), count)


def _side_by_side(workload: Workload, queries: list[str], count: int) -> Iterator[Row]:
    documents = workload.documents
    indexes = {
        "predicate-pc-ap inline": Index("predicate-pc-ap", attribute_filters="inline"),
        "predicate-pc-ap postponed": Index("predicate-pc-ap", attribute_filters="postponed"),
        "yfilter and twigs": Index("yfilter"),
    }
    tasks: dict[str, Callable[[], object]] = {"bare": lambda: _core.bare_elements(documents)}
    for name, index in indexes.items():
        index.add_many(list(enumerate(queries)))
        check(index, queries, documents, pairs=1_000)
        tasks[name] = partial(index.match_many, documents)
    times = best_times(tasks, rounds=5)
    for name, index in indexes.items():
        matches = sum(len(each) for each in index.match_many(documents) if isinstance(each, Matches))
        yield Row(
            "filters",
            f"{len(queries):,} with {count} filters: {name}",
            {
                "matches / document": matches / len(documents),
                "µs / document": times[name] / len(documents) * 1e6,
                "× bare reader": times[name] / times["bare"],
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
