"""What a broker process shows to machines: metrics for Prometheus and a health check, on a port of its own.

The broker's thread writes a page now and then and the server's thread hands out the last one, so a reader
neither waits for the broker nor sees half of a change. `/healthz` is 200 while pages come, and 503 when the
broker has not written one for too long: it hangs, or waits for Kafka.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pathcast.network.broker import Broker

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
    """A server for the last page; port 0 takes any that is free."""

    def __init__(self, host: str, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._page = b""
        self._written: float | None = None
        self._server = ThreadingHTTPServer((host, port), self._handler())
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def write(self, page: str) -> None:
        """A new page; the broker is well."""
        self._page, self._written = page.encode(), self._clock()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str) -> tuple[int, bytes]:
        """The status and body for a path."""
        if path == "/metrics":
            return 200, self._page
        if path != "/healthz":
            return 404, b"there are /metrics and /healthz\n"
        if self._written is None:
            return 503, b"starting\n"
        quiet = self._clock() - self._written
        return (200, b"ok\n") if quiet < STALE else (503, f"nothing for {quiet:.0f} seconds\n".encode())

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        monitor = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10.0

            def do_GET(self) -> None:
                status, body = monitor.answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler
