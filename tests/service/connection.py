"""One HTTP connection without a library around it: a thousand of them cost a client little."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from types import TracebackType


class Connection:
    """A connection to a server of this machine, with a key."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._key = key

    async def open(self) -> Connection:
        """Connect; `OSError` when nobody listens."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    def _send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> None:
        lines = {"Host": "pathcast", "Authorization": f"Bearer {self._key}", **headers}
        if method != "GET":
            lines = {"Content-Type": "application/json", "Content-Length": str(len(body)), **lines}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("ascii") + body)

    async def call(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """One request; the status and the body of its answer."""
        self._send(method, path, body, headers or {})
        answer = await self._reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
        return int(answer[9:12]), await self._reader.readexactly(int(found[1]) if found else 0)

    async def follow(self, path: str, headers: dict[str, str] | None = None) -> None:
        """Ask for events, and read until the stream has begun."""
        self._send("GET", path, b"", headers or {})
        await self.until(b"retry: ")

    async def until(self, wanted: bytes) -> None:
        """Read until these bytes come."""
        await self._reader.readuntil(wanted)

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines of a stream until it ends."""
        while line := await self._reader.readline():
            yield line

    async def __aenter__(self) -> Connection:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        with contextlib.suppress(OSError):  # it was cut off
            await self._writer.wait_closed()

    def close(self) -> None:
        """Close it, without waiting."""
        self._writer.close()
