"""Receivers that share an address, have other letters in their names, hang in tests, or are gone."""

from __future__ import annotations

import asyncio
import datetime
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from pathcast.service.problems import Problem
from pathcast.service.publishing import Publication
from pathcast.service.store import dead_letters, deliveries, documents, pushes, subscriptions
from pathcast.service.webhooks import addresses
from pathcast.service.webhooks.dispatcher import TESTS
from pathcast.service.webhooks.sender import Letter, Sender
from tests.service.receiver import Receiver
from tests.service.test_webhooks import LOOPBACK, SECRET, Clock, failing, in_process, settled, subscribed

LETTER = Letter(id="dlv", body=b"<a/>", content_type=None, document="d", topic="t", subscription="s")


def _certificate(folder: Path, name: str) -> Path:
    """A certificate for one name, and its key, in one file."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), 1, now - day, now + day)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    made = builder.add_extension(x509.BasicConstraints(True, None), critical=True).sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "both.pem"
    file.write_bytes(made.public_bytes(pem) + private)
    return file


def _everything_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    look_up = socket.getaddrinfo

    def here(host: str, port: int, **options: Any) -> Any:
        return look_up("127.0.0.1", port, **options)

    monkeypatch.setattr(socket, "getaddrinfo", here)


def test_a_certificate_counts_for_its_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two names of one address: what was opened for the one is not used for the other."""
    file = _certificate(tmp_path, "a.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    called: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                called.append(await reader.readuntil(b"\r\n\r\n"))
                await reader.readexactly(len(LETTER.body))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, OSError):
            writer.close()

    async def run() -> list[bool]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        _everything_is_here(monkeypatch)
        sender = Sender(LOOPBACK, 10.0)
        outcomes = []
        for name in ("a.test", "b.test", "a.test"):
            webhook = {"url": f"https://{name}:{port}/", "secret": SECRET}
            outcomes.append((await sender.call(webhook, LETTER, 1.0)).ok)
        await sender.close()
        server.close()
        return outcomes

    assert asyncio.run(run()) == [True, False, True]
    assert all(b"Host: a.test:" in head for head in called)


def test_a_name_with_other_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(receiver: Receiver) -> None:
        _everything_is_here(monkeypatch)
        sender = Sender(LOOPBACK, 10.0)
        url = receiver.url.replace("127.0.0.1", "b\u00fccher.test")
        outcome = await sender.call({"url": url, "secret": SECRET}, LETTER, 1.0)
        assert outcome.ok, outcome
        await sender.close()

    with Receiver() as receiver:
        asyncio.run(run(receiver))
        assert receiver.received[0].headers["host"].startswith("xn--bcher-kva.test:")
    with pytest.raises(ValueError, match="is not a URL"):
        addresses.check_url("https://" + "\u00fc" * 80 + ".test/", ())


def test_slow_names_hold_up_no_thread_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def slow(host: str, port: int, **options: Any) -> Any:
        released.wait(60)
        raise OSError("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", slow)

    async def run() -> None:
        waiting = [asyncio.create_task(addresses.resolve("https://slow.test/", ())) for _ in range(100)]
        try:
            assert await asyncio.wait_for(asyncio.to_thread(lambda: "read"), 20) == "read"
        finally:
            released.set()
            await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(run())


def test_tests_of_receivers_are_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = asyncio.Event()

    async def run() -> None:
        service = in_process(tmp_path, Clock(), "")

        async def hang(*given: Any) -> Any:
            await released.wait()

        monkeypatch.setattr(service.dispatcher, "deliver", hang)
        first = [asyncio.create_task(service.dispatcher.test("t", {}, LETTER)) for _ in range(TESTS)]
        await asyncio.sleep(0)
        with pytest.raises(Problem) as refused:
            await service.dispatcher.test("t", {}, LETTER)
        assert refused.value.status == 429
        other = asyncio.create_task(service.dispatcher.test("other", {}, LETTER))
        await asyncio.sleep(0)
        released.set()
        await asyncio.gather(*first, other)
        await service.dispatcher.test("t", {}, LETTER)
        await service.stop()

    asyncio.run(run())


@pytest.mark.parametrize("again", [False, True])
def test_what_belongs_to_a_subscription_that_is_gone_is_not_redriven(tmp_path: Path, again: bool) -> None:
    """Nor to one that was put under its id later."""
    clock = Clock()

    def behave(handler: BaseHTTPRequestHandler) -> None:
        failing(500)(handler)

    async def life(receiver: Receiver) -> None:
        service = in_process(tmp_path, clock, receiver.url, retries=())
        live = await subscribed(service, receiver.url)
        await service.publish(Publication(live, b"<a/>", ""))
        await settled(service)
        [letter] = await service.read(lambda c: dead_letters.page(c, "t", None, 10, None, None))
        push = letter.push
        assert push is not None
        one = await service.read(lambda c: subscriptions.find(c, live.number, "s0"))
        assert one is not None

        def remove(connection: Any) -> None:
            subscriptions.remove(connection, live.number, ["s0"], 7, clock.now)
            if again:
                newest = documents.newest(connection, live.number)
                subscriptions.put(connection, live.number, [one], 8, clock.now, newest)

        await service.writer.run("t", remove)
        assert not await service.writer.run("t", lambda c: pushes.revive(c, push, clock.now))
        assert await service.read(lambda c: deliveries.pending(c, "t", 10)) == 0
        await service.stop()

    with Receiver(behave) as receiver:
        asyncio.run(life(receiver))


def test_pending_deliveries_are_counted_again_when_the_clock_goes_back(tmp_path: Path) -> None:
    clock = Clock()

    async def life(receiver: Receiver) -> None:
        service = in_process(tmp_path, clock, receiver.url)
        live = await subscribed(service, receiver.url)
        await service.pending.check("t", 1)
        await service.publish(Publication(live, b"<a/>", ""))
        with pytest.raises(Problem):
            await service.pending.check("t", 1)
        await service.pending.check("t", 5)
        await settled(service)
        clock.now -= 3_600
        await service.pending.check("t", 1)
        await service.stop()

    with Receiver() as receiver:
        asyncio.run(life(receiver))
