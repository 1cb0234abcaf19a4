"""Reads an XSD into the declarations that DTDs are read into, through the package ``xmlschema``.

Elements are told apart by name and type: a second declaration of a name with another type is ``name#2`` here,
and documents have both as ``name``. So generation follows each declaration, and the graph of the core, which
goes by names alone, unites them: what it calls impossible is impossible under each.

What documents may do without the schema saying so is part of it: a type that is derived from the declared one
may stand in its place with ``xsi:type``, members of a substitution group in the place of its head, and
wildcards with ``processContents`` lax or skip let in elements that nothing declares (`UNKNOWN` in generated
documents). Nothing is fetched: the files are those of one folder and below it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from pathcast.errors import SchemaError
from pathcast.schema.declarations import Attribute, Declarations, Element
from pathcast.schema.model import Choice, Empty, Mixed, Model, Name, Optional, Particle, Plus, Sequence, Star
from pathcast.schema.xsd_validation import XsdValidator
from pathcast.schema.xsd_values import all_texts, attribute_of, examples

XSD = "http://www.w3.org/2001/XMLSchema"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
XML = "http://www.w3.org/XML/1998/namespace"
UNKNOWN = "urn:unknown"
"""The namespace of elements that stand for what a wildcard lets in."""

_COPIES = 1_000  # of one particle that must be there
_SPARE = 4  # copies beyond those that must be there, of one particle with an upper bound

Key: TypeAlias = "tuple[str, int, str | None]"


class XsdReader:
    """Reads one XSD and the files it is made of."""

    def __init__(self, path: str | os.PathLike[str], within: str | os.PathLike[str] | None = None) -> None:
        try:
            import xmlschema
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "XSD needs xmlschema: pip install 'pathcast[xsd]'", name=error.name
            ) from None
        path = Path(path).resolve()
        try:
            # The sandbox is a folder: what lies outside it, or on a network, is refused.
            self._schema: Any = xmlschema.XMLSchema(
                str(path),
                base_url=str(Path(within or path.parent).resolve()),
                allow="sandbox",
                defuse="always",
            )
        except OSError as error:
            raise SchemaError(f"{path.name}: cannot be read: {error.strerror or error}") from None
        except (xmlschema.XMLSchemaException, SyntaxError, ValueError) as error:
            message = " ".join(str(getattr(error, "message", None) or error).split())
            raise SchemaError(f"{path.name}: {message}") from None
        self._file = path.name
        self._maps: Any = self._schema.maps
        self.declarations = Declarations()
        self._prefixes = self._chosen_prefixes()
        self._keys: dict[Key, str] = {}
        self._pending: list[tuple[str, Any, Any]] = []  # key, element, type
        self._types = [each for each in self._maps.types.values() if _is_ours(each) and each.is_complex()]

    def read(self) -> Declarations:
        """All elements that a document can have."""
        for element in list(self._maps.elements.values()):
            if _is_ours(element) and not element.abstract:
                self._variants(element)
        while self._pending:
            key, element, kind = self._pending.pop()
            self.declarations.elements[key] = self._element(key, element, kind)
        # In the order of the schema's own text, as far as it has one.
        self.declarations.elements = dict(
            sorted(self.declarations.elements.items(), key=lambda item: item[1].line)
        )
        self.declarations.is_xsd = True
        self.declarations.namespaces = bound = self._namespaces()
        for name, element in self.declarations.elements.items():
            kept = (
                each
                for each in element.attributes
                if not each.is_namespace or each.name.partition(":")[2] in bound
            )
            self.declarations.elements[name] = replace(element, attributes=tuple(kept))
        self.declarations.validator = lambda root: XsdValidator(
            self._schema, root, self.declarations.namespaces
        )
        return self.declarations

    # Names

    def _chosen_prefixes(self) -> dict[str, str]:
        """A prefix for each namespace: the schemas' own where there is one."""
        chosen = {XSI: "xsi", "": ""}
        target = self._schema.target_namespace
        for schema in self._maps.iter_schemas():
            for prefix, uri in schema.namespaces.items():
                if prefix and uri not in (XSD, XSI, XML) and prefix not in chosen.values():
                    chosen.setdefault(uri, prefix)
        chosen.setdefault(target, "tns")
        return chosen

    def _name(self, expanded: str) -> str:
        """A name with the prefix of its namespace."""
        uri, _, local = expanded[1:].rpartition("}") if expanded.startswith("{") else ("", "", expanded)
        if uri == XML:
            return f"xml:{local}"
        if uri not in self._prefixes:
            self._prefixes[uri] = next(
                prefix for n in range(1, 1 << 30) if (prefix := f"ns{n}") not in self._prefixes.values()
            )
        prefix = self._prefixes[uri]
        return f"{prefix}:{local}" if prefix else local

    def _namespaces(self) -> dict[str, str]:
        """The prefixes that names use; no prefix is the schema's namespace if no element is without one."""
        used = {name.partition(":")[0] for name in self.declarations.elements if ":" in name}
        used |= {
            attribute.name.partition(":")[0]
            for element in self.declarations.elements.values()
            for attribute in element.attributes
            if ":" in attribute.name and not attribute.is_namespace
        }
        bound = {prefix: uri for uri, prefix in self._prefixes.items() if prefix in used}
        if all(":" in name for name in self.declarations.elements) and self._schema.target_namespace:
            bound[""] = self._schema.target_namespace
        return bound

    def _key(self, element: Any, kind: Any) -> str:
        """The name of a declaration; it is read later."""
        place: Key = (element.name, id(kind), element.fixed)
        known = self._keys.get(place)
        if known is None:
            name = self._name(element.name)
            same = sum(1 for each in self._keys if each[0] == element.name)
            known = self._keys[place] = f"{name}#{same + 1}" if same else name
            self._pending.append((known, element, kind))
        return known

    def _variants(self, element: Any) -> list[str]:
        """The declarations that may stand for an element: of its type, and of types derived from it."""
        if not isinstance(element.name, str):
            return []
        kinds = [element.type]
        if element.type.is_complex() and not element.block and not element.type.block:
            kinds += [
                kind for kind in self._types if kind is not element.type and kind.is_derived(element.type)
            ]
        return [self._key(element, kind) for kind in kinds if not getattr(kind, "abstract", False)]

    # Elements

    def _element(self, key: str, element: Any, kind: Any) -> Element:
        model, mixed, texts, lets_in = self._content(element, kind)
        attributes = [*self._declared_namespaces(element), *self._attributes(kind)]
        if kind is not element.type:
            attributes.append(Attribute("xsi:type", "CDATA", "required", examples=(self._name(kind.name),)))
        return Element(
            key,
            model,
            tuple(attributes),
            os.path.basename(str(element.schema.url or self._file)),
            getattr(element.elem, "sourceline", None) or len(self.declarations.elements),
            examples=texts,
            texts=self._texts(element, kind),
            is_mixed=mixed,
            lets_in=lets_in,
            any_attribute=None in getattr(kind, "attributes", {}),
        )

    def _content(
        self, element: Any, kind: Any
    ) -> tuple[Model, bool, tuple[str, ...] | None, tuple[str, ...]]:
        """The model, whether text may stand beside it, examples of its text, what a wildcard lets in."""
        if kind.is_simple() or kind.has_simple_content():
            simple = kind if kind.is_simple() else kind.content
            return Mixed(), False, (element.fixed,) if element.fixed is not None else examples(simple), ()
        if kind.name == f"{{{XSD}}}anyType":
            return Star(self._unknown(None)), True, None, ("*",)
        group = kind.content
        lets_in = dict.fromkeys(uri for each in _wildcards(group) for uri in _let_in(each))
        return self._particle(group) or Empty(), bool(kind.mixed), None, tuple(lets_in)

    def _texts(self, element: Any, kind: Any) -> tuple[str, ...] | None:
        """All texts of an element, if they are listed: with a default or as nil it may be empty as well."""
        if element.nillable or element.default is not None or element.fixed is not None:
            return None
        if kind.is_simple() or kind.has_simple_content():
            return all_texts(kind if kind.is_simple() else kind.content)
        return None

    def _declared_namespaces(self, element: Any) -> Iterator[Attribute]:
        """What an element declares as the root of a document; not repeated below."""
        if element.is_global():
            for uri, prefix in sorted(self._prefixes.items()):
                if prefix and uri:
                    yield Attribute(f"xmlns:{prefix}", "CDATA", "fixed", uri)

    def _attributes(self, kind: Any) -> Iterator[Attribute]:
        for name, attribute in getattr(kind, "attributes", {}).items():
            if name is not None and attribute.use != "prohibited":
                yield attribute_of(self._name(name), attribute)

    # Content

    def _particle(self, particle: Any) -> Particle | None:
        """A particle with its occurrences; None when it has none."""
        if particle.max_occurs == 0:
            return None
        inner: Particle | None
        if hasattr(particle, "process_contents"):
            inner = self._wildcard(particle)
        elif hasattr(particle, "model"):
            inner = self._group(particle)
        else:
            inner = self._named(particle)
        return inner and _times(inner, particle.min_occurs, particle.max_occurs)

    def _named(self, element: Any) -> Particle | None:
        """An element, or one that may stand in its place."""
        declared = self._maps.elements.get(element.name, element) if element.ref is not None else element
        found = [] if declared.abstract else self._variants(declared)
        for substitute in declared.iter_substitutes():
            found += [] if substitute.abstract else self._variants(substitute)
        return _choice([Name(key) for key in dict.fromkeys(found)])

    def _group(self, group: Any) -> Particle | None:
        parts = [self._particle(each) for each in group]
        present = [part for part in parts if part is not None]
        if group.model != "choice":
            # Of a group in any order, the order of writing is one.
            return Sequence(tuple(present)) if len(present) > 1 else present[0] if present else None
        chosen = _choice(present)
        return Optional(chosen) if chosen and len(present) < len(parts) else chosen

    def _wildcard(self, wildcard: Any) -> Particle | None:
        """What a wildcard lets in: declared elements, or one that nothing declares."""
        if wildcard.process_contents != "strict":
            return self._unknown(wildcard)
        fitting = [each for each in self._maps.elements.values() if _is_ours(each) and not each.abstract]
        keys = [key for each in fitting if wildcard.is_matching(each.name) for key in self._variants(each)]
        return _choice([Name(key) for key in keys]) or Name("#none")

    def _unknown(self, wildcard: Any) -> Particle:
        """An element of a namespace that the wildcard lets in."""
        target = self._schema.target_namespace
        for uri in (UNKNOWN, target, "", *(getattr(wildcard, "namespace", None) or ())):
            expanded = f"{{{uri}}}unknown" if uri and not uri.startswith("#") else "unknown"
            if wildcard is None or wildcard.is_matching(expanded):
                name = self._name(expanded)
                self.declarations.elements.setdefault(name, Element(name, Empty(), (), self._file, 1 << 30))
                return Name(name)
        return Name("#none")


