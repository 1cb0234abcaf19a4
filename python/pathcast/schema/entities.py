"""The entities of a DTD: parameter entities, which the reader replaces, and general ones in defaults."""

from __future__ import annotations

import re

from pathcast.errors import SchemaError
from pathcast.schema.source import Source
from pathcast.schema.tokens import (
    IS_NAME,
    MAX_CHARACTERS,
    NAME,
    REFERENCE,
    EntityLookup,
    ParameterEntity,
    Token,
    check_open,
)

MAX_VALUE = 1 << 20  # characters of one default value, entities replaced

_CHARACTER = re.compile(r"&#(?:x([0-9a-fA-F]+)|([0-9]+));")
_GENERAL = re.compile(rf"&(?:#x([0-9a-fA-F]+)|#([0-9]+)|({NAME}));")
_PREDEFINED = {"lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": '"'}


class Entities:
    """What is declared so far; the first declaration of a name holds."""

    def __init__(self) -> None:
        self.parameter = EntityLookup()
        self.unparsed: dict[str, str] = {}  # general entity to its notation
        self.general: dict[str, str] = {}
        self._characters = 0

    def spend(self, characters: int) -> None:
        """Counts text that entities produce."""
        self._characters += characters
        if self._characters > MAX_CHARACTERS:
            raise SchemaError(f"the entities expand to more than {MAX_CHARACTERS:,} characters")

    def declare(self, tokens: list[Token], source: Source) -> None:
        """An ENTITY declaration."""
        is_parameter = bool(tokens) and tokens[0].text == "%"
        tokens = tokens[1:] if is_parameter else tokens
        if len(tokens) < 2 or tokens[0].kind != "name" or not IS_NAME(tokens[0].text):
            raise SchemaError("<!ENTITY must be followed by a name and a value")
        name, value = tokens[0].text, tokens[1]
        if value.kind == "literal":
            if len(tokens) > 2:
                raise SchemaError(f"the entity {name}: unexpected {tokens[2].text!r} after its value")
            if is_parameter:
                if name not in self.parameter:
                    self.parameter.declared[name] = ParameterEntity(name, self._literal(value.text))
            elif name not in self.general and name not in self.unparsed:
                self.general[name] = self._literal(value.text)
            return
        self._declare_external(name, tokens[1:], source, is_parameter)

    def _declare_external(self, name: str, tokens: list[Token], source: Source, is_parameter: bool) -> None:
        literals = {"SYSTEM": 1, "PUBLIC": 2}.get(tokens[0].text, 0)
        given = [token.kind for token in tokens[1 : 1 + literals]]
        if not literals or given != ["literal"] * literals:
            raise SchemaError(f"the entity {name}: a quoted value, SYSTEM or PUBLIC is expected")
        system, rest = tokens[literals].text, tokens[1 + literals :]
        if is_parameter:
            if name not in self.parameter:
                self.parameter.external[name] = (system, source)
        elif len(rest) == 2 and rest[0].text == "NDATA":
            if name not in self.general:
                self.unparsed.setdefault(name, rest[1].text)
            rest = []
        if rest:
            raise SchemaError(f"the entity {name}: unexpected {rest[0].text!r}")

    def condition(self, name: str) -> str:
        """INCLUDE or IGNORE, as an entity says."""
        open_names: list[str] = []
        while True:
            check_open(name, open_names)
            open_names.append(name)
            text = self.parameter(name).text.strip()
            if text in ("INCLUDE", "IGNORE"):
                return text
            found = REFERENCE.fullmatch(text)
            if not found:
                raise SchemaError(f"%{name}; must be INCLUDE or IGNORE here, not {text[:20]!r}")
            name = found[1]

    def _literal(self, text: str) -> str:
        """An entity's value with parameter entities and character references replaced."""

        def replacement(found: re.Match[str]) -> str:
            entity = self.parameter(found[1])
            self.spend(len(entity.text))
            return entity.text

        if "%" in text:
            text = REFERENCE.sub(replacement, text)
        self.spend(len(text))
        return _CHARACTER.sub(_character, text) if "&#" in text else text

    def value(self, text: str) -> str:
        """A default value with its references replaced and white space made spaces."""
        text = re.sub(r"[\t\n]", " ", text)
        if "<" in text:
            raise SchemaError("a value must not hold <")
        if "&" not in text:
            return text
        done: list[str] = []
        length = 0
        open_names: list[str] = []
        pending = [(text, 0)]
        while pending:
            text, at = pending.pop()
            found = _GENERAL.search(text, at)
            piece = text[at : found.start()] if found else text[at:]
            done.append(piece)
            length += len(piece)
            if length > MAX_VALUE:
                raise SchemaError(f"its value expands to more than {MAX_VALUE:,} characters")
            if found is None:
                if open_names:
                    open_names.pop()
                continue
            pending.append((text, found.end()))
            name = found[3]
            if name is None:
                done.append(_character(found))
            elif name in _PREDEFINED:
                done.append(_PREDEFINED[name])
            else:
                check_open(name, open_names)
                self.spend(1)
                pending.append((self._named(name), 0))
                open_names.append(name)
        return "".join(done)

    def _named(self, name: str) -> str:
        if name not in self.general:
            raise SchemaError(f"its value refers to the entity &{name};, which is not declared as text")
        return self.general[name]


def _character(found: re.Match[str]) -> str:
    """The character of a reference; one that XML does not allow is an error."""
    digits, base = (found[1], 16) if found[1] else (found[2], 10)
    code = int(digits, base) if len(digits) < 9 else 0
    if code in (9, 10, 13) or 32 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF:
        return chr(code)
    raise SchemaError(f"{found[0][:20]} is not a character")
