"""The fixtures `browser`, a real Chromium, and `page`, which fails a test when the console shows an error."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if sys.version_info < (3, 11):
    collect_ignore_glob = ["*"]  # the service needs Python 3.11
else:
    from tests.service.server import ADMIN, Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

# A browser that asks nobody anything: tests run without a network.
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def unavailable(reason: str) -> None:
    """Skip the test for that reason, or fail it where a browser is required."""
    if os.environ.get("PATHCAST_REQUIRE_BROWSER"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


# Not for the whole session: while Playwright runs, its event loop is the thread's; no other may start.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = (
        os.environ.get("PATHCAST_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    )
    if not chromium:
        unavailable("there is no Chromium: make browser installs one, or name one with PATHCAST_CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("browser")
    with Server("--data", str(data), "--allow-webhooks-to", "127.0.0.0/8") as running:
        yield running


@pytest.fixture(params=["desktop-light", "phone-dark"])
def page(request: pytest.FixtureRequest, browser: Browser, server: Server) -> Iterator[Page]:
    """A page with the administrator's key; nothing may go wrong on it, and no other host may be asked."""
    phone = request.param.startswith("phone")
    context = browser.new_context(
        base_url=server.address,
        viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 860},
        color_scheme="dark" if phone else "light",
    )
    context.add_init_script(f"sessionStorage.setItem('key', '{ADMIN}')")
    page = context.new_page()
    page.set_default_timeout(60_000)  # a busy machine is slow, not wrong
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.extend(_errors(message)))
    page.on("request", lambda asked: wrong.extend(_elsewhere(asked.url, server.address)))
    yield page
    context.close()
    assert wrong == []


def _errors(message: ConsoleMessage) -> list[str]:
    """What the console shows as an error; answers such as 422 are the service's, and expected."""
    bad = message.type == "error" and "Failed to load resource" not in message.text
    return [message.text] if bad else []


def _elsewhere(url: str, address: str) -> list[str]:
    """The URL, if it leads to another host."""
    return [] if url.startswith((address, "data:", "blob:")) else [url]
