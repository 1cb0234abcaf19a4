"""Compressed documents, archives, and which files of a directory are documents."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Result, Run


def answers(result: Result) -> dict[str, list[str] | str]:
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    return {row["document"]: row.get("matches", row.get("error", {}).get("kind")) for row in rows}


@pytest.fixture
def packed(folder: Path) -> Path:
    """The documents of the folder in archives of every kind."""
    with zipfile.ZipFile(folder / "docs.ZIP", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("docs/1.xml", "docs/sub/2.xml", "docs/torn.xml", "docs/sub/notes.txt"):
            archive.write(folder / name, name)
        archive.writestr("docs/3.XML.gz", gzip.compress(b"<a><b/></a>"))
    with tarfile.open(folder / "docs.tar.gz", "w:gz") as tar:
        tar.add(folder / "docs", "docs")
    (folder / "one.xml.gz").write_bytes(gzip.compress(b"<a><b/></a>"))
    return folder


@pytest.mark.parametrize("threads", ["1", "3"])
def test_archives_answer_like_directories(run: Run, packed: Path, threads: str) -> None:
    arguments = ("match", "-s", "s.txt", "--threads", threads)
    plain = answers(run(*arguments, "docs"))
    assert plain == {"docs/1.xml": ["1"], "docs/sub/2.xml": ["3", "4"], "docs/torn.xml": "malformed"}
    zipped = run(*arguments, "docs.ZIP")
    expected = {f"docs.ZIP/{name}": answer for name, answer in plain.items()} | {
        "docs.ZIP/docs/3.XML.gz": ["1"]
    }
    assert (zipped.exit_code, answers(zipped)) == (1, expected)
    tarred = answers(run(*arguments, "docs.tar.gz", "one.xml.gz"))
    expected = {f"docs.tar.gz/{name}": answer for name, answer in plain.items()} | {"one.xml.gz": ["1"]}
    assert tarred == expected


def test_nodes_and_tables_from_archives(run: Run, packed: Path) -> None:
    result = run("match", "-e", "//b", "--nodes", "docs.ZIP")
    first = json.loads(result.stdout.splitlines()[0])
    assert first["nodes"]["1"][0]["path"] == "/a[1]/b[1]"


def test_which_files_of_a_directory(run: Run, folder: Path) -> None:
    (folder / "docs/BIG.XML").write_text("<a><b/></a>")
    (folder / "docs/sub/feed.rss").write_text("<a><b/></a>")
    assert "docs/BIG.XML" in answers(run("match", "-s", "s.txt", "docs"))
    assert list(answers(run("match", "-s", "s.txt", "--glob", "*.RSS", "docs"))) == ["docs/sub/feed.rss"]
    both = run("match", "-s", "s.txt", "--glob", "sub/*", "--glob", "b*.xml", "docs")
    assert sorted(answers(both)) == [
        "docs/BIG.XML",
        "docs/sub/2.xml",
        "docs/sub/feed.rss",
        "docs/sub/notes.txt",
    ]


def test_damaged_archives_are_bad_documents(run: Run, packed: Path) -> None:
    whole = (packed / "docs.tar.gz").read_bytes()
    (packed / "cut.tar.gz").write_bytes(whole[: len(whole) // 2])
    (packed / "no.zip").write_bytes(b"PK no archive")
    (packed / "no.xml.gz").write_bytes(b"<a/>")
    (packed / "empty.tgz").write_bytes(b"")
    with tarfile.open(packed / "none.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("a.txt"), io.BytesIO())
    with tarfile.open(packed / "flipped.tar", "w") as tar:
        tar.add(packed / "docs/1.xml", "1.xml")
        tar.add(packed / "docs/1.xml", "2.xml")
    flipped = (packed / "flipped.tar").read_bytes().replace(b"2.xml", b"3.xml")
    (packed / "flipped.tar").write_bytes(flipped)
    names = [
        "cut.tar.gz",
        "flipped.tar",
        "no.zip",
        "no.xml.gz",
        "empty.tgz",
        "none.tar",
        "absent.xml.gz",
        "docs/1.xml",
    ]
    result = run("match", "-s", "s.txt", *names)
    assert result.exit_code == 1
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert rows[-1] == {"document": "docs/1.xml", "matches": ["1"]}
    bad = {row["document"]: row["error"] for row in rows if "error" in row}
    assert {name for name, error in bad.items() if error["kind"] == "io"} >= set(names[1:-1])
    for error in bad.values():
        assert "Error" not in error["message"]


def test_a_bomb_stops_at_the_limit_of_documents(run: Run, folder: Path) -> None:
    with (
        zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.xml", "w") as out,
    ):
        out.write(b"<a>")
        for _ in range(1100):
            out.write(b" " * (1 << 20))
    result = run("match", "-s", "s.txt", "bomb.zip")
    assert answers(result) == {"bomb.zip/a.xml": "limit"}
