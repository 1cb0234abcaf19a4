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
from pathcast.service.webhooks import addresses, connections
from pathcast.service.webhooks.dispatcher import TESTS
from pathcast.service.webhooks.sender import Letter, Sender
from tests.service.receiver import Receiver
from tests.service.test_webhooks import LOOPBACK, SECRET, Clock, failing, in_process, settled, subscribed

LETTER = Letter(id="dlv", body=b"<a/>", content_type=None, document="d", topic="t", subscription="s")


def _certificate(folder: Path, *names: str) -> Path:
    """A certificate for these names, and its key, in one file."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0])])
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), 1, now - day, now + day)
    alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
    builder = builder.add_extension(alternatives, critical=False)
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


class Secure:
    """A receiver behind TLS at two addresses; a context manager that records each connection."""

    def __init__(self, file: Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(file)
        self._servers: list[asyncio.Server] = []
        self.port = 0
        self.connections: list[tuple[str, list[bytes]]] = []
        """For each the address, and what was asked over it."""
        self.open = 0
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> Secure:
        for address in ("127.0.0.1", "127.0.0.2"):
            server = await asyncio.start_server(self._answer, address, self.port, ssl=self._context)
            self.port = server.sockets[0].getsockname()[1]
            self._servers.append(server)
        return self

    async def __aexit__(self, *ended: object) -> None:
        for server in self._servers:
            server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked: list[bytes] = []
        self.connections.append((writer.get_extra_info("sockname")[0], asked))
        self.open += 1
        try:
            while True:
                asked.append(await reader.readuntil(b"\r\n\r\n"))
                await reader.readexactly(len(LETTER.body))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, OSError):
            writer.close()
        async with self._changed:
            self.open -= 1
            self._changed.notify_all()

    async def call(self, sender: Sender, name: str) -> bool:
        webhook = {"url": f"https://{name}:{self.port}/", "secret": SECRET}
        return (await sender.call(webhook, LETTER, 1.0)).ok

    async def wait(self, still: int) -> None:
        """Until so many connections are open."""
        async with asyncio.timeout(30), self._changed:
            await self._changed.wait_for(lambda: self.open == still)


def test_a_certificate_counts_for_its_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two names of one address: what was opened for the one is not used for the other."""
    file = _certificate(tmp_path, "a.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    _everything_is_here(monkeypatch)

    async def run() -> None:
        async with Secure(file) as secure:
            sender = Sender(LOOPBACK, 10.0)
            outcomes = [await secure.call(sender, name) for name in ("a.test", "b.test", "a.test")]
            assert outcomes == [True, False, True]
            assert all(b"Host: a.test:" in head for _, asked in secure.connections for head in asked)
            await sender.close()

    asyncio.run(run())


def test_a_connection_is_used_again_for_its_name_and_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the certificate is good for both names."""
    file = _certificate(tmp_path, "a.test", "b.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    look_up = socket.getaddrinfo
    here = ["127.0.0.1"]
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, **how: look_up(here[0], port, **how))

    async def run() -> list[tuple[str, list[str]]]:
        async with Secure(file) as secure:
            sender = Sender(LOOPBACK, 10.0)
            for name in ("a.test", "b.test", "a.test", "b.test", "a.test"):
                assert await secure.call(sender, name)
            here[0] = "127.0.0.2"
            for _ in range(2):
                assert await secure.call(sender, "a.test")
            await sender.close()
            await secure.wait(still=0)
            return [
                (address, [head.partition(b"Host: ")[2][:1].decode() for head in asked if head])
                for address, asked in secure.connections
            ]

    assert asyncio.run(run()) == [
        ("127.0.0.1", ["a", "a", "a"]),
        ("127.0.0.1", ["b", "b"]),
        ("127.0.0.2", ["a", "a"]),
    ]


def test_connections_that_no_call_uses_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"{letter}.test" for letter in "abcde"]
    file = _certificate(tmp_path, *names)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    monkeypatch.setattr(connections, "KEPT", 2)
    monkeypatch.setattr(connections, "IDLE", 600.0)
    _everything_is_here(monkeypatch)

    async def run() -> None:
        async with Secure(file) as secure:
            sender = Sender(LOOPBACK, 10.0)
            assert all(await asyncio.gather(*(secure.call(sender, name) for name in names)))
            await secure.wait(still=2)
            await sender.close()
            await secure.wait(still=0)
            assert len(secure.connections) == len(names)

    asyncio.run(run())


def test_a_connection_is_closed_when_no_call_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _certificate(tmp_path, "a.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    monkeypatch.setattr(connections, "IDLE", 0.05)
    _everything_is_here(monkeypatch)

    async def run() -> None:
        async with Secure(file) as secure:
            sender = Sender(LOOPBACK, 10.0)
            for _ in range(2):
                assert await secure.call(sender, "a.test")
                await secure.wait(still=0)
            await sender.close()
            assert len(secure.connections) == 2

    asyncio.run(run())


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
