"""Real schemas and queries that do not ship: in the folder `PATHCAST_CORPUS` names, or `../shared/corpus`."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from pathcast.schema import Schema

SCHEMAS = {
    "nitf": ("nitf/nitf-2-5.dtd", "nitf"),
    "blast": ("blast/NCBI_BlastOutput.dtd", "BlastOutput"),
    "xmark": ("xmark/auction.dtd", "site"),
    "docbook": ("dtds/docbook/4.5/docbookx.dtd", "book"),
    "sdocbook": ("dtds/docbook/simple-1.1/sdocbook.dtd", "article"),
    "svg": ("dtds/REC-SVG11-20110816/svg11.dtd", "svg"),
    "smil": ("dtds/REC-smil20-20050107/SMIL20.dtd", "smil"),
    "vxml": ("dtds/REC-voicexml21-20070619/vxml.dtd", "vxml"),
    "xhtml": ("dtds/xhtml1-strict.dtd", "html"),
    "mondial": ("mondial/mondial.dtd", "mondial"),
}
"""Files of the corpus, and the root of their documents."""
NAMESPACES = {"smil": {"": "http://www.w3.org/2001/SMIL20/Language"}}
"""Where a DTD leaves the namespace to its documents."""
ROOT = Path(__file__).resolve().parents[1]


def corpus() -> Path | None:
    """The folder of real documents, if it is there."""
    named = os.environ.get("PATHCAST_CORPUS")
    folder = Path(named) if named else ROOT.parent / "shared" / "corpus"
    return folder if folder.is_dir() else None


def corpus_schema(name: str) -> Schema | None:
    """One of `SCHEMAS`, if it is there."""
    folder = corpus()
    file, root = SCHEMAS[name]
    if not folder or not (folder / file).is_file():
        return None
    return Schema.from_dtd(folder / file, root, namespaces=NAMESPACES.get(name))


def news_schema() -> Schema:
    """The NITF schema, or where it is missing the DTD of news that ships."""
    return corpus_schema("nitf") or Schema.from_dtd(ROOT / "examples/news/wire.dtd")


def yfilter_queries(name: str) -> list[str] | None:
    """The queries of the YFilter 1.0 release, if they are there: `153928-d` (all distinct) or `500000`."""
    folder = corpus()
    path = folder and folder / "yfilter-benchmark" / f"queries-{name}.txt.gz"
    if not path or not path.is_file():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def yfilter_documents() -> list[bytes]:
    """The 500 NITF documents of that release; none where they are missing."""
    folder = corpus()
    files = sorted((folder / "yfilter-benchmark/documents").glob("*.xml")) if folder else []
    return [path.read_bytes() for path in files]
