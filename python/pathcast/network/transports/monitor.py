"""What a broker process shows: metrics, health, its status and traces of documents, on a port of its own.

The broker's thread writes pages now and then and the server's thread hands out the last ones, so a reader
neither waits for the broker nor sees half of a change. `/healthz` is 200 while pages come, and 503 when the
broker has not written them for too long: it hangs, or waits for Kafka. `/metrics` is for Prometheus;
`/status` and `/trace?id=DOCUMENT` are JSON, for `pathcast network`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pathcast.network.broker import Broker
from pathcast.network.transports.status import Status
from pathcast.network.transports.traces import Traces

PORT = 9464
"""The usual port."""

STALE = 60.0
"""Seconds without a page after which a broker counts as sick."""


def metrics(broker: Broker, *, taken: int, undone: int, behind: int) -> str:
    """The counters and the sizes of the tables as Prometheus reads them.

    >>> print(metrics(Broker("b1"), taken=3, undone=0, behind=0).splitlines()[2])
    pathcast_taken_total{broker="b1"} 3
    """
    counted, label = broker.counters, f'broker="{_escaped(broker.name)}"'
    lines: list[str] = []

    def add(name: str, kind: str, help: str, *values: tuple[str, float]) -> None:
        lines.append(f"# HELP pathcast_{name} {help}")
        lines.append(f"# TYPE pathcast_{name} {kind}")
        lines.extend(f"pathcast_{name}{{{label}{more}}} {value:g}" for more, value in values)

    add("taken_total", "counter", "Messages taken from the inbox.", ("", taken))
    add(
        "received_total",
        "counter",
        "Messages by kind.",
        *((f',kind="{kind}"', number) for kind, number in sorted(counted.received.items())),
    )
    add(
        "sent_total",
        "counter",
        "Messages to neighbours by kind.",
        *((f',kind="{kind}"', number) for kind, number in sorted(counted.sent.items())),
    )
    for name, number, help in (
        ("documents_total", counted.documents, "Documents seen."),
        ("delivered_total", counted.delivered, "Deliveries to clients."),
        ("flooded_total", counted.flooded, "Documents passed to every neighbour."),
        ("duplicates_total", counted.duplicates, "Documents that came again."),
        ("violations_total", counted.violations, "Documents that were not advertised."),
        ("unmatched_total", counted.unmatched, "Documents from neighbours that nobody here wanted."),
        ("quarantined_total", counted.quarantined, "Messages that were refused."),
        ("undone_total", undone, "Transactions that were undone."),
    ):
        add(name, "counter", help, ("", number))
    for name, number, help in (
        ("behind", behind, "Messages in the inbox that are not taken yet."),
        (
            "calm",
            int(broker.agreement.is_calm),
            "1 while tables are trusted, 0 while documents are flooded.",
        ),
        ("clients", len(broker.clients), "Clients with subscriptions or advertisements."),
        ("filters", len(broker.publications.entries), "Different filters in the table."),
        ("advertisements", len(broker.subscriptions.publishers), "Advertisements in the table."),
        ("neighbours", len(broker.links), "Neighbours."),
        (
            "suspected",
            sum(link.is_suspected for link in broker.links.values()),
            "Neighbours that are silent.",
        ),
    ):
        add(name, "gauge", help, ("", number))
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Monitor:
    """A server for the last pages; port 0 takes any that is free."""

    def __init__(
        self,
        host: str,
        port: int,
        traces: Traces | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._traces = traces or Traces(0)
        self._metrics = ""
        self._status: Status | None = None
        self._written: float | None = None
        self._server = ThreadingHTTPServer((host, port), self._handler())
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def write(self, metrics: str, status: Status) -> None:
        """New pages; the broker is well."""
        self._metrics, self._status, self._written = metrics, status, self._clock()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, target: str) -> tuple[int, str, str]:
        """The status, the type and the body for a path with its query."""
        path, query = urlsplit(target)[2:4]
        if path == "/metrics":
            return 200, "text/plain; version=0.0.4", self._metrics
        if path == "/healthz":
            return self._health()
        if path not in ("/status", "/trace"):
            return _plain(404, "there are /metrics, /healthz, /status and /trace?id=DOCUMENT")
        if self._status is None:
            return _plain(503, "starting")
        if path == "/status":
            return _json(self._status.values())
        document = parse_qs(query).get("id", [""])[0]
        if not document:
            return _plain(400, "the id is missing: /trace?id=DOCUMENT")
        steps = [{"at": at, **step._asdict()} for at, step in self._traces.of(document)]
        return _json({"broker": self._status.broker, "steps": steps})

    def _health(self) -> tuple[int, str, str]:
        if self._written is None:
            return _plain(503, "starting")
        quiet = self._clock() - self._written
        return _plain(200, "ok") if quiet < STALE else _plain(503, f"nothing for {quiet:.0f} seconds")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        monitor = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10.0

            def do_GET(self) -> None:
                status, kind, text = monitor.answer(self.path)
                body = text.encode("utf-8", "backslashreplace")
                self.send_response(status)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _plain(status: int, text: str) -> tuple[int, str, str]:
    return status, "text/plain", f"{text}\n"


def _json(values: Any) -> tuple[int, str, str]:
    return 200, "application/json", json.dumps(values)
