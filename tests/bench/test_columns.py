"""An index sees each document once until they are repeated, and 1,000 others before the unseen ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any, cast

import pytest

from bench.harness import columns
from bench.harness.columns import FIRST, NEEDED, WARM
from bench.workloads import wire
from pathcast.index import Index


class Recorder:
    """Notes in which order documents come; it answers nothing."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    def match_many(self, documents: Sequence[bytes]) -> Recorder:
        self.seen += documents
        return self

    def to_arrow(self) -> None:
        return None

    def match(self, document: bytes) -> list[int]:
        self.seen.append(document)
        return []


@pytest.fixture(scope="module")
def documents() -> list[bytes]:
    return list(islice(wire.documents(4), NEEDED))


def measured(documents: list[bytes], seconds: float) -> tuple[list[bytes], dict[str, float]]:
    recorder = Recorder()
    values = columns.columns(cast(Index, recorder), documents, seconds)
    return recorder.seen, values


def test_documents_come_once_until_they_are_repeated(documents: list[bytes]) -> None:
    seen, values = measured(documents, seconds=10)
    assert values["first documents"] == FIRST
    assert values["warmed with"] == FIRST + WARM
    before = int(values["warmed with"] + 1 + values["unseen documents"])
    assert Counter(seen[:before]) == Counter(documents[:before]), "each document once"
    assert seen[: FIRST + WARM] == documents[: FIRST + WARM]
    counts = Counter(seen[before:])
    assert set(counts) <= set(documents[FIRST + WARM : before]), "only unseen ones are repeated"
    assert min(counts.values()) >= 2


def test_a_slow_index_is_shown_fewer(documents: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(0, 10_000_000, 2))
    clock: Any = lambda: float(next(times))  # noqa: E731 - a clock on which every look costs two seconds
    monkeypatch.setattr("bench.harness.columns.time.process_time", clock)
    _, values = measured(documents, seconds=10)
    assert values["first documents"] < FIRST
    assert values["warmed with"] < WARM
    assert values["unseen arrow µs"] > 0


def test_a_short_stream_is_an_error(documents: list[bytes]) -> None:
    with pytest.raises(ValueError, match="the columns need 2,941 documents"):
        measured(documents[:600], seconds=10)
