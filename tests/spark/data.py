"""Documents and subscriptions for the tests, and what an index in this process says about them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import pathcast
from tests.property.generate import draw_document, draw_subscription

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BAD = [
    b"",
    b"   ",
    b"<a><b></a>",
    b"<a>\n<b>&nope;</b></a>",
    b"\xff<a/>",
    b"<a/><b/>",
    "<a>é".encode("latin-1"),
]

Row = tuple[str, str, bool | None, dict[str, str] | None, str | None]
SUBSCRIPTIONS = "id string, xpath string, ordered boolean, namespaces map<string,string>, subscriber string"


@dataclass(frozen=True)
class World:
    """Subscriptions as rows, documents as pairs, and an index of the former."""

    rows: list[Row]
    documents: list[tuple[int, bytes | None]]
    index: pathcast.Index

    def matches(self) -> list[tuple[int, str]]:
        """Every match, sorted, once for each time that a document is there."""
        found = []
        for (doc_id, _), result in zip(self.documents, self.results(), strict=True):
            if not isinstance(result, pathcast.DocumentError):
                found += [(doc_id, str(each)) for each in result]
        return sorted(found)

    def dead(self) -> list[tuple[int, str, int, int, str]]:
        """Every dead letter, sorted."""
        return sorted(
            (doc_id, result.reason, result.line, result.column, result.kind)
            for (doc_id, _), result in zip(self.documents, self.results(), strict=True)
            if isinstance(result, pathcast.DocumentError)
        )

    def results(self) -> pathcast.MatchBatch:
        """What the index says."""
        import pyarrow as pa

        return self.index.match_many(pa.array([document for _, document in self.documents], pa.binary()))

    def frames(self, spark: SparkSession) -> tuple[DataFrame, DataFrame]:
        """Documents and subscriptions as DataFrames."""
        documents = spark.createDataFrame(self.documents, "doc_id bigint, xml binary")
        return documents, spark.createDataFrame(self.rows, SUBSCRIPTIONS)


def stream_reader(options: dict[str, str]) -> Any:
    """What Spark asks of the data source, without Spark."""
    from pathcast.spark import PathcastDataSource

    made = PathcastDataSource(options)
    return made.streamReader(made.schema())


def world(seed: int, documents: int, subscriptions: int) -> World:
    """The same for the same seed; one document in ten is bad, some are null, some ids are there twice."""
    random = Random(seed)
    drawn = [draw_document(random) for _ in range(documents)]
    rows: list[Row] = []
    index = pathcast.Index()
    for number in range(subscriptions):
        each = draw_subscription(random, random.choice(drawn))
        row = (f"s{number}", each.xpath, each.ordered, dict(each.namespaces), f"u{number % 7}")
        try:
            index.add(row[0], each.xpath, ordered=each.ordered, namespaces=each.namespaces)
        except pathcast.XPathError:
            continue
        rows.append(row)
    pairs: list[tuple[int, bytes | None]] = []
    for number, document in enumerate(drawn):
        text = document.text.encode()
        pairs.append((number, random.choice([*BAD, None]) if random.random() < 0.1 else text))
    pairs += pairs[:5]
    return World(rows, pairs, index)
