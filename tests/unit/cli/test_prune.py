"""``pathcast prune``, and what a DTD adds to ``check`` and ``match``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pathcast.cli import app

DTD = """
<!ELEMENT news (item*)> <!ELEMENT item (title, body?)> <!ATTLIST item lang (en | fr) #IMPLIED>
<!ELEMENT title (#PCDATA)> <!ELEMENT body (#PCDATA)>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "news.dtd").write_text(DTD)
    (tmp_path / "alerts.txt").write_text("//title\n/news/*/body\n/news/title\n")
    (tmp_path / "good.xml").write_text("<news><item><title/></item></news>")
    (tmp_path / "bad.xml").write_text("<news>\n<title/></news>")
    return tmp_path


def test_prune_prints_what_each_becomes(folder: Path) -> None:
    result = CliRunner().invoke(
        app, ["prune", "--dtd", str(folder / "news.dtd"), "-s", str(folder / "alerts.txt")]
    )
    assert result.exit_code == 0, result.output
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"id": "1", "pruned": ["/news/item/title"]},
        {"id": "2", "pruned": ["/news/item/body"]},
        {"id": "3", "pruned": []},
    ]


def test_prune_lists_bad_subscriptions(folder: Path) -> None:
    (folder / "alerts.txt").write_text("//title\n//a[\n")
    result = CliRunner().invoke(
        app, ["prune", "--dtd", str(folder / "news.dtd"), "-s", str(folder / "alerts.txt")]
    )
    assert result.exit_code == 2
    assert "alerts.txt:2: " in result.stderr


def test_check_tells_what_can_never_match(folder: Path) -> None:
    result = CliRunner().invoke(
        app, ["check", "--dtd", str(folder / "news.dtd"), "-s", str(folder / "alerts.txt")]
    )
    assert result.exit_code == 2
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["ok"] for row in rows] == [True, True, False]
    assert "can never match under this schema" in rows[2]["message"]
    assert rows[2]["column"] == 1


def test_match_holds_documents_to_the_dtd(folder: Path) -> None:
    names = [str(folder / "good.xml"), str(folder / "bad.xml")]
    result = CliRunner().invoke(
        app, ["match", "--dtd", str(folder / "news.dtd"), "-s", str(folder / "alerts.txt"), *names]
    )
    assert result.exit_code == 1, result.output
    good, bad = (json.loads(line) for line in result.stdout.splitlines())
    assert good["matches"] == ["1"]
    assert bad["error"]["kind"] == "invalid"
    assert bad["error"]["line"] == 2
