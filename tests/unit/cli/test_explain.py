"""``pathcast explain``: readable, and with a mark under what is wrong."""

from __future__ import annotations

from pathlib import Path

from tests.unit.cli.conftest import Run


def test_matched_or_not_is_no_failure(run: Run, folder: Path) -> None:
    for xpath in ("/a/b", "/a/nothing"):
        result = run("explain", xpath, "docs/1.xml")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.strip()


def test_standard_input(run: Run) -> None:
    assert run("explain", "/a", "-", stdin="<a/>").exit_code == 0


def test_a_bad_expression(run: Run, folder: Path) -> None:
    result = run("explain", "/a/b[", "docs/1.xml")
    assert (result.exit_code, result.stdout) == (2, "")
    message, expression, mark = result.stderr.splitlines()
    assert message.startswith("pathcast: column ")
    assert expression == "  /a/b["
    assert mark.strip() == "^"


def test_a_bad_document(run: Run, folder: Path) -> None:
    torn = run("explain", "/a", "docs/torn.xml")
    assert (torn.exit_code, torn.stdout) == (1, "")
    assert torn.stderr.startswith("docs/torn.xml:2:")
    absent = run("explain", "/a", "absent.xml")
    assert (absent.exit_code, absent.stdout) == (1, "")
    assert absent.stderr.startswith("absent.xml: ")


def test_a_drawing(run: Run, folder: Path) -> None:
    for name, start in (("trie.svg", "<svg"), ("trie.dot", "digraph")):
        result = run("explain", "/a[b]//c", "docs/1.xml", "--draw", name)
        assert (result.exit_code, result.stderr) == (0, f"drawn in {name}\n")
        assert (folder / name).read_text(encoding="utf-8").startswith(start)


def test_a_drawing_that_cannot_be(run: Run, folder: Path) -> None:
    result = run("explain", "/a", "docs/1.xml", "--draw", "trie.png")
    assert (result.exit_code, result.stdout) == (2, "")
    assert ".svg" in result.stderr
    result = run("explain", "/a", "docs/1.xml", "--draw", "nowhere/trie.svg")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
