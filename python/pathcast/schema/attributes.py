"""Reads the attributes from the tokens of an ATTLIST declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast, get_args

from pathcast.errors import SchemaError
from pathcast.schema.declarations import Attribute, AttributeType, Presence
from pathcast.schema.tokens import IS_NAME, Token

_TYPES = {name for name in get_args(AttributeType) if name not in ("NOTATION", "ENUMERATION")}


def read_attributes(element: str, tokens: list[Token], value_of: Callable[[str], str]) -> Iterator[Attribute]:
    """The attributes in order; ``value_of`` replaces the references in a default value."""
    at = 0
    while at < len(tokens):
        name = tokens[at].text
        if tokens[at].kind != "name" or not IS_NAME(name):
            raise SchemaError(f"the attributes of {element}: a name is expected, not {name!r}")
        try:
            kind, values, at = _type(tokens, at + 1)
            presence, literal, at = _default(tokens, at)
            value = None if literal is None else value_of(literal)
        except SchemaError as error:
            raise SchemaError(f"the attribute {name} of {element}: {error}") from None
        if value is not None and kind != "CDATA":
            value = " ".join(value.split(" ")).strip(" ")
        if value is not None and values and value not in values:
            raise SchemaError(
                f"the attribute {name} of {element}: its default {value!r} is not among its values"
            )
        yield Attribute(name, kind, presence, value, values)


def _type(tokens: list[Token], at: int) -> tuple[AttributeType, tuple[str, ...], int]:
    token = _token(tokens, at, "its type is missing")
    if token.kind == "name" and token.text in _TYPES:
        return cast(AttributeType, token.text), (), at + 1
    kind: AttributeType = "ENUMERATION"
    if token.text == "NOTATION":
        kind = "NOTATION"
        at += 1
        token = _token(tokens, at, "the names of its notations are missing")
    if token.text != "(" or token.kind != "sign":
        raise SchemaError(f"{token.text!r} is not an attribute type")
    values: dict[str, None] = {}
    while True:
        value = _token(tokens, at + 1, "its enumeration has no end")
        if value.kind != "name":
            raise SchemaError(f"its enumeration holds {value.text!r}, which is not a name token")
        values[value.text] = None
        sign = _token(tokens, at + 2, "its enumeration has no end")
        at += 2
        if sign.text == ")":
            return kind, tuple(values), at + 1
        if sign.text != "|":
            raise SchemaError(f"| or ) is expected in its enumeration, not {sign.text!r}")


def _default(tokens: list[Token], at: int) -> tuple[Presence, str | None, int]:
    token = _token(tokens, at, "its default (#IMPLIED, #REQUIRED, ...) is missing")
    if token.kind == "literal":
        return "default", token.text, at + 1
    if token.text in ("#REQUIRED", "#IMPLIED"):
        return ("required" if token.text == "#REQUIRED" else "implied"), None, at + 1
    if token.text == "#FIXED":
        value = _token(tokens, at + 1, "its fixed value is missing")
        if value.kind == "literal":
            return "fixed", value.text, at + 2
        raise SchemaError("its fixed value must be quoted")
    raise SchemaError(f"#REQUIRED, #IMPLIED, #FIXED or a quoted value is expected, not {token.text!r}")


def _token(tokens: list[Token], at: int, missing: str) -> Token:
    if at >= len(tokens):
        raise SchemaError(missing)
    return tokens[at]
