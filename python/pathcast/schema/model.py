"""Content models: what a DTD says may stand inside an element, as a small immutable tree.

A model is one of

* ``Empty()``, ``Any()``: the keywords;
* ``Mixed(names)``: text, with these elements in any order; ``Mixed(())`` is ``(#PCDATA)``;
* ``Name``, ``Sequence``, ``Choice``, ``Optional``, ``Star``, ``Plus``: a regular expression over names.

Invariant: the tree is at most ``MAX_NESTING`` deep (the reader refuses more, as libxml2 does), so a function
may call itself on the parts. It may be as wide as it likes.

>>> model = Sequence((Name("title"), Star(Choice((Name("p"), Name("table"))))))
>>> str(model)
'(title,(p|table)*)'
>>> list(names(model))
['title', 'p', 'table']
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from collections.abc import Sequence as Items
from dataclasses import dataclass
from typing import TypeAlias

MAX_NESTING = 128
"""How deep groups may be nested: libxml2's own bound; 600 KB of nested groups crash some parsers."""


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing, not even text."""

    def __str__(self) -> str:
        return "EMPTY"


@dataclass(frozen=True, slots=True)
class Any:
    """Text and every declared element."""

    def __str__(self) -> str:
        return "ANY"


@dataclass(frozen=True, slots=True)
class Mixed:
    """Text, and the named elements in any order and number."""

    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"(#PCDATA|{'|'.join(self.names)})*" if self.names else "(#PCDATA)"


@dataclass(frozen=True, slots=True)
class Name:
    """One element."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Sequence:
    """All parts, in order."""

    parts: tuple[Particle, ...]

    def __str__(self) -> str:
        return f"({','.join(map(str, self.parts))})"


@dataclass(frozen=True, slots=True)
class Choice:
    """Exactly one of the parts."""

    parts: tuple[Particle, ...]

    def __str__(self) -> str:
        return f"({'|'.join(map(str, self.parts))})"


@dataclass(frozen=True, slots=True)
class Optional:
    """The part or nothing."""

    part: Particle

    def __str__(self) -> str:
        return f"{_grouped(self.part)}?"


@dataclass(frozen=True, slots=True)
class Star:
    """The part any number of times."""

    part: Particle

    def __str__(self) -> str:
        return f"{_grouped(self.part)}*"


@dataclass(frozen=True, slots=True)
class Plus:
    """The part at least once."""

    part: Particle

    def __str__(self) -> str:
        return f"{_grouped(self.part)}+"


Particle: TypeAlias = "Name | Sequence | Choice | Optional | Star | Plus"
Model: TypeAlias = "Empty | Any | Mixed | Particle"


def _grouped(part: Particle) -> str:
    """The part so that an occurrence sign can follow it.

    >>> _grouped(Star(Name("a")))
    '(a*)'
    """
    return f"({part})" if isinstance(part, (Optional, Star, Plus)) else str(part)


def declared(model: Model) -> str:
    """The model as an ELEMENT declaration has it: always in parentheses.

    >>> declared(Name("a")), declared(Star(Name("a"))), declared(Empty())
    ('(a)', '(a*)', 'EMPTY')
    """
    return f"({model})" if isinstance(model, (Name, Optional, Star, Plus)) else str(model)


def parts(model: Model) -> tuple[Particle, ...]:
    """The direct parts of a model; none for a name or a keyword."""
    if isinstance(model, (Sequence, Choice)):
        return model.parts
    if isinstance(model, (Optional, Star, Plus)):
        return (model.part,)
    return ()


def names(model: Model) -> Iterator[str]:
    """The element names in the model as written, with repetitions; none for ``Any``."""
    pending: list[Model] = [model]
    while pending:
        item = pending.pop()
        if isinstance(item, Name):
            yield item.name
        elif isinstance(item, Mixed):
            yield from item.names
        else:
            pending.extend(reversed(parts(item)))


def possible(model: Model, able: Container[str]) -> tuple[str, ...]:
    """The names that stand in some word of the model made of ``able`` names only, each once, as written.

    >>> model = Choice((Sequence((Name("a"), Name("lost"))), Name("b"), Star(Name("lost"))))
    >>> possible(model, {"a", "b"})
    ('b',)
    """
    found = _possible(model, able)
    return tuple(dict.fromkeys(found)) if found is not None else ()


def _possible(model: Model, able: Container[str]) -> list[str] | None:
    """The names, or None when the model has no word of able names at all."""
    if isinstance(model, Name):
        return [model.name] if model.name in able else None
    if isinstance(model, Mixed):
        return [name for name in model.names if name in able]
    if isinstance(model, (Sequence, Choice)):
        inner = [_possible(part, able) for part in model.parts]
        if None in inner if isinstance(model, Sequence) else inner.count(None) == len(inner):
            return None
        return [name for found in inner if found is not None for name in found]
    if isinstance(model, (Optional, Star)):
        return _possible(model.part, able) or []
    if isinstance(model, Plus):
        return _possible(model.part, able)
    return []


def occur_together(model: Model, wanted: Items[str], able: Container[str]) -> bool:
    """Whether one word of the model, made of able names, has all wanted names, each as a child of its own.

    >>> model = Sequence((Name("a"), Choice((Name("b"), Name("c")))))
    >>> occur_together(model, ["a", "b"], "abc"), occur_together(model, ["b", "c"], "abc")
    (True, False)
    >>> occur_together(model, ["a", "a"], "abc"), occur_together(Star(model), ["c", "b"], "abc")
    (False, True)
    """
    if isinstance(model, (Any, Mixed)):
        return all(name in able and (isinstance(model, Any) or name in model.names) for name in wanted)
    return (1 << len(wanted)) - 1 in _covered(model, wanted, able)


def _covered(model: Model, wanted: Items[str], able: Container[str]) -> set[int]:
    """Which sets of wanted names (as bits) a word can hold; nothing when there is no word of able names."""
    if isinstance(model, Name):
        if model.name not in able:
            return set()
        return {0} | {1 << bit for bit, name in enumerate(wanted) if name == model.name}
    if isinstance(model, Choice):
        return set().union(*(_covered(part, wanted, able) for part in model.parts))
    if isinstance(model, Sequence):
        found = {0}
        for part in model.parts:
            inner = _covered(part, wanted, able)
            found = {one | other for one in found for other in inner}
        return found
    if isinstance(model, Optional):
        return _covered(model.part, wanted, able) | {0}
    if isinstance(model, (Star, Plus)):
        inner = _covered(model.part, wanted, able)
        found = inner | {0} if isinstance(model, Star) else inner
        while (wider := {one | other for one in found for other in inner} | found) != found:
            found = wider
        return found
    return {0}
