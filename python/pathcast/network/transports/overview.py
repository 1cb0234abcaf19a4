"""The living network: brokers are asked for their status, which is put together as text and as a drawing.

It begins at some monitors and goes on to those that brokers name for their neighbours. What does not answer
is part of the picture. Nothing that a broker answers is trusted to be well-formed, printable or small.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, get_args
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import ProxyHandler, build_opener

from pathcast.errors import printable
from pathcast.network.layout import arranged, box, drawn, line
from pathcast.network.trace import Step, What
from pathcast.network.transports.status import LinkStatus, Status, StatusError
from pathcast.network.transports.traces import Timed

SECONDS = 5.0
"""How long a monitor may take to answer."""
LARGEST = 16 << 20
MOST = 10_000
"""Monitors that are asked."""

Ask = Callable[[str, str], Any]
"""The JSON that a monitor (host:port) answers to a path; raises `StatusError`."""


def asked(monitor: str, path: str) -> Any:
    """What a monitor answers."""
    try:
        # What is asked is near, whatever the environment says about the way to the world.
        with build_opener(ProxyHandler({})).open(f"http://{monitor}{path}", timeout=SECONDS) as answer:
            data = answer.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise StatusError(f"it answers more than {LARGEST:,} bytes")
        return json.loads(data)
    except HTTPError as error:
        with error:
            text = error.read(200).decode("utf-8", "replace").strip()
        raise StatusError(f"it answers {error.code}: {text}") from None
    except URLError as error:
        raise StatusError(f"it does not answer: {error.reason}") from None
    except (OSError, ValueError, HTTPException) as error:
        if isinstance(error, StatusError):
            raise
        raise StatusError(f"it answers something else: {error}") from None


@dataclass(slots=True)
class Overview:
    """What brokers have said."""

    brokers: dict[str, Status] = field(default_factory=dict)
    monitors: dict[str, str] = field(default_factory=dict)
    """By broker: where it answered."""
    failed: dict[str, str] = field(default_factory=dict)
    """By monitor: why there is no answer."""

    @classmethod
    def gathered(cls, monitors: Iterable[str], ask: Ask = asked) -> Overview:
        """Ask monitors, and those that they name."""
        found = cls()
        pending = list(dict.fromkeys(monitors))
        for monitor in pending:
            try:
                status = Status.read(ask(monitor, "/status"))
            except StatusError as error:
                found.failed[monitor] = str(error)
                continue
            if status.broker not in found.brokers:
                found.brokers[status.broker], found.monitors[status.broker] = status, monitor
            for link in status.links:
                if link.monitor and link.monitor not in pending and len(pending) < MOST:
                    pending.append(link.monitor)
        return found

    def traces(self, document: str, ask: Ask = asked) -> dict[str, list[Timed]]:
        """What happened to a document at each broker that knows of it."""
        found: dict[str, list[Timed]] = {}
        for name, monitor in self.monitors.items():
            try:
                steps = _steps(ask(monitor, f"/trace?id={quote(document, safe='')}"))
            except StatusError as error:
                self.failed[monitor] = str(error)
                continue
            if steps:
                found[name] = steps
        return found

    @property
    def links(self) -> dict[tuple[str, str], LinkStatus]:
        """Each link once, as the end sees it that sees more trouble."""
        found: dict[tuple[str, str], LinkStatus] = {}
        for name, status in self.brokers.items():
            for link in status.links:
                key = (min(name, link.name), max(name, link.name))
                if key not in found or _TROUBLE.index(link.state) > _TROUBLE.index(found[key].state):
                    found[key] = link
        return found

    @property
    def names(self) -> list[str]:
        """Brokers that answered, those nearest the root first, then those that are only known of."""
        known = sorted(self.brokers, key=lambda name: (len(self.brokers[name].path), name))
        others = {name for link in self.links for name in link} - set(known)
        return [*known, *sorted(others)]

    def lines(self) -> Iterator[str]:
        """As text: the tree, each broker below the one by which it reaches the root, and what is beside it.

        >>> from pathcast.network import Network
        >>> network = Network([("berlin", "paris"), ("paris", "rome"), ("rome", "berlin")])
        >>> made = Overview({name: Status.of(each, behind=0) for name, each in network.brokers.items()})
        >>> for text in made.lines():
        ...     print(text)
        berlin  calm  clients 0  filters 0  advertisements 0  delivered 0  quarantined 0  behind 0
        ├─ paris  calm  clients 0  filters 0  advertisements 0  delivered 0  quarantined 0  behind 0
        └─ rome  calm  clients 0  filters 0  advertisements 0  delivered 0  quarantined 0  behind 0
        paris – rome: spare
        """
        below: dict[str, list[str]] = {}
        tops: list[str] = []
        for name in self.names:
            path = self.brokers[name].path if name in self.brokers else ()
            if len(path) > 1 and path[1] in self.brokers and path[1] != name:
                below.setdefault(path[1], []).append(name)
            elif name in self.brokers:
                tops.append(name)
        told: set[str] = set()
        for top in [*tops, *self.brokers]:
            yield from self._branch(top, "", "", below, told)
        for (one, other), link in sorted(self.links.items()):
            if link.state != "tree":
                yield printable(f"{one} – {other}: {link.state}")
        for name in self.names:
            if name not in self.brokers:
                yield printable(f"{name}: was not asked, or has not answered")

    def _branch(
        self, name: str, before: str, inside: str, below: dict[str, list[str]], told: set[str]
    ) -> Iterator[str]:
        # Brokers are asked one after the other, so their ways may contradict one another for a moment.
        pending = [(name, before, inside)]
        while pending:
            name, before, inside = pending.pop()
            if name in told:
                continue
            told.add(name)
            yield f"{before}{printable(name)}  {_said(self.brokers[name])}"
            children = below.get(name, [])
            for at, child in reversed(list(enumerate(children))):
                last = at == len(children) - 1
                pending.append(
                    (child, inside + ("└─ " if last else "├─ "), inside + ("   " if last else "│  "))
                )

    def drawing(self) -> str:
        """As an SVG file."""
        links = self.links
        layout = arranged(self.names, links)
        shapes = [
            line(
                layout,
                ends,
                {"tree": "", "spare": "unused"}.get(link.state, "bad"),
                3.0 if link.state == "tree" else 1.5,
                f"{link.state}; {link.wants:,} filters one way, {link.told:,} the other",
                "" if link.state == "tree" else link.state,
            )
            for ends, link in links.items()
        ]
        for name in self.names:
            status = self.brokers.get(name)
            said = (
                "not asked"
                if status is None
                else f"filters {status.filters:,}, delivered {status.delivered:,}"
            )
            shapes.append(box(layout, name, said, "" if status and status.calm else "bad"))
        calm = all(status.calm for status in self.brokers.values())
        title = (
            f"{len(self.brokers):,} brokers, {len(links):,} links, {'calm' if calm else 'links are changing'}"
        )
        return drawn(layout, title, shapes)


_TROUBLE = ["tree", "spare", "new", "leaving", "silent"]


def _said(status: Status) -> str:
    counts = ("clients", "filters", "advertisements", "delivered", "quarantined", "behind")
    texts = [f"{key} {getattr(status, key):,}" for key in counts]
    return "  ".join(["calm" if status.calm else "unrest", *texts])


def _steps(values: Any) -> list[Timed]:
    try:
        found = []
        for each in values["steps"]:
            if each["what"] not in get_args(What):
                raise StatusError(f"it knows of a step {each['what']!r}")
            texts = [str(each[key]) for key in ("document", "what", "whom", "why")]
            at = float(each["at"])
            if not 0 <= at < 1 << 37:
                raise StatusError(f"it knows of a step at {at:g}")
            found.append(Timed(at, Step(texts[0], each["what"], *texts[2:])))
        return found
    except (TypeError, KeyError, ValueError) as error:
        if isinstance(error, StatusError):
            raise
        raise StatusError(f"it answers something else: {error!r}") from None
