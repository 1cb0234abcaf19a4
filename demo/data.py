"""The tables that the demo runs on: stories, some damaged on their way, what a bad actor sent, and alerts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from demo.alerts import MISTAKES, alerts, readers
from demo.stories import stories
from demo.strangers import ATTACKS, DAMAGE

__all__ = ["STRANGER", "write_alerts", "write_documents"]

COLUMNS = pa.schema([("doc_id", pa.string()), ("xml", pa.binary())])
FILES = 8  # that a table of documents has, so that tasks share it
STRANGER = "mallory"
"""Whom the attacks come from, by their ids."""
Row = tuple[str, bytes | None]


def write_documents(number: int, bad: int, first: int, folders: Sequence[Path], seed: int) -> None:
    """Writes the `first` documents to one folder and the others to the other; `bad` of all are damaged."""
    rows = _rows(number, bad, seed)
    _write(islice(rows, first), first, folders[0])
    _write(rows, number - first, folders[1])


def _rows(number: int, bad: int, seed: int) -> Iterator[Row]:
    """Stories with accidents spread evenly; the attacks come together, after the first half."""
    damaged = {number * (2 * place + 1) // (2 * bad): place for place in range(bad)}
    for place, (name, document) in enumerate(stories(number, seed)):
        turn = damaged.get(place)
        yield name, document if turn is None else DAMAGE[turn % len(DAMAGE)](document)
        if place == number // 2:
            yield from ((f"{STRANGER}-{each}", attack) for each, attack in enumerate(ATTACKS.values(), 1))


def _write(rows: Iterator[Row], number: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    part = 0
    while block := list(islice(rows, max(1, -(-number // FILES)))):
        table = pa.table([[name for name, _ in block], [xml for _, xml in block]], schema=COLUMNS)
        pq.write_table(table, folder / f"part-{part:03}.parquet", compression="zstd")
        part += 1


def write_alerts(number: int, subscribers: int, path: Path, seed: int) -> None:
    """Writes the alerts of all readers, and what some of them mistyped."""
    owner = readers(subscribers, seed)
    rows = {f"alert-{place:05}": xpath for place, xpath in enumerate(alerts(number, seed))}
    rows |= {f"mistake-{place}": xpath for place, xpath in enumerate(MISTAKES, 1)}
    columns = {"id": list(rows), "xpath": list(rows.values()), "subscriber": [owner() for _ in rows]}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
