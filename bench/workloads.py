"""What is measured on: the YFilter 1.0 release's documents and queries, or a workload that ships."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pathcast.schema import Schema

SCHEMAS = {
    "nitf": ("nitf/nitf-2-5.dtd", "nitf"),
    "blast": ("blast/NCBI_BlastOutput.dtd", "BlastOutput"),
    "xmark": ("xmark/auction.dtd", "site"),
}
"""Files of the corpus, and the root of their documents."""


@dataclass(frozen=True)
class Workload:
    """Documents, and sets of queries by name."""

    name: str
    documents: list[bytes]
    queries: dict[str, list[str]]

    @property
    def megabytes(self) -> float:
        """The size of all documents."""
        return sum(map(len, self.documents)) / 1e6


def corpus() -> Path | None:
    """The folder of real documents beside the checkout, or where `PATHCAST_CORPUS` says, if it is there."""
    named = os.environ.get("PATHCAST_CORPUS")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "corpus"
    return folder if folder.is_dir() else None


def corpus_schema(name: str) -> Schema | None:
    """One of `SCHEMAS`, if it is there."""
    folder = corpus()
    file, root = SCHEMAS[name]
    return Schema.from_dtd(folder / file, root) if folder and (folder / file).is_file() else None


def yfilter_benchmark() -> Workload:
    """500 NITF documents with 153,928 distinct and with 500,000 queries; without them, what ships."""
    folder = corpus()
    if folder is None or not (folder / "yfilter-benchmark").is_dir():
        return shipped()
    folder /= "yfilter-benchmark"
    documents = [path.read_bytes() for path in sorted((folder / "documents").glob("*.xml"))]
    queries = {name: _lines(folder / f"queries-{name}.txt.gz") for name in ("153928-d", "500000")}
    return Workload("yfilter-benchmark", documents, queries)


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


_NAMES = [
    f"{kind}.{part}" for kind in ("head", "body", "media", "date") for part in ("a", "b", "c", "d", "e")
]


def shipped(documents: int = 200, queries: int = 50_000, seed: int = 1) -> Workload:
    """News-like documents over twenty nested names, and linear queries over the same names.

    >>> workload = shipped(documents=2, queries=10)
    >>> len(workload.documents), len(workload.queries["distinct"])
    (2, 10)
    """
    random = Random(seed)

    def element(depth: int) -> str:
        name = random.choice(_NAMES)
        inside = "".join(element(depth + 1) for _ in range(random.randint(0, 4) if depth < 7 else 0))
        return f'<{name} id="{random.randint(1, 20)}">{inside or random.randint(1, 20)}</{name}>'

    def query() -> str:
        steps = random.randint(2, 8)
        return "/news" + "".join(
            random.choice(("/", "/", "/", "/", "//")) + random.choice((*_NAMES, "*")) for _ in range(steps)
        )

    texts = [f"<news>{''.join(element(1) for _ in range(6))}</news>" for _ in range(documents)]
    found: dict[str, None] = {}
    while len(found) < queries:
        found.setdefault(query())
    return Workload("shipped", [text.encode() for text in texts], {"distinct": list(found)})
