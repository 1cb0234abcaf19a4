"""Clients that publish and receive while servers are harmed, and what must hold afterwards.

A thousand subscriptions in the long form, each with a client of its own that pulls, follows events, or is
called. A document goes to one of each kind, and to one more that takes everything.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from tests.service.connection import Connection
from tests.service.receiver import Received, Receiver
from tests.service.server import ADMIN, Server

KILLS = int(os.environ.get("PATHCAST_KILLS", "3"))
"""How often a server is harmed."""

PUBLISHERS = 20
VALUES = 333 if KILLS >= 20 else 10
"""Each has a subscription that is pulled, one with events, and one with a webhook."""

DEADLINE = 240.0
_PAUSE = 0.05  # seconds until a client that was cut off comes back
_TOPIC = "/v1/topics/t"


class Fleet:
    """Clients that go on whatever happens to the servers."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = ports
        self.accepted: dict[str, int] = {}
        self.refused = 0
        self.received: dict[tuple[str, str], str] = {}
        self.repeated = 0
        self.wrong: list[str] = []
        self.progress = threading.Condition()
        self.publishing = True
        self.publishers = PUBLISHERS
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread.start()

    def close(self) -> None:
        """Stop receiving."""
        self._loop.call_soon_threadsafe(self._all.cancel)
        self._thread.join()

    def _run(self) -> None:
        async def everybody() -> None:
            clients: list[Coroutine[Any, Any, None]] = []
            clients += [self._published(number) for number in range(PUBLISHERS)]
            clients += [self._pulled(f"pull-{value}", value) for value in range(VALUES)]
            clients += [self._followed(f"events-{value}", value) for value in range(VALUES)]
            clients += [self._pulled("everything", 0)]
            self._all = asyncio.gather(*clients)
            await self._all

        try:
            self._loop.run_until_complete(everybody())
        except asyncio.CancelledError:
            pass
        except Exception as error:
            self.wrong.append(repr(error))
        self._loop.close()

    async def _again_and_again(self, number: int, work: Callable[[Connection], Awaitable[None]]) -> None:
        """Work on a connection; when it breaks, on another one."""
        port = self._ports[number % len(self._ports)]
        while True:
            try:
                async with Connection(port, ADMIN) as connection:
                    await work(connection)
                return
            except (OSError, EOFError):
                await asyncio.sleep(_PAUSE)

    async def _published(self, number: int) -> None:
        """Publish one document after another, each with a key, until each is answered."""
        count = 0
        chance = random.Random(number)
        value, answered = 0, True

        async def publish(connection: Connection) -> None:
            nonlocal count, value, answered
            while self.publishing or not answered:
                if answered:
                    count += 1
                    value = chance.randrange(VALUES)
                body = f"<a n='{value}' p='{number}.{count}'/>" if count % 7 else "<a"
                answered = False
                status, answer = await connection.call(
                    "POST", f"{_TOPIC}/documents", body.encode(), {"Idempotency-Key": f"{number}.{count}"}
                )
                if status == 503:
                    await asyncio.sleep(_PAUSE)
                    continue
                answered = True
                with self.progress:
                    if status == 202:
                        self.accepted[json.loads(answer)["document"]] = value
                    elif status == 400:
                        self.refused += 1
                    else:
                        self.wrong.append(f"{status} {answer!r}")
                    self.progress.notify_all()

        await self._again_and_again(number, publish)
        with self.progress:
            self.publishers -= 1
            self.progress.notify_all()

    async def _followed(self, subscription: str, number: int) -> None:
        """Read the events of a subscription, resuming where the stream broke."""
        last = ""

        async def follow(connection: Connection) -> None:
            nonlocal last
            await connection.follow(
                f"{_TOPIC}/subscriptions/{subscription}/events", {"Last-Event-ID": last} if last else None
            )
            async for line in connection.lines():
                if line.startswith(b"data: "):
                    item = json.loads(line[6:])
                    self.take(subscription, item["document"], item["id"])
                    last = item["cursor"]
            raise EOFError

        await self._again_and_again(number, follow)

    async def _pulled(self, subscription: str, number: int) -> None:
        """Pull and acknowledge."""
        path = f"{_TOPIC}/subscriptions/{subscription}"

        async def pull(connection: Connection) -> None:
            while True:
                status, answer = await connection.call("GET", f"{path}/deliveries?wait=30")
                page = json.loads(answer)
                if status == 503:
                    await asyncio.sleep(_PAUSE)
                    continue
                for item in page["deliveries"]:
                    self.take(subscription, item["document"], item["id"])
                if page["deliveries"]:
                    await connection.call("POST", f"{path}/ack", b'{"cursor": %s}' % page["cursor"].encode())

        await self._again_and_again(number, pull)

    def take(self, subscription: str, document: str, id: str) -> None:
        """Note one delivery; when it comes again, it must be with the same id."""
        with self.progress:
            self.repeated += (subscription, document) in self.received
            known = self.received.setdefault((subscription, document), id)
            if known != id:
                self.wrong.append(f"{document} came to {subscription} as {known} and as {id}")
            self.progress.notify_all()

    def called(self, call: Received) -> None:
        """Note one call of a webhook."""
        headers = call.headers
        self.take(headers["pathcast-subscription"], headers["pathcast-document"], headers["webhook-id"])

    def wait(self, enough: Callable[[], bool], what: str) -> None:
        """Until it is so."""
        with self.progress:
            assert self.progress.wait_for(lambda: enough() or self.wrong, DEADLINE), what
        assert self.wrong == []


