"""``pathcast cover``, ``merge``, ``advertise`` and ``network simulate``."""

from __future__ import annotations

from pathlib import Path

import pytest

from pathcast.network.simulation.topology import TopologyError
from tests.unit.cli.conftest import Run

DTD = "<!ELEMENT a (b | c)*> <!ELEMENT b (d)> <!ELEMENT c (d?)> <!ELEMENT d (d?)>"
TOPOLOGY = """
tree = { brokers = 3 }
[[publisher]]
broker = "b1"
dtd = "a.dtd"
documents = 5
[[subscriber]]
broker = "leaves"
subscriptions = "s.txt"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.dtd").write_text(DTD)
    (tmp_path / "s.txt").write_text("//d\n/a/b\n/a/z\n")
    (tmp_path / "net.toml").write_text(TOPOLOGY)
    return tmp_path


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("/a//b", "/a/c/b", "covers"),
        ("/a/c/b", "/a//b", "covered"),
        ("//*/a", "/*//a", "equal"),
        ("/a", "/b", "neither"),
    ],
)
def test_cover(run: Run, first: str, second: str, expected: str) -> None:
    result = run("cover", first, second)
    assert (result.exit_code, result.stdout) == (0, f"{expected}\n")


def test_cover_with_namespaces(run: Run) -> None:
    assert run("cover", "//n:*", "//n:a", "--namespace", "n=urn:n").stdout == "covers\n"
    assert run("cover", "//n:*", "//n:a").exit_code == 2
    assert run("cover", "//a", "//a", "--namespace", "n").exit_code == 2
    result = run("cover", "/a[", "/a")
    assert result.exit_code == 2
    assert "column 4" in result.stderr


def test_merge(run: Run, folder: Path) -> None:
    assert run("merge", "/a/*/c/d", "/a/*/c/e").stdout == "/a/*/c/*\n"
    assert run("merge", "/a/b/d", "/a/c/d", "--dtd", folder / "a.dtd").stdout == "/a/*/d\t0.0000\n"
    result = run("merge", "/a", "/b/c")
    assert (result.exit_code, result.stdout) == (1, "")
    assert run("merge", "/a", "/b[").exit_code == 2


def test_advertise(run: Run, folder: Path) -> None:
    result = run("advertise", "--dtd", folder / "a.dtd")
    assert result.stdout.splitlines() == ["/a", "/a/c", "/a/b(/d)+", "/a/c(/d)+"]
    assert run("advertise", "--dtd", folder / "a.dtd", "--max-depth", "1").stdout == "/a\n/a(/*)+\n"
    assert run("advertise", "--dtd", folder / "a.dtd", "--graph").stdout == "{#=a;a!=b,c;b=d;c!=d;d!=d}\n"
    assert run("advertise", "--dtd", folder / "a.dtd", "--root", "zzz").exit_code == 2


def test_simulate(run: Run, folder: Path) -> None:
    result = run("network", "simulate", folder / "net.toml", "-o", folder / "net.svg")
    assert result.exit_code == 0, result.stderr
    assert "b3" in result.stdout
    assert "5 documents" in result.stdout
    assert (folder / "net.svg").read_text().startswith("<svg ")
    assert run("network", "simulate", folder / "net.toml").stdout == result.stdout
    assert run("network", "simulate", folder / "net.toml", "--seed", "5").stdout != result.stdout
    assert run("network", "simulate", folder / "net.toml", "--unchecked").exit_code == 0


def test_simulate_refuses(run: Run, folder: Path) -> None:
    assert run("network", "simulate", folder / "missing.toml").exit_code == 2
    assert run("network", "simulate", folder / "net.toml", "-o", folder / "net.png").exit_code == 2
    (folder / "s.txt").write_text("/a[\n")
    with pytest.raises(TopologyError, match=r"s\.txt:1: column 4"):
        run("network", "simulate", folder / "net.toml")
