"""Every way to match gives one answer: an index in this process, `match`, `match_files` and `stream`.

Each with one index, with shards and with routed shards, in workers and in a process that they share.

    python -m tests.spark.agreement --documents 100000 --subscriptions 5000 --seed 1

Documents are drawn from the DTD that ships, one in fifty damaged; the real ones of the corpus are added where
it is there, the broken ones among them too, and queries of its workload. The status is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import pathcast
from bench.corpus import corpus, yfilter_queries
from tests.spark.drawn import draw_documents, draw_subscriptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DTD = Path(__file__).parents[2] / "examples/news/wire.dtd"
SHARDS = {"one index": (1, False), "4 shards": (4, False), "4 routed shards": (4, True)}
Answers = tuple[Any, Any]
"""The sorted pairs of matches, and the sorted dead letters."""


def main() -> int:
    """Draws, answers in every way, and compares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--subscriptions", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    from pathcast.spark.driver.session import session

    with tempfile.TemporaryDirectory(prefix="pathcast-agreement-") as name:
        place = Path(name)
        with session("agreement", master="local[2]", log=place / "spark.log") as spark:
            return compare(spark, place, given.documents, given.subscriptions, given.seed)


def compare(spark: SparkSession, place: Path, documents: int, subscriptions: int, seed: int) -> int:
    """0 if all ways give the answers of the index."""
    draw(place, documents, subscriptions, seed)
    expected = alone(place)
    print(f"index: {len(expected[0]):,} matches, {len(expected[1]):,} dead letters", flush=True)
    different = 0
    for way, found in ways(spark, place):
        same = found[0].equals(expected[0]) and found[1].equals(expected[1])
        different += not same
        told = f"{len(found[0]):,} matches, {len(found[1]):,} dead letters"
        print(f"{way}: {told}: {'the same' if same else 'DIFFERENT'}", flush=True)
    return int(different > 0)


def draw(place: Path, documents: int, subscriptions: int, seed: int) -> None:
    """Tables of documents and subscriptions."""
    from pathcast.schema import Schema

    schema = Schema.from_dtd(DTD)
    draw_documents(schema, documents, documents // 50, place / "documents", seed)
    table = draw_subscriptions(schema, subscriptions, seed)
    folder = corpus()
    if folder is not None:
        files = sorted(folder.glob("*/*.xml")) + sorted(folder.glob("yfilter-benchmark/documents/*.xml"))
        ids = pa.array([str(path.relative_to(folder)) for path in files], pa.string())
        cells = pa.array([path.read_bytes() for path in files], pa.binary())
        pq.write_table(pa.table({"doc_id": ids, "xml": cells}), place / "documents/corpus.parquet")
        queries = (yfilter_queries("153928-d") or [])[: 4 * subscriptions : 4]
        more = pa.table({"id": [f"query-{at}" for at in range(len(queries))], "xpath": queries})
        table = pa.concat_tables([table, more.cast(table.schema)])
    pq.write_table(table, place / "subscriptions.parquet")


def alone(place: Path) -> Answers:
    """What an index in this process says."""
    rows = pq.read_table(place / "subscriptions.parquet")
    index = pathcast.Index()
    index.add_many(rows)
    documents = pq.read_table(place / "documents")
    matched: list[Any] = []
    letters: list[tuple[Any, ...]] = []
    for batch in documents.to_batches(max_chunksize=2_000):
        results = index.match_many(batch["xml"])
        lists = results.to_arrow()
        ids = batch["doc_id"].take(pc.list_parent_indices(lists))
        matched.append(pa.table({"doc_id": ids, "subscription_id": pc.list_flatten(lists)}))
        for at in pc.indices_nonzero(pc.is_null(lists)).to_pylist():
            error = results[at]
            assert isinstance(error, pathcast.DocumentError)
            letters.append((batch["doc_id"][at].as_py(), error.reason, error.line, error.column, error.kind))
    names = ["doc_id", "reason", "line", "column", "kind"]
    return _sorted(pa.concat_tables(matched)), _sorted(
        pa.table([list(column) for column in zip(*letters, strict=True)], names=names)
    )


def ways(spark: SparkSession, place: Path) -> Iterator[tuple[str, Answers]]:
    """Every other way, with its answers; every second one with indexes that workers share."""
    from pathcast.spark import compile_subscriptions, match, match_files, read_documents, stream

    documents = spark.read.parquet(str(place / "documents"))
    subscriptions = spark.read.parquet(str(place / "subscriptions.parquet"))
    for kind, (shards, route) in SHARDS.items():
        index = place / kind
        compiled = compile_subscriptions(subscriptions, index, shards=shards, route=route)
        assert compiled.refused == 0
        told = f"{kind}, {len(list(index.glob('*.image')))} images"
        yield f"match, {told}", _answers(*match(documents, compiled))
        yield f"match, {told}, shared", _answers(*match(documents, compiled, share=True))
        yield f"match_files, {told}", _answers(*match_files(spark, place / "documents", compiled))
        shared = match_files(spark, place / "documents", compiled, share="true", splitBytes="10000000")
        yield f"match_files, {told}, shared", _answers(*shared)
        arriving = read_documents(
            spark,
            str(place / "documents"),
            format="parquet",
            schema="doc_id string, xml binary",
            streaming=True,
            options={"maxFilesPerTrigger": "3"},
        )
        output, checkpoint = place / f"streamed-{kind}", place / f"checkpoint-{kind}"
        query = stream(
            arriving, index, output, checkpoint=checkpoint, trigger="available", share=shards == 1 or None
        )
        query.awaitTermination()
        found = (spark.read.parquet(str(output / each)) for each in ("matches", "dead"))
        yield f"stream, {told}", _answers(*found)


def _answers(matches: DataFrame, dead: DataFrame) -> Answers:
    return (
        _sorted(matches.select("doc_id", "subscription_id").toArrow()),
        _sorted(dead.select("doc_id", "reason", "line", "column", "kind").toArrow()),
    )


def _sorted(table: Any) -> Any:
    """Rows in one order, and columns of one type, however they came."""
    texts = {name: pa.int64() if name in ("line", "column") else pa.string() for name in table.column_names}
    plain = table.cast(pa.schema(list(texts.items())))
    return plain.sort_by([(name, "ascending") for name in plain.column_names]).combine_chunks()


if __name__ == "__main__":
    sys.exit(main())
