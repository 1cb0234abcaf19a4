"""A listener of Spark's streaming queries that tells what Pathcast did in each batch.

    spark.streams.addListener(MetricsListener(lambda progress: print(progress.line())))

Spark's own progress of a batch knows rows and time; what was matched is known to the stream. The listener
brings both together, for every stream of the session that `pathcast.spark.stream` started in this process.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryListener

from pathcast.spark.driver.stream_state import BatchMetrics

__all__ = ["MetricsListener", "StreamProgress", "remember"]

_KEPT = 1_000  # batches whose progress Spark has not told yet
_told: OrderedDict[tuple[str, int], BatchMetrics] = OrderedDict()


def remember(query: str, metrics: BatchMetrics) -> None:
    """Keeps what a batch did until Spark tells of its end."""
    _told[query, metrics.batch] = metrics
    while len(_told) > _KEPT:
        _told.popitem(last=False)


@dataclass(frozen=True)
class StreamProgress:
    """What a batch did, with rates."""

    query: str
    """The id of the query."""
    name: str | None
    batch: BatchMetrics
    trigger_milliseconds: int
    """The whole of the batch, with what Spark does before and after it."""

    @property
    def documents_per_second(self) -> float:
        """Over the whole of the batch, as all three."""
        return self._rate(self.batch.documents)

    @property
    def matches_per_second(self) -> float:
        """Rows that were written."""
        return self._rate(self.batch.matches)

    @property
    def dead_letters_per_second(self) -> float:
        """Bad documents."""
        return self._rate(self.batch.dead_letters)

    def _rate(self, count: int) -> float:
        return round(1000 * count / max(1, self.trigger_milliseconds), 1)

    def line(self) -> str:
        """As JSON."""
        rates = {
            name: getattr(self, name)
            for name in ("documents_per_second", "matches_per_second", "dead_letters_per_second")
        }
        own = {"query": self.query, "name": self.name, "trigger_milliseconds": self.trigger_milliseconds}
        return json.dumps({**own, **rates, **asdict(self.batch)})


class MetricsListener(StreamingQueryListener):
    """Calls a function with a `StreamProgress` after every batch of every stream."""

    def __init__(self, function: Callable[[StreamProgress], object]) -> None:
        super().__init__()
        self._function = function

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802 - Spark's name
        progress = event.progress
        metrics = _told.pop((str(progress.id), progress.batchId), None)
        if metrics is not None:
            milliseconds = int(progress.durationMs.get("triggerExecution", metrics.milliseconds))
            self._function(StreamProgress(str(progress.id), progress.name, metrics, milliseconds))

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        pass
