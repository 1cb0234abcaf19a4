"""Tokens of markup declarations, with parameter entities replaced where they are named.

Two levels, as the recommendation has them. *Between* declarations a reference ``%name;`` opens the entity as
one more text to read: a ``Frame`` on a stack. *Inside* a declaration a reference stands for the tokens of
its replacement, set off by spaces; each entity is cut into tokens once. In quoted literals nothing is
replaced, except in an entity's own value when it is declared.

Nothing here recurses, and everything is counted: a chain of 100,000 entities, a loop, or entities that double
thirty times end in a ``SchemaError``. The largest public DTDs (DocBook, SVG) need under 400,000 tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from pathcast.errors import SchemaError, located
from pathcast.schema.source import Source

MAX_TOKENS = 5_000_000  # of all declarations together, entities replaced
MAX_CHARACTERS = 32 << 20  # of all entity values together
MAX_OPEN = 200  # entities open inside one another

_START = (
    "A-Z_a-z:\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D"
    "\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\U00010000-\\U000EFFFF"
)
NAME = f"[{_START}][{_START}\\-.0-9\\xB7\\u0300-\\u036F\\u203F\\u2040]*"
NMTOKEN = f"[{_START}\\-.0-9\\xB7\\u0300-\\u036F\\u203F\\u2040]+"

IS_NAME = re.compile(NAME).fullmatch
REFERENCE = re.compile(f"%({NAME});")
_TOKEN = re.compile(
    rf"(?P<space>[ \t\n]+)|%(?P<entity>{NAME});|(?P<name>{NMTOKEN})|(?P<sign>[()|,?*+>%\[])"
    rf"|(?P<keyword>\#{NAME})|\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'"
)


class Token(NamedTuple):
    """A piece of a declaration. Kinds: name, sign, keyword, literal, entity; ``spaced``: after a space."""

    kind: str
    text: str
    spaced: bool


@dataclass(slots=True)
class Frame:
    """A text being read between declarations: a file, or an entity's replacement."""

    source: Source
    text: str
    entity: str | None = None
    line: int = 1  # of the reference, when this is an entity inside a file
    at: int = 0
    included: int = 0  # conditional sections that are open
    _counted: int = field(default=0)
    _lines: int = field(default=0)

    def line_now(self) -> int:
        """The line in the file; counts on from where it was asked last."""
        if self.text is not self.source.text:
            return self.line
        self._lines += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._lines + 1


@dataclass(frozen=True, slots=True)
class ParameterEntity:
    """An entity's replacement text; of an external one, the file that was read."""

    name: str
    text: str
    source: Source | None = None


class Tokens:
    """Cuts declarations into tokens; holds the parameter entities and the budget."""

    def __init__(self) -> None:
        self._cut: dict[str, list[Token]] = {}
        self._spent = 0

    def declaration(self, frame: Frame, entity_named: EntityLookup) -> list[Token]:
        """The tokens from ``frame.at`` up to the ``>`` that ends the declaration; the frame moves there."""
        text = frame.text
        tokens: list[Token] = []
        at, spaced = frame.at, False
        while True:
            found = _TOKEN.match(text, at)
            if found is None:
                frame.at = at
                raise unexpected(text, at)
            at = found.end()
            kind = found.lastgroup or ""
            if kind == "space":
                spaced = True
                continue
            if kind == "entity":
                frame.at = found.start()
                tokens += self._replaced(found["entity"], entity_named)
                spaced = True
                continue
            if kind == "sign" and found["sign"] == ">":
                self._spend(len(tokens))
                frame.at = at
                return tokens
            tokens.append(_token(found, kind, spaced))
            spaced = False

    def _replaced(self, name: str, entity_named: EntityLookup) -> list[Token]:
        """The tokens that a reference inside a declaration stands for."""
        tokens: list[Token] = []
        open_names = [name]
        pending = [iter(self._tokens_of(entity_named(name)))]
        while pending:
            for token in pending[-1]:
                if token.kind == "entity":
                    check_open(token.text, open_names)
                    open_names.append(token.text)
                    pending.append(iter(self._tokens_of(entity_named(token.text))))
                    break
                tokens.append(token)
            else:
                pending.pop()
                open_names.pop()
                self._spend(0, len(tokens))
        if tokens:
            tokens[0] = tokens[0]._replace(spaced=True)
        return tokens

    def _tokens_of(self, entity: ParameterEntity) -> list[Token]:
        known = self._cut.get(entity.name)
        if known is not None:
            self._spend(1)
            return known
        tokens: list[Token] = []
        at, spaced, text = 0, True, entity.text
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None or found["sign"] == ">":
                raise SchemaError(f"in %{entity.name};: {unexpected(text, at)}")
            kind = found.lastgroup or ""
            at = found.end()
            if kind == "space":
                spaced = True
            elif kind == "entity":
                tokens.append(Token("entity", found["entity"], True))
                spaced = True
            else:
                tokens.append(_token(found, kind, spaced))
                spaced = False
        self._cut[entity.name] = tokens
        return tokens

    def _spend(self, tokens: int, more: int = 0) -> None:
        self._spent += tokens
        if self._spent + more > MAX_TOKENS:
            raise SchemaError(f"the parameter entities expand to more than {MAX_TOKENS:,} tokens")


class EntityLookup:
    """The declared parameter entities by name; ``load`` reads the file of an external one when needed."""

    def __init__(self) -> None:
        self.declared: dict[str, ParameterEntity] = {}
        self.external: dict[str, tuple[str, Source]] = {}  # system identifier, and where it is declared
        self.load: Callable[[str, str, Source], ParameterEntity] | None = None

    def __call__(self, name: str) -> ParameterEntity:
        if name in self.external and self.load:
            self.declared[name] = self.load(name, *self.external.pop(name))
        if name not in self.declared:
            raise SchemaError(f"the parameter entity %{name}; is not declared")
        return self.declared[name]

    def __contains__(self, name: str) -> bool:
        return name in self.declared or name in self.external


def check_open(name: str, open_names: list[str]) -> None:
    """``SchemaError`` when an entity names itself, or too many are open inside one another."""
    if name in open_names:
        raise SchemaError(f"the parameter entity %{name}; refers to itself")
    if len(open_names) >= MAX_OPEN:
        raise SchemaError(f"more than {MAX_OPEN} parameter entities are nested, the last is %{name};")


def unexpected(text: str, at: int) -> SchemaError:
    """The error for what stands here."""
    if at >= len(text):
        return SchemaError("the declaration has no end")
    if text[at] in "\"'":
        return SchemaError(f"the literal that begins with {text[at : at + 20]!r} has no end")
    return SchemaError(f"unexpected {text[at : at + 20]!r}")


def in_file(error: SchemaError, frame: Frame) -> SchemaError:
    """The error with the file and the line."""
    within = f"in %{frame.entity};: " if frame.entity and frame.text is not frame.source.text else ""
    return SchemaError(located(frame.source.name, frame.line_now(), within + str(error)))


def _token(found: re.Match[str], kind: str, spaced: bool) -> Token:
    return Token("literal" if kind in ("double", "single") else kind, found[kind], spaced)
