"""`Schema`: what a DTD or an XSD allows, as a graph of elements with content models and attributes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from pathcast import _core
from pathcast.errors import SchemaError
from pathcast.schema import graph
from pathcast.schema.compiled import CompiledSchema
from pathcast.schema.declarations import Attribute, Declarations, Element, Validates
from pathcast.schema.model import Any, Mixed, names, possible
from pathcast.schema.reader import Reader
from pathcast.schema.source import Source, normalised, read
from pathcast.schema.validation import MAX_NAMES, Problem, Validator
from pathcast.types import Document

DOCUMENT = "#"
"""The document node: the one whose only child is the root element."""

_LISTED = 20  # names that a message lists


class Schema:
    """The elements that a DTD or an XSD declares, and which may stand in which.

    Children, edges and everything derived from them speak of *valid documents*: an element that is named in
    a content model but declared nowhere (`undeclared`) cannot occur in one, nor can an element that needs it,
    or that needs itself without end (`impossible`).

    >>> schema = Schema.from_text('''
    ...     <!ELEMENT news (item+)>
    ...     <!ELEMENT item (title, p*)>   <!ATTLIST item lang (en|fr) #REQUIRED>
    ...     <!ELEMENT title (#PCDATA)>
    ...     <!ELEMENT p (#PCDATA | em)*>  <!ELEMENT em (#PCDATA | em)*>
    ... ''')
    >>> schema
    <Schema of 5 elements, root 'news', recursive>
    >>> schema.children("item"), schema.children("#")
    (('title', 'p'), ('news',))
    >>> schema.recursive
    frozenset({'em'})
    >>> schema.validate("<news><item><title>Dry</title></item></news>")
    [Problem(line=1, message='Element item does not carry attribute lang')]
    """

    def __init__(
        self,
        declarations: Declarations,
        root: str | None = None,
        *,
        namespaces: Mapping[str, str] | None = None,
    ) -> None:
        """A schema of what was read; `from_dtd` and `from_text` are the ways to one."""
        if not declarations.elements:
            kind = "XSD" if declarations.is_xsd else "DTD"
            raise SchemaError(f"the {kind} declares no element")
        self._declarations = declarations
        self._names = list(declarations.elements)
        self._number = {name: place for place, name in enumerate(self._names)}
        models = [element.model for element in declarations.elements.values()]
        self._heights = graph.heights(models, self._number)
        able = {name: None for name in self._names if self._heights[self._number[name]] is not None}
        self._children = {
            name: (tuple(able) if isinstance(element.model, Any) else possible(element.model, able))
            if name in able
            else ()
            for name, element in declarations.elements.items()
        }
        self.root = self._choose(root)
        self.namespaces: Mapping[str, str] = MappingProxyType(self._bindings() | dict(namespaces or {}))
        self._validator: Validates | None = None

    @classmethod
    def from_dtd(
        cls,
        path: str | os.PathLike[str],
        root: str | None = None,
        *,
        namespaces: Mapping[str, str] | None = None,
        within: str | os.PathLike[str] | None = None,
    ) -> Schema:
        """The schema in a DTD file and the files it is made of.

        `root` may be left out when exactly one element is nobody's child. Files that the DTD names are read
        from its own folder and below, or from the folder `within`; nothing is ever fetched. `namespaces`
        binds prefixes that the DTD uses and does not bind itself with an ``xmlns`` attribute.
        """
        path = Path(path)
        return cls(Reader(read(path), Path(within or path.parent)).read(), root, namespaces=namespaces)

    @classmethod
    def from_text(
        cls, text: str, root: str | None = None, *, namespaces: Mapping[str, str] | None = None
    ) -> Schema:
        """The schema in a text; it cannot name files."""
        source = Source("<text>", normalised(text), None)
        return cls(Reader(source, None).read(), root, namespaces=namespaces)

    @classmethod
    def from_xsd(
        cls,
        path: str | os.PathLike[str],
        root: str | None = None,
        *,
        within: str | os.PathLike[str] | None = None,
    ) -> Schema:
        """The schema in an XSD file and the files it is made of. Needs xmlschema (``pathcast[xsd]``).

        Files that it names are read from its own folder and below, or from the folder `within`; nothing is
        ever fetched. Names have the prefixes of the schema; `namespaces` says which. `root` may be a name
        without its prefix, and may be left out when exactly one element is nobody's child.
        """
        from pathcast.schema.xsd import XsdReader

        declarations = XsdReader(path, within).read()
        return cls(declarations, root, namespaces=declarations.namespaces)

    def rooted(self, root: str) -> Schema:
        """The same schema with another root."""
        return Schema(self._declarations, root, namespaces=self.namespaces)

    @property
    def elements(self) -> Mapping[str, Element]:
        """The declared elements by name, in order of declaration."""
        return MappingProxyType(self._declarations.elements)

    @property
    def is_xsd(self) -> bool:
        """Whether it was read from an XSD."""
        return self._declarations.is_xsd

    @property
    def _kind(self) -> str:
        return "XSD" if self.is_xsd else "DTD"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was read with a shake of the head: elements declared twice, missing files."""
        return tuple(self._declarations.warnings)

    @property
    def notations(self) -> tuple[str, ...]:
        """The declared notations."""
        return tuple(self._declarations.notations)

    @property
    def entities(self) -> Mapping[str, str]:
        """The general entities with their replacement texts: what documents may refer to."""
        return MappingProxyType(self._declarations.entities)

    @property
    def unparsed_entities(self) -> Mapping[str, str]:
        """The unparsed entities and their notations: what an attribute of type ENTITY may name."""
        return MappingProxyType(self._declarations.unparsed)

    def children(self, name: str) -> tuple[str, ...]:
        """The elements that may stand directly in one; the document node is ``"#"``."""
        return (self.root,) if name == DOCUMENT else self._children[name]

    def attributes(self, name: str) -> tuple[Attribute, ...]:
        """The attributes of an element."""
        return self.elements[name].attributes

    def edges(self) -> Iterator[tuple[str, str]]:
        """Every pair of an element and one that may stand directly in it, without the document node."""
        for name, below in self._children.items():
            for child in below:
                yield name, child

    def height(self, name: str) -> int | None:
        """The levels of the shallowest valid tree of an element; None when it has none."""
        return self._heights[self._number[name]]

    @cached_property
    def undeclared(self) -> tuple[str, ...]:
        """Elements that content models name and nothing declares: they cannot occur in a valid document."""
        named = (name for element in self.elements.values() for name in names(element.model))
        return tuple(dict.fromkeys(name for name in named if name not in self._number))

    @property
    def impossible(self) -> tuple[str, ...]:
        """Declared elements that no valid document can contain, for what they require themselves."""
        return tuple(name for name, height in zip(self._names, self._heights, strict=True) if height is None)

    @cached_property
    def reachable(self) -> tuple[str, ...]:
        """The elements that a valid document may have, nearest to the root first."""
        return tuple(self._names[node] for node in graph.reachable(self._number[self.root], self._below))

    @cached_property
    def _below(self) -> list[list[int]]:
        return [[self._number[child] for child in self._children[name]] for name in self._names]

    @cached_property
    def _components(self) -> list[list[int]]:
        return graph.components(self._below)

    @cached_property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """The strongly connected components that hold a cycle: elements that can contain themselves."""
        found = graph.cyclic(self._below, self._components)
        return tuple(tuple(self._names[node] for node in sorted(component)) for component in found)

    @cached_property
    def recursive(self) -> frozenset[str]:
        """The elements that can contain themselves."""
        return frozenset(name for component in self.components for name in component)

    @property
    def is_recursive(self) -> bool:
        """Whether valid documents can be of any depth."""
        return not self.recursive.isdisjoint(self.reachable)

    @property
    def depth(self) -> int | None:
        """The levels of the deepest valid document; None when there is no bound."""
        if self.is_recursive:
            return None
        order = [node for component in self._components for node in component]
        return graph.depth(self._number[self.root], self._below, order)

    def path_counts(self, max_depth: int | None = None) -> dict[str, int]:
        """For each element the number of paths from the root to it, down to `max_depth` levels.

        Counts stay at 2**63 - 1 when they are larger, or when there is no bound to them.
        """
        start = self._number[self.root]
        if max_depth is None:
            counts = graph.count_all_paths(start, self._below, self._components)
        else:
            counts = graph.count_paths(start, self._below, max_depth)
        return dict(zip(self._names, counts, strict=True))

    def path_count(self, max_depth: int | None = None) -> int:
        """The number of paths from the root to any element; saturates as `path_counts` does."""
        return min(graph.SATURATED, sum(self.path_counts(max_depth).values()))

    def validate(self, document: Document) -> list[Problem]:
        """What is wrong with a document, nothing when it is valid.

        Needs lxml (``pathcast[schema]``), or xmlschema for an XSD.
        """
        if self._validator is None and self._declarations.validator is not None:
            self._validator = self._declarations.validator(self.root)
        if self._validator is None:
            for name, element in self.elements.items():
                if not isinstance(element.model, Mixed) and sum(1 for _ in names(element.model)) > MAX_NAMES:
                    raise SchemaError(
                        f"the content model of {name} has more than {MAX_NAMES:,} names, too many to validate"
                    )
            self._validator = Validator(self._declarations.text(), self.root, self._declarations.escaped())
        return self._validator.problems(document)

    @cached_property
    def portable(self) -> CompiledSchema:
        """What an index needs of it, to be stored or sent elsewhere."""
        return CompiledSchema.of(self)

    @property
    def compiled(self) -> _core.Graph:
        """The schema as the compiled core sees it."""
        return self.portable.compiled

    def summary(self) -> str:
        """The schema in a few lines."""
        attributes = sum(len(element.attributes) for element in self.elements.values())
        count = self.path_count()
        paths = "unbounded" if count == graph.SATURATED else f"{count:,}"
        lines = [
            f"root {self.root}, {len(self._names)} elements ({len(self.reachable)} reachable), "
            f"{attributes} attributes, {sum(1 for _ in self.edges())} edges",
            f"recursive: {len(self.recursive)} elements in {len(self.components)} components"
            if self.recursive
            else "not recursive",
            f"depth {self.depth or 'unbounded'}, paths {paths}",
        ]
        for what, listed in (("undeclared", self.undeclared), ("impossible", self.impossible)):
            if listed:
                lines.append(f"{what}: {_listed(listed)}")
        return "\n".join([*lines, *self.warnings])

    def __repr__(self) -> str:
        kind = "recursive" if self.is_recursive else f"depth {self.depth}"
        return f"<Schema of {len(self._names)} elements, root {self.root!r}, {kind}>"

    def _choose(self, root: str | None) -> str:
        if root is None:
            root = self._only_candidate()
        elif root not in self._number:
            same = [name for name in self._names if name.rpartition(":")[2] == root]
            if len(same) != 1 or not self.is_xsd:
                raise SchemaError(f"the root {root!r} is not declared in the {self._kind}")
            root = same[0]
        if self._heights[self._number[root]] is None:
            raise SchemaError(
                f"no document can be valid: the root {root!r} needs elements that no document can contain"
            )
        return root

    def _only_candidate(self) -> str:
        """The element that is in no other element. Content ANY counts only if that leaves one."""
        for ignore_any in (False, True):
            inner: set[str] = set()
            for name, element in self.elements.items():
                if isinstance(element.model, Any):
                    found = () if ignore_any else tuple(self._names)
                else:
                    found = tuple(names(element.model))
                inner.update(child for child in found if child != name)
            candidates = [name for name in self._names if name not in inner]
            if len(candidates) == 1:
                return candidates[0]
            if candidates:
                raise SchemaError(f"the root may be any of {_listed(candidates)}; say which with root=")
        raise SchemaError(
            f"every element of the {self._kind} is inside another one; say which is the root with root="
        )

    def _bindings(self) -> dict[str, str]:
        """The namespaces that ``xmlns`` attributes with a default value bind, the root's first."""
        bindings: dict[str, str] = {}
        for element in (self.elements[self.root], *self.elements.values()):
            for attribute in element.attributes:
                if attribute.is_namespace and attribute.value:
                    bindings.setdefault(attribute.name.partition(":")[2], attribute.value)
        return bindings


def _listed(found: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(found) - _LISTED:,} more" if len(found) > _LISTED else ""
    return ", ".join(found[:_LISTED]) + more
