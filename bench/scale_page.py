"""What a hundred million subscriptions and a million documents a second take, from what was measured.

Every line of the table is computed from rows that are kept: of one shard (`shard-sizes`), of documents that
are routed (`shard-ways`), of where subscriptions would be placed (`spark-placement`), and of ten million that
were compiled (`spark-millions`).
"""

from __future__ import annotations

from math import ceil, nan
from pathlib import Path

from bench.harness.kept import Kept

RATE = 1_000_000  # documents a second
BYTES = 1_600  # of a document
CORES, DOLLARS = 32, 0.035  # of a host; an hour of a core
LARGE, COMPILED = "100,000,000 subscriptions", "10,000,000 subscriptions"


def arithmetic(results: Path) -> list[tuple[str, str, str]]:
    """What, from what, and what it amounts to."""

    def value(file: str, subject: str, name: str) -> float:
        row = Kept.read(results / f"{file}.json").row(subject)
        return row.values.get(name, nan) if row else nan

    shards = value("spark-placement", LARGE, "shards")
    copies = value("spark-placement", LARGE, "shards a document concerns")
    memory, disk, image, build = (
        value("shard-sizes", "160,000 subscriptions", name)
        for name in ("MB in memory", "MB on disk", "image MB", "build s")
    )
    routed = value("shard-ways", "routed", "µs / document")
    each = routed / value("shard-ways", "routed", "shards a document concerns")
    compiling = value("spark-millions", COMPILED, "compile, processor s")
    lines = [
        ("shards of 160,000", "", f"{shards:,.0f}"),
        ("memory of all shards, once", f"{_shown(memory)} MB each", f"{_shown(shards * memory / 1e3)} GB"),
        (
            "files of all shards",
            f"{_shown(disk)} MB each, and an image of {_shown(image)}",
            f"{_shown(shards * (disk + image) / 1e3)} GB",
        ),
        (
            "building all indexes",
            f"{build:.1f} core-seconds each",
            f"{_shown(shards * build)} core-seconds",
        ),
    ]
    if compiling == compiling:
        text = f"ten times the {_shown(compiling)} core-seconds of 10,000,000, measured"
        lines.append(("compiling on Spark, all of it", text, f"{_shown(10 * compiling)} core-seconds"))
    cost = copies * each
    cores = RATE * cost / 1e6
    hosts = ceil(cores / CORES)
    return [
        *lines,
        (
            "matching a document",
            f"{copies:.1f} shards, {_shown(each)} µs each: routed shards above, time over shards",
            f"{_shown(cost)} µs",
        ),
        ("cores for 1,000,000 documents a second", "", _shown(cores)),
        (f"hosts of {CORES} cores", "", _shown(hosts)),
        ("memory of a host for its part of the shards, once", "", f"{shards * memory / 1e3 / hosts:.1f} GB"),
        (
            "documents between hosts",
            f"{copies:.1f} copies of {BYTES / 1e3:.1f} KB",
            f"{_shown(copies * BYTES * RATE / 1e9)} GB a second",
        ),
        (
            "documents to a host",
            "all of that over hosts",
            f"{copies * BYTES * RATE / 1e9 / hosts:.1f} GB a second",
        ),
        ("an hour of them", f"{100 * DOLLARS:.1f} cents a core", f"{hosts * CORES * DOLLARS:.0f} dollars"),
    ]


def _shown(value: float) -> str:
    """Two digits.

    >>> _shown(1112.4), _shown(43.6), _shown(7)
    ('1,100', '44', '7')
    """
    if value != value:
        return "—"
    places = len(str(int(abs(value)))) - 2
    return f"{round(value, -places):,.0f}" if places > 0 else f"{value:,.0f}"
