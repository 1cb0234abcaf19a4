"""``pathcast generate`` and ``pathcast schema``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import pathcast
from pathcast.schema import Schema
from tests.unit.cli.conftest import Run

NEWS = Path(__file__).parents[3] / "examples/news/news.dtd"
SVG = "<!ELEMENT s EMPTY> <!ATTLIST s xmlns CDATA #FIXED 'urn:s'>"


def test_documents(run: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        done = run("generate", "documents", "--dtd", NEWS, "-n", "4", "--seed", "3", "-o", tmp_path / name)
        assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    one, two = sorted((tmp_path / "one").glob("*.xml")), sorted((tmp_path / "two").glob("*.xml"))
    assert [path.name for path in one] == [f"00000{place}.xml" for place in (1, 2, 3, 4)]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    schema = Schema.from_dtd(NEWS)
    assert not any(schema.validate(path) for path in one)


def test_subscriptions(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "s.txt"
    options = [
        "--max-depth",
        "6",
        "--wildcard",
        "0.2",
        "--descendant",
        "0.2",
        "--branch",
        "0.1",
        "--skew",
        "0.5",
    ]
    done = run("generate", "subscriptions", "--dtd", NEWS, "-n", "200", *options, "--distinct", "-o", target)
    assert (done.exit_code, done.stderr) == (0, "")
    index = pathcast.Index()
    index.add_many(enumerate(target.read_text().splitlines()))
    assert index.stats()["distinct"] == 200
    assert run("check", "-s", target).exit_code == 0


def test_formats_and_namespaces(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.dtd").write_text(SVG)
    for kind in ("csv", "jsonl", "txt"):
        target = tmp_path / f"s.{kind}"
        done = run(
            "generate",
            "subscriptions",
            "--dtd",
            tmp_path / "s.dtd",
            "-n",
            "1",
            "--wildcard",
            "0",
            "-o",
            target,
        )
        assert done.exit_code == 0
        assert ("the names need the namespaces" in done.stderr) == (kind == "txt")
    with (tmp_path / "s.csv").open(newline="") as file:
        assert list(csv.reader(file))[1] == ["1", "/s", '{"": "urn:s"}']
    assert json.loads((tmp_path / "s.jsonl").read_text())["namespaces"] == {"": "urn:s"}
    (tmp_path / "d.xml").write_text("<s xmlns='urn:s'/>")
    assert '"matches": ["1"]' in run("match", "-s", tmp_path / "s.csv", tmp_path / "d.xml").stdout


def test_too_many_distinct(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.dtd").write_text(SVG)
    target = tmp_path / "s.txt"
    # The main function turns it into a sentence and status 2.
    with pytest.raises(pathcast.PathcastError, match=r"9 distinct .* and only 3 exist"):
        run("generate", "subscriptions", "--dtd", tmp_path / "s.dtd", "-n", "9", "--distinct", "-o", target)
    assert not target.exists()


def test_mistakes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "two.dtd").write_text("<!ELEMENT a EMPTY>\n<!ELEMENT b EMPTY>")
    done = run("generate", "documents", "--dtd", tmp_path / "two.dtd", "-n", "1", "-o", tmp_path / "out")
    assert (done.exit_code, done.stderr) == (
        2,
        "pathcast: the root may be any of a, b; say which with --root\n",
    )
    (tmp_path / "bad.dtd").write_text("<!ELEMENT a EMPTY>\n<!ELEMENT b (>")
    done = run("schema", "show", "--dtd", tmp_path / "bad.dtd")
    assert done.exit_code == 2
    assert f"{tmp_path / 'bad.dtd'}:2: the content model of b" in done.stderr


def test_drawing(run: Run, tmp_path: Path) -> None:
    assert run("schema", "draw", "--dtd", NEWS, "-o", tmp_path / "n.svg").exit_code == 0
    assert (tmp_path / "n.svg").read_text().startswith("<svg ")
    done = run("schema", "draw", "--dtd", NEWS, "-o", tmp_path / "n.png")
    assert done.exit_code == 2
    assert "written as .svg" in done.stderr
    assert "11 elements" in run("schema", "show", "--dtd", NEWS).stdout
