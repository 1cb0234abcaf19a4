"""The documentation as a site: no warning, everything public, nothing from another host."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from typer.main import get_command

import pathcast
import pathcast.network
import pathcast.relational
import pathcast.schema
from pathcast.cli import app

pytest.importorskip("furo")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` builds it."""
    for needed in ("fastapi", "lxml", "duckdb", "pyspark"):
        pytest.importorskip(needed)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "-c", "docs", ".", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def text(page: Path) -> str:
    return unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))


class Links(HTMLParser):
    """Where a page leads, and the places in it that can be led to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places = {""}
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id":
                self.places.add(value or "")
            elif name in ("href", "src"):
                self.targets.append(value or "")


def lost(pages: list[Path]) -> list[tuple[str, str]]:
    """Links within the site that lead to no file, or to no place in a page."""
    links = {page.resolve(): Links(page) for page in pages}
    found = []
    for page, read in links.items():
        for target in read.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            aim = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not aim.is_file() or (aim in links and unquote(parts.fragment) not in links[aim].places):
                found.append((page.name, target))
    return found


def commands(name: str, command: object) -> Iterator[str]:
    """The full names of all commands."""
    for child, each in getattr(command, "commands", {}).items():
        if hasattr(each, "commands"):
            yield from commands(f"{name} {child}", each)
        if getattr(each, "invoke_without_command", True):
            yield f"{name} {child}"


def test_the_site(site: Path) -> None:
    """One build, looked at from all sides: building is what takes time."""
    pages = sorted(site.rglob("*.html"))

    # Nothing is loaded from another host; links that a reader follows may lead there.
    loading = (
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"(?:https?:)?//|<link\b[^>]*\bhref=\"(?:https?:)?//"
    )
    for page in pages:
        assert not re.search(loading, page.read_text(encoding="utf-8")), page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//|@import", sheet.read_text(encoding="utf-8")), sheet

    assert lost(pages) == []

    # Every page is on the site, and the first one leads to all of them.
    first = (site / "docs/index.html").read_text(encoding="utf-8")
    for source in sorted((ROOT / "docs").rglob("*.md")):
        built = source.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert f'href="{built}"' in first or built == "index.html", built
    assert 'url=docs/index.html"' in (site / "index.html").read_text(encoding="utf-8")
    assert "docs/reference/library" in (site / "searchindex.js").read_text(encoding="utf-8")

    # Who has no checkout finds the files that a guide works on.
    for page_name, folder in (
        ("guides/tenders", "tenders"),
        ("guides/clinical", "clinical"),
        ("guides/alerts", "alerts"),
        ("tutorial", "news/documents"),
    ):
        offered = re.findall(
            r'href="[./]*(_downloads/[^"]+)"', (site / f"docs/{page_name}.html").read_text(encoding="utf-8")
        )
        for example in (ROOT / "examples" / folder).rglob("*.*"):
            assert example.read_bytes() in [(site / each).read_bytes() for each in offered], example

    # The reference names everything public, and has nothing that Sphinx says for want of a docstring.
    reference = site / "docs/reference"
    for page in reference.glob("*.html"):
        assert not re.search(r"Bases: object|Alias for field", text(page)), page
    for page_name, module in (
        ("library", pathcast),
        ("schemas", pathcast.schema),
        ("network", pathcast.network),
        ("databases", pathcast.relational),
    ):
        page_text = (reference / f"{page_name}.html").read_text(encoding="utf-8")
        for name in module.__all__:
            assert not callable(getattr(module, name)) or f'id="{module.__name__}.{name}"' in page_text, name
    for page_name, words in (
        ("library", "bounds what the engine keeps from one document to the next"),
        ("databases", "Opens the database, and makes the tables if they are not there."),
    ):
        assert words in " ".join(text(reference / f"{page_name}.html").split()), "what arguments mean"
    shown = text(reference / "commands.html")
    for command in commands("pathcast", get_command(app)):
        assert command in shown
    described = json.loads((site / "openapi.json").read_text(encoding="utf-8"))
    shown = text(reference / "calls.html")
    for path, methods in described["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in shown
