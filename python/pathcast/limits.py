"""The limits that keep a stranger's input from costing more than it should."""

from __future__ import annotations

from dataclasses import dataclass, fields

# Expressions are trees that are walked; these bounds keep the walk within any thread's stack.
_HIGHEST = {"steps": 1_024, "nesting": 256}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Upper bounds on documents and expressions; crossing one raises a `LimitError`.

    >>> Limits(depth=10).depth
    10
    >>> Limits(steps=100_000)
    Traceback (most recent call last):
    ValueError: steps must be between 1 and 1024, not 100000
    """

    depth: int = 1_024
    """Open elements at any point of a document."""
    attributes: int = 10_000
    """Attributes, namespace declarations included, on one element."""
    name_bytes: int = 64 << 10
    """Bytes of one name, prefix included."""
    document_bytes: int = 1 << 30
    """Bytes of one document as it arrives."""
    expression_bytes: int = 16 << 10
    """Bytes of one expression."""
    steps: int = 256
    """Steps of one expression, those inside predicates included."""
    nesting: int = 64
    """Predicates, parentheses and function calls inside one another."""
    expansion: int = 4_096
    """Terms that the disjunctive normal form of one expression would have."""
    evaluation_steps: int = 100_000_000
    """Steps that deciding one expression on one document may take, where it needs the tree."""
    work: int = 10_000_000_000
    """Such steps of all expressions on one document."""
    entity_expansion: int = 0
    """Bytes that the entities which a document declares may come to; 0 refuses their declarations."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value, highest = getattr(self, field.name), _HIGHEST.get(field.name, 1 << 62)
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{field.name} must be an int, not {type(value).__name__}")
            lowest = 0 if field.name == "entity_expansion" else 1
            if not lowest <= value <= highest:
                raise ValueError(f"{field.name} must be between {lowest} and {highest}, not {value}")
