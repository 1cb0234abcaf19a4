"""Clients that publish and receive while servers are harmed, and what must hold afterwards."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

import httpx

from tests.service.receiver import Receiver
from tests.service.server import ADMIN, Server

KILLS = int(os.environ.get("PATHCAST_KILLS", "3"))
"""How often a server is harmed."""

PUBLISHERS = 20
SUBSCRIPTIONS = 1_000
CHANNELS = ("pull", "events", "webhook")
HEADERS = {"Authorization": f"Bearer {ADMIN}"}


class Fleet:
    """Clients that go on whatever happens to the server."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self.addresses = addresses
        self.accepted: dict[str, int] = {}
        self.refused = 0
        self.received: dict[str, dict[str, str]] = {channel: {} for channel in CHANNELS}
        self.wrong: list[str] = []
        self.progress = threading.Condition()
        self.stopping = threading.Event()

    def _client(self, number: int, timeout: float = 30) -> httpx.Client:
        address = self.addresses[number % len(self.addresses)]
        return httpx.Client(base_url=address, headers=HEADERS, timeout=timeout, trust_env=False)

    def publish(self, number: int) -> None:
        """Publish documents one after another, each with a key, until each is answered."""
        client = self._client(number)
        count = 0
        while not self.stopping.is_set():
            count += 1
            value = random.randrange(SUBSCRIPTIONS)
            body = f"<a n='{value}' p='{number}.{count}'/>" if count % 7 else "<a"
            answer = self._until_answered(
                lambda body=body, count=count: client.post(  # type: ignore[misc]
                    "/v1/topics/t/documents", content=body, headers={"Idempotency-Key": f"{number}.{count}"}
                )
            )
            with self.progress:
                if answer is None:
                    pass
                elif answer.status_code == 202:
                    self.accepted[answer.json()["document"]] = value
                elif answer.status_code == 400:
                    self.refused += 1
                else:
                    self.wrong.append(answer.text)
                self.progress.notify_all()
        client.close()

    def _until_answered(self, call: Callable[[], httpx.Response]) -> httpx.Response | None:
        while True:
            try:
                answer = call()
            except httpx.TransportError:
                if self.stopping.is_set():
                    return None  # nobody knows whether it was stored
                continue
            if answer.status_code != 503:
                return answer

    def take(self, channel: str, item: dict[str, Any]) -> None:
        """Note one delivery; the same document for the same subscription must come with the same id."""
        place = f"{item['subscription']}/{item['document']}"
        with self.progress:
            known = self.received[channel].setdefault(place, item["id"])
            if known != item["id"]:
                self.wrong.append(f"{place} came as {known} and as {item['id']}")
            self.progress.notify_all()

    def follow(self, subscription: str) -> None:
        """Read the events of a subscription that matches everything, resuming when cut off."""
        last = ""
        while not self.stopping.is_set():
            client = self._client(0, 5)
            try:
                path = f"/v1/topics/t/subscriptions/{subscription}/events"
                with client, client.stream("GET", path, headers={"Last-Event-ID": last}) as response:
                    for line in response.iter_lines():
                        if line.startswith("data: "):
                            item = json.loads(line[6:])
                            self.take("events", item)
                            last = item["cursor"]
                        if self.stopping.is_set():
                            return
            except httpx.TransportError:
                continue

    def pull(self, subscription: str) -> None:
        """Pull and acknowledge."""
        client = self._client(1)
        path = f"/v1/topics/t/subscriptions/{subscription}"
        while not self.stopping.is_set():
            try:
                page = client.get(f"{path}/deliveries", params={"wait": 1}).json()
                for item in page.get("deliveries", ()):
                    self.take("pull", item)
                if page.get("deliveries"):
                    client.post(f"{path}/ack", json={"cursor": page["cursor"]})
            except httpx.TransportError:
                continue
        client.close()


def survives(servers: Sequence[Server], receiver: Receiver, harm: Callable[[int], None]) -> None:
    """Publish to all servers and receive from them, harm them, and hold them to their promises."""
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    drawn = random.Random(seed)
    server = servers[-1]
    webhook = {"webhook": {"url": receiver.url}}
    put: list[dict[str, Any]] = [{"id": f"n{n}", "xpath": f"/a[@n = {n}]"} for n in range(SUBSCRIPTIONS)]
    put += [{"id": "pull", "xpath": "/a"}, {"id": "events", "xpath": "/a"}]
    put += [{"id": "webhook", "xpath": "/a", "delivery": webhook}]
    server.topic("t")
    lines = "\n".join(map(json.dumps, put))
    assert server.post("/v1/topics/t/subscriptions:bulk", content=lines).text.count('"status":201') == len(
        put
    )
    fleet = Fleet([each.address for each in servers])
    threads = [threading.Thread(target=fleet.publish, args=(number,)) for number in range(PUBLISHERS)]
    threads += [threading.Thread(target=fleet.pull, args=("pull",))]
    threads += [threading.Thread(target=fleet.follow, args=("events",))]
    for thread in threads:
        thread.start()
    try:
        for turn in range(KILLS):
            enough = len(fleet.accepted) + drawn.randrange(5, 60)
            with fleet.progress:
                assert fleet.progress.wait_for(lambda: len(fleet.accepted) >= enough, 120)  # noqa: B023
            harm(turn)
    finally:
        fleet.stopping.set()
        for thread in threads[:PUBLISHERS]:
            thread.join(60)
    accepted = dict(fleet.accepted)
    fleet.stopping.clear()
    readers = [
        threading.Thread(target=fleet.pull, args=("pull",)),
        threading.Thread(target=fleet.follow, args=("events",)),
    ]
    for thread in readers:
        thread.start()
    wanted = set(accepted)

    def arrived(channel: str) -> bool:
        return wanted <= {place.partition("/")[2] for place in fleet.received[channel]}

    try:
        for channel in ("pull", "events"):
            with fleet.progress:
                assert fleet.progress.wait_for(lambda: arrived(channel), 120), channel  # noqa: B023
        calls = receiver.wait(lambda got: wanted <= {call.headers["pathcast-document"] for call in got}, 120)
    finally:
        fleet.stopping.set()
        for thread in (*threads, *readers):
            thread.join(60)
    for call in calls:
        fleet.take(
            "webhook",
            {
                "subscription": "webhook",
                "document": call.headers["pathcast-document"],
                "id": call.headers["webhook-id"],
            },
        )
    assert fleet.wrong == []
    stored: dict[str, int] = {}
    cursor: str | None = ""
    while cursor is not None:
        page = server.get("/v1/documents", params={"limit": 1000, "cursor": cursor}).json()
        stored.update((each["document"], each["matched"]) for each in page["documents"])
        cursor = page["cursor"]
    assert accepted.keys() <= stored.keys()
    # One more than the three that match everything: the subscription of its number.
    assert set(stored.values()) == {4}
    for channel in CHANNELS:
        documents = {place.partition("/")[2] for place in fleet.received[channel]}
        assert documents <= stored.keys(), f"{channel} got what was never accepted"
    for document, value in drawn.sample(sorted(accepted.items()), min(50, len(accepted))):
        found = server.get(f"/v1/documents/{document}", params={"explain": False}).json()["deliveries"]
        assert {each["subscription"] for each in found} == {f"n{value}", "pull", "events", "webhook"}
