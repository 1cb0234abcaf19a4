"""Reads a content model from the tokens of an ELEMENT declaration, with a stack of its own.

>>> from pathcast.schema.tokens import Token
>>> str(read_model("a", [Token("sign", "(", True), Token("name", "b", False), Token("sign", "?", False),
...                      Token("sign", ")", False)]))
'b?'
"""

from __future__ import annotations

from pathcast.errors import SchemaError
from pathcast.schema.model import (
    MAX_NESTING,
    Any,
    Choice,
    Empty,
    Mixed,
    Model,
    Name,
    Optional,
    Particle,
    Plus,
    Sequence,
    Star,
)
from pathcast.schema.tokens import IS_NAME, Token

_SIGNS: dict[str, type[Optional] | type[Star] | type[Plus]] = {"?": Optional, "*": Star, "+": Plus}


def read_model(element: str, tokens: list[Token]) -> Model:
    """The content model of an element; ``SchemaError`` says what is wrong with it."""
    try:
        if len(tokens) == 1 and tokens[0].kind == "name" and tokens[0].text in ("EMPTY", "ANY"):
            return Empty() if tokens[0].text == "EMPTY" else Any()
        if not tokens or tokens[0].text != "(":
            raise SchemaError("it must be EMPTY, ANY or begin with (")
        if len(tokens) > 1 and tokens[1].text == "#PCDATA":
            return _mixed(tokens)
        return _particle(tokens)
    except SchemaError as error:
        raise SchemaError(f"the content model of {element}: {error}") from None


def _mixed(tokens: list[Token]) -> Mixed:
    """``(#PCDATA)``, ``(#PCDATA)*`` or ``(#PCDATA|a|b)*``."""
    at = 2
    names: dict[str, None] = {}
    while at + 1 < len(tokens) and tokens[at].text == "|" and tokens[at].kind == "sign":
        names[_name(tokens[at + 1])] = None
        at += 2
    ending = [token.text for token in tokens[at:]]
    if ending not in ([")", "*"], [")"]) or (names and len(ending) == 1):
        raise SchemaError("with #PCDATA it must be (#PCDATA) or of the form (#PCDATA|a|b)*")
    return Mixed(tuple(names))


def _particle(tokens: list[Token]) -> Particle:
    separators: list[str] = []  # one for each open group; "" until the first is seen
    groups: list[list[Particle]] = []
    at, last = 0, len(tokens)
    done: Particle | None = None
    while at < last:
        token = tokens[at]
        at += 1
        item: Particle
        if token.kind == "sign" and token.text == "(":
            if len(groups) >= MAX_NESTING:
                raise SchemaError(f"groups are nested deeper than {MAX_NESTING}")
            separators.append("")
            groups.append([])
            continue
        if token.kind == "sign" and token.text == ")" and groups:
            if not groups[-1]:
                raise SchemaError("a group is empty")
            item = _group(separators.pop(), groups.pop())
        else:
            item = Name(_name(token))
        if at < last and tokens[at].text in _SIGNS and tokens[at].kind == "sign" and not tokens[at].spaced:
            item = _SIGNS[tokens[at].text](item)
            at += 1
        if not groups:
            done = item
            break
        groups[-1].append(item)
        at = _separator(tokens, at, separators)
    if groups:
        raise SchemaError("a ) is missing")
    if at < last or done is None:
        raise SchemaError(f"unexpected {tokens[at].text!r} after its end")
    return done


def _separator(tokens: list[Token], at: int, separators: list[str]) -> int:
    """Passes the separator behind an item, which is the same throughout a group."""
    if at >= len(tokens) or (tokens[at].kind == "sign" and tokens[at].text == ")"):
        return at
    sign = tokens[at].text if tokens[at].kind == "sign" else ""
    if sign not in (",", "|"):
        raise SchemaError(f"a comma, | or ) is expected, not {tokens[at].text!r}")
    if separators[-1] not in ("", sign):
        raise SchemaError("a group mixes commas and |; add parentheses")
    separators[-1] = sign
    if at + 1 < len(tokens) and tokens[at + 1].text == ")":
        raise SchemaError(f"a name is missing between {sign} and )")
    return at + 1


def _group(separator: str, items: list[Particle]) -> Particle:
    if len(items) == 1:
        return items[0]
    return Choice(tuple(items)) if separator == "|" else Sequence(tuple(items))


def _name(token: Token) -> str:
    if token.kind != "name" or not IS_NAME(token.text):
        hint = "; #PCDATA may only come first" if token.text == "#PCDATA" else ""
        raise SchemaError(f"a name is expected, not {token.text!r}{hint}")
    return token.text
