"""`make serve`: the server with topics, subscriptions and a document every second, to look at its pages."""

from __future__ import annotations

import itertools
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path

EXAMPLES = Path(__file__).parents[1]
KEY = os.environ.get("PATHCAST_ADMIN_KEY") or secrets.token_urlsafe(18)
SUBSCRIPTIONS = {
    "english": "//item[@lang = 'en']",
    "weather": "//item[category = 'weather']",
    "everything": "/*",
    "never": "/no-such-element",
}


def call(address: str, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> None:
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": kind}
    request = urllib.request.Request(f"{address}/v1/{path}", body, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        answer.read()


def fill(address: str, stopping: threading.Event) -> None:
    """Put the subscriptions, then publish the example documents in turn."""
    call(address, "PUT", "topics/news", b"{}")
    for id, xpath in SUBSCRIPTIONS.items():
        call(address, "PUT", f"topics/news/subscriptions/{id}", json.dumps({"xpath": xpath}).encode())
    documents = sorted((EXAMPLES / "news/documents").glob("*.xml"))
    for document in itertools.cycle(documents):
        if stopping.wait(1.0):
            return
        try:
            call(address, "POST", "topics/news/documents", document.read_bytes(), "application/xml")
        except urllib.error.HTTPError as error:
            if error.code != 400:  # some of the examples are not well-formed, to show dead letters
                raise
        except (urllib.error.URLError, ConnectionError):
            return  # the server has ended


def main() -> None:
    port = os.environ.get("PORT", "8080")
    with tempfile.TemporaryDirectory(prefix="pathcast-serve-") as data:
        command = [sys.executable, "-m", "pathcast", "serve", "--data", data, "--port", port]
        environment = {**os.environ, "PATHCAST_ADMIN_KEY": KEY}
        stopping = threading.Event()
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            signal.signal(signal.SIGTERM, lambda *_: process.terminate())  # not only Ctrl-C ends both
            address = process.stdout.readline().split()[-1]
            print(f"{address}  with the key  {KEY}  (the playground: {address}/playground)", flush=True)
            filling = threading.Thread(target=fill, args=(address, stopping), daemon=True)
            filling.start()
            try:
                process.wait()
            except KeyboardInterrupt:
                process.terminate()
            finally:
                stopping.set()


if __name__ == "__main__":
    main()
