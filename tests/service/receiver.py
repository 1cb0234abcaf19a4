"""Receivers of webhooks: real HTTP servers that record what they get and behave as they are told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType


@dataclass(frozen=True)
class Received:
    """One call."""

    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """Answers 200, or what `behave` does with the handler; a context manager."""

    def __init__(self, behave: Callable[[BaseHTTPRequestHandler], None] | None = None) -> None:
        self.received: list[Received] = []
        self.told: Callable[[Received], None] = lambda call: None
        self._more = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                call = Received(self.path, headers, body)
                with receiver._more:
                    receiver.received.append(call)
                    receiver._more.notify_all()
                receiver.told(call)
                if behave is not None:
                    behave(self)
                    return
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *values: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024  # all who wait call at once when a server starts again

            def handle_error(self, request: object, client_address: object) -> None:
                pass  # a server that was killed breaks its connections

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Receiver:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def wait(self, enough: Callable[[list[Received]], bool], seconds: float = 60.0) -> list[Received]:
        """What was received, as soon as it is enough."""
        with self._more:
            assert self._more.wait_for(lambda: enough(self.received), seconds), len(self.received)
            return list(self.received)
