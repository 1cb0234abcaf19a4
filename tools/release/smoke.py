"""Tries an installed Pathcast from outside: `python smoke.py VERSION PART...`, in its environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pathcast

DOCUMENT = "<news><item lang='en'><title>Rain over the harbour</title></item></news>"
TORN = "<news><item>"
SUBSCRIPTIONS = [
    ("english", "//item[@lang = 'en']"),
    ("rain", "contains(//title, 'Rain')"),
    ("sport", "//goal"),
]
EXPECTED = ["english", "rain"]


def equal(found: object, expected: object) -> None:
    """Ends with what was found in place of what was expected; `-O` does not remove it."""
    if found != expected:
        raise SystemExit(f"found {found!r}, expected {expected!r}")


def library(version: str) -> None:
    """Match, save and load; the package is the one of this environment."""
    equal(Path(pathcast.__file__).is_relative_to(sys.prefix), True)
    equal(pathcast.__version__, version)
    index = pathcast.Index()
    index.add_many(SUBSCRIPTIONS)
    equal(index.match(DOCUMENT), EXPECTED)
    index.save("smoke.pathcast")
    equal(pathcast.Index.load("smoke.pathcast").match(DOCUMENT), EXPECTED)


def command(version: str) -> None:
    """The program on the PATH."""

    def said(*words: str) -> str:
        return subprocess.run(["pathcast", *words], check=True, capture_output=True, text=True).stdout

    equal(version in said("--version"), True)
    Path("rain.xml").write_text(DOCUMENT, encoding="utf-8")
    words = [word for _, xpath in SUBSCRIPTIONS for word in ("-e", xpath)]
    equal(json.loads(said("match", *words, "rain.xml"))["matches"], ["1", "2"])


def threads(version: str) -> None:
    """On a free-threaded Python, which the import leaves so: nine threads use and change an index."""
    equal(getattr(sys, "_is_gil_enabled", lambda: True)(), False)
    index = pathcast.Index()
    index.add_many(SUBSCRIPTIONS)

    def change(number: int) -> list[str]:
        index.add(f"more-{number}", f"//item[@number = {number}]")
        index.remove(f"more-{number}")
        return EXPECTED

    with ThreadPoolExecutor(9) as pool:
        changed = pool.map(change, range(1_000))
        equal(all(found == EXPECTED for found in pool.map(index.match, [DOCUMENT] * 20_000)), True)
        equal(all(found == EXPECTED for found in changed), True)
    equal(len(index), len(SUBSCRIPTIONS))


def service(version: str) -> None:
    """A server: subscribe, publish, pull."""
    if sys.version_info < (3, 11):
        print("  service    not tried: it needs Python 3.11")
        return
    key = "smoke" * 8
    server = subprocess.Popen(
        ["pathcast", "serve", "--data", "data", "--port", "0"],
        env={**os.environ, "PATHCAST_ADMIN_KEY": key},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]

        def call(method: str, path: str, body: str = "", kind: str = "application/json") -> dict[str, object]:
            headers = {"Authorization": f"Bearer {key}", "Content-Type": kind}
            place = f"{address}/v1/topics/news{path}"
            request = urllib.request.Request(place, body.encode() or None, headers, method=method)
            with urllib.request.urlopen(request, timeout=60) as answer:
                found: dict[str, object] = json.load(answer)
                return found

        call("PUT", "", "{}")
        for name, xpath in SUBSCRIPTIONS:
            call("PUT", f"/subscriptions/{name}", json.dumps({"xpath": xpath}))
        equal(call("POST", "/documents", DOCUMENT, "application/xml")["matched"], 2)
        pulled = call("GET", "/subscriptions/rain/deliveries")
        equal("Rain over the harbour" in json.dumps(pulled), True)
    finally:
        server.terminate()
        server.wait()


def spark(version: str) -> None:
    """A table of documents, one of them torn."""
    from pathcast.spark import match
    from pathcast.spark.driver.session import session

    with session("smoke", master="local[1]", memory="1g", log=Path("spark.log")) as spark:
        documents = spark.createDataFrame([("rain", DOCUMENT), ("torn", TORN)], "doc_id string, xml string")
        subscriptions = spark.createDataFrame(SUBSCRIPTIONS, "id string, xpath string")
        matches, dead = match(documents, subscriptions)
        found = sorted((row.doc_id, row.subscription_id) for row in matches.collect())
        equal(found, [("rain", name) for name in EXPECTED])
        equal([row.doc_id for row in dead.collect()], ["torn"])


PARTS: dict[str, Callable[[str], None]] = {
    "library": library,
    "command": command,
    "threads": threads,
    "service": service,
    "spark": spark,
}

if __name__ == "__main__":
    if shutil.which("cargo"):
        print("  (cargo is on the PATH of this machine's system folders; wheels alone were installed)")
    for part in sys.argv[2:]:
        PARTS[part](sys.argv[1])
        print(f"  {part:10} works")
