"""``pathcast match``: formats, order, exit status, and everything that can be wrong."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

import pathcast
from pathcast.cli import documents, match
from tests.unit.cli.conftest import Result, Run


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_jsonl(run: Run, folder: Path) -> None:
    result = run("match", "-s", "s.txt", "docs/sub/2.xml", "docs/1.xml")
    assert result.exit_code == 0
    assert result.stdout == (
        '{"document": "docs/sub/2.xml", "matches": ["3", "4"]}\n'
        '{"document": "docs/1.xml", "matches": ["1"]}\n'
    )
    assert result.stderr == ""


def test_a_bad_document_leaves_its_neighbours_alone(run: Run, folder: Path) -> None:
    result = run("match", "-s", "s.txt", "docs/1.xml", "docs/torn.xml", "absent.xml", "docs/sub/2.xml")
    assert result.exit_code == 1
    first, torn, absent, last = objects(result)
    assert first["matches"] == ["1"]
    assert last["matches"] == ["3", "4"]
    assert (torn["error"]["kind"], torn["error"]["line"]) == ("malformed", 2)
    assert set(torn["error"]) == {"kind", "message", "line", "column"}
    assert absent["error"]["kind"] == "io"


def test_the_relational_engine_answers_alike(run: Run, folder: Path) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    arguments = ("-s", "s.txt", "docs", "absent.xml", "docs/1.xml")
    plain = run("match", *arguments)
    tables = run("match", "--engine", "relational", *arguments)
    assert (tables.exit_code, tables.stdout) == (plain.exit_code, plain.stdout)


def test_the_relational_engine_refuses_what_others_refuse(run: Run, folder: Path) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    (folder / "bad.txt").write_text("//a[\n//a\n//b]\n")
    plain = run("match", "-s", "bad.txt", "docs")
    tables = run("match", "-s", "bad.txt", "--engine", "relational", "docs")
    assert tables.exit_code == 2
    assert tables.stderr == plain.stderr


def test_a_directory_is_all_its_documents_sorted(run: Run, folder: Path) -> None:
    result = run("match", "-s", "s.txt", "docs", "docs/1.xml")
    assert [row["document"] for row in objects(result)] == [
        "docs/1.xml",
        "docs/sub/2.xml",
        "docs/torn.xml",
        "docs/1.xml",
    ]
    assert result.exit_code == 1


def test_a_directory_without_documents(run: Run, folder: Path) -> None:
    (folder / "empty").mkdir()
    result = run("match", "-s", "s.txt", "empty")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "empty: no *.xml or *.xml.gz file in this directory\n"
    assert run("match", "-s", "s.txt", "docs", "--glob", "*.json").exit_code == 2


def test_links_in_a_directory(run: Run, folder: Path) -> None:
    (folder / "docs/sub/loop").symlink_to(folder / "docs")
    (folder / "docs/sub/gone.xml").symlink_to(folder / "nowhere")
    found = {row["document"]: row for row in objects(run("match", "-s", "s.txt", "docs/sub"))}
    assert list(found) == ["docs/sub/2.xml", "docs/sub/gone.xml"]
    assert found["docs/sub/gone.xml"]["error"]["kind"] == "io"


def test_a_directory_that_cannot_be_listed(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = run("match", "-s", "s.txt", "docs/1.xml", "docs", "docs/sub/2.xml")
    first, closed, last = objects(result)
    assert closed["error"]["message"] == "cannot list the directory: Permission denied"
    assert (first["matches"], last["matches"], result.exit_code) == (["1"], ["3", "4"], 1)


def test_more_documents_than_a_block(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "BLOCK", 2)
    names = ["docs/1.xml", "docs/torn.xml", "docs/sub/2.xml"] * 3
    result = run("match", "-s", "s.txt", "--threads", "2", *names)
    assert [row["document"] for row in objects(result)] == names
    assert [row.get("matches") for row in objects(result)] == [["1"], None, ["3", "4"]] * 3


def test_standard_input(run: Run, folder: Path) -> None:
    document = run("match", "-s", "s.txt", "-", stdin=b"<a><b/><c/></a>")
    assert objects(document) == [{"document": "-", "matches": ["1", "3"]}]
    subscriptions = run("match", "-s", "-", "docs/1.xml", stdin="//x\n//b\n")
    assert objects(subscriptions) == [{"document": "docs/1.xml", "matches": ["2"]}]
    both = run("match", "-s", "-", "-", stdin="//b\n")
    assert both.exit_code == 2
    assert "only once" in both.stderr


def test_csv(run: Run, folder: Path) -> None:
    result = run("match", "-s", "s.txt", "--format", "csv", "docs", "absent.xml")
    assert list(csv.reader(io.StringIO(result.stdout))) == [
        ["document", "subscription"],
        ["docs/1.xml", "1"],
        ["docs/sub/2.xml", "3"],
        ["docs/sub/2.xml", "4"],
    ]
    torn, absent = result.stderr.splitlines()
    assert torn.startswith("docs/torn.xml:2:")
    assert absent.startswith("absent.xml: ")
    assert result.exit_code == 1


def test_table(run: Run, folder: Path) -> None:
    (folder / "many.txt").write_text("/a\n" * 25)
    result = run("match", "-s", "many.txt", "--format", "table", "docs")
    assert "docs/1.xml" in result.stdout
    assert "20 and 5 more" in " ".join(result.stdout.split())
    assert "bad" in result.stdout
    assert result.exit_code == 1


def test_output_file(run: Run, folder: Path) -> None:
    result = run("match", "-s", "s.txt", "-o", "out.jsonl", "docs/1.xml")
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads((folder / "out.jsonl").read_text())["matches"] == ["1"]
    refused = run("match", "-s", "s.txt", "-o", "no/such/folder", "docs/1.xml")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "no/such/folder: cannot be written: No such file or directory\n",
    )


def test_bad_subscriptions_are_all_listed_and_nothing_is_matched(run: Run, folder: Path) -> None:
    (folder / "out").write_text("as before")
    result = run("match", "-s", "bad.txt", "-o", "out", "docs/1.xml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert [line.split(": ")[0] for line in result.stderr.splitlines()] == ["bad.txt:2", "bad.txt:5"]
    assert (folder / "out").read_text() == "as before"


def test_broken_rows_and_bad_expressions_are_listed_together(run: Run, folder: Path) -> None:
    (folder / "s.csv").write_text("id,xpath\na,/a/\nb\nc,/c\nd,//[\n")
    result = run("match", "-s", "s.csv", "docs/1.xml")
    assert [line.split(": ")[0] for line in result.stderr.splitlines()] == ["s.csv:2", "s.csv:3", "s.csv:5"]
    assert (result.exit_code, result.stdout) == (2, "")


def test_columns_of_a_table_count(run: Run, folder: Path) -> None:
    (folder / "s.jsonl").write_text(
        '{"id": "in", "xpath": "/n:a", "namespaces": {"n": "urn:x"}}\n{"id": 2, "xpath": "/a"}\n'
    )
    result = run("match", "-s", "s.jsonl", "-", "docs/1.xml", stdin='<a xmlns="urn:x"/>')
    assert [row["matches"] for row in objects(result)] == [["in"], ["2"]]


@pytest.mark.parametrize("engine", pathcast.engines())
def test_every_engine_answers_or_says_why(run: Run, folder: Path, engine: str) -> None:
    result = run("match", "-s", "s.txt", "--engine", engine, "docs/1.xml", "docs/sub/2.xml")
    if engine == "pma":
        assert (result.exit_code, result.stdout) == (2, "")
        assert "the engine pma needs a schema to prune wildcards: give --dtd FILE" in result.stderr
    else:
        assert [row["matches"] for row in objects(result)] == [["1"], ["3", "4"]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["match", "-s", "s.txt", "--engine", "steam", "docs"], "'steam' is not an engine"),
        (["match", "-s", "s.txt"], "DOCUMENT"),
        (["match", "docs"], "-s SUBSCRIPTIONS or -e XPATH"),
        (["match", "-s", "s.txt", "--threads", "0", "docs"], "--threads"),
        (["match", "-s", "s.txt", "--format", "yaml", "docs"], "--format"),
        (["match", "-s", "absent.txt", "docs"], "absent.txt: cannot be read: No such file"),
        (["match", "-s", "docs/1.xml", "docs"], "has no known extension"),
        (["match", "-s", "s.txt", "--steam", "docs"], "--steam"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_a_wrong_call(run: Run, folder: Path, arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_a_file_name_forges_no_line(run: Run, folder: Path) -> None:
    (folder / "a\nb\x1b.xml").write_text("<a>")
    result = run("match", "-s", "s.txt", "--format", "csv", "a\nb\x1b.xml")
    assert result.stderr.startswith("a\\nb\\x1b.xml:1:")
    assert len(result.stderr.splitlines()) == 1


def test_interrupted(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: list[str], patterns: tuple[str, ...]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(match, "find_documents", interrupted)
    result = run("match", "-s", "s.txt", "docs")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "")
