"""The service over HTTP: publishing against many subscriptions, durable, and the match call beside the index.

A server of its own process is loaded by bulk with the subscriptions of `alerts`. Clients on raw connections
publish fresh documents, and pullers take what matched. The share of matching is what the server's own
histogram says, divided by the time of the run. The answers are checked: every document must be accepted, and
what the server says matched is held against an index in this process.

What publishing costs depends on how many subscriptions a document goes to. Those of `alerts` as they are
drawn match almost nine hundred times a document. Beside them stand as many that are rare: those that matched
least in a sample.

A million subscriptions are only loaded, by bulk and by a process that starts again.

Beside rates of the clock stand those of the server's processor time, which mean something on a busy machine
too.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bench.harness.kept import Kept, Row
from bench.plan import Plan
from bench.workloads import WORKLOADS
from pathcast.index import Index
from tests.service.connection import Connection

MILLION = 1_000_000
CLIENTS = 256
PULLERS = 10
DOCUMENTS = 20_000
CALLS = 1_000
STREAMS = 1_000
SAMPLE = 2_000  # documents that say which subscriptions are rare
BULK = 10_000  # subscriptions in one request


@dataclass
class Running:
    """A server that was started here."""

    process: subprocess.Popen[str]
    port: int
    key: str

    @classmethod
    def start(cls, *store: str) -> Running:
        """`pathcast serve` on a free port."""
        key = secrets.token_urlsafe(16)
        command = [sys.executable, "-m", "pathcast", "serve", *store, "--port", "0"]
        environment = {**os.environ, "PATHCAST_ADMIN_KEY": key}
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout is not None
        return cls(process, int(process.stdout.readline().rpartition(":")[2]), key)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def processor_seconds(self) -> float:
        """Processor time that the process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Resident memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else 0.0


async def connect(running: Running) -> Connection:
    """A new connection: the client must not be the slowest part."""
    return await Connection(running.port, running.key).open()


async def load(running: Running, queries: Sequence[str]) -> float:
    """Wait until the server is ready and put the subscriptions; seconds that the bulk load took."""
    client = await connect(running)
    while (await client.call("GET", "/readyz"))[0] != 200:
        await asyncio.sleep(0.1)
    await client.call("PUT", "/v1/topics/bench", b"{}")
    began = time.perf_counter()
    for start in range(0, len(queries), BULK):
        some = enumerate(queries[start : start + BULK], start)
        lines = "".join(json.dumps({"id": str(place), "xpath": xpath}) + "\n" for place, xpath in some)
        status, answer = await client.call("POST", "/v1/topics/bench/subscriptions:bulk", lines.encode())
        assert status == 200, answer
        assert answer.count(b'"status":20') == lines.count("\n"), answer[:500]
    client.close()
    return time.perf_counter() - began


