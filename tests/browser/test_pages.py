"""Every page in a real browser: it works, fits a phone, names its controls, and reports no error."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

import pytest

from tests.service.receiver import Receiver
from tests.service.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

PAGES = ("", "playground", "subscriptions", "documents", "deliveries", "keys", "docs")

UNNAMED = """() => [...document.querySelectorAll("a, button, input, select, textarea, [role]")]
  .filter((each) => each.offsetParent !== null)
  .filter((each) => !(each.labels?.length || each.getAttribute("aria-label") || each.textContent.trim()
                      || each.getAttribute("aria-labelledby") || each.getAttribute("role")))
  .map((each) => each.outerHTML)"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page(page: Page, server: Server, name: str) -> None:
    server.topic("pages", s="//a")
    server.post("/v1/topics/pages/documents", content="<a/>")
    page.goto(f"/{name}")
    page.locator("main table, .ladder, .operation, .tile, .empty").first.wait_for()
    assert page.title().endswith("Pathcast")
    assert page.locator("nav a[aria-current=page]").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
        "nothing is wider than the screen"
    )
    assert page.evaluate(UNNAMED) == []
    assert page.locator("h1").count() == 1


def test_the_life_of_a_subscription(page: Page, server: Server) -> None:
    topic = f"life-{uuid.uuid4().hex[:8]}"
    with Receiver() as receiver:
        page.goto("/")
        page.get_by_label("New topic").fill(topic)
        page.get_by_role("button", name="Create").click()
        page.get_by_role("link", name=topic).click()
        page.get_by_label("Id").fill("english")
        page.get_by_label("Expression").fill("//item[@lang = 'en'")
        page.get_by_role("button", name="Put").click()
        page.get_by_text("Column 20").wait_for()
        page.get_by_label("Expression").fill("//item[@lang = 'en']")
        page.get_by_label("Webhook").fill(receiver.url)
        page.get_by_role("button", name="Put").click()
        page.get_by_text("whsec_").wait_for()
        page.get_by_role("button", name="Test english").click()
        page.get_by_text("Delivered, answered 200.").wait_for()
        page.goto(f"/documents?topic={topic}")
        page.get_by_role("textbox", name="Document").fill("<news><item lang='en'/></news>")
        page.get_by_role("button", name="Publish").click()
        page.get_by_text("matched 1.").wait_for()
        receiver.wait(lambda calls: any(b"<news>" in call.body for call in calls))
        page.get_by_role("textbox", name="Document").fill("<news>")
        page.get_by_role("button", name="Publish").click()
        page.get_by_text("It is kept as a dead letter").wait_for()
        page.goto("/deliveries")
        row = page.get_by_label("Dead letters").locator("tbody tr").first
        row.get_by_role("button", name="Look").click()
        page.get_by_role("dialog").get_by_text("<news>").wait_for()
        page.get_by_role("button", name="Close").click()
        row.get_by_role("button", name="Redrive").click()
        page.get_by_role("alert").get_by_text(re.compile("ends|closed")).wait_for()
        page.locator("#calls").get_by_text("delivered").first.wait_for()
        page.goto(f"/subscriptions?topic={topic}")
        page.get_by_role("button", name="Pause english").click()
        page.get_by_role("button", name="Go on english").wait_for()
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Remove english").click()
        page.locator("#list").get_by_text("Nothing here.").wait_for()


def test_a_prefix_without_a_namespace_is_bound_on_the_page(page: Page, server: Server) -> None:
    topic = f"bound-{uuid.uuid4().hex[:8]}"
    server.topic(topic)
    page.goto(f"/subscriptions?topic={topic}")
    page.get_by_label("Id").fill("orders")
    page.get_by_label("Expression").fill("/o:order/@id")
    page.get_by_role("button", name="Put").click()
    told = page.get_by_role("alert")
    told.get_by_text(
        "Column 2: no namespace is bound to the prefix o. Type o=URI under Namespaces."
    ).wait_for()
    page.get_by_label("Namespaces").fill("o")
    page.get_by_role("button", name="Put").click()
    told.get_by_text("Namespaces: o is not a prefix").wait_for()
    page.get_by_label("Namespaces").fill("o=urn:example:orders?x=1 =urn:y")
    page.get_by_role("button", name="Put").click()
    page.get_by_text("Put. The next document sees it.").wait_for()
    given = server.client.get(f"/v1/topics/{topic}/subscriptions/orders").json()["namespaces"]
    assert given == {"o": "urn:example:orders?x=1", "": "urn:y"}


def test_keys_are_made_rotated_and_revoked(page: Page) -> None:
    page.goto("/keys")
    page.get_by_label("Tenant").fill(f"tenant-{uuid.uuid4().hex[:8]}")
    tenant = page.get_by_label("Tenant").input_value()
    page.get_by_role("button", name="Make").click()
    page.get_by_text("The key, shown this once: pck_").wait_for()
    row = page.locator("tr", has_text=tenant).first
    row.get_by_role("button", name="Rotate").click()
    page.get_by_text("The new secret, shown this once").wait_for()
    page.on("dialog", lambda dialog: dialog.accept())
    last = page.locator("tr", has_text=tenant).last
    last.get_by_role("button", name="Revoke").click()
    last.get_by_text("revoked").wait_for()
    assert last.get_by_role("button").count() == 0


def test_a_wrong_key_is_asked_for_again(page: Page, server: Server) -> None:
    page.goto("/keys")
    page.evaluate("sessionStorage.setItem('key', 'wrong')")
    page.get_by_label("Tenant").wait_for()
    page.get_by_role("button", name="Make").click()
    page.get_by_role("dialog").get_by_text("unknown, revoked or expired").wait_for()
    page.keyboard.press("Escape")


def test_the_theme_can_be_switched(page: Page) -> None:
    page.goto("/docs")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


@pytest.mark.parametrize("name", ["", "subscriptions", "documents"])
def test_nothing_can_be_pressed_before_the_topics_are_there(page: Page, name: str) -> None:
    held: list[Route] = []
    page.route("**/v1/topics?limit=1000", lambda route: held.append(route))
    with page.expect_request("**/v1/topics?limit=1000"):
        page.goto(f"/{name}")
    assert page.locator("main").evaluate("(main) => main.inert")
    held.pop().continue_()
    page.locator("main:not([inert])").wait_for()


def test_a_list_that_comes_late_replaces_nothing(page: Page, server: Server) -> None:
    quick, slow = (server.topic(name, one=xpath) for name, xpath in (("quick", "//q"), ("slow", "//s")))
    page.goto("/subscriptions?topic=quick")
    page.get_by_role("table", name="Subscriptions").get_by_text("//q").wait_for()
    held: list[Route] = []
    page.route("**/v1/topics/slow/subscriptions?*", lambda route: held.append(route))
    topics = page.locator("#topic")
    with page.expect_request("**/v1/topics/slow/subscriptions?*"):
        topics.select_option("slow")
    # What is still shown is the list of the other topic: what is pressed there acts there.
    with page.expect_response("**/v1/topics/*/subscriptions/one"):
        page.get_by_role("button", name="Pause one").click()
    assert server.client.get(f"{quick}/subscriptions/one").json()["enabled"] is False
    assert server.client.get(f"{slow}/subscriptions/one").json()["enabled"] is True
    with page.expect_response("**/v1/topics/quick/subscriptions?*"):
        topics.select_option("quick")
    for route in held:
        with page.expect_response("**/v1/topics/slow/subscriptions?*"):
            route.continue_()
    page.evaluate("new Promise(done => setTimeout(done, 100))")
    page.get_by_role("table", name="Subscriptions").get_by_text("//q").wait_for()
