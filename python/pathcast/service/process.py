"""The process: logs, the first key, and the server until it is told to stop."""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
import webbrowser
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pathcast.service.app import create_playground, create_server
from pathcast.service.core import Service
from pathcast.service.settings import Settings

HEAD = 64 << 10  # bytes of a request before its body, beyond the first piece that comes


class Lines(logging.Formatter):
    """One JSON object a line, with the fields of `about`. Contents of documents are never logged."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry |= {name: value for name, value in getattr(record, "about", {}).items() if value is not None}
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=True)


class BoundedHeads(HttpToolsProtocol):
    """The server's protocol with a bound on the head of a request, which it collects as long as it grows."""

    _heading = False
    _size = 0

    def on_message_begin(self) -> None:
        """A head begins."""
        self._heading, self._size = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """It ends."""
        self._heading = False
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head has become too long."""
        grows = self._heading
        super().data_received(data)
        if grows and self._heading:
            self._size += len(data)
            if self._size > HEAD and not self.transport.is_closing():
                self.send_400_response("The head of the request is too large.")


def log_to_stderr() -> None:
    """Send everything that is logged to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)


def serve(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT."""
    log_to_stderr()
    service = Service(settings)
    secret = service.open()
    if secret is not None:
        # Once, and not through the log: logs are kept and passed on.
        print(f"The first administrator key, shown this once: {secret}", flush=True)
    config = uvicorn.Config(
        create_server(service),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # a client's own word about its address is not believed
        timeout_graceful_shutdown=5,
        backlog=2048,
        http=BoundedHeads,
    )
    _run(_Server(config, service))


def play(host: str, port: int, show: bool) -> None:
    """Run the playground alone until it is told to stop."""
    log_to_stderr()
    settings = Settings(host=host, port=port, playground=True)
    config = uvicorn.Config(
        create_playground(settings),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
    )
    _run(_Server(config, None, "/playground" if show else None))


def _run(server: _Server) -> None:
    """Until a signal; being asked to stop is not a failure, so the exit status is 0."""

    def leave(number: int, frame: FrameType | None) -> None:
        sys.exit(0)

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, leave)  # uvicorn raises the signal again when it has shut down
    server.run()


class _Server(uvicorn.Server):
    """Says where it listens, and wakes who waits as soon as it is to stop: open streams would hold it up."""

    def __init__(self, config: uvicorn.Config, service: Service | None, show: str | None = None) -> None:
        super().__init__(config)
        self._service = service
        self._show = show

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        for server in getattr(self, "servers", []):
            for socket in server.sockets:
                host, port = socket.getsockname()[:2]
                address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
                print(f"Pathcast serves {address}", flush=True)
                if self._show is not None:
                    webbrowser.open(address + self._show)

    async def shutdown(self, sockets: Any = None) -> None:
        if self._service is not None:
            self._service.bell.close()
        await super().shutdown(sockets)
