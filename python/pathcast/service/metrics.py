"""Metrics as Prometheus names them, and the last minutes in memory for the page that draws them.

No metric has a label for a subscription, a topic or a tenant: a million of them would be a million series.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest

import pathcast

_BUCKETS = (
    1e-5,
    2.5e-5,
    5e-5,
    1e-4,
    2.5e-4,
    5e-4,
    1e-3,
    2.5e-3,
    5e-3,
    1e-2,
    2.5e-2,
    5e-2,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
)
_OUTCOMES = [
    *(("pull", "delivered"), ("events", "delivered")),
    *((channel, outcome) for channel in ("webhook", "kafka") for outcome in ("delivered", "failed", "dead")),
]
_KEPT = 300  # seconds


class Metrics:
    """What one process counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        r = self.registry
        self.documents = Counter("pathcast_documents", "Documents received.", ["outcome"], registry=r)
        self.outcomes = {
            outcome: self.documents.labels(outcome) for outcome in ("accepted", "refused", "repeated")
        }
        self.bytes = Counter("pathcast_document_bytes", "Bytes of documents received.", registry=r)
        self.match = Histogram(
            "pathcast_match_duration_seconds", "Time to match one document.", registry=r, buckets=_BUCKETS
        )
        self.publish = Histogram(
            "pathcast_publish_duration_seconds",
            "Time from a document's arrival to its answer, durable.",
            registry=r,
            buckets=_BUCKETS,
        )
        self.deliveries = Counter(
            "pathcast_deliveries",
            "Deliveries made, and attempts that failed.",
            ["channel", "outcome"],
            registry=r,
        )
        for channel, outcome in _OUTCOMES:  # a rate needs the zero that it begins with
            self.deliveries.labels(channel, outcome)
        self.requests = Counter("pathcast_requests", "Requests answered.", ["method", "status"], registry=r)
        self.pending = Gauge("pathcast_pending_deliveries", "Deliveries that nobody has taken.", registry=r)
        self.oldest = Gauge(
            "pathcast_oldest_pending_seconds",
            "Age of the oldest document that a webhook or Kafka does not have yet.",
            registry=r,
        )
        self.dead_letters = Gauge("pathcast_dead_letters", "Dead letters kept.", registry=r)
        self.subscriptions = Gauge("pathcast_subscriptions", "Enabled subscriptions.", registry=r)
        self.index_bytes = Gauge("pathcast_index_bytes", "Memory of all indexes.", registry=r)
        self.streams = Gauge("pathcast_event_streams", "Open streams of events.", registry=r)
        info = Gauge("pathcast_build_info", "The version that runs.", ["version"], registry=r)
        info.labels(pathcast.__version__).set(1)
        self._recent: deque[tuple[float, float]] = deque(maxlen=2_000)  # match and publish times
        self._samples: deque[dict[str, float]] = deque(maxlen=_KEPT)
        self._seen = {"documents": 0.0, "deliveries": 0.0}

    def matched(self, seconds: float, documents: int) -> None:
        """Count documents that took this long each."""
        for _ in range(documents):
            self.match.observe(seconds)
        self._last_match = seconds

    _last_match = 0.0

    def published(self, seconds: float) -> None:
        """Count one publication from arrival to answer."""
        self.publish.observe(seconds)
        self._recent.append((self._last_match, seconds))

    def sample(self, gauges: Callable[[], dict[str, float]]) -> None:
        """Remember this second."""
        totals = {"documents": _total(self.documents), "deliveries": _total(self.deliveries)}
        rates = {name: totals[name] - self._seen[name] for name in totals}
        self._seen = totals
        times = sorted(publish for _, publish in self._recent)
        matches = sorted(match for match, _ in self._recent)
        self._recent.clear()
        self._samples.append(
            {
                "time": time.time(),
                **rates,
                "match_p50": _quantile(matches, 0.5),
                "match_p99": _quantile(matches, 0.99),
                "publish_p50": _quantile(times, 0.5),
                "publish_p99": _quantile(times, 0.99),
                **gauges(),
            }
        )

    def recent(self, since: float) -> list[dict[str, Any]]:
        """The seconds after a moment."""
        return [sample for sample in self._samples if sample["time"] > since]

    def exposition(self) -> bytes:
        """What Prometheus reads."""
        return generate_latest(self.registry)


def _total(counter: Counter) -> float:
    return sum(
        sample.value
        for metric in counter.collect()
        for sample in metric.samples
        if sample.name.endswith("_total")
    )


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