async def publish(running: Running, documents: Sequence[bytes], index: Index) -> dict[str, float]:
    """Publish from many connections while pullers take what matched; rates and times."""
    left = iter(enumerate(documents))
    times: list[float] = []
    matched: dict[int, int] = {}

    async def publisher() -> None:
        client = await connect(running)
        for place, document in left:
            began = time.perf_counter()
            status, answer = await client.call("POST", "/v1/topics/bench/documents", document)
            times.append(time.perf_counter() - began)
            assert status == 202, answer
            matched[place] = json.loads(answer)["matched"]
        client.close()

    async def puller(id: str) -> None:
        client = await connect(running)
        path = f"/v1/topics/bench/subscriptions/{id}"
        while len(matched) < len(documents):
            _, answer = await client.call("GET", f"{path}/deliveries?wait=1&limit=500")
            page = json.loads(answer)
            if page["deliveries"]:
                await client.call("POST", f"{path}/ack", json.dumps({"cursor": page["cursor"]}).encode())
        client.close()

    hot = [str(id) for id in islice(index.match(documents[0]), PULLERS)]
    before = await _matching(running)
    began = time.perf_counter()
    await asyncio.gather(*(publisher() for _ in range(CLIENTS)), *(puller(id) for id in hot))
    seconds = time.perf_counter() - began
    share = (await _matching(running) - before) / seconds
    for place in range(0, len(documents), 97):
        assert matched[place] == len(index.match(documents[place])), "the server and the index disagree"
    times.sort()
    return {
        "documents / s": len(documents) / seconds,
        "matches / document": sum(matched.values()) / len(documents),
        "deliveries / s": sum(matched.values()) / seconds,
        "p50 ms": times[len(times) // 2] * 1000,
        "p99 ms": times[len(times) * 99 // 100] * 1000,
        "matching share": share,
    }


async def _matching(running: Running) -> float:
    """Seconds that the server has spent matching."""
    client = await connect(running)
    _, text = await client.call("GET", "/metrics")
    client.close()
    found = re.search(rb"^pathcast_match_duration_seconds_sum (\S+)", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


async def match_call(running: Running, documents: Sequence[bytes], index: Index) -> dict[str, float]:
    """The match call beside the index here: each sees every document once, the first fifth untimed."""
    known, fresh = documents[: len(documents) // 5], documents[len(documents) // 5 :]

    async def asker(left: Iterator[bytes]) -> None:
        client = await connect(running)
        for document in left:
            status, answer = await client.call("POST", "/v1/topics/bench/match", document)
            assert status == 200, answer
        client.close()

    async def ask(given: Sequence[bytes]) -> None:
        left = iter(given)
        await asyncio.gather(*(asker(left) for _ in range(8)))

    await ask(known)  # both sides have seen documents of this shape
    for document in known:
        index.match(document)
    began, before = time.perf_counter(), running.processor_seconds()
    await ask(fresh)
    over_http, used = time.perf_counter() - began, running.processor_seconds() - before
    began, mine = time.perf_counter(), time.process_time()
    for document in fresh:
        index.match(document)
    return {
        "match call share": (time.perf_counter() - began) / over_http,
        "match call processor share": (time.process_time() - mine) / used,
    }


async def streams(running: Running, document: bytes) -> dict[str, float]:
    """Many streams of events held open at once: all of them get the next document."""
    path = "/v1/topics/bench/subscriptions/streams"
    publisher = await connect(running)
    status, answer = await publisher.call("PUT", path, b'{"xpath": "/*"}')
    assert status == 201, answer
    clients = [await connect(running) for _ in range(STREAMS)]
    await asyncio.gather(*(client.follow(f"{path}/events?body=false") for client in clients))
    megabytes = running.megabytes()
    publisher.close()
    publisher = await connect(running)  # the first was idle for too long
    began = time.perf_counter()
    status, answer = await publisher.call("POST", "/v1/topics/bench/documents", document)
    assert status == 202, answer
    wanted = json.loads(answer)["document"].encode("ascii")
    await asyncio.gather(*(client.until(wanted) for client in clients))
    seconds = time.perf_counter() - began
    for client in (*clients, publisher):
        client.close()
    return {"streams": len(clients), "streams s": seconds, "streams MB": megabytes}


async def restarted(store: Sequence[str], expected: int) -> dict[str, float]:
    """Seconds from the start of a process until it is ready with all that its store has, and its memory."""
    began = time.perf_counter()
    running = Running.start(*store)
    try:
        client = await connect(running)
        while (await client.call("GET", "/readyz"))[0] != 200:
            await asyncio.sleep(0.1)
        seconds = time.perf_counter() - began
        _, answer = await client.call("GET", "/v1/topics/bench")
        assert json.loads(answer)["index"]["subscriptions"] == expected, answer
        client.close()
        return {
            "restart s": seconds,
            "restart processor s": running.processor_seconds(),
            "restart MB": running.megabytes(),
        }
    finally:
        running.stop()


def rare(queries: Sequence[str], documents: Sequence[bytes], count: int) -> list[str]:
    """As many queries as are wanted, those that match fewest of the documents."""
    index = Index()
    index.add_many(enumerate(queries))
    found = Counter(id for matched in index.match_many(documents) for id in matched)  # type: ignore[union-attr]
    places = sorted(range(len(queries)), key=lambda place: (found[place], place))[:count]
    return [queries[place] for place in sorted(places)]


def large(count: int) -> list[bytes]:
    """Documents of 20 KB that were not published: twelve of `alerts` in one."""
    parts = (re.sub(rb"<\?xml[^>]*\?>", b"", part) for part in WORKLOADS["alerts"].documents(2))
    return [b"<batch>" + b"".join(islice(parts, 12)) + b"</batch>" for _ in range(count)]


def _measured(store: Sequence[str], queries: Sequence[str], documents: Sequence[bytes]) -> dict[str, float]:
    index = Index()
    index.add_many((str(place), xpath) for place, xpath in enumerate(queries))
    running = Running.start(*store)
    try:
        figures: dict[str, Any] = {"bulk s": asyncio.run(load(running, queries))}
        before = running.processor_seconds()
        figures |= asyncio.run(publish(running, documents, index))
        used = running.processor_seconds() - before
        figures["documents / processor s"] = len(documents) / used
        figures |= asyncio.run(match_call(running, large(CALLS), index))
        figures["MB"] = running.megabytes()
        figures |= asyncio.run(streams(running, documents[0]))
    finally:
        running.stop()
    return figures | asyncio.run(restarted(store, len(queries) + 1))


def _loaded(store: Sequence[str], queries: Sequence[str]) -> dict[str, float]:
    """Seconds and memory to load subscriptions by bulk, and again by a new process."""
    running = Running.start(*store)
    try:
        seconds = asyncio.run(load(running, queries))
        used = running.processor_seconds()
        figures = {"bulk s": seconds, "bulk processor s": used, "MB": running.megabytes()}
    finally:
        running.stop()
    return figures | asyncio.run(restarted(store, len(queries)))


def table(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Publishing on SQLite, and on PostgreSQL if there is one; then a million subscriptions loaded."""
    yield from _publishing(kept, plan)
    name = f"SQLite, {MILLION:,} subscriptions, loaded"
    if (not plan.sizes or MILLION in plan.sizes) and not kept.has(name):
        with tempfile.TemporaryDirectory(prefix="pathcast-bench-") as folder:
            yield Row(name, _loaded(("--data", folder), WORKLOADS["alerts"].queries(MILLION)))


def _publishing(kept: Kept, plan: Plan) -> Iterator[Row]:
    from tests.postgres.server import PostgresServer, missing_server

    workload = WORKLOADS["alerts"]
    documents = list(islice(workload.documents(1), DOCUMENTS))
    for size in plan.sizes or (100_000,):
        if size == MILLION:
            continue
        for kind, queries in (
            ("rare", rare(workload.queries(2 * size), documents[-SAMPLE:], size)),
            ("as drawn", workload.queries(size)),
        ):
            # Nine hundred deliveries each take as long as many documents with few.
            some = documents[: len(documents) if kind == "rare" else len(documents) // 10]
            name = f"SQLite, {size:,} subscriptions, {kind}"
            if not kept.has(name):
                with tempfile.TemporaryDirectory(prefix="pathcast-bench-") as folder:
                    yield Row(name, _measured(("--data", folder), queries, some))
            name = f"PostgreSQL, {size:,} subscriptions, {kind}"
            if missing_server() is None and not kept.has(name):
                with PostgresServer(durable=True) as server:
                    yield Row(name, _measured(("--database", server.fresh()), queries, some))
