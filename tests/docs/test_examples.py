"""What the documentation shows is run: docstrings, and Python and console blocks of every Markdown file."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

import bench
import demo
import pathcast

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
OPTIONAL = {
    "confluent_kafka",
    "cryptography",
    "pyarrow",
    "lxml",
    "pyspark",
    "matplotlib",
    "duckdb",
    "psycopg",
    "fastapi",
    "httpx",
    "prometheus_client",
    "pydantic",
    "sqlalchemy",
    "starlette",
    "uvicorn",
}  # a module in the room of an optional dependency may be missing it
MODULES = [
    name
    for package in (pathcast, bench, demo)
    for name in (
        package.__name__,
        *(found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")),
    )
]


def blocks(language: str, pages: Sequence[Path] = PAGES) -> Sequence[ParameterSet]:
    """Every fenced block of this language, named by its page and line."""
    found = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for block in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, block.start()) + 2
            found.append(pytest.param(block[1], id=f"{page.relative_to(ROOT)}:{line}"))
    return found


def run_doctest(test: doctest.DocTest, *, clear_globs: bool = True) -> None:
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append, clear_globs=clear_globs)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(("__main__", "spark.local"))])
def test_docstrings(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        pytest.skip(f"{error.name} is not installed")
    for test in doctest.DocTestFinder().find(module):
        run_doctest(test)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run in order and share their names, in a folder of their own."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for parameters in blocks("python", [page]):
        block, place = str(parameters.values[0]), str(parameters.id)
        if "import pyarrow" in block:
            pytest.importorskip("pyarrow")
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, place, None, 0)
            run_doctest(test, clear_globs=False)
            names = test.globs
        else:
            exec(compile(block, place, "exec"), names)


@pytest.mark.parametrize("block", blocks("console"))
def test_console_blocks(block: str) -> None:
    """Each ``$ pathcast ...`` prints what stands below it."""
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        words = shlex.split(command)
        assert words[0] == "pathcast", "console blocks show the command line"
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
        )
        assert done.stdout == expected


def test_the_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^make demo\b", readme, re.MULTILINE)
    assert re.search(r"^make test\b", readme, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target
