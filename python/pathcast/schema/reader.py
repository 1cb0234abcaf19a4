"""Reads a DTD: its declarations with parameter entities, conditional sections and files it is made of.

Why not lxml alone: its content models lose prefixes (``mml:sec`` and ``sec`` become one), it skips what it
cannot load silently, and libxml2 has to be kept from deep nesting anyway. So the declarations' own text
is read here, in one pass without recursion, and lxml validates against the flat text that comes out.

What holds where a DTD says something twice: the first declaration, for entities and attributes as the
recommendation says, and for elements with a warning. A parameter entity whose file is missing is skipped with
a warning (DocBook is often installed without its character entities); one that would have to be fetched
from a network is an error.
"""

from __future__ import annotations

import re
from pathlib import Path

from pathcast.errors import SchemaError, located
from pathcast.schema.attributes import read_attributes
from pathcast.schema.content import read_model
from pathcast.schema.declarations import Attribute, Declarations, Element
from pathcast.schema.entities import Entities
from pathcast.schema.source import Source, read, resolve
from pathcast.schema.tokens import (
    IS_NAME,
    REFERENCE,
    Frame,
    ParameterEntity,
    Token,
    Tokens,
    check_open,
    in_file,
    unexpected,
)

_SPACE = re.compile(r"[ \t\n]*")
_KEYWORD = re.compile(r"<!(ELEMENT|ATTLIST|ENTITY|NOTATION)(?=[ \t\n%])")
_SECTION = re.compile(r"<!\[|\]\]>")
_CONDITION = re.compile(r"[ \t\n]*(INCLUDE|IGNORE)[ \t\n]*\[")
_CONDITION_ENTITY = re.compile(rf"[ \t\n]*{REFERENCE.pattern}[ \t\n]*\[")


class Reader:
    """Reads one DTD into ``declarations``."""

    def __init__(self, source: Source, within: Path | None) -> None:
        self.declarations = Declarations()
        self._within = within
        self._tokens = Tokens()
        self._entities = Entities()
        self._attributes: dict[str, dict[str, Attribute]] = {}
        self._entities.parameter.load = self._load
        self._frames = [Frame(source, source.text)]

    def read(self) -> Declarations:
        """All declarations; ``SchemaError`` with file and line where the DTD breaks off."""
        while self._frames:
            frame = self._frames[-1]
            try:
                self._step(frame)
            except SchemaError as error:
                raise in_file(error, frame) from None
        declarations = self.declarations
        for name, attributes in self._attributes.items():
            element = declarations.elements.get(name)
            if element:
                declarations.elements[name] = Element(
                    name, element.model, tuple(attributes.values()), element.file, element.line
                )
        declarations.entities = self._entities.general
        declarations.unparsed = {
            name: notation
            for name, notation in self._entities.unparsed.items()
            if notation in declarations.notations
        }
        return declarations

    def _step(self, frame: Frame) -> None:
        """Reads one thing between declarations."""
        space = _SPACE.match(frame.text, frame.at)
        frame.at = at = space.end() if space else frame.at
        text = frame.text
        if at == len(text):
            if frame.included:
                raise SchemaError("a conditional section <![INCLUDE[ has no end")
            self._frames.pop()
        elif text.startswith("<!--", at):
            self._skip(frame, "-->", "the comment", 4)
        elif text.startswith("<?", at):
            self._skip(frame, "?>", "the processing instruction", 2)
        elif text.startswith("<![", at):
            self._section(frame)
        elif text.startswith("]]>", at) and frame.included:
            frame.included -= 1
            frame.at += 3
        elif found := REFERENCE.match(text, at):
            self._open(found[1], frame)
            frame.at = found.end()
        elif found := _KEYWORD.match(text, at):
            self._declaration(found[1], frame, found.end())
        else:
            raise unexpected(text, at)

    def _skip(self, frame: Frame, end: str, what: str, opening: int) -> None:
        at = frame.text.find(end, frame.at + opening)
        if at < 0:
            raise SchemaError(f"{what} has no end")
        frame.at = at + len(end)

    def _section(self, frame: Frame) -> None:
        """``<![INCLUDE[`` or ``<![IGNORE[``; the keyword may come from an entity."""
        found = _CONDITION.match(frame.text, frame.at + 3)
        if found:
            keyword = found[1]
        else:
            found = _CONDITION_ENTITY.match(frame.text, frame.at + 3)
            if not found:
                raise SchemaError("a conditional section must begin with INCLUDE or IGNORE")
            keyword = self._entities.condition(found[1])
        if keyword == "INCLUDE":
            frame.included += 1
            frame.at = found.end()
            return
        depth, at = 1, found.end()
        while depth:
            mark = _SECTION.search(frame.text, at)
            if mark is None:
                raise SchemaError("a conditional section <![IGNORE[ has no end")
            depth += 1 if mark[0] == "<![" else -1
            at = mark.end()
        frame.at = at

    def _open(self, name: str, frame: Frame) -> None:
        """Goes on in the text of an entity that is referred to between declarations."""
        check_open(name, [one.entity for one in self._frames if one.entity])
        entity = self._entities.parameter(name)
        self._entities.spend(len(entity.text))
        self._frames.append(Frame(entity.source or frame.source, entity.text, name, frame.line_now()))

    def _load(self, name: str, system: str, base: Source) -> ParameterEntity:
        """The entity with its file read; a file that is missing is an empty one."""
        path = resolve(system, base, self._within)
        if path is not None and path.is_file():
            source = read(path)
            return ParameterEntity(name, source.text, source)
        reason = "there is no file" if path else "outside the folder of the DTD (see within=) lies"
        self._warn(self._frames[-1], f"%{name}; was skipped: {reason} {system!r}")
        return ParameterEntity(name, "")

    def _warn(self, frame: Frame, message: str) -> None:
        self.declarations.warnings.append(located(frame.source.name, frame.line_now(), message))

    def _declaration(self, keyword: str, frame: Frame, at: int) -> None:
        line = frame.line_now()
        start, frame.at = frame.at, at
        tokens = self._tokens.declaration(frame, self._entities.parameter)
        end, frame.at = frame.at, start
        if keyword == "ELEMENT":
            self._element(tokens, frame, line)
        elif keyword == "ATTLIST":
            name = _name(tokens, "ATTLIST")
            known = self._attributes.setdefault(name, {})
            for attribute in read_attributes(name, tokens[1:], self._entities.value):
                known.setdefault(attribute.name, attribute)
        elif keyword == "NOTATION":
            self.declarations.notations.setdefault(_name(tokens, "NOTATION"))
        else:
            self._entities.declare(tokens, frame.source)
        frame.at = end

    def _element(self, tokens: list[Token], frame: Frame, line: int) -> None:
        name = _name(tokens, "ELEMENT")
        model = read_model(name, tokens[1:])
        if name in self.declarations.elements:
            first = self.declarations.elements[name]
            self._warn(frame, f"the element {name} is declared again; {first.file}:{first.line} holds")
            return
        self.declarations.elements[name] = Element(name, model, (), frame.source.name, line)


def _name(tokens: list[Token], keyword: str) -> str:
    """The name that a declaration begins with."""
    if tokens and tokens[0].kind == "name" and IS_NAME(tokens[0].text):
        return tokens[0].text
    found = f", not {tokens[0].text!r}" if tokens else ""
    raise SchemaError(f"<!{keyword} must be followed by a name{found}")
