"""The playground in a real browser: how long an answer takes while one types, on a document of 100 KB.

An expression is typed letter by letter into the page of `pathcast playground`. The figure is the time from a
letter to the answer on the page. Beside it stand the processor time of the server for one answer, and what
the page itself used for it: both mean something on a busy machine too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bench.harness.kept import Kept, Row
from bench.plan import Plan
from bench.workloads import WORKLOADS

if TYPE_CHECKING:
    from playwright.sync_api import Page

BYTES = 100_000
ROUNDS = 2
TYPED = {
    "selects one": "//item[@id = 'n30']/headline",
    "selects much": "//item[priority > 2]/category",
    "selects nothing": "//item[region = 'nowhere']",
}
WATCH = """() => {
  window.answers = [];
  let pressed = 0;
  const press = () => { pressed = performance.now(); };
  document.getElementById("expression").addEventListener("input", press, true);
  new MutationObserver(() => {
    if (pressed) window.answers.push(performance.now() - pressed);
    pressed = 0;
  }).observe(document.getElementById("verdict"), { childList: true });
}"""


def chromium() -> str | None:
    """A browser of this machine."""
    return os.environ.get("PATHCAST_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def document() -> str:
    """Alerts until it is large enough, an element on each line."""
    found: list[str] = []
    for each in WORKLOADS["alerts"].documents(1):
        found.append(each.decode().replace("><", ">\n<"))
        if sum(map(len, found)) > BYTES:
            break
    return "<items>\n" + "\n".join(found) + "\n</items>"


def table(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Typing an expression against 100 KB: milliseconds to the answer, and processor time for one."""
    browser = chromium()
    if browser is None:
        return
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "pathcast", "playground", "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        with sync_playwright() as playwright:
            running = playwright.chromium.launch(
                executable_path=browser, args=["--headless", "--no-sandbox", "--disable-gpu"]
            )
            page = running.new_page(base_url=address, bypass_csp=True)  # to wait for an answer
            try:
                for name, xpath in TYPED.items():
                    if not kept.has(name):
                        yield Row(name, _typed(page, server.pid, xpath))
            finally:
                running.close()
                server.terminate()


def _typed(page: Page, server: int, xpath: str) -> dict[str, float]:
    text = document()
    page.goto("/playground")
    page.locator("#verdict", has_text="match").wait_for()
    page.locator("xml-editor .cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)
    page.locator("#expression").fill("/items")
    page.locator("#verdict", has_text="Matches").wait_for()
    page.evaluate(WATCH)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    answers: list[float] = []
    used = page_used = 0.0
    for round in range(ROUNDS + 1):  # the first warms up
        before, drawn = _processor(server), _tasks(session.send("Performance.getMetrics"))
        page.evaluate("window.answers.length = 0")
        page.locator("#expression").fill("")
        page.wait_for_function("window.answers.length == 1")
        for count, letter in enumerate(xpath, 2):
            page.keyboard.type(letter)
            page.wait_for_function(f"window.answers.length == {count}")
        if round:
            answers += page.evaluate("window.answers.slice(1)")
            used += _processor(server) - before
            page_used += _tasks(session.send("Performance.getMetrics")) - drawn
    assert page.locator("#verdict").inner_text().startswith(("Matches", "Does not match"))
    answers.sort()
    return {
        "KB": len(text) / 1000,
        "p50 ms": answers[len(answers) // 2],
        "p95 ms": answers[len(answers) * 95 // 100],
        "server processor ms": used / len(answers) * 1000,
        "page processor ms": page_used / len(answers) * 1000,
    }


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _tasks(answer: dict[str, list[dict[str, float | str]]]) -> float:
    """Processor time that the page's own thread has used."""
    return sum(float(each["value"]) for each in answer["metrics"] if each["name"] == "TaskDuration")
