"""How start tags are written: attributes of every type, unique identifiers, references that lead to one.

References may point forward, so a reference leaves an empty place in the output, and is filled in when the
document has all its identifiers; so does an implied identifier that was left out, in case a reference
needs one.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping
from random import Random
from typing import TypeAlias
from xml.sax.saxutils import escape, quoteattr

from pathcast.errors import SchemaError
from pathcast.generate.values import Distribution, Values, zipf
from pathcast.schema import Attribute, Schema
from pathcast.schema.declarations import tag

LANGUAGES = ("en", "de", "fr", "es", "pt", "ja")

Write: TypeAlias = Callable[["Pieces"], None]
Variants: TypeAlias = "tuple[list[str], list[float]]"


class Pieces:
    """A document while it is written: pieces of text, and the places that identifiers and references fill."""

    __slots__ = ("ids", "places", "references", "spare")

    def __init__(self) -> None:
        self.places: list[str] = []
        self.ids: list[str] = []
        self.spare: list[tuple[int, str]] = []  # place and attribute of an identifier that was left out
        self.references: list[tuple[int, Attribute]] = []

    def new_id(self, attribute: str) -> str:
        """One more identifier, written as an attribute."""
        self.ids.append(f"i{len(self.ids) + 1}")
        return f' {attribute}="{self.ids[-1]}"'

    def connect(self, random: Random) -> bool:
        """Fills in the references; False when one is required and nothing can carry an identifier."""
        if self.references and not self.ids and self.spare:
            place, attribute = self.spare[int(random.random() * len(self.spare))]
            self.places[place] = self.new_id(attribute)
        for place, reference in self.references:
            if self.ids:
                count = 1 + int(random.random() * 3) if reference.type == "IDREFS" else 1
                names = (self.ids[int(random.random() * len(self.ids))] for _ in range(count))
                self.places[place] = f' {reference.name}="{" ".join(names)}"'
            elif reference.presence == "required":
                return False
        return True


class Tag:
    """How the tags of one element are written.

    `always` and `maybe` are plain attributes, each with its written forms and their odds; `special` are
    functions for those whose value depends on the document.
    """

    __slots__ = ("always", "end", "maybe", "special", "start")

    def __init__(self, name: str) -> None:
        self.start = f"<{tag(name)}"
        self.end = f"</{tag(name)}>"
        self.always: list[Variants] = []
        self.maybe: list[Variants] = []
        self.special: list[Write] = []

    def write(self, pieces: Pieces, draw: Callable[[], float], odds: float) -> None:
        """The start tag without its closing sign."""
        append = pieces.places.append
        append(self.start)
        for variants, cumulative in self.always:
            append(variants[bisect(cumulative, draw())])
        for variants, cumulative in self.maybe:
            if draw() < odds:
                append(variants[bisect(cumulative, draw())])
        for write in self.special:
            write(pieces)


class Tags:
    """The tags of all elements of a schema."""

    def __init__(self, schema: Schema, random: Random, odds: float, values: Values) -> None:
        self._schema = schema
        self._random = random
        self._odds = odds
        self._values = values
        distribution = values.distribution()
        self.texts = ([escape(value) for value in distribution.values], distribution.cumulative)
        self._distribution = distribution
        self._namespaces = NamespaceDeclarations(schema)
        self._tags: dict[str, Tag] = {}

    def of(self, name: str) -> Tag:
        """The tag of an element."""
        if name not in self._tags:
            self._tags[name] = self._make(name)
        return self._tags[name]

    def _make(self, name: str) -> Tag:
        made = Tag(name)
        for attribute in self._schema.attributes(name):
            if attribute.is_namespace:
                written = self._namespaces.on(name, attribute)
                if written is not None:
                    made.always.append(([f" {attribute.name}={quoteattr(written)}"], [1.0]))
            elif not self._namespaces.bound(name, attribute.name):
                if attribute.presence == "required":
                    raise SchemaError(
                        f"the attribute {attribute.name} of {name} is required; its prefix is bound nowhere"
                    )
            elif attribute.type in ("ID", "IDREF", "IDREFS"):
                made.special.append(self._identifier(attribute))
            else:
                self._plain(made, name, attribute)
        return made

    def _plain(self, made: Tag, name: str, attribute: Attribute) -> None:
        drawn = self.values_of(attribute)
        if drawn is None:
            if attribute.presence == "required":
                raise SchemaError(f"no value is known that fits the attribute {attribute.name} of {name}")
            return
        variants = [f" {attribute.name}={quoteattr(value)}" for value in drawn.values]
        where = made.always if attribute.presence == "required" else made.maybe
        where.append((variants, drawn.cumulative))

    def values_of(self, attribute: Attribute) -> Distribution | None:
        """The values that an attribute may have; None when there is none to give."""
        skew = self._values.skew
        if attribute.presence == "fixed" and attribute.value is not None:
            return Distribution([attribute.value], [1.0])
        if attribute.examples is not None:
            listed = attribute.examples
            return Distribution(listed, zipf(len(listed), skew)) if listed else None
        if attribute.values:
            return Distribution(attribute.values, zipf(len(attribute.values), skew))
        if attribute.type in ("ENTITY", "ENTITIES"):
            names = list(self._schema.unparsed_entities)
            return Distribution(names, zipf(len(names), skew)) if names else None
        if attribute.name == "xml:lang":
            return Distribution(LANGUAGES, zipf(len(LANGUAGES), skew))
        return self._distribution

    def _identifier(self, attribute: Attribute) -> Write:
        draw, odds, required = self._random.random, self._odds, attribute.presence == "required"

        def identify(pieces: Pieces) -> None:
            if required or draw() < odds:
                pieces.places.append(pieces.new_id(attribute.name))
            else:
                pieces.spare.append((len(pieces.places), attribute.name))
                pieces.places.append("")

        def refer(pieces: Pieces) -> None:
            if required or draw() < odds:
                pieces.references.append((len(pieces.places), attribute))
                pieces.places.append("")

        return identify if attribute.type == "ID" else refer


class NamespaceDeclarations:
    """Which ``xmlns`` attributes are written where, so that documents are sound with namespaces and valid.

    A prefix that has one value throughout the DTD is bound at the root if the root may carry it; elsewhere
    each element that declares it carries it.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._values: dict[str, set[str]] = {}
        for name in schema.reachable:
            for attribute in schema.attributes(name):
                if attribute.is_namespace:
                    self._values.setdefault(attribute.name, set()).add(self._value(attribute) or "")
        self._at_root = self._declared(schema.root)
        for name in schema.reachable:
            if not self.bound(name, name):
                raise SchemaError(
                    f"the element {name} has a prefix that no xmlns attribute binds, so no document is sound"
                )

    def _value(self, attribute: Attribute) -> str | None:
        if attribute.value is not None:
            return attribute.value
        return self._schema.namespaces.get(attribute.name.partition(":")[2])

    def _declared(self, name: str) -> Mapping[str, str]:
        found = {
            attribute.name: self._value(attribute)
            for attribute in self._schema.attributes(name)
            if attribute.is_namespace
        }
        return {name: value for name, value in found.items() if value}

    def on(self, element: str, attribute: Attribute) -> str | None:
        """The value to write on this element, None to leave the attribute out."""
        value = self._value(attribute)
        at_root = attribute.name in self._at_root and len(self._values[attribute.name]) == 1
        if not value and attribute.presence == "required":
            raise SchemaError(f"{attribute.name} of {element} needs a value; give one with namespaces=")
        if not value or (at_root and element != self._schema.root and attribute.presence != "required"):
            return None
        return value

    def bound(self, element: str, name: str) -> bool:
        """Whether the prefix of a name is bound on this element."""
        prefix, colon, _ = name.partition(":")
        if not colon or prefix == "xml":
            return True
        wanted = f"xmlns:{prefix}"
        return wanted in self._at_root or wanted in self._declared(element)
