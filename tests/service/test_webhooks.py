"""Webhooks: signed, retried by the clock, bounded, and kept away from private networks."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import ipaddress
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from pathcast.service import subscribing
from pathcast.service.core import Service
from pathcast.service.publishing import Publication
from pathcast.service.settings import RETRIES, Settings
from pathcast.service.store import dead_letters, keys, pushes
from pathcast.service.store.subscriptions import Subscription
from pathcast.service.webhooks import addresses
from tests.service.receiver import Received, Receiver
from tests.service.server import Server

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


def signed(call: Received, secret: str) -> bool:
    """As a receiver checks it, from the standard alone."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    text = f"{call.headers['webhook-id']}.{call.headers['webhook-timestamp']}.".encode() + call.body
    expected = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return call.headers["webhook-signature"] == f"v1,{expected}"


def test_a_signed_call(server: Server, name: str) -> None:
    path = server.topic(name)
    with Receiver() as receiver:
        delivery = {"webhook": {"url": f"{receiver.url}/hook?x=1", "secret": SECRET}}
        put = server.put(f"{path}/subscriptions/s", json={"xpath": "//a", "delivery": delivery})
        assert put.status_code == 201, put.text
        assert "secret" not in server.get(f"{path}/subscriptions/s").json()["delivery"]["webhook"]
        trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        headers = {"Content-Type": "text/xml", "traceparent": trace}
        document = server.post(f"{path}/documents", content="<a>é</a>".encode(), headers=headers).json()[
            "document"
        ]
        [call] = receiver.wait(bool)
        assert call.path == "/hook?x=1"
        assert call.body == "<a>é</a>".encode()
        assert signed(call, SECRET)
        assert call.headers["content-type"] == "text/xml"
        assert call.headers["traceparent"] == trace
        assert call.headers["pathcast-document"] == document
        deliveries = server.get(f"/v1/documents/{document}").json()["deliveries"]
        assert [each["id"] for each in deliveries] == [call.headers["webhook-id"]]
        tested = server.post(f"{path}/subscriptions/s/test").json()
        assert tested["delivered"] is True
        assert len(receiver.received) == 2


def test_a_secret_is_made_and_kept(server: Server, name: str) -> None:
    path = server.topic(name)
    body = {"xpath": "//a", "delivery": {"webhook": {"url": "http://127.0.0.1:9/"}}}
    first = server.put(f"{path}/subscriptions/s", json=body).json()["delivery"]["webhook"]["secret"]
    again = server.put(f"{path}/subscriptions/s", json=body).json()["delivery"]["webhook"]["secret"]
    assert first == again
    assert first.startswith("whsec_")
    bad = {"xpath": "//a", "delivery": {"webhook": {"url": "http://127.0.0.1:9/", "secret": "hush"}}}
    assert server.put(f"{path}/subscriptions/s", json=bad).status_code == 422