def _is_ours(component: Any) -> bool:
    return not str(component.name or "").startswith(f"{{{XSD}}}") and not str(
        component.name or ""
    ).startswith(f"{{{XSI}}}")


def _wildcards(group: Any) -> Iterator[Any]:
    for each in group:
        if hasattr(each, "process_contents"):
            yield each
        elif hasattr(each, "model"):
            yield from _wildcards(each)


def _let_in(wildcard: Any) -> list[str]:
    """The namespaces of which a wildcard lets in what nothing declares; ``*`` where they are not listed."""
    if wildcard.process_contents == "strict" or wildcard.max_occurs == 0:
        return []
    listed = list(wildcard.namespace or ())
    return listed if listed and not any(uri.startswith("#") for uri in listed) else ["*"]


def _choice(parts: list[Any]) -> Particle | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return Choice(tuple(parts))


def _times(part: Particle, low: int, high: int | None) -> Particle:
    """So many copies of a particle.

    >>> str(_times(Name("a"), 2, None)), str(_times(Name("a"), 1, 3))
    ('(a,a+)', '(a,a?,a?)')
    """
    if low > _COPIES:
        raise SchemaError(f"a particle must occur {low:,} times; more than {_COPIES:,} is not supported")
    if high is None:
        last: Particle = Plus(part) if low else Star(part)
        return Sequence((*(part,) * (low - 1), last)) if low > 1 else last
    spare = (Optional(part),) * min(high - low, _SPARE)
    copies = (*(part,) * low, *spare)
    return copies[0] if len(copies) == 1 else Sequence(copies)
