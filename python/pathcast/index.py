"""`Index`: subscriptions in, documents in, matches out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pathcast import _core
from pathcast._core import IMAGE_LAYOUT, Cancellation, Matches, Node
from pathcast._core import Batch as MatchBatch
from pathcast.arguments import expect, expect_many, known_entities, thread_count
from pathcast.errors import DocumentError, EvaluationError, SchemaError, SchemaWarning
from pathcast.limits import Limits
from pathcast.streaming import streamed
from pathcast.types import ArrowArray, ArrowStream, Document, Id, Namespaces, Subscription, Variables

if TYPE_CHECKING:
    from pathcast.schema import CompiledSchema, Pruning, Schema

__all__ = ["IMAGE_LAYOUT", "Cancellation", "Index", "MatchBatch", "Matches", "Node", "engines", "matches"]

_TOLD = 10  # warnings of one call that are given one by one

Sequence.register(Matches)
Sequence.register(MatchBatch)


class Index:
    """A set of XPath subscriptions that documents are matched against.

    Subscriptions come and go at any time between documents; several threads may match at once.

    >>> index = Index()
    >>> index.add("s1", "/news//item[@lang='en']")
    >>> index.add("s2", "//n:b", namespaces={"n": "urn:x"})
    >>> index.add("s3", "/news[item][note]", ordered=True)
    >>> index.match(b"<news><item lang='en'/><note/></news>")
    ['s1', 's3']
    >>> index.remove("s1")
    >>> len(index), "s1" in index
    (2, False)
    """

    def __init__(
        self,
        engine: str = "auto",
        *,
        limits: Limits | None = None,
        ordered: bool = False,
        namespaces: Namespaces | None = None,
        ignore_namespaces: bool = False,
        cache_bytes: int | None = None,
        attribute_filters: Literal["inline", "postponed"] = "inline",
        schema: Schema | CompiledSchema | None = None,
        prune: bool | Pruning | None = None,
        validate: bool | None = None,
        impossible: Literal["warn", "error", "ignore"] = "warn",
        entities: Literal["html"] | Mapping[str, str] | None = None,
    ) -> None:
        """Makes an empty set.

        `engine` is one of `engines()`; `ordered` and `namespaces` hold for every subscription that does not
        say otherwise; with `ignore_namespaces` only local names count; `cache_bytes` bounds what the engine
        keeps from one document to the next, for each thread; by default 64 MiB, or about half of what the
        subscriptions take if that is more. `attribute_filters` says when the predicate engines test
        attributes: with the structure or after it was found. The answer is the same.

        `limits` bound documents, expressions and the work of deciding.

        With a `schema`, a subscription that no valid document can match is reported at once: `impossible`
        says whether as a `SchemaWarning`, as an error, or not at all. `prune` replaces wildcards and ``//``
        by what the schema allows there. As soon as that changed a subscription, a document with an element,
        attribute, value or text where the schema allows none gets a `DocumentError` of kind ``"invalid"``,
        because it cannot be answered. `validate` says otherwise: true for always, false for never. The order
        and number of children do not matter to the answer and are not checked. The engine ``"pma"`` needs a
        schema and prunes by it, unless `prune` is false.

        `entities` are those that documents may use without declaring them: ``"html"`` for the names of
        HTML 4, such as ``&nbsp;``, or a mapping of names to texts. Those that a schema's DTD declares are
        known as well.

        >>> index = Index(entities="html")
        >>> index.add(1, "//price[. = '5€']")
        >>> index.match("<price>5&euro;</price>")
        [1]

        >>> from pathcast.schema import Schema
        >>> schema = Schema.from_text("<!ELEMENT a (b*)> <!ELEMENT b EMPTY>")
        >>> index = Index(schema=schema, prune=True, impossible="error")
        >>> index.add(1, "/*//b")
        >>> index.match("<a><b/></a>"), index.pruned("/*//b")
        ([1], ['/a/b'])
        >>> index.add(2, "/b")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        pathcast.errors.XPathError: ... can never match under this schema: the root is 'a', not 'b'
        """
        expect("engine", engine, str, "a str")
        expect("limits", limits, Limits | None, "a Limits")
        expect("ordered", ordered, bool, "a bool")
        expect("ignore_namespaces", ignore_namespaces, bool, "a bool")
        expect("cache_bytes", cache_bytes, int | None, "an int")
        expect("validate", validate, bool | None, "a bool")
        if schema is not None and not hasattr(schema, "compiled"):
            raise TypeError(f"schema must be a pathcast.schema.Schema, not {type(schema).__name__}")
        if not isinstance(prune, bool | None) and not hasattr(prune, "values"):
            raise TypeError(f"prune must be a bool or a pathcast.schema.Pruning, not {type(prune).__name__}")
        if prune is None:
            prune = needs_schema(engine)
            if prune and schema is None:
                raise SchemaError(
                    f"the engine {engine!r} needs a schema to prune wildcards: give schema=, or prune=False "
                    "to leave paths with wildcards to the shared automaton"
                )
        if impossible not in {"warn", "error", "ignore"}:
            raise ValueError(f"impossible is 'warn', 'error' or 'ignore', not {impossible!r}")
        if schema is None and (prune or validate):
            raise ValueError("prune and validate need a schema")
        if cache_bytes is not None and cache_bytes < 0:
            raise ValueError(f"cache_bytes must not be negative, and is {cache_bytes}")
        limits = limits or Limits()
        if prune is True:
            from pathcast.schema import Pruning

            prune = Pruning()
        self._core = _core.Index(
            engine,
            limits,
            ordered,
            namespaces,
            ignore_namespaces,
            cache_bytes,
            attribute_filters,
            schema.compiled if schema is not None else None,
            prune.values() if prune else None,
            validate,
            impossible == "error",
            known_entities(entities) | dict(schema.entities if schema is not None else {}),
        )
        self._warns = impossible == "warn"

    def add(
        self,
        id: Id,
        xpath: str,
        *,
        ordered: bool | None = None,
        namespaces: Namespaces | None = None,
        variables: Variables | None = None,
    ) -> None:
        """Adds a subscription; a known id gets the new expression and keeps its place.

        `variables` binds the variables of the expression to strings, numbers, booleans, or to other
        expressions that are read from the document node.

        >>> from pathcast import XPath
        >>> index = Index()
        >>> index.add("s1", "//a[@t = $type]", variables={"type": "x"})
        >>> index.add("s2", "//a[@t = $type]", variables={"type": XPath("/*/type")})
        >>> index.match("<r><type>y</type><a t='y'/></r>")
        ['s2']

        >>> Index().add("s1", "//a[")
        Traceback (most recent call last):
        pathcast.errors.XPathError: column 5 of '//a[': expected a step, found the end
        """
        warning = self._core.add(id, xpath, ordered, namespaces, variables)
        if warning and self._warns:
            warnings.warn(f"{id}: {warning}", SchemaWarning, stacklevel=2)

    def add_many(self, subscriptions: Iterable[Subscription] | Mapping[Any, str] | ArrowStream) -> None:
        """Adds many subscriptions, all or none: if any is refused, `SubscriptionErrors` lists all bad ones.

        An id that is there twice is a `ValueError`. Takes a mapping of ids to expressions, pairs
        ``(id, xpath)``, rows ``(id, xpath, ordered, namespaces, variables)``, or an Arrow table with the
        columns `id` and `xpath` and perhaps `ordered`, `namespaces` and `variables` (a map binds strings).

        >>> index = Index()
        >>> index.add_many([(1, "/a/b"), (2, "//b[@x > 3]")])
        >>> index.add_many({3: "/a"})
        >>> index.match("<a><b x='5'/></a>")
        [1, 2, 3]
        """
        if isinstance(subscriptions, Mapping):
            subscriptions = subscriptions.items()
        expect_many("subscriptions", subscriptions, "pairs (id, xpath)")
        told = self._core.add_many(subscriptions)
        if not self._warns:
            return
        for id, warning in told[:_TOLD]:
            warnings.warn(f"{id}: {warning}", SchemaWarning, stacklevel=2)
        if len(told) > _TOLD:
            warnings.warn(f"{len(told) - _TOLD:,} more can never match", SchemaWarning, stacklevel=2)

    def check(
        self,
        xpath: str,
        *,
        ordered: bool | None = None,
        namespaces: Namespaces | None = None,
        variables: Variables | None = None,
    ) -> str:
        """Raises what `add` would raise, warns of what it would warn of, and adds nothing.

        Gives the normal form as text: what the expression is rewritten to before it is matched.

        >>> Index().check("//b[count(c) > 0]/..")
        '//b/c'
        """
        form, warning = self._core.check(xpath, ordered, namespaces, variables)
        if warning and self._warns:
            warnings.warn(warning, SchemaWarning, stacklevel=2)
        return form

    def pruned(
        self,
        xpath: str,
        *,
        ordered: bool | None = None,
        namespaces: Namespaces | None = None,
        variables: Variables | None = None,
    ) -> list[str]:
        """What an expression becomes under the schema; needs `schema` and `prune`.

        A valid document satisfies one of these exactly when it satisfies the expression. Nothing when it can
        never match.
        """
        return self._core.pruned(xpath, ordered, namespaces, variables)

    def remove(self, id: Id) -> None:
        """Removes a subscription; `KeyError` when there is none with this id."""
        self._core.remove(id)

    def clear(self) -> None:
        """Removes all subscriptions; settings and schema stay.

        >>> index = Index()
        >>> index.add("s1", "//a")
        >>> index.clear()
        >>> list(index)
        []
        """
        self._core.clear()

    def match(self, document: Document, *, cancellation: Cancellation | None = None) -> list[Id]:
        """The ids of the subscriptions that a document satisfies, in order of registration.

        Ctrl-C ends this call and every other that may take long; so does `cancellation`, from another thread.

        >>> Index().match("<a><b></a>")
        Traceback (most recent call last):
        pathcast.errors.DocumentError: line 1, column 7: the end tag </a> does not close <b>

        A subscription that costs more than `Limits.evaluation_steps` on this document is neither a yes nor a
        no: `EvaluationError` names it, and holds the answer for all others.
        """
        return self._core.match(document, cancellation)

    def select(self, document: Document, *, cancellation: Cancellation | None = None) -> dict[Id, list[Node]]:
        """The nodes that each subscription which matched selects, in document order.

        A subscription that asks for a boolean, a number or a string selects no nodes. An ordered one selects
        what its path selects, whatever the order. Of a str the spans are those of its UTF-8.

        >>> index = Index()
        >>> index.add("s1", "//b[@x > 1]/@x")
        >>> index.add("s2", "count(//b) = 2")
        >>> found = index.select(b"<a><b x='1'/>\\n<b x='2'/></a>")
        >>> node, = found["s1"]
        >>> node.path, node.line, node.column, node.span, node.text
        ('/a[1]/b[2]/@x', 2, 4, (17, 22), '2')
        >>> found["s2"]
        []
        """
        found, failures = self._core.select(document, cancellation)
        if failures:
            raise EvaluationError(list(found), failures)
        return found

    def match_many(
        self,
        documents: Iterable[Document | None] | ArrowArray | ArrowStream,
        threads: int | None = 1,
        *,
        cancellation: Cancellation | None = None,
    ) -> MatchBatch:
        """One result for each document, in order; a bad document yields a `DocumentError` in its place.

        So does `None`, as a null in Arrow does. `threads=None` uses all cores.

        A result is a light sequence that builds no id until asked. An Arrow array (of `pyarrow`, `polars` or
        another library) is read in place.

        >>> index = Index()
        >>> index.add("s1", "/a/b")
        >>> good, bad = index.match_many(["<a><b/></a>", "<a"])
        >>> list(good), bad.line
        (['s1'], 1)
        """
        expect_many("documents", documents, "documents")
        return self._core.match_many(documents, thread_count(threads), cancellation)

    def match_stream(
        self, documents: Iterable[Document | None], threads: int | None = 1
    ) -> Iterator[Matches | DocumentError]:
        """The results of `match_many` as they come, in order.

        A document is taken when the result before it is wanted; with several threads, two for each of them
        are taken ahead. So memory is bounded, however many documents there are.

        >>> index = Index()
        >>> index.add("s1", "/a/b")
        >>> for matches in index.match_stream(["<a><b/></a>", "<a/>"]):
        ...     print(list(matches))
        ['s1']
        []
        """
        expect_many("documents", documents, "documents")
        return streamed(self._core, iter(documents), thread_count(threads))

    def __iter__(self) -> Iterator[Id]:
        """The ids in order of registration."""
        return iter(self._core.ids())

    def __len__(self) -> int:
        return len(self._core)

    def __contains__(self, id: object) -> bool:
        return id in self._core

    def xpath(self, id: Id) -> str:
        """What an id subscribes to, as written; `KeyError` when there is none with this id.

        >>> index = Index()
        >>> index.add("s1", "//a[ @x  > 3 ]")
        >>> index.xpath("s1"), dict(index.items())
        ('//a[ @x  > 3 ]', {'s1': '//a[ @x  > 3 ]'})
        """
        return self._core.written_of(id)[0]

    def items(self) -> Iterator[tuple[Id, str]]:
        """All ids with their expressions as written, in order of registration."""
        return iter(self._core.items())

    def ids(self) -> list[Id]:
        """All ids in order of registration."""
        return self._core.ids()

    def stats(self) -> dict[str, Any]:
        """Counts and sizes: `subscriptions`, `distinct` expressions, `engine`, `memory_bytes` and more.

        `memory_bytes` is the index. What threads keep from one document to the next comes on top:
        `cache_bytes`, `remembered_bytes` and `run_bytes`. The process takes two to three times as much after
        `add_many`, which reads all rows before it adds the first: the allocator keeps what was freed, for
        what comes next. After `load_image` it takes what `memory_bytes` says.

        >>> index = Index()
        >>> index.add_many([("s1", "//*/a"), ("s2", "/*//a")])
        >>> index.stats()["distinct"]
        1
        """
        return self._core.stats()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index to a file, whole or not at all."""
        self._core.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Index:
        """Reads an index from a file; `IndexFormatError` when it is damaged or from a newer version."""
        index = cls.__new__(cls)
        index._core = _core.Index.load(path)
        index._warns = True
        return index

    def save_image(self, path: str | os.PathLike[str]) -> bool:
        """Writes an image of the index, from which it is opened many times as fast; False if it has none.

        An image has the index's tables as they are in memory. Only the Pathcast that made it reads it
        (`IMAGE_LAYOUT`), so keep what `save` writes beside it. An index with a schema or another engine than
        ``auto`` has none.

        >>> import tempfile
        >>> index = Index()
        >>> index.add("s1", "/a/b")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     index.save_image(f"{folder}/image"), Index.load_image(f"{folder}/image").ids()
        (True, ['s1'])
        """
        return self._core.save_image(path)

    @classmethod
    def load_image(cls, path: str | os.PathLike[str]) -> Index:
        """Opens an image; `IndexFormatError` when it is damaged or from another Pathcast.

        Open only images of your own: a checksum tells accidents, and not what somebody wrote on purpose.
        """
        index = cls.__new__(cls)
        index._core = _core.Index.load_image(path)
        index._warns = True
        return index

    # A copy, a deep copy and what pickle gives are independent: they go through the bytes of a file.
    def __getstate__(self) -> tuple[bytes, bool]:
        return self._core.to_bytes(), self._warns

    def __setstate__(self, state: tuple[bytes, bool]) -> None:
        written, self._warns = state
        self._core = _core.Index.from_bytes(written)

    def __repr__(self) -> str:
        stats = self.stats()
        return f"<Index of {stats['subscriptions']} subscriptions, engine {stats['engine']}>"


def engines(variants: bool = False) -> tuple[str, ...]:
    """The names that `Index` takes as `engine`; with `variants` also other ways to run one of them.

    >>> engines()[0], "yfilter" in engines()
    ('auto', True)
    >>> sorted(set(engines(variants=True)) - set(engines()))
    ['pma-updating', 'predicate-nested', 'predicate-pc-ap-first', 'predicate-pc-longest', 'xfilter-trees']
    """
    return tuple(_core.engines(variants))


def needs_schema(engine: str) -> bool:
    """Whether an engine is made for subscriptions that a schema has pruned.

    >>> needs_schema("pma"), needs_schema("yfilter")
    (True, False)
    """
    return _core.needs_schema(engine)


def matches(
    xpath: str,
    document: Document,
    *,
    ordered: bool = False,
    namespaces: Namespaces | None = None,
    ignore_namespaces: bool = False,
    variables: Variables | None = None,
) -> bool:
    """Whether a document satisfies one expression.

    >>> matches("/a/b[. = 2]", "<a><b>2.0</b></a>")
    True
    """
    index = Index(ordered=ordered, namespaces=namespaces, ignore_namespaces=ignore_namespaces)
    index.add(0, xpath, variables=variables)
    return bool(index.match(document))
