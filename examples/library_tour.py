"""A tour of what the library and the command line can do besides matching, in a temporary folder.

Run it with ``python examples/library_tour.py``; it prints what it sees and ends with "done".
"""

from __future__ import annotations

import asyncio
import copy
import gzip
import json
import pickle
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pathcast
from pathcast import aio, generate
from pathcast.network import advertisements
from pathcast.schema import Schema
from pathcast.schema.drawing import draw

SCHEMAS = Path(__file__).parent / "schemas"


def documents() -> None:
    """Encodings and entities."""
    index = pathcast.Index(entities="html")
    index.add("café", "//p[contains(., 'café')]")
    for encoding in ("utf-8", "utf-16", "utf-32", "iso-8859-15", "windows-1252"):
        document = f"<?xml version='1.0' encoding='{encoding}'?><p>café</p>".encode(encoding)
        assert index.match(document) == ["café"], encoding
    assert index.match("<p>caf&eacute;&nbsp;</p>") == ["café"]
    declared = pathcast.Index(limits=pathcast.Limits(entity_expansion=1_000))
    declared.add(1, "/a/b[. = 'y']")
    assert declared.match("<!DOCTYPE a [<?pi?><!ENTITY x '<b>y</b>'>]><a>&x;</a>") == [1]
    print("documents: encodings and entities")


def python() -> None:
    """Copies, iteration, arguments, streams, cancellation, asyncio."""
    index = pathcast.Index()
    index.add_many({"s1": "//a", 2: "//b[ @x  > 1 ]"})
    for other in (copy.copy(index), copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
        other.clear()
        assert (len(other), list(index)) == (0, ["s1", 2])
    assert dict(index.items())[2] == index.xpath(2) == "//b[ @x  > 1 ]"
    answers = index.match_many(["<a/>", None], threads=None)
    assert isinstance(answers[1], pathcast.DocumentError)
    assert [list(each) for each in index.match_stream(["<a/>", "<c/>"], threads=2)] == [["s1"], []]  # type: ignore[arg-type]
    for wrong in (lambda: index.match_many("<a/>"), lambda: index.add(True, "//a")):
        try:
            wrong()
        except TypeError as error:
            print("python:", error)
    cancellation = pathcast.Cancellation()
    threading.Thread(target=cancellation.cancel).start()
    try:
        while True:
            index.match("<a/>", cancellation=cancellation)
    except pathcast.Cancelled as error:
        print("python:", error)
    assert asyncio.run(aio.match(index, b"<b x='2'/>")) == [2]


def schemas() -> None:
    """An XSD: consistency, pruning, generation, validation, drawing, advertisements."""
    for path, root in ((SCHEMAS / "alert.xsd", None), (SCHEMAS / "order/order.xsd", "Order")):
        schema = Schema.from_xsd(path, root)
        made = list(generate.documents(schema, 20, seed=1))
        assert not any(map(schema.validate, made))
        index = pathcast.Index(schema=schema, prune=True, impossible="error", namespaces=schema.namespaces)
        index.add_many(enumerate(generate.subscriptions(schema, 20, seed=1)))
        found = sum(len(index.match(document)) for document in made)
        assert draw(schema).startswith("<svg")
        print(f"schemas: {schema.root}, {found} matches, {len(advertisements(schema))} advertisements")


def command_line(folder: Path) -> None:
    """Archives, directories, files of subscriptions, results."""

    def run(*arguments: str | Path, status: int = 0) -> Sequence[str]:
        command = [sys.executable, "-m", "pathcast", *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        return done.stdout.splitlines()

    (folder / "s.txt").write_text('# subscriptions\nxmlns:n="urn:x"\n//n:b\n//b\n')
    (folder / "s.csv").write_text("id;xpath\nb;//b\n")
    (folder / "docs").mkdir()
    (folder / "docs/ONE.XML").write_text("<a><b/></a>")
    (folder / "two.xml.gz").write_bytes(gzip.compress(b"<a xmlns='urn:x'><b/></a>"))
    with zipfile.ZipFile(folder / "three.zip", "w") as archive:
        archive.writestr("none.xml", "<a/>")
    rows = [json.loads(line) for line in run("match", "-s", "s.txt", "docs", "two.xml.gz", "three.zip")]
    assert [row["matches"] for row in rows] == [["4"], ["3"], []]
    assert run("match", "-s", "s.csv", "--format", "csv", "three.zip")[1] == "three.zip/none.xml,"
    assert "nodes" in run("match", "-e", "//n:b", "--namespace", "n=urn:x", "--nodes", "two.xml.gz")[0]
    run("match", "-s", "s.txt", "docs", "--glob", "*.rss", status=2)
    run("check", "-s", "s.txt", "--root", "a", status=2)
    (folder / "alerts.txt").write_text("/alert/info\n/alert/inof\n")
    checked = run("check", "-s", "alerts.txt", "--xsd", (SCHEMAS / "alert.xsd").resolve(), status=2)
    assert [json.loads(line)["ok"] for line in checked] == [True, False]
    assert run("generate", "--version") == run("--version")
    print("command line:", len(rows), "documents")


if __name__ == "__main__":
    documents()
    python()
    schemas()
    with tempfile.TemporaryDirectory() as made:
        command_line(Path(made))
    print("done")
