"""A layer around the application: headers that every answer carries, and requests counted.

Plain ASGI: Starlette's base class for such layers would cost each request two tasks and break streams.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pathcast.service.problems import Problem

if TYPE_CHECKING:
    from pathcast.service.metrics import Metrics

log = logging.getLogger("pathcast.service")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ALWAYS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class Headers:
    """Adds the headers and turns what nobody caught into a problem."""

    def __init__(self, app: ASGIApp, metrics: Metrics | None = None, logged: bool = False) -> None:
        self._app = app
        self._metrics = metrics
        self._logged = logged
        self._counters: dict[tuple[str, int], Any] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False
        began = time.perf_counter()

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message["headers"], *_ALWAYS]
                self._count(scope["method"], message["status"])
                if self._logged:
                    _log(scope, message["status"], time.perf_counter() - began)
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if started:
                raise
            problem = Problem(500, "failure", "Something is wrong on the server")
            await problem.response()(scope, receive, sending)

    def _count(self, method: str, status: int) -> None:
        if self._metrics is None:
            return
        counter = self._counters.get((method, status))
        if counter is None:
            known = method if method in ("GET", "PUT", "POST", "DELETE", "PATCH", "HEAD") else "other"
            counter = self._metrics.requests.labels(known, str(status))
            if len(self._counters) < 1000:
                self._counters[method, status] = counter
        counter.inc()


def _log(scope: Scope, status: int, seconds: float) -> None:
    """A request without its query, which may hold a key."""
    trace = next((value for name, value in scope["headers"] if name == b"traceparent"), None)
    about = {
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "seconds": round(seconds, 6),
        "client": scope["client"][0] if scope.get("client") else None,
        "traceparent": trace.decode("latin-1")[:64] if trace else None,
    }
    log.info("a request", extra={"about": about})
