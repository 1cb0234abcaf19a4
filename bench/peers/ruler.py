"""Event Ruler on the items of `alerts` as JSON; `make jars` fetches it from Maven's registry."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import unescape

from bench.corpus import ROOT
from bench.peers.java import JavaPeer, no_java
from bench.workloads import Workload, alerts

JARS = ROOT / ".jars/ruler"


def missing() -> str:
    """Why it cannot run; nothing if it can."""
    if not any(JARS.glob("event-ruler-*.jar")):
        return "its archive is not in .jars/ruler; `make jars` fetches it"
    return no_java()


class Ruler(JavaPeer):
    """Rules and events with the meaning of the alerts and items."""

    def __init__(self, workload: Workload, size: int) -> None:
        rules = (json.dumps(alert.rule()) for alert in alerts.alerts(size))
        super().__init__("RulerPeer", sorted(JARS.glob("*.jar")), rules)

    def match(self, documents: Sequence[bytes]) -> tuple[float, list[list[int]]]:
        """The documents are items as XML; turning them into JSON is not counted."""
        return self.match_lines(json.dumps(event(document)) for document in documents)


def event(document: bytes) -> dict[str, object]:
    """The item of a document as `Item.event` has it.

    >>> from itertools import islice
    >>> item = next(alerts.items(1))
    >>> event(item.xml()) == item.event()
    True
    """
    text = document.decode()

    def inside(name: str) -> list[str]:
        return [unescape(each) for each in re.findall(f"<{name}[^>]*>([^<]*)</{name}>", text)]

    author = re.search('<author id="([^"]*)"', text)
    assert author is not None
    return {
        "language": inside("language")[0],
        "region": inside("region")[0],
        "category": inside("category"),
        "source": inside("source")[0],
        "priority": int(inside("priority")[0]),
        "author": author[1],
        "headline": inside("headline")[0].split(),
        "body": " ".join(inside("p")),
    }