def survives(servers: Sequence[Server], receiver: Receiver, harm: Callable[[int], None]) -> None:
    """Publish to all servers and receive from them, harm them, and hold them to their promises."""
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    drawn = random.Random(seed)
    server = servers[-1]
    put: list[dict[str, Any]] = [{"id": "everything", "xpath": "/a"}]
    for value in range(VALUES):
        webhook = {"webhook": {"url": f"{receiver.url}/{value}"}}
        for channel, delivery in (("pull", "pull"), ("events", "events"), ("webhook", webhook)):
            put.append({"id": f"{channel}-{value}", "xpath": f"/a[@n = {value}]", "delivery": delivery})
    server.topic("t")
    lines = "\n".join(map(json.dumps, put))
    assert server.post(f"{_TOPIC}/subscriptions:bulk", content=lines).text.count('"status":201') == len(put)
    fleet = Fleet([int(each.address.rpartition(":")[2]) for each in servers])
    receiver.told = fleet.called
    fleet.start()
    try:
        for turn in range(KILLS):
            enough = len(fleet.accepted) + drawn.randrange(1, 300)
            fleet.wait(lambda: len(fleet.accepted) >= enough, f"{turn}: nothing is accepted")  # noqa: B023
            harm(turn)
        fleet.publishing = False
        fleet.wait(lambda: fleet.publishers == 0, "a document has no answer")
        fleet.wait(lambda: len(fleet.received) >= 4 * len(fleet.accepted), "a delivery has not come")
    finally:
        fleet.publishing = False
        fleet.close()
    print(
        f"{len(fleet.accepted):,} documents accepted, {fleet.refused:,} refused, "
        f"{len(fleet.received):,} deliveries, {fleet.repeated:,} more than once"
    )
    wanted = {
        (subscription, document)
        for document, value in fleet.accepted.items()
        for subscription in (f"pull-{value}", f"events-{value}", f"webhook-{value}", "everything")
    }
    assert fleet.received.keys() == wanted, "it goes to those that it is for, and to nobody else"
    assert len(set(fleet.received.values())) == len(wanted), "an id belongs to one delivery"
    stored = _listed(server, "documents")
    assert {each["document"] for each in stored} == fleet.accepted.keys()
    assert {each["matched"] for each in stored} == {4}
    assert len(_listed(server, "dead-letters")) == fleet.refused


def _listed(server: Server, what: str) -> list[dict[str, Any]]:
    """All pages of a list."""
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = server.get(f"/v1/{what}", params={"limit": 1000, "cursor": cursor}).json()
        found += page[what.replace("-", "_")]
        cursor = page["cursor"]
    return found
