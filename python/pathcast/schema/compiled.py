"""A schema as the compiled core sees it: numbers for elements, namespaces resolved."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from pathcast import _core
from pathcast.schema.declarations import Attribute, Element, tag
from pathcast.schema.model import Any, Empty, Mixed

if TYPE_CHECKING:
    from pathcast.schema.schema import Schema

XML = "http://www.w3.org/XML/1998/namespace"

XSI = "http://www.w3.org/2001/XMLSchema-instance"

CompiledAttribute: TypeAlias = "tuple[str, str, bool, str | None, list[str] | None]"

_ANYTHING = "*"  # no document has such a name: it stands for all names, and as a namespace for all of them
_ANY_ATTRIBUTE: CompiledAttribute = (_ANYTHING, _ANYTHING, False, None, None)
# Every element that an XSD declares may have these.
_INSTANCE: list[CompiledAttribute] = [
    (XSI, local, False, None, None)
    for local in ("type", "nil", "schemaLocation", "noNamespaceSchemaLocation")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """How far wildcards and ``//`` are replaced by what the schema allows in their place.

    A gap keeps its ``//`` when the elements that may fill it are more than these bounds.
    """

    max_substitutes: int = 16
    """Ways to fill one gap."""
    max_length: int = 64
    """Steps of all ways to fill one gap together."""
    max_results: int = 64
    """Expressions that one expression may become."""
    singleton: bool = False
    """Fill a gap only if there is exactly one way: then nothing multiplies."""
    expand_leading: bool = True
    """Also replace the ``//`` an expression starts with."""
    single_parent: bool = False
    """With `singleton`, also replace wildcards where no element that can stand there has another parent, or
    none of them has children: then results are bounded by the size of the schema."""

    def values(self) -> tuple[int, int, int, bool, bool, bool]:
        """As the core takes them."""
        return astuple(self)


@dataclass(frozen=True)
class CompiledSchema:
    """What an index needs of a schema and no more, as a text that can be stored and sent.

    >>> from pathcast.schema import Schema
    >>> text = Schema.from_text("<!ELEMENT a (b*)> <!ELEMENT b EMPTY>").portable.text
    >>> len(CompiledSchema(text).compiled)
    2
    """

    text: str

    @classmethod
    def of(cls, schema: Schema) -> CompiledSchema:
        """That of a schema."""
        number = {name: place for place, name in enumerate(schema.elements)}
        lets_in = dict.fromkeys(uri for element in schema.elements.values() for uri in element.lets_in)
        if lets_in:
            lets_in[_ANYTHING] = None  # below what is let in may be anything
        stand = {uri: len(number) + place for place, uri in enumerate(lets_in)}
        rows = [
            (
                *_split(schema, name, element=True),
                _content(element),
                [
                    *(number[child] for child in _children(schema, name, element)),
                    *map(stand.get, element.lets_in),
                ],
                [
                    *(_attribute(schema, each) for each in element.attributes if not each.is_namespace),
                    *(_INSTANCE if schema.is_xsd else ()),
                    *([_ANY_ATTRIBUTE] if element.any_attribute else ()),
                ],
                element.texts,
            )
            for name, element in schema.elements.items()
        ]
        rows += [(uri, _ANYTHING, "any", [], [_ANY_ATTRIBUTE], None) for uri in stand]
        return cls(json.dumps([rows, number[schema.root], dict(schema.entities)]))

    @cached_property
    def entities(self) -> dict[str, str]:
        """The entities that the schema declares."""
        _, _, *more = json.loads(self.text)
        return more[0] if more else {}

    @cached_property
    def compiled(self) -> _core.Graph:
        """The graph in the core."""
        rows, root, *_ = json.loads(self.text)
        return _core.Graph(
            [(*row[:4], [tuple(each) for each in row[4]], row[5] if len(row) > 5 else None) for row in rows],
            root,
        )


def _children(schema: Schema, name: str, element: Element) -> tuple[str, ...]:
    """The children that are listed; content ``any`` says the rest."""
    return () if isinstance(element.model, Any) else schema.children(name)


def _content(element: Element) -> str:
    if element.is_mixed:
        return "mixed"
    match element.model:
        case Empty():
            return "empty"
        case Any():
            return "any"
        case Mixed():
            return "mixed"
        case _:
            return "elements"


def _attribute(schema: Schema, attribute: Attribute) -> CompiledAttribute:
    tokens: list[str] | None = None
    fixed = attribute.value if attribute.presence == "fixed" else None
    if fixed is not None and attribute.type != "CDATA":
        tokens = [fixed.strip()]
    elif fixed is None and attribute.type in {"ENUMERATION", "NOTATION"}:
        tokens = list(attribute.values)
    uri, local = _split(schema, attribute.name, element=False)
    return uri, local, attribute.presence == "required", fixed, tokens


def _split(schema: Schema, name: str, *, element: bool) -> tuple[str, str]:
    """Namespace and local part; an attribute without prefix is in no namespace."""
    name = tag(name)
    prefix, colon, local = name.rpartition(":")
    if not colon:
        return (schema.namespaces.get("", "") if element else ""), name
    return (XML if prefix == "xml" else schema.namespaces.get(prefix, "")), local
