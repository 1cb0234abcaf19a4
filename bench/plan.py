"""What of the experiments is run: workloads, engines, sizes, and the time each may take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench.workloads import WORKLOADS, Workload


@dataclass(frozen=True)
class Plan:
    """Everything, unless said otherwise."""

    workloads: tuple[str, ...] = tuple(WORKLOADS)
    engines: tuple[str, ...] = ()
    """All of them if none is named."""
    sizes: tuple[int, ...] = ()
    """All sizes of a workload if none is named."""
    largest: int = 100_000
    """Of engines other than `auto`."""
    seconds: float = 12.0
    """Of processor time for matching with `auto`; four times as long for building."""
    other_seconds: float = 2.0
    """For the other engines."""

    def sets(self) -> Iterator[tuple[Workload, int]]:
        """Workloads with each of their sizes."""
        for name in self.workloads:
            workload = WORKLOADS[name]
            yield from ((workload, size) for size in workload.sizes if not self.sizes or size in self.sizes)

    def seconds_of(self, engine: str) -> float:
        """What an engine may take."""
        return self.seconds if engine == "auto" else self.other_seconds

    def takes(self, engine: str, size: int) -> bool:
        """Whether an engine is run at that size."""
        return (not self.engines or engine in self.engines) and (engine == "auto" or size <= self.largest)
