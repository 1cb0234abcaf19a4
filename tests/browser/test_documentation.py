"""The documentation as a site, on a phone in the dark: nothing sticks out, all is readable, search works."""

from __future__ import annotations

import functools
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("furo")
ROOT = Path(__file__).parents[2]

# Elements beyond the right edge that no box of their own lets a reader move. The theme's box around the page
# does not count: moving it moves every line out of sight.
STICKING_OUT = """() => {
  const edge = document.documentElement.clientWidth + 1;
  const moved = element => {
    for (let each = element; each.tagName !== "ARTICLE"; each = each.parentElement)
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(each).overflowX)) return true;
    return false;
  };
  return [...document.querySelectorAll("article *")]
    .filter(each => each.getBoundingClientRect().right > edge && !moved(each))
    .map(each => each.outerHTML.slice(0, 80));
}"""

# Texts whose colour is less than four times as light or dark as the ground, as WCAG counts.
HARD_TO_READ = """() => {
  const channels = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => channels(colour).slice(0, 3)
    .map(each => (each /= 255) <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
    .reduce((sum, each, place) => sum + each * [0.2126, 0.7152, 0.0722][place], 0);
  const ground = element => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if ((channels(colour)[3] ?? 1) > 0.5) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const texts = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
  const found = new Set();
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.getClientRects().length) continue;
    const [low, high] = [getComputedStyle(element).color, ground(element)].map(light).sort((a, b) => a - b);
    if ((high + 0.05) / (low + 0.05) < 4) found.add(element.outerHTML.slice(0, 80));
  }
  return [...found];
}"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "-c", "docs", ".", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def site(built: Path) -> Iterator[str]:
    """Its address."""
    handler = functools.partial(_Quiet, directory=str(built))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


@pytest.fixture
def phone(browser: Browser, site: str) -> Iterator[Page]:
    context = browser.new_context(
        base_url=site, viewport={"width": 390, "height": 844}, color_scheme="dark", device_scale_factor=1
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.extend([message.text] if message.type == "error" else []))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    context.close()
    assert wrong == []


def test_every_page_fits_a_phone_in_the_dark(phone: Page, built: Path) -> None:
    for page in sorted(built.rglob("*.html")):
        name = page.relative_to(built).as_posix()
        if name == "index.html":  # it leads to docs/index.html
            continue
        phone.goto(f"/{name}")
        assert phone.evaluate(STICKING_OUT) == [], name
        assert phone.evaluate(HARD_TO_READ) == [], name


def test_a_word_is_found(phone: Page) -> None:
    phone.goto("/docs/index.html")
    phone.locator(".mobile-header .nav-overlay-icon").click()
    phone.get_by_placeholder("Search").fill("polygon")
    phone.keyboard.press("Enter")
    phone.locator("#search-results li > a", has_text="Public alerts").click()
    phone.locator("article h1", has_text="Public alerts").wait_for()


def test_a_table_of_long_names_shows_what_they_mean(phone: Page) -> None:
    phone.goto("/docs/service.html")
    meaning = phone.get_by_role("columnheader", name="what it does").bounding_box()
    assert meaning
    assert meaning["x"] + 100 < 390
    phone.goto("/docs/cli.html")
    option = phone.locator("article p code", has_text="--namespace PREFIX=URI").locator(".pre").first
    assert option.evaluate("word => word.getClientRects().length") == 1, "it is not broken after its dashes"
