"""What the tests of faults match: documents, two versions of subscriptions, and what must come of them."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import pathcast
from pathcast.spark import delivery_id
from tests.spark.processes import driver

START = 120.0  # seconds that a session may take on a busy machine

VERSIONS = [
    [("s1", "//a"), ("s2", "//b[c]"), ("s3", "/a/b/c"), ("s4", "//d[@n='3']")],
    [("s1", "//a"), ("s2", "//b[c]"), ("s5", "//e"), ("s4", "//d[@n='5']")],
]


def documents(count: int) -> dict[int, bytes]:
    draw = random.Random(7)
    made = {}
    for number in range(count):
        inner = "".join(
            draw.choice(["<b><c/></b>", "<b/>", "<e/>", f"<d n='{draw.randrange(7)}'/>", "text"])
            for _ in range(draw.randrange(12))
        )
        made[number] = (f"<a>{inner}" if draw.random() < 0.05 else f"<a i='{number}'>{inner}</a>").encode()
    return made


def expected(made: dict[int, bytes], version: int) -> dict[int, list[str] | None]:
    """What an index in this process says: a list, or None for a dead letter."""
    index = pathcast.Index()
    index.add_many(VERSIONS[version])
    results = index.match_many(list(made.values()))
    return {
        number: None if isinstance(result, pathcast.DocumentError) else sorted(str(each) for each in result)
        for number, result in zip(made, results, strict=True)
    }


def put(folder: Path, made: dict[int, bytes], each: int) -> None:
    """Files of so many documents; a file is seen when it is complete."""
    folder.mkdir(exist_ok=True)
    rows = list(made.items())
    for at in range(0, len(rows), each):
        some = rows[at : at + each]
        table = pa.table(
            {
                "doc_id": pa.array([row[0] for row in some], pa.int64()),
                "xml": pa.array([row[1] for row in some], pa.binary()),
            }
        )
        pq.write_table(table, folder / ".part")
        (folder / ".part").rename(folder / f"{some[0][0]:06}.parquet")


def prepare(folder: Path, **settings: Any) -> None:
    (folder / "world.json").write_text(json.dumps({"versions": VERSIONS, **settings}))
    with driver("compile", folder) as program:
        program.finish(START)
    switch(folder, 0)


def switch(folder: Path, version: int) -> None:
    """Makes a version the present one, whole or not at all."""
    shutil.copy(folder / f"manifest-{version}.json", folder / "index/.next")
    (folder / "index/.next").rename(folder / "index/manifest.json")


def rows(folder: Path) -> list[dict[str, Any]]:
    """All rows of the Parquet files in the folders of batches, however they got there."""
    found: list[dict[str, Any]] = []
    for path in sorted(folder.rglob("*.parquet")):
        assert not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts), path
        found += [row | {"batch": path.parent.name} for row in pq.ParquetFile(path).read().to_pylist()]
    return found


def check(
    made: dict[int, bytes],
    folder: Path,
    matches: list[dict[str, Any]],
    dead: list[int],
    name: Callable[[int], object] = int,
) -> set[int]:
    """Every document has exactly the matches of one version; which versions were used.

    `doc_id` of the matches and of the dead letters is the number of a document, of which `name` was the id.
    """
    versions = {(folder / f"hash-{number}").read_text(): number for number in range(len(VERSIONS))}
    answers = [expected(made, number) for number in range(len(VERSIONS))]
    assert max(Counter(row["delivery_id"] for row in matches).values()) == 1
    assert sorted(dead) == [number for number, found in answers[0].items() if found is None]
    used: dict[int, int] = {}
    found: dict[int, list[str]] = {}
    for row in matches:
        number, version = row["doc_id"], versions[row["index_version"]]
        assert used.setdefault(number, version) == version
        found.setdefault(number, []).append(row["subscription_id"])
        assert row["delivery_id"] == delivery_id(
            name(number), made[number], row["subscription_id"], row["index_version"]
        )
    # Every good document matches s1 in both versions, so none can be missing unseen.
    assert {number: sorted(each) for number, each in found.items()} == {
        number: answers[used[number]][number] for number in used
    }
    assert len(used) + len(dead) == len(made)
    return set(used.values())


def documents_done(folder: Path) -> int:
    """How many documents a stream has told of."""
    try:
        lines = (folder / "pathcast/metrics.jsonl").read_text().splitlines()
    except FileNotFoundError:
        return 0
    return sum(json.loads(line)["documents"] for line in lines)
