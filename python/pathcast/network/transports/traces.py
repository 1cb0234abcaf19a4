"""The latest documents at a broker with what happened to them, and the way of one through all brokers.

In memory and bounded: a restart forgets them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pathcast.network.trace import Step

STEPS = 200
"""Steps of one document that are kept; a document may have a million subscribers."""


class Timed(NamedTuple):
    """A step and when it happened, in seconds since 1970."""

    at: float
    step: Step


class Traces:
    """The latest documents of one broker, with what happened to them. For several threads.

    >>> traces = Traces(1)
    >>> traces.file([Step("b1/a/1", "published", "client a"), Step("b1/a/2", "again", "broker b2")], 5.0)
    >>> traces.of("b1/a/1"), [each.step.text() for each in traces.of("b1/a/2")]
    ([], ['again from broker b2'])
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._steps: OrderedDict[str, list[Timed]] = OrderedDict()
        self._lock = threading.Lock()

    def file(self, steps: Iterable[Step], at: float) -> None:
        """Keep what happened; the documents that came first make room."""
        with self._lock:
            for step in steps:
                kept = self._steps.setdefault(step.document, [])
                if len(kept) < STEPS:
                    kept.append(Timed(at, step))
            while len(self._steps) > self.most:
                self._steps.popitem(last=False)

    def of(self, document: str) -> list[Timed]:
        """What happened to a document, in order."""
        with self._lock:
            return list(self._steps.get(document, ()))


def in_order(traces: Mapping[str, list[Timed]]) -> list[str]:
    """Brokers in the order of a document's way, as their steps tell it.

    >>> way = {"b2": [Timed(0, Step("d", "received", "broker b1"))],
    ...        "b1": [Timed(9, Step("d", "published", "client a")), Timed(9, Step("d", "sent", "broker b2"))]}
    >>> in_order(way)
    ['b1', 'b2']
    """
    starts = [name for name, steps in traces.items() if any(each.step.what == "published" for each in steps)]
    order: dict[str, None] = dict.fromkeys(starts)
    pending = list(order)
    for name in pending:
        for _, step in traces[name]:
            kind, _, target = step.whom.partition(" ")
            if step.what == "sent" and kind == "broker" and target in traces and target not in order:
                order[target] = None
                pending.append(target)
    # Where the first brokers know nothing of it any more.
    rest = sorted((steps[0].at, name) for name, steps in traces.items() if steps and name not in order)
    return [*order, *(name for _, name in rest)]
