"""News documents, some of them damaged, and rare subscriptions, drawn from a DTD: for `agreement`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from demo.strangers import DAMAGE
from pathcast import generate
from pathcast.index import Index, Matches
from pathcast.schema import Schema

__all__ = ["draw_documents", "draw_subscriptions"]

# fmt: off
WORDS = (
    "election", "storm", "football", "opera", "harbour", "museum", "markets", "budget", "railway",
    "airport", "hospital", "school", "river", "festival", "strike", "merger", "verdict", "rescue",
    "eclipse", "vaccine", "drought", "reform", "treaty", "summit", "inquiry", "transfer", "Moreno",
    "Lefort", "Okafor", "Lindqvist", "Haddad", "Novak", "Castellanos", "Byrne", "Yamada", "Petrov",
    "Adeyemi", "Fischer", "Rossi", "Lisbon", "Nairobi", "Oslo", "Montreal", "Kyoto", "Bogota", "Dresden",
    "Perth", "Tallinn", "Cork", "Porto", "Leeds", "Malaga", "Gdansk", "copper", "wheat", "solar", "timber",
    "steel", "cotton", "lithium", "coffee", "gas", "sugar", "cocoa", "salmon", "barley", "nickel", "paper",
)
# fmt: on
VALUES = generate.Values(low=1, high=90, words=WORDS, numbers=0.35, skew=0.4)
COMMON = 0.007  # the share of documents above which an alert is of no use: nobody reads that many
SIZE = 1_000  # of a document, in bytes, about
SAMPLE = 150  # documents on which that is seen
FILES = 8  # that a table of documents has, so that tasks share it


def draw_documents(schema: Schema, number: int, bad: int, folder: Path, seed: int) -> None:
    """Writes a Parquet table of documents, `bad` of them damaged."""
    drawn = generate.documents(
        schema, number, max_levels=8, attributes=0.7, values=VALUES, target_size=SIZE, seed=seed
    )
    damaged = {number * (2 * place + 1) // (2 * bad): place for place in range(bad)}  # evenly
    folder.mkdir(parents=True, exist_ok=True)
    columns = pa.schema([("doc_id", pa.string()), ("xml", pa.binary())])
    written = 0
    while block := list(islice(drawn, max(1, -(-number // FILES)))):
        cells: list[bytes | None] = []
        for place, document in enumerate(block, written):
            turn = damaged.get(place)
            cells.append(document if turn is None else DAMAGE[turn % len(DAMAGE)](document))
        ids = [f"news-{place:06}" for place in range(written, written + len(block))]
        table = pa.table([ids, cells], schema=columns)
        pq.write_table(table, folder / f"part-{written:06}.parquet", compression="zstd")
        written += len(block)


def draw_subscriptions(schema: Schema, number: int, seed: int) -> pa.Table:
    """Distinct subscriptions about something rare: of those drawn, what few documents of a sample satisfy."""
    sample = list(
        generate.documents(
            schema, SAMPLE, max_levels=8, attributes=0.7, values=VALUES, target_size=SIZE, seed=seed + 1
        )
    )
    kept: dict[str, None] = {}
    for turn in range(20):
        kept |= dict.fromkeys(_rare(schema, number * 2, sample, seed + turn))
        if len(kept) >= number:
            break
    found = list(kept)[:number]
    return pa.table({"id": [f"alert-{place:05}" for place in range(len(found))], "xpath": found})


def _rare(schema: Schema, number: int, sample: list[bytes], seed: int) -> Iterator[str]:
    drawn = list(
        generate.subscriptions(
            schema,
            number,
            max_depth=7,
            wildcard=0.05,
            descendant=0.2,
            branch=0.05,
            predicates=2,
            values=VALUES,
            distinct=True,
            seed=seed,
        )
    )
    # "Anything but" is satisfied by nearly everything.
    drawn = [expression for expression in drawn if "!=" not in expression]
    index = Index()
    index.add_many(list(enumerate(drawn)))
    counts = [0] * len(drawn)
    for found in index.match_many(sample):
        assert isinstance(found, Matches), found
        for place in found:
            counts[int(place)] += 1
    yield from (
        expression for expression, count in zip(drawn, counts, strict=True) if count <= COMMON * len(sample)
    )
