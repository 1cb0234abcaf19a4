"""The run of the steps over one batch of documents, the same on every backend.

A backend gives a `Session`: it keeps tables for the run and answers queries. Everything a session makes is
gone when it ends, and the tables of the subscriptions are seen as they were when it began.
"""

from __future__ import annotations

from typing import Any, Protocol

from pathcast.relational.sql import steps


class Session(Protocol):
    """Tables for one run; names are those in braces in the statements."""

    def load(self, name: str, rows: Any) -> None:
        """Makes a table of rows that come from outside."""

    def make(self, name: str, query: str, level: int = 0) -> None:
        """Makes a table of what a query answers, in place of one of that name."""

    def grow(self, name: str, query: str) -> None:
        """Adds what a query answers to a table of the run."""

    def has_rows(self, name: str) -> bool:
        """Whether there is any row in a table of the run."""

    def highest_level(self) -> int:
        """The highest level of any pattern."""


PREPARED = {
    "Name": steps.NAMES,
    "Label": steps.LABELS,
    "Low": steps.LOWS,
    "Pair": steps.PAIRS,
    "FrameMatch": steps.FRAMES,
    "Value": steps.VALUES,
    "NodeValue": steps.NODE_VALUES,
    "PredicateMatch": steps.PREDICATES,
    "Kept": steps.ALWAYS,
    "MatchedXPath": "select document, id from {Kept} where id <> 0",
}
"""What is made before the first level, in this order."""


def run(session: Session, *, cutting: bool = True) -> None:
    """Fills `Kept` with the nodes that fit patterns; `XMLFrame`, `XMLValue`, `XMLAncestor` are loaded."""
    for name, query in PREPARED.items():
        session.make(name, query)
    edges = steps.FRAME_MATCHING_WHERE_NOT_CUT if cutting else steps.FRAME_MATCHING
    found = "union all".join((edges, steps.FINAL_FRAME_MATCHING, steps.PREDICATE_MATCHING))
    pruned = steps.BRANCHING_POINT_PRUNING.replace("{Neighbour}", f"({steps.NEIGHBOUR_PRUNING}) as pruned")
    for level in range(1, session.highest_level() + 1):
        if cutting:
            session.make("NotCut", steps.NOT_CUT, level)
        session.make("XMLMatch", found, level)
        session.make("Level", pruned, level)
        if not session.has_rows("Level"):
            break  # a pattern of the next level has one of this level below it
        session.grow("Kept", steps.KEEPING)
        if cutting:
            session.grow("MatchedXPath", steps.CUTTING)
