"""Servers as users start them: a process of its own, on a free port, with a store of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from types import TracebackType
from typing import IO, Any

import httpx

ADMIN = "the-first-administrator-of-these-tests"
DEADLINE = 240.0


class Server:
    """`pathcast serve`; a context manager, ready on entry and gone on exit."""

    def __init__(
        self, *options: str, admin: str | None = ADMIN, environment: dict[str, str] | None = None
    ) -> None:
        self._command = [sys.executable, "-m", "pathcast", "serve", *options]
        self._environment = {**os.environ, **(environment or {})}
        self._environment.pop("PATHCAST_ADMIN_KEY", None)
        if admin is not None:
            self._environment["PATHCAST_ADMIN_KEY"] = admin
        self._port = "0"
        self._clients: list[httpx.Client] = []
        self.printed: list[str] = []
        self.logged: list[str] = []

    def __enter__(self) -> Server:
        self.start()
        return self

    def start(self) -> None:
        """Start, for the first time or again with the same store and port."""
        self._ready = threading.Event()
        self._listening = threading.Event()
        self.process = subprocess.Popen(
            [*self._command, "--port", self._port],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
        )
        self._readers = [
            threading.Thread(target=read, args=(stream,))
            for read, stream in (
                (self._read_output, self.process.stdout),
                (self._read_log, self.process.stderr),
            )
        ]
        for reader in self._readers:
            reader.start()
        up = self._listening.wait(DEADLINE) and self._ready.wait(DEADLINE) and self.process.poll() is None
        assert up, "".join(self.printed + self.logged)
        self.client = self.as_key(ADMIN)

    def _read_output(self, stream: IO[bytes]) -> None:
        for line in stream:
            text = line.decode()
            self.printed.append(text)
            if text.startswith("Pathcast serves "):
                self.address = text.split()[-1]
                self._port = self.address.rpartition(":")[2]
                self._listening.set()

    def _read_log(self, stream: IO[bytes]) -> None:
        for line in stream:
            self.logged.append(line.decode())
            if '"ready: ' in self.logged[-1]:
                self._ready.set()
        self._ready.set()
        self._listening.set()

    def kill(self) -> None:
        """End it as a power cut would, and wait until it is gone."""
        self.process.send_signal(signal.SIGKILL)
        self._gone()

    def stop(self) -> int:
        """Ask it to end, and wait; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self._gone()

    def _gone(self) -> int:
        status = self.process.wait(DEADLINE)
        for reader in self._readers:
            reader.join(DEADLINE)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        for client in self._clients:
            client.close()
        self._clients.clear()
        return status

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.kill()

    def __getattr__(self, method: str) -> Any:
        """`get`, `put`, `post`, `patch`, `delete` with the administrator's key."""
        if method not in ("get", "put", "post", "patch", "delete"):
            raise AttributeError(method)
        return getattr(self.client, method)

    def as_key(self, secret: str) -> httpx.Client:
        """A client with another key."""
        headers = {"Authorization": f"Bearer {secret}"}
        client = httpx.Client(base_url=self.address, headers=headers, timeout=DEADLINE, trust_env=False)
        self._clients.append(client)
        return client

    def key(self, **body: Any) -> httpx.Client:
        """A client with a new key."""
        made = self.post("/v1/keys", json=body)
        assert made.status_code == 201, made.text
        return self.as_key(made.json()["key"])

    def topic(self, name: str, **subscriptions: str) -> str:
        """A topic with subscriptions; the path of the topic."""
        path = f"/v1/topics/{name}"
        assert self.put(path).status_code in (200, 201)
        for id, xpath in subscriptions.items():
            done = self.put(f"{path}/subscriptions/{id}", json={"xpath": xpath})
            assert done.status_code in (200, 201), done.text
        return path
