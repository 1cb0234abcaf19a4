"""The playground: answers while one types, says why not, keeps its state in the address."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.service.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SAMPLES = ("nitf", "rss", "atom", "cap", "ubl", "cda", "xmark")


def begun(page: Page) -> None:
    page.goto("/playground")
    page.locator("#verdict", has_text="match").wait_for()


def write(page: Page, document: str) -> None:
    page.locator("xml-editor .cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(document)


def test_every_sample_answers(page: Page) -> None:
    begun(page)
    for name in SAMPLES:
        page.locator("#sample").select_option(name)
        verdict = "Does not match" if name == "cap" else "Matches"
        page.locator("#verdict", has_text=verdict).wait_for()
        if verdict == "Matches":
            page.locator("xml-editor .cm-hit").first.wait_for()


def test_why_not(page: Page) -> None:
    begun(page)
    write(page, "<news><item lang='en'><title>Rain</title></item><item lang='fr'/></news>")
    page.locator("#expression").fill("/news/item[@lang = 'de']/title")
    page.locator(".ladder > li", has_text="item[@lang = 'de']").wait_for()  # the sample does not match either
    page.locator("#verdict", has_text="Does not match").wait_for()
    rungs = page.locator(".ladder > li")
    assert rungs.count() == 2
    assert "1 node" in rungs.nth(0).inner_text()
    assert "finds nothing" in rungs.nth(1).inner_text()
    page.locator("#expression").fill("/news/item[@lang = 'en']/title")
    page.locator("#verdict", has_text="Matches").wait_for()
    page.locator("xml-editor .cm-hit").first.wait_for()
    assert "<title>" in page.locator("xml-editor .cm-hit").first.inner_text()


def test_mistakes_are_pointed_at(page: Page) -> None:
    begun(page)
    page.locator("#expression").fill("/news/item[")
    page.locator("#verdict", has_text="Column 12").wait_for()
    assert page.locator("#pointer").inner_text().splitlines()[1].index("^") == 11
    page.locator("#expression").fill("/news")
    write(page, "<news>\n<item></news>")
    page.locator("#verdict", has_text="Document, line 2").wait_for()
    page.locator("xml-editor .cm-wrong").wait_for()


def test_a_click_gives_the_path(page: Page) -> None:
    begun(page)
    write(page, "<news><item><title>Rain</title></item></news>")
    page.locator("#expression").fill("//title")
    page.locator("xml-editor .cm-hit", has_text="title").first.click()
    page.locator("#path", has_text="/news/item/title").wait_for()
    page.get_by_role("button", name="Use as expression").click()
    assert page.locator("#expression").input_value() == "/news/item/title"
    page.locator("#verdict", has_text="Matches").wait_for()


def test_namespaces_come_from_the_document(page: Page) -> None:
    begun(page)
    write(page, "<a xmlns='urn:example:orders' xmlns:x='urn:x'><x:b/></a>")
    page.locator("#expression").fill("/orde:a/x:b")
    page.locator("#verdict", has_text="Matches").wait_for()
    page.get_by_label("Prefix 1").fill("o")
    page.locator("#expression").fill("/o:a/x:b")
    page.locator("#verdict", has_text="Matches").wait_for()


def test_a_prefix_without_a_namespace_is_bound_on_the_page(page: Page) -> None:
    begun(page)
    write(page, "<a xmlns='urn:example:orders'/>")
    page.locator("#expression").fill("/o:a")
    verdict = page.locator("#verdict", has_text="Column 2: no namespace is bound to the prefix o.")
    verdict.get_by_text("Press Add under Namespaces").wait_for()
    assert "--namespace" not in verdict.inner_text()
    assert "namespaces=" not in verdict.inner_text()
    page.get_by_role("button", name="Add", exact=True).click()
    verdict.get_by_text("Type its namespace beside it").wait_for()
    assert page.evaluate("document.activeElement.ariaLabel") == "Namespace of o"
    page.keyboard.insert_text("urn:example:orders")
    page.locator("#verdict", has_text="Matches").wait_for()
    page.locator("#expression").fill("/p:a")
    page.locator("#verdict", has_text="the prefix p.").wait_for()
    page.get_by_label("Ignore namespaces").check()
    page.locator("#verdict", has_text="Matches").wait_for()


def test_documents_that_must_match_and_must_not(page: Page) -> None:
    begun(page)
    page.locator("#expression").fill("/a[b]")
    write(page, "<a><b/></a>")
    page.get_by_role("button", name="This one must match").click()
    write(page, "<a><c/></a>")
    page.get_by_role("button", name="This one must not").click()
    page.locator(".cases .state.good").nth(1).wait_for()
    page.locator("#expression").fill("/a[c]")
    page.locator(".cases .state.bad").nth(1).wait_for()
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("alert").get_by_text("The link is").wait_for()
    shared = page.url
    page.goto("/docs")
    page.goto(shared)
    page.locator(".cases .state.bad").nth(1).wait_for()
    assert page.locator("#expression").input_value() == "/a[c]"
    assert "<c/>" in page.locator("xml-editor .cm-content").inner_text()


def test_the_keyboard_is_not_caught(page: Page) -> None:
    begun(page)
    page.locator("xml-editor .cm-content").focus()
    for _ in range(4):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "expression":
            return
    raise AssertionError("Tab leads from the document to the expression")


def test_the_playground_alone_needs_no_key(browser: Browser, server: Server) -> None:
    command = [sys.executable, "-m", "pathcast", "playground", "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        page = browser.new_page(base_url=address)
        page.goto("/")
        page.locator("#verdict", has_text="match").wait_for()
        assert page.url.startswith(f"{address}/playground")
        page.context.close()
        process.terminate()
        assert process.wait(30) == 0
