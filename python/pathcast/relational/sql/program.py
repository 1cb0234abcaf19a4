"""The order of the statements: how a batch of documents is matched, the same on every backend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pathcast.relational.sql import steps, summary


class Session(Protocol):
    """Tables of one connection; names are those in braces in the statements."""

    def load(self, name: str, rows: Any) -> None:
        """Makes a table of rows that come from outside."""

    def make(self, name: str, query: str, level: int = 0) -> None:
        """Makes a table of what a query answers, in place of one of that name."""

    def grow(self, name: str, query: str, level: int = 0) -> None:
        """Adds what a query answers to a table that was made."""

    def has_rows(self, name: str) -> bool:
        """Whether there is any row in a table that was made."""


@dataclass(frozen=True)
class Shape:
    """What a run has to know about the subscriptions."""

    version: int
    """Differs after every change."""
    steps: int
    """Differs when there are new steps."""
    levels: int
    """The highest level of a pattern."""
    step_levels: int
    """The highest level of a step."""
    subjects: tuple[tuple[int, str, str], ...]
    """The values that tests look at: number, name of the node, name of the value."""
    may_stay: bool
    """Whether a step may stay at the same node, so that a chain may have more steps than a path has names."""

    def step_levels_of(self, depth: int) -> int:
        """How many steps a chain may have in a document of that depth."""
        return self.step_levels if self.may_stay else min(self.step_levels, depth)

    def levels_of(self, depth: int) -> int:
        """How many levels of patterns a document of that depth may have: each is below the next, or at it."""
        return self.levels if self.may_stay else min(self.levels, depth + 1)


def begin_steps(session: Session) -> None:
    """Makes what depends on nothing but the steps."""
    session.make("Trie", summary.TRIE)
    session.make("StepLabel", summary.STEP_LABELS)


def begin_summary(session: Session) -> None:
    """Makes an empty path summary for the steps there are now."""
    begin_steps(session)
    session.make("Path", summary.NO_PATHS)
    session.make("PathStep", summary.NO_PATH_STEPS)


def begin_version(session: Session) -> None:
    """Makes what depends on nothing but the subscriptions."""
    session.make("LeafSlot", steps.LEAF_SLOTS)
    session.make("TestSlot", steps.TEST_SLOTS)
    session.make("UpperSlot", steps.UPPER_SLOTS)
    session.make("Checked", steps.CHECKED)
    session.make("Pair", steps.PAIRS)
    session.make("OtherTest", steps.OTHER_TESTS)
    session.make("EarlyTest", steps.EARLY_TESTS)
    session.make("TestedChain", steps.TESTED_CHAINS)


def extend_summary(session: Session, step_levels: int) -> None:
    """Adds the paths of `NewPath` to the summary."""
    find_steps(session, step_levels)
    last_steps(session)


def find_steps(session: Session, step_levels: int) -> None:
    """Fills `Open` with the chains that end at the new paths."""
    first_steps(session)
    for level in range(2, step_levels + 1):
        next_steps(session, level)


def first_steps(session: Session) -> None:
    """The new paths with the chains of one step that end there."""
    session.make("Label", summary.LABELS)
    session.make("NewPair", summary.NEW_PAIRS)
    session.make("Open", summary.OPEN)
    session.grow("Open", summary.FIRST_STEPS, 1)


def next_steps(session: Session, level: int) -> None:
    """The chains of so many steps that end at the new paths."""
    session.grow("Open", summary.NEXT_STEPS, level)


def last_steps(session: Session) -> None:
    """The new paths are part of the summary."""
    session.grow("PathStep", summary.CLOSED)
    session.grow("Path", "select path from {NewPath}")


def find_facts(session: Session, levels: int, *, with_values: bool) -> None:
    """Fills `Fact` with what the nodes of a batch have, from the leaves to the document nodes."""
    leaves(session)
    if with_values:
        tests(session)
    keep(session)
    for level in range(1, levels + 1):
        (first_patterns if level == 1 else patterns)(session, level, with_values=with_values)
        if level < levels and not session.has_rows("Level"):
            break  # a pattern of the next level has one of this level below it


def leaves(session: Session) -> None:
    """The slots that paths alone fill."""
    session.make("BatchStep", steps.BATCH_STEPS)
    session.make("Base", f"{steps.ALWAYS} union all {steps.LEAVES}")


def tests(session: Session) -> None:
    """The slots that values fill."""
    session.make("Equal", steps.EQUAL)
    session.grow("Base", steps.TESTS)
    session.grow("Base", steps.RANGES)


def keep(session: Session) -> None:
    """Of these, what is asked for above the first level."""
    session.make("Fact", steps.KEPT)


def first_patterns(session: Session, level: int = 1, *, with_values: bool = True) -> None:
    """The patterns of the first level, and the slots that they fill further up."""
    _patterns(session, level, with_values, steps.at_first)


def patterns(session: Session, level: int, *, with_values: bool = True) -> None:
    """The same for a level above."""
    _patterns(session, level, with_values, str)


def _patterns(session: Session, level: int, with_values: bool, about: Callable[[str], str]) -> None:
    checked = f" union all {steps.PAIRED_CHECKED}" if with_values else ""
    session.make("Paired", about(f"{steps.PAIRED}{checked}"), level)
    session.make("Level", about(steps.PATTERNS_CHECKED if with_values else steps.PATTERNS))
    session.make("Raised", steps.RAISED)
    session.make("Risen", steps.RISEN)
    session.grow("Fact", steps.RISING)
