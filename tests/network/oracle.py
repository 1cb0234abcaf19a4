"""Exact answers about linear patterns, computed another way: explicit automata over a small alphabet.

A pattern is a list of ``(axis, name)``; the letters are those of both sides and one that neither knows.
"""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random

Steps = tuple[tuple[str, str], ...]

FRESH = "z"
LETTERS = ("a", "b", "c", FRESH)


def steps_of(xpath: str) -> Steps:
    """The steps of a linear path; a relative one starts anywhere."""
    text = xpath if xpath.startswith("/") else f"//{xpath}"
    return tuple(re.findall(r"(//|/)([^/]+)", text))


@lru_cache(maxsize=200_000)
def table(steps: Steps) -> tuple[dict[str, int], ...]:
    """By place in the pattern: for each letter the places after it, as bits. The last one keeps itself."""
    rows: list[dict[str, int]] = []
    for place, (axis, name) in enumerate(steps):
        stays = 1 << place if axis == "//" else 0
        rows.append({letter: stays | (1 << place + 1 if name in ("*", letter) else 0) for letter in LETTERS})
    rows.append(dict.fromkeys(LETTERS, 1 << len(steps)))
    return tuple(rows)


def _after(rows: tuple[dict[str, int], ...], places: int, letter: str) -> int:
    found, place = 0, 0
    while places:
        if places & 1:
            found |= rows[place][letter]
        places >>= 1
        place += 1
    return found


def contains(general: Steps, specific: Steps) -> bool:
    """Whether each path that satisfies the second satisfies the first: sets of places, letter by letter."""
    first, second = table(general), table(specific)
    accept, required = 1 << len(general), 1 << len(specific)
    seen = {(1, 1)}
    open_pairs = [(1, 1)]
    while open_pairs:
        mine, theirs = open_pairs.pop()
        if theirs & required and not mine & accept:
            # What satisfies it later as well may still come, but this word is a counterexample.
            return False
        if mine & accept:
            continue
        for letter in LETTERS:
            pair = (_after(first, mine, letter), _after(second, theirs, letter))
            if pair[1] and pair not in seen:
                seen.add(pair)
                open_pairs.append(pair)
    return True


class Automaton:
    """An advertisement by Thompson's construction, with empty moves and one move for each letter."""

    def __init__(self, text: str) -> None:
        self.empty: list[set[int]] = []
        self.moves: list[dict[str, set[int]]] = []
        self.text, self.at = text, 0
        self.start, self.end = self._sequence()
        assert self.at == len(text), text

    def _state(self) -> int:
        self.empty.append(set())
        self.moves.append({})
        return len(self.empty) - 1

    def _sequence(self) -> tuple[int, int]:
        start = now = self._state()
        while self.at < len(self.text) and self.text[self.at] != ")":
            if self.text[self.at] == "(":
                self.at += 1
                inner, last = self._sequence()
                assert self.text[self.at : self.at + 2] == ")+"
                self.at += 2
                self.empty[now].add(inner)
                self.empty[last].add(inner)
                now = last
                fresh = self._state()
                self.empty[now].add(fresh)
                now = fresh
            else:
                found = re.compile(r"/([^/()]+)").match(self.text, self.at)
                assert found, self.text[self.at :]
                self.at = found.end()
                following = self._state()
                for letter in LETTERS if found[1] == "*" else (found[1],):
                    self.moves[now].setdefault(letter, set()).add(following)
                now = following
        return start, now

    def closure(self, states: frozenset[int]) -> frozenset[int]:
        """With everything that empty moves reach."""
        found, pending = set(states), list(states)
        while pending:
            for state in self.empty[pending.pop()]:
                if state not in found:
                    found.add(state)
                    pending.append(state)
        return frozenset(found)

    def after(self, states: frozenset[int], letter: str) -> frozenset[int]:
        """Where a letter leads."""
        return self.closure(frozenset(to for state in states for to in self.moves[state].get(letter, ())))


def meets(advertisement: str, steps: Steps) -> bool:
    """Whether some advertised path satisfies the pattern: the product of both, subsets of states."""
    automaton = Automaton(advertisement)
    rows = table(steps)
    accept = 1 << len(steps)
    start = (automaton.closure(frozenset({automaton.start})), 1)
    seen, pending = {start}, [start]
    while pending:
        states, places = pending.pop()
        if automaton.end in states and places & accept:
            return True
        for letter in LETTERS:
            pair = (automaton.after(states, letter), _after(rows, places, letter))
            if pair[0] and pair[1] and pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return False


def advertised(general: str, specific: str) -> bool:
    """Whether each path of the second advertisement is one of the first."""
    first, second = Automaton(general), Automaton(specific)
    start = (first.closure(frozenset({first.start})), second.closure(frozenset({second.start})))
    seen, pending = {start}, [start]
    while pending:
        mine, theirs = pending.pop()
        if second.end in theirs and first.end not in mine:
            return False
        for letter in LETTERS:
            pair = (first.after(mine, letter), second.after(theirs, letter))
            if pair[1] and pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return True


def pattern(random: Random, longest: int = 6) -> str:
    """A linear path, relative now and then."""
    steps = "".join(
        random.choice(("/", "/", "//")) + random.choice(("a", "b", "*") if random.random() < 0.8 else ("c",))
        for _ in range(random.randint(1, longest))
    )
    return steps.lstrip("/") if random.random() < 0.15 else steps


def advertisement(random: Random, longest: int = 4, depth: int = 2) -> str:
    """Steps and groups, groups in groups."""
    text = ""
    for _ in range(random.randint(1, longest)):
        if depth and random.random() < 0.3:
            text += f"({advertisement(random, 3, depth - 1)})+"
        else:
            text += f"/{random.choice(('a', 'b', 'c', '*'))}"
    return text
