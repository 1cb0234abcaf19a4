"""The playground: answers while one types, says why not, keeps its state in the address."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.service.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route

SAMPLES = {  # how each one's expression begins
    "nitf": "//body.content",
    "rss": "/rss",
    "atom": "//atom:entry",
    "cap": "/cap:alert",
    "ubl": "//cac:InvoiceLine",
    "cda": "//hl:observation",
    "xmark": "/site",
}


def begun(page: Page) -> None:
    page.goto("/playground")
    decided(page, "match")


def decided(page: Page, text: str) -> Locator:
    """The verdict on what the page shows now, not on what it showed before."""
    verdict = page.locator("#verdict[aria-busy=false]", has_text=text)
    verdict.wait_for()
    return verdict


def choose(page: Page, sample: str) -> None:
    """Take the sample, and wait until it is there."""
    page.locator("#sample").select_option(sample)
    begins(page, SAMPLES[sample])


def begins(page: Page, expression: str) -> None:
    from playwright.sync_api import expect

    expect(page.locator("#expression")).to_have_value(re.compile(re.escape(expression)), timeout=60_000)


def write(page: Page, document: str) -> None:
    page.locator("xml-editor .cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(document)


def test_every_sample_answers(page: Page) -> None:
    begun(page)
    for name in SAMPLES:
        choose(page, name)
        verdict = "Does not match" if name == "cap" else "Matches"
        decided(page, verdict)
        if verdict == "Matches":
            page.locator("xml-editor .cm-hit").first.wait_for()


def test_of_samples_chosen_in_a_hurry_the_last_one_counts(page: Page) -> None:
    begun(page)
    slow: list[Route] = []
    page.route("**/samples/rss.xml", lambda route: slow.append(route))
    page.locator("#sample").select_option("rss")
    choose(page, "ubl")
    with page.expect_request_finished(lambda request: request.url.endswith("rss.xml")):
        slow[0].continue_()
    page.evaluate("new Promise(done => setTimeout(done, 100))")
    begins(page, SAMPLES["ubl"])
    decided(page, "Matches")
    assert "<Invoice" in page.locator("xml-editor .cm-content").inner_text()


def test_why_not(page: Page) -> None:
    begun(page)
    write(page, "<news><item lang='en'><title>Rain</title></item><item lang='fr'/></news>")
    page.locator("#expression").fill("/news/item[@lang = 'de']/title")
    page.locator(".ladder > li", has_text="item[@lang = 'de']").wait_for()  # the sample does not match either
    decided(page, "Does not match")
    rungs = page.locator(".ladder > li")
    assert rungs.count() == 2
    assert "1 node" in rungs.nth(0).inner_text()
    assert "finds nothing" in rungs.nth(1).inner_text()
    page.locator("#expression").fill("/news/item[@lang = 'en']/title")
    decided(page, "Matches")
    page.locator("xml-editor .cm-hit").first.wait_for()
    assert "<title>" in page.locator("xml-editor .cm-hit").first.inner_text()


def test_a_long_expression_is_seen_whole(page: Page) -> None:
    begun(page)
    page.locator("#expression").fill("/cap:alert/cap:info[cap:severity = 'Severe']" * 5)
    assert page.locator("#expression").evaluate("box => box.scrollHeight <= box.clientHeight")


def test_mistakes_are_pointed_at(page: Page) -> None:
    begun(page)
    page.locator("#expression").fill("/news/item[")
    decided(page, "Column 12")
    assert page.locator("#pointer").inner_text().splitlines()[1].index("^") == 11
    page.locator("#expression").fill("/news")
    write(page, "<news>\n<item></news>")
    decided(page, "Document, line 2")
    page.locator("xml-editor .cm-wrong").wait_for()


def test_nothing_is_left_of_an_expression_that_is_gone(page: Page) -> None:
    begun(page)
    for text, told in (("//cap:headline", "Matches"), ("//cap:headline[", "Column 16")):
        page.locator("#expression").fill(text)
        decided(page, told)
        page.locator("#expression").fill("")
        decided(page, "Type an expression.")
        assert page.locator("#ladder").inner_text() == ""
        assert page.locator("#pointer").is_hidden()
        assert page.locator("#expression").get_attribute("aria-invalid") == "false"
        assert page.locator("xml-editor .cm-hit").count() == 0


def test_a_click_gives_the_path(page: Page) -> None:
    begun(page)
    write(page, "<news><item><title>Rain</title></item></news>")
    page.locator("#expression").fill("//title")
    page.locator("xml-editor .cm-hit", has_text="title").first.click()
    page.locator("#path", has_text="/news/item/title").wait_for()
    page.get_by_role("button", name="Use as expression").click()
    assert page.locator("#expression").input_value() == "/news/item/title"
    decided(page, "Matches")


def test_namespaces_come_from_the_document(page: Page) -> None:
    begun(page)
    write(page, "<a xmlns='urn:example:orders' xmlns:x='urn:x'><x:b/></a>")
    page.locator("#expression").fill("/orde:a/x:b")
    decided(page, "Matches")
    page.get_by_label("Prefix 1").fill("o")
    page.locator("#expression").fill("/o:a/x:b")
    decided(page, "Matches")


def test_a_prefix_without_a_namespace_is_bound_on_the_page(page: Page) -> None:
    begun(page)
    write(page, "<a xmlns='urn:example:orders'/>")
    page.locator("#expression").fill("/o:a")
    verdict = decided(page, "Column 2: no namespace is bound to the prefix o.")
    verdict.get_by_text("Press Add under Namespaces").wait_for()
    assert "--namespace" not in verdict.inner_text()
    assert "namespaces=" not in verdict.inner_text()
    page.get_by_role("button", name="Add", exact=True).click()
    verdict.get_by_text("Type its namespace beside it").wait_for()
    assert page.evaluate("document.activeElement.ariaLabel") == "Namespace of o"
    page.keyboard.insert_text("urn:example:orders")
    decided(page, "Matches")
    page.locator("#expression").fill("/p:a")
    decided(page, "the prefix p.")
    page.get_by_label("Ignore namespaces").check()
    decided(page, "Matches")


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
        decided(page, "match")
        assert page.url.startswith(f"{address}/playground")
        named = page.locator("header a").evaluate_all("links => links.map(each => each.href)")
        assert [each for each in named if not page.request.get(each).ok] == []
        page.context.close()
        process.terminate()
        assert process.wait(30) == 0
