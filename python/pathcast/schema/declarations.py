"""What a DTD declares: elements with their content models, attributes, notations, unparsed entities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias
from xml.sax.saxutils import quoteattr

from pathcast.schema.model import Model, declared

if TYPE_CHECKING:
    from pathcast.schema.validation import Problem
    from pathcast.types import Document


class Validates(Protocol):
    """What finds out what is wrong with a document."""

    def problems(self, document: Document) -> list[Problem]:
        """What is wrong, nothing when it is valid."""


def tag(name: str) -> str:
    """A declaration's name as documents have it: an XSD may declare a name several times.

    >>> tag("cap:code"), tag("cap:code#2")
    ('cap:code', 'cap:code')
    """
    return name.partition("#")[0]


AttributeType: TypeAlias = Literal[
    "CDATA",
    "ID",
    "IDREF",
    "IDREFS",
    "ENTITY",
    "ENTITIES",
    "NMTOKEN",
    "NMTOKENS",
    "NOTATION",
    "ENUMERATION",
]
Presence: TypeAlias = Literal["required", "implied", "fixed", "default"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an element; ``value`` is the default or fixed one, ``values`` are an enumeration's."""

    name: str
    type: AttributeType
    presence: Presence
    value: str | None = None
    values: tuple[str, ...] = ()
    examples: tuple[str, ...] | None = None
    """Of a type that an XSD gives: some values that fit. None: any text will do."""

    def __str__(self) -> str:
        """As an ATTLIST declaration has it.

        >>> str(Attribute("lang", "ENUMERATION", "default", "en", ("en", "fr")))
        'lang (en|fr) "en"'
        """
        listed = f"({'|'.join(self.values)})"
        kind = {"ENUMERATION": listed, "NOTATION": f"NOTATION {listed}"}.get(self.type, self.type)
        if self.value is None:
            return f"{self.name} {kind} #{self.presence.upper()}"
        sign = "#FIXED " if self.presence == "fixed" else ""
        # A line end in a literal would be read as a space.
        return f"{self.name} {kind} {sign}{quoteattr(self.value, {chr(10): '&#10;', chr(9): '&#9;'})}"

    @property
    def is_namespace(self) -> bool:
        """Whether it declares a namespace, which XPath does not see as an attribute."""
        return self.name == "xmlns" or self.name.startswith("xmlns:")


@dataclass(frozen=True, slots=True)
class Element:
    """One declared element, and where it is declared."""

    name: str
    model: Model
    attributes: tuple[Attribute, ...]
    file: str
    line: int
    examples: tuple[str, ...] | None = None
    """Of a simple type: some texts that fit. None: any text will do."""
    texts: tuple[str, ...] | None = None
    """All texts that fit, white space around them apart; None where they are not listed."""
    is_mixed: bool = False
    """Whether text may stand beside what the model says."""
    lets_in: tuple[str, ...] = ()
    """Namespaces of which any element may stand in it, also one that is not declared; ``*`` is all."""
    any_attribute: bool = False
    """Whether it may have attributes that are not declared."""

    @property
    def is_open(self) -> bool:
        """Whether elements may stand in it that are not declared."""
        return bool(self.lets_in)

    @property
    def is_writable(self) -> bool:
        """Whether a text is known that fits its type, and a value for each attribute that it needs."""
        needed = (attribute.examples for attribute in self.attributes if attribute.presence == "required")
        return self.examples != () and () not in needed


@dataclass(slots=True)
class Declarations:
    """Everything that a DTD declares, in the order of declaration."""

    elements: dict[str, Element] = field(default_factory=dict)
    notations: dict[str, None] = field(default_factory=dict)
    unparsed: dict[str, str] = field(default_factory=dict)  # entity to its notation
    entities: dict[str, str] = field(default_factory=dict)  # general entity to its replacement text
    warnings: list[str] = field(default_factory=list)
    namespaces: dict[str, str] = field(default_factory=dict)  # prefix to URI, where the schema says so itself
    is_xsd: bool = False
    validator: Callable[[str], Validates] | None = None  # from the root; None is libxml2

    def text(self) -> str:
        """One flat DTD without entities to expand, conditional sections or anything external.

        It is what a validator is given: nothing in it can be fetched, and nothing nests deeper than
        the reader allowed.
        """
        lines = [f'<!NOTATION {name} SYSTEM "{name}">' for name in self.notations]
        lines += [
            f'<!ENTITY {name} SYSTEM "{name}" NDATA {notation}>' for name, notation in self.unparsed.items()
        ]
        for element in self.elements.values():
            lines.append(f"<!ELEMENT {element.name} {declared(element.model)}>")
            if element.attributes:
                lines.append(f"<!ATTLIST {element.name} {' '.join(map(_flat, element.attributes))}>")
        return "\n".join(lines) + "\n"

    def escaped(self) -> dict[str, dict[str, str]]:
        """By element, the attributes with a fixed value that `text` leaves open."""
        return {
            name: found
            for name, element in self.elements.items()
            if (found := {one.name: one.value or "" for one in element.attributes if _is_escaped(one)})
        }


def _is_escaped(attribute: Attribute) -> bool:
    """Whether libxml2 compares the fixed value wrongly: it keeps ``&`` and ``<`` escaped, documents not."""
    return attribute.presence == "fixed" and not {"&", "<"}.isdisjoint(attribute.value or "")


def _flat(attribute: Attribute) -> str:
    return f"{attribute.name} {attribute.type} #IMPLIED" if _is_escaped(attribute) else str(attribute)