@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_is_a_failure_and_is_not_followed(server: Server, name: str, status: int) -> None:
    path = server.topic(name)
    with Receiver() as elsewhere:

        def redirect(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            handler.send_header("Location", elsewhere.url)
            handler.end_headers()

        with Receiver(redirect) as receiver:
            body = {"xpath": "//a", "delivery": {"webhook": {"url": receiver.url}}}
            assert server.put(f"{path}/subscriptions/s", json=body).status_code == 201
            tested = server.post(f"{path}/subscriptions/s/test").json()
            assert tested["delivered"] is False
            assert tested["status"] == status
            assert "redirects are not followed" in tested["reason"]
            server.post(f"{path}/documents", content="<a/>")
            receiver.wait(lambda calls: len(calls) == 2)
        assert not elsewhere.received


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "http://[::1]/",
        "ftp://127.0.0.1/",
        "http://u:p@127.0.0.1/",
        "http:///x",
        "http://127.0.0.1:99999/",
    ],
)
def test_receivers_that_are_refused(server: Server, name: str, url: str) -> None:
    path = server.topic("refused-receivers")
    body = {"xpath": "//a", "delivery": {"webhook": {"url": url}}}
    refused = server.put(f"{path}/subscriptions/s", json=body)
    assert refused.status_code == 422, refused.text


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fc00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b:1::7f00:1", False),
        ("::127.0.0.1", False),
        ("::ffff:0:127.0.0.1", False),
        ("192.88.99.1", False),
        ("3fff::1", False),
        ("5f00::1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert addresses.permitted(ipaddress.ip_address(address), ()) is public


def test_a_name_is_resolved_once_and_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []

    def look_up(host: str, port: int, **options: Any) -> list[Any]:
        looked_up.append(host)
        found = {"good.example": ["93.184.216.34"], "mixed.example": ["93.184.216.34", "127.0.0.1"]}[host]
        return [(2, 1, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    good = asyncio.run(addresses.resolve("https://good.example:8443/a?b#c", ()))
    assert good == addresses.Target("https://93.184.216.34:8443/a?b", "good.example:8443", "good.example")
    assert looked_up == ["good.example"]
    with pytest.raises(addresses.ForbiddenAddressError):
        asyncio.run(addresses.resolve("https://mixed.example/", ()))


class Clock:
    """A clock that stands until it is told to move."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


async def settled(service: Service) -> None:
    """Everything that is due now was tried."""
    while await service.dispatcher.turn() or service.dispatcher._calls:
        if service.dispatcher._calls:
            await asyncio.wait(service.dispatcher._calls)


def in_process(tmp_path: Path, clock: Clock, url: str, **settings: Any) -> Service:
    service = Service(Settings(data=tmp_path, clock=clock, webhook_networks=LOOPBACK, **settings))
    service.open()
    service.writer.start()
    return service


async def subscribed(service: Service, *urls: str) -> Any:
    await subscribing.put_topic(service, "t", "news", {})
    service.ready = True
    live = await service.topic("t", "news")
    owner = keys.Key(number=0, id="k", tenant="t", operator=False, scopes=(), topics=())
    for number, url in enumerate(urls):
        given = Subscription(
            id=f"s{number}", xpath="//a", delivery={"webhook": {"url": url, "secret": SECRET}}
        )
        await subscribing.put(service, live, owner, [given])
    return live


def failing(status: int) -> Callable[[BaseHTTPRequestHandler], None]:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        if status // 100 == 3:
            handler.send_header("Location", "http://127.0.0.1:9/elsewhere")
        handler.end_headers()

    return behave


@pytest.mark.parametrize("status", [500, 302, 410])
def test_retries_then_a_dead_letter_then_redriven(tmp_path: Path, status: int) -> None:
    clock = Clock()
    answers = [status]

    def behave(handler: BaseHTTPRequestHandler) -> None:
        failing(answers[0])(handler)

    async def life(receiver: Receiver) -> None:
        service = in_process(tmp_path, clock, receiver.url)
        live = await subscribed(service, receiver.url)
        await service.publish(Publication(live, b"<a/>", ""))
        for calls, pause in enumerate((*RETRIES, None), start=1):
            await settled(service)
            assert len(receiver.received) == calls
            if pause is None:
                break
            clock.now += pause - 0.5
            await settled(service)
            assert len(receiver.received) == calls, f"not before {pause} s"
            clock.now += 0.5
        clock.now += 10 * 86_400
        await settled(service)
        assert len(receiver.received) == len(RETRIES) + 1
        [letter] = await service.read(lambda c: dead_letters.page(c, "t", None, 10, None, None))
        assert (letter.kind, letter.subscription) == ("delivery", "s0")
        assert str(status) in letter.reason
        assert len({call.headers["webhook-id"] for call in receiver.received}) == 1
        assert all(signed(call, SECRET) for call in receiver.received)
        answers[0] = 204
        push = letter.push
        assert push is not None
        assert await service.writer.run("t", lambda c: pushes.revive(c, push, clock.now))
        await settled(service)
        assert len(receiver.received) == len(RETRIES) + 2
        [row] = await service.read(lambda c: pushes.page(c, "t", None, 10, None))
        assert row["state"] == "delivered"
        await service.stop()

    with Receiver(behave) as receiver:
        asyncio.run(life(receiver))


def test_hanging_and_endless_receivers_harm_nobody(tmp_path: Path) -> None:
    released = threading.Event()

    def behave(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/hang":
            released.wait(60)
            return
        handler.send_response(200)
        handler.end_headers()
        if handler.path == "/endless":
            try:
                while not released.is_set():
                    handler.wfile.write(b"x" * 65_536)
            except OSError:
                pass

    async def life(receiver: Receiver) -> None:
        service = in_process(tmp_path, Clock(), receiver.url, webhook_timeout=5.0)
        urls = [receiver.url + path for path in ("/hang", "/endless", "/good")]
        live = await subscribed(service, *urls)
        for number in range(20):
            await service.publish(Publication(live, b"<a>%d</a>" % number, ""))

        async def good() -> None:
            while sum(call.path == "/good" for call in receiver.received) < 20:
                if not await service.dispatcher.turn():
                    await asyncio.wait(service.dispatcher._calls, return_when=asyncio.FIRST_COMPLETED)

        await asyncio.wait_for(good(), 60)
        hanging = sum(call.path == "/hang" for call in receiver.received)
        assert hanging <= 5, "four calls at a time, and the others wait"
        released.set()
        await service.stop()

    with Receiver(behave) as receiver:
        asyncio.run(life(receiver))


def test_a_lease_that_ran_out_is_taken_by_another(tmp_path: Path) -> None:
    clock = Clock()

    async def life(receiver: Receiver) -> None:
        service = in_process(tmp_path, clock, receiver.url)
        live = await subscribed(service, receiver.url)
        await service.publish(Publication(live, b"<a/>", ""))
        [push] = await service.writer.run(
            "t", lambda c: pushes.lease(c, "dead", clock.now, clock.now + 60, 9)
        )
        await settled(service)
        assert receiver.received == [], "somebody else has it"
        clock.now += 61
        await settled(service)
        assert len(receiver.received) == 1
        late = await service.writer.run(
            "t", lambda c: pushes.settle(c, push.number, "dead", clock.now, due=0.0)
        )
        assert late is False, "the first worker has lost it"
        await service.stop()

    with Receiver() as receiver:
        asyncio.run(life(receiver))
