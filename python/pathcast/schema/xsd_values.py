"""Values of XSD's simple types: examples that documents are made of, and lists that say all there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pathcast.schema.declarations import Attribute, AttributeType

XSD = "{http://www.w3.org/2001/XMLSchema}"

_MOST = 12  # examples of one type
_LONGEST = 1000  # bytes of a text that is worth comparing
_CANDIDATES = (
    *(
        "amber",
        "bridge",
        "cedar",
        "delta",
        "harbour",
        "willow",
        "1",
        "2",
        "7",
        "20",
        "0",
        "1.5",
        "-3",
        "true",
        "false",
    ),
    *(
        "2026-05-04",
        "2026-05-04T12:30:00-00:00",
        "2026-05-04T12:30:00",
        "12:30:00",
        "2026",
        "2026-05",
        "--05-04",
    ),
    *(
        "---04",
        "--05",
        "P1D",
        "en",
        "en-GB",
        "http://example.com/a",
        "a@example.com",
        "EUR",
        "USD",
        "GB",
        "A1",
    ),
    *(
        "AQ==",
        "0A",
        "1.0",
        "100",
        "12345",
        "00000",
        "a b",
        "1,1",
        "1,1 1",
        "38.47,-120.14",
        "a",
        "A",
        "",
        "#a",
        "a:b",
    ),
    "38.47,-120.14 38.34,-119.95 38.52,-119.74 38.62,-119.89 38.47,-120.14",
)
# Types whose values are what is written, so that a list of values is a list of texts.
_TEXTS = {
    f"{XSD}{name}"
    for name in ("string", "normalizedString", "token", "NMTOKEN", "Name", "NCName", "language")
}
_IDENTIFIERS: dict[str, AttributeType] = {f"{XSD}{name}": name for name in ("ID", "IDREF", "IDREFS")}


def examples(kind: Any) -> tuple[str, ...]:
    """Some texts that are valid for a simple type; nothing when none is known.

    >>> import xmlschema
    >>> schema = xmlschema.XMLSchema(
    ...     "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>"
    ...     "<xs:element name='a' type='xs:boolean'/></xs:schema>"
    ... )
    >>> examples(schema.elements["a"].type)
    ('true', 'false', '1', '0')
    """
    listed = _listed(kind)
    if listed:
        return listed[:_MOST]
    found = dict.fromkeys(text for text in _candidates(kind) if _is_valid(kind, text))
    return tuple(found)[:_MOST]


def _is_valid(kind: Any, text: str) -> bool:
    try:
        return bool(kind.is_valid(text))
    except (ValueError, TypeError, ArithmeticError):
        return False


def _candidates(kind: Any) -> Iterator[str]:
    names = set(_chain(kind))
    if f"{XSD}boolean" in names:
        yield from ("true", "false", "1", "0")
    for member in getattr(kind, "member_types", None) or ():
        yield from examples(member)
    item = getattr(kind, "item_type", None)
    if item is not None:
        one = examples(item)
        yield from one
        yield " ".join(one[:2])
    yield from _CANDIDATES
    for bound in ("min_value", "max_value"):
        value = getattr(kind, bound, None)
        if value is not None:
            yield str(value)
    for bound in ("length", "min_length", "max_length"):
        value = getattr(kind, bound, None)
        if isinstance(value, int) and value <= 10_000:
            yield "a" * value
            yield "1" * value
            yield "A" * value


def _listed(kind: Any) -> tuple[str, ...]:
    """The values that an enumeration lists."""
    values = getattr(kind, "enumeration", None) or ()
    return tuple(text for value in values if _is_valid(kind, text := str(value)))


def all_texts(kind: Any) -> tuple[str, ...] | None:
    """What an enumeration of texts lists, if white space around a text is all that may be added.

    >>> import xmlschema
    >>> schema = xmlschema.XMLSchema(
    ...     "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='a'><xs:simpleType>"
    ...     "<xs:restriction base='xs:token'><xs:enumeration value='on'/><xs:enumeration value='off'/>"
    ...     "</xs:restriction></xs:simpleType></xs:element></xs:schema>"
    ... )
    >>> all_texts(schema.elements["a"].type)
    ('on', 'off')
    """
    listed = _listed(kind) if any(each in _TEXTS for each in _chain(kind)) else ()
    fits = all(
        value and value == "".join(value.split()) and len(value.encode()) <= _LONGEST for value in listed
    )
    return listed if listed and fits else None


def _chain(kind: Any) -> Iterator[str]:
    """The names of a type and of those that it is derived from."""
    while kind is not None:
        if kind.name:
            yield kind.name
        kind = kind.base_type


def attribute_of(name: str, attribute: Any) -> Attribute:
    """An attribute of an XSD in the words of a DTD."""
    kind = attribute.type
    chain = list(_chain(kind))
    identifier = next((_IDENTIFIERS[each] for each in chain if each in _IDENTIFIERS), None)
    if identifier:
        return Attribute(name, identifier, "required" if attribute.use == "required" else "implied")
    is_text = any(each in _TEXTS for each in chain)
    presence: Any = "required" if attribute.use == "required" else "implied"
    if attribute.fixed is not None:
        # The fixed value of a number may be written in several ways.
        fixed = attribute.fixed
        plain = is_text and fixed == " ".join(fixed.split())
        if plain and presence == "implied":
            return Attribute(name, "ENUMERATION", "implied", None, (fixed,), examples=(fixed,))
        return Attribute(name, "CDATA", presence, None, (), examples=(fixed,))
    tokens = all_texts(kind)
    if tokens:
        return Attribute(name, "ENUMERATION", presence, None, tokens, examples=tokens)
    return Attribute(name, "CDATA", presence, None, (), examples=examples(kind))
