"""Plans what the data source reads from Kafka: a range of offsets of each partition for each task.

Positions are `{"topic/partition": offset}`, the offset of the next message. They are what a stream's offset
holds, so a batch that is asked for again reads the same messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from pathcast.spark.worker.topics import MESSAGE, Positions, Range, TopicJob, positions

__all__ = ["Topics", "at_most", "ranges", "whole_number"]

_SERVERS = "kafka.bootstrap.servers"


@dataclass(frozen=True)
class Topics:
    """The topics that are read, and how."""

    names: tuple[str, ...]
    starting: Literal["earliest", "latest"] | None
    per_trigger: int | None
    """Messages of a batch of a stream, all if not given."""
    job: TopicJob

    @classmethod
    def of(cls, options: Mapping[str, str], batch_bytes: int, keep: tuple[str, ...]) -> Topics | None:
        """What the options say; None if they name no topic."""
        if "subscribe" not in options:
            return None
        if _SERVERS not in options:
            raise ValueError(f'say where Kafka is: option("{_SERVERS}", "host:9092")')
        names = tuple(name.strip() for name in options["subscribe"].split(",") if name.strip())
        if not names:
            raise ValueError('say which topics to read: option("subscribe", "news,alerts")')
        starting = options.get("startingOffsets")
        if starting not in (None, "earliest", "latest"):
            raise ValueError(f"startingOffsets must be earliest or latest, not {starting!r}")
        most = whole_number(options, "maxOffsetsPerTrigger")
        for name in keep:
            if name not in MESSAGE:
                raise ValueError(f"a message has no {name!r} to keep; it has: {', '.join(MESSAGE)}")
        client = {
            name.removeprefix("kafka."): value
            for name, value in options.items()
            if name.startswith("kafka.") and name != _SERVERS
        }
        job = TopicJob(options[_SERVERS], client, batch_bytes, keep)
        known = cast("Literal['earliest', 'latest'] | None", starting)
        return cls(names, known, most, job)

    def positions(self) -> tuple[Positions, Positions]:
        """The first message of each partition that is there, and the position behind the last one."""
        return positions(self.names, self.job)


def whole_number(options: Mapping[str, str], name: str) -> int | None:
    """An option that counts something; None if it is not given.

    >>> whole_number({"splitBytes": "4 MB"}, "splitBytes")
    Traceback (most recent call last):
    ValueError: splitBytes must be a whole number of at least 1, not '4 MB'
    """
    text = options.get(name)
    if text is None:
        return None
    if not (text.strip().isdecimal() and int(text) > 0):
        raise ValueError(f"{name} must be a whole number of at least 1, not {text!r}")
    return int(text)


def at_most(start: Positions, end: Positions, most: int | None) -> Positions:
    """Where a batch of so many messages ends: of each partition a share as large as its share of all.

    >>> at_most({"t/0": 0, "t/1": 5}, {"t/0": 30, "t/1": 15}, 4)
    {'t/0': 3, 't/1': 6}
    """
    waiting = {place: end[place] - start[place] for place in end}
    total = sum(waiting.values())
    if most is None or total <= most:
        return end
    taken = {place: count * most // total for place, count in waiting.items()}
    left = most - sum(taken.values())
    for place, count in waiting.items():
        if left and taken[place] < count:
            taken[place] += 1
            left -= 1
    return {place: start[place] + count for place, count in taken.items()}


def ranges(start: Positions, end: Positions) -> list[Range]:
    """A task for each partition that has something new."""
    found = []
    for place, behind in end.items():
        topic, _, number = place.rpartition("/")
        if behind > start[place]:
            found.append(Range(topic, int(number), start[place], behind))
    return found
