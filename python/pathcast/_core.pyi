import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, SupportsIndex, final, overload

from pathcast.errors import DocumentError, XPathError
from pathcast.limits import Limits
from pathcast.types import ArrowArray, ArrowStream, Document, Groups, Id, Subscription, Variables

__all__ = [
    "IMAGE_LAYOUT",
    "Answers",
    "Batch",
    "Cancellation",
    "Cover",
    "Graph",
    "Index",
    "Matches",
    "Mergeable",
    "Node",
    "__version__",
    "bare_elements",
    "compile",
    "encode_ids",
    "engines",
    "explain",
    "leaf_paths",
    "needs_schema",
    "path_steps",
    "predicate_count",
    "predicate_stage",
    "shred",
    "strict_elements",
    "xtrie_index",
    "xtrie_substrings",
    "xtrie_view",
]

__version__: str
IMAGE_LAYOUT: str

def engines(variants: bool = False) -> list[str]:
    """The names of the engines, `auto` first; with `variants` also other ways to run one of them."""

def needs_schema(engine: str) -> bool:
    """Whether an engine is made for subscriptions that a schema has pruned."""

def bare_elements(documents: list[bytes]) -> int:
    """Counts start tags with the bare tokeniser: the yardstick of benchmarks."""

def strict_elements(documents: list[bytes]) -> int:
    """Counts start tags with the strict reader."""

def predicate_stage() -> Index:
    """An index that matches predicates, decides no expression and finds nothing: the yardstick of a stage."""

def predicate_count(index: Index) -> int:
    """How many distinct predicates the expressions of a predicate engine have."""

def xtrie_index(
    *, lazy: bool, decomposition: Literal["minimal", "simple", "maximal"], single_paths: bool
) -> Index:
    """An index whose XTrie decomposes expressions in the way asked for."""

def xtrie_substrings(xpath: str, decomposition: Literal["minimal", "simple", "maximal"]) -> int | None:
    """How many substrings XTrie cuts an expression without prefixes into; None if it takes no such tree."""

def xtrie_view(
    index: Index,
) -> tuple[
    list[tuple[int, str, int, int]],
    list[tuple[int, int, int, int, bool, int, int, str, int]],
]:
    """The trie and the substring-table of an XTrie index, to be drawn."""

def leaf_paths(document: bytes, limits: Limits) -> list[tuple[list[tuple[str, str]], bytes]]:
    """The distinct root-to-leaf paths of a document, each with a small document that holds it alone."""

def path_steps(xpath: str, limits: Limits) -> list[tuple[bool, str]] | None:
    """The steps of a linear path as (any depth, name); None for any other expression."""

def explain(
    xpath: str,
    document: Document,
    limits: Limits,
    namespaces: Mapping[str, str] | None,
    ignore_namespaces: bool,
    ordered: bool,
    variables: Variables | None = None,
    entities: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What each part of an expression finds in a document."""

def compile(
    subscriptions: Iterable[Subscription] | ArrowStream,
    limits: Limits,
    ordered: bool,
    namespaces: Mapping[str, str] | None,
    ignore_namespaces: bool,
    key: tuple[int, int],
    levels: int,
    alternatives: int,
) -> tuple[dict[str, Any], list[tuple[int, Id, XPathError]]]:
    """Expressions as rows of the relational tables, and those that were refused."""

def shred(
    documents: Iterable[Document] | ArrowArray | ArrowStream,
    limits: Limits,
    ignore_namespaces: bool,
    text_bytes: int,
    most_rows: int,
    key: tuple[int, int],
    subjects: Sequence[tuple[int, str, str]],
    first: int = 0,
) -> tuple[dict[str, Any], list[tuple[int, DocumentError]]]:
    """Documents as rows of the relational tables, and those that were refused."""

@final
class Answers:
    """Turns columns of documents and subscriptions into lists of ids, and remembers the ids."""

    def __new__(cls) -> Answers: ...
    def by_document(self, documents: Any, subscriptions: Any) -> list[tuple[int, list[Id]]]:
        """The places of the documents that have matches, each with its subscriptions in order and once."""

def encode_ids(ids: list[Id]) -> list[str]:
    """Ids as texts that tell numbers from strings."""

@final
class Cover:
    """Which expression contains which: registered expressions, advertisements and covering forests."""

    def __new__(cls, limits: Limits, seed: int | None = None) -> Cover: ...
    def register(
        self,
        handle: int,
        xpath: str,
        ordered: bool = False,
        namespaces: Mapping[str, str] | None = None,
        variables: Variables | None = None,
    ) -> bool:
        """Makes an expression known under a handle; whether it is a linear path."""

    def release(self, handle: int) -> None:
        """Forgets an expression."""

    def covers(self, general: int, specific: int) -> bool:
        """Whether every document that satisfies the second satisfies the first."""

    def advertise(
        self, number: int, texts: Sequence[str], namespaces: Mapping[str, str] | None = None
    ) -> int:
        """Makes an advertisement known; how many paths it has."""

    def unadvertise(self, number: int) -> None:
        """Forgets an advertisement."""

    def overlapping(self, numbers: Sequence[int], handles: Sequence[int], single: bool = False) -> list[int]:
        """The expressions that some document of the advertisements may satisfy."""

    def advertisement_covers(self, general: int, specific: int, budget: int = 10_000) -> bool:
        """Whether every document of the second is one of the first; False when the budget is used up."""

    def accepts(self, number: int, path: Sequence[tuple[str, str]]) -> bool:
        """Whether an advertisement allows a path."""

    def degree(self, number: int, merger: int, members: Sequence[int], depth: int) -> float | None:
        """The share of paths that a merger selects and none of its members does."""

    def insert(self, forest: int, handle: int) -> tuple[bool, list[int]]:
        """Puts an expression into a forest: whether it is a root, and which roots it covers now."""

    def remove(self, forest: int, handle: int) -> tuple[bool, list[int], list[int]]:
        """Takes an expression out of a forest: whether it was a root, and what surfaces."""

    def roots(self, forest: int) -> list[int]:
        """The expressions of a forest that no other covers."""

    def is_root(self, forest: int, handle: int) -> bool:
        """Whether no other expression of the forest covers it."""

    def in_forest(self, forest: int, handle: int) -> bool:
        """Whether an expression is in a forest."""

    def sizes(self, forest: int) -> tuple[int, int]:
        """The numbers of roots and of expressions in a forest."""

    def clear(self, forest: int) -> None:
        """Empties a forest."""

    def __len__(self) -> int: ...
    def memory_bytes(self) -> int:
        """Heap bytes held."""

@final
class Mergeable:
    """Paths that wait for others that they may be merged with, by what a rule leaves equal."""

    def __new__(cls, rules: Sequence[int], limits: Limits, seed: int | None = None) -> Mergeable: ...
    def keys(self, xpath: str, context: str = "", equal: str | None = None) -> list[int]:
        """What a path has in common with those that it may be merged with; or the key of what is equal."""

    def ready(
        self, xpath: str, context: str = "", equal: str | None = None
    ) -> list[tuple[int, int, tuple[int, int] | None, int]]:
        """Keys under which enough wait: with the rule, the places of two names, and how many wait."""

    def wait(self, handle: int, xpath: str, context: str = "", equal: str | None = None) -> None:
        """Lets an expression wait under its keys."""

    def withdraw(self, handle: int) -> None:
        """Lets it wait no longer."""

    def under(self, key: int) -> list[int]:
        """Those that wait under a key, in the order in which they came."""

    def patience(self, key: int) -> int:
        """How many must have gathered under a key before merging is tried."""

    def set_patience(self, key: int, number: int | None = None) -> None:
        """Tries again when so many have gathered; with None, as at first."""

    def __contains__(self, handle: int, /) -> bool: ...
    def __len__(self) -> int: ...
    def memory_bytes(self) -> int:
        """Heap bytes held."""

@final
class Graph:
    """A schema in the core: elements with their children and attributes, by number."""

    def __new__(
        cls,
        elements: list[
            tuple[
                str,
                str,
                str,
                list[int],
                list[tuple[str, str, bool, str | None, list[str] | None]],
                list[str] | None,
            ]
        ],
        root: int,
    ) -> Graph: ...
    def __len__(self) -> int: ...

@final
class Cancellation:
    """Ends the calls that it is given to, from any thread."""

    def __new__(cls) -> Cancellation: ...
    def cancel(self) -> None:
        """Ends the calls that run and those that begin later."""

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""

@final
class Index:
    """Subscriptions and matching; `pathcast.Index` is the way to it."""

    def __new__(
        cls,
        engine: str,
        limits: Limits,
        ordered: bool,
        namespaces: Mapping[str, str] | None,
        ignore_namespaces: bool,
        cache_bytes: int | None,
        attribute_filters: str,
        schema: Graph | None,
        prune: tuple[int, int, int, bool, bool, bool] | None,
        validate: bool | None,
        refuse_impossible: bool,
        entities: Mapping[str, str],
    ) -> Index: ...
    def add(
        self,
        id: Id,
        xpath: str,
        ordered: bool | None = None,
        namespaces: Mapping[str, str] | None = None,
        variables: Variables | None = None,
    ) -> str | None:
        """Adds or replaces a subscription; what the schema has to say about it."""

    def add_many(self, subscriptions: Iterable[Subscription] | ArrowStream) -> list[tuple[Id, str]]:
        """Adds all or none; the warnings of the schema by id."""

    def check(
        self,
        xpath: str,
        ordered: bool | None = None,
        namespaces: Mapping[str, str] | None = None,
        variables: Variables | None = None,
    ) -> tuple[str, str | None]:
        """The normal form as text, and what the schema has to say; adds nothing."""

    def pruned(
        self,
        xpath: str,
        ordered: bool | None = None,
        namespaces: Mapping[str, str] | None = None,
        variables: Variables | None = None,
    ) -> list[str]:
        """What an expression becomes under the schema."""

    def written_of(self, id: Id) -> tuple[str, bool, dict[str, str], dict[str, Any]]:
        """A subscription as it was written: expression, ordered, namespaces, variables."""

    def items(self) -> list[tuple[Id, str]]:
        """Ids with their expressions as written, in order of registration."""

    def remove(self, id: Id) -> None:
        """Removes a subscription; `KeyError` when there is none."""

    def clear(self) -> None:
        """Removes all subscriptions."""

    def match(self, document: Document, cancellation: Cancellation | None = None) -> list[Id]:
        """The ids of the subscriptions that a document satisfies."""

    def select(
        self, document: Document, cancellation: Cancellation | None = None
    ) -> tuple[dict[Id, list[Node]], list[Id]]:
        """The nodes that each matching subscription selects, and the ids that could not be decided."""

    def match_many(
        self,
        documents: Iterable[Document | None] | ArrowArray | ArrowStream,
        threads: int,
        cancellation: Cancellation | None = None,
    ) -> Batch:
        """One result for each document, in order."""

    def __len__(self) -> int: ...
    def __contains__(self, id: object, /) -> bool: ...
    def ids(self) -> list[Id]:
        """All ids in order of registration."""

    def stats(self) -> dict[str, Any]:
        """Counts and sizes."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index to a file, whole or not at all."""

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Index:
        """Reads an index from a file."""

    def save_image(self, path: str | os.PathLike[str]) -> bool:
        """Writes an image of the index; false if it has none."""

    @staticmethod
    def load_image(path: str | os.PathLike[str]) -> Index:
        """Opens an image."""

    def to_bytes(self) -> bytes:
        """The bytes that `save` writes."""

    @staticmethod
    def from_bytes(bytes: bytes) -> Index:
        """The index that `to_bytes` gave the bytes of."""

@final
class Node:
    """A node that a subscription selected."""

    @property
    def path(self) -> str:
        """Its path, such as `/a[1]/b[2]/@x`."""

    @property
    def line(self) -> int:
        """The line where it begins, from 1."""

    @property
    def column(self) -> int:
        """The column where it begins, in characters from 1."""

    @property
    def span(self) -> tuple[int, int]:
        """Where it begins and ends in the bytes given."""

    @property
    def text(self) -> str:
        """Its string-value."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Matches(Sequence[Id]):
    """The ids of one document; built when they are asked for."""

    @property
    def failures(self) -> list[Id]:
        """Subscriptions that cost more than one may on this document and were not decided."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Id: ...
    @overload
    def __getitem__(self, at: slice, /) -> list[Id]: ...
    def __iter__(self) -> Iterator[Id]: ...
    def __contains__(self, id: object, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def index(self, id: Any, *range: int) -> int:
        """The first place of an id."""

    def count(self, id: Any) -> int:
        """How often an id occurs."""

    def to_arrow(self) -> Any:
        """The ids as an Arrow array."""

@final
class Batch(Sequence[Matches | DocumentError]):
    """The results of `match_many`."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Matches | DocumentError: ...
    @overload
    def __getitem__(self, at: slice, /) -> list[Matches | DocumentError]: ...
    def __iter__(self) -> Iterator[Matches | DocumentError]: ...
    def index(self, result: Any, *range: int) -> int:
        """The first place of a result."""

    def count(self, result: Any) -> int:
        """How often a result occurs."""

    @property
    def undecided(self) -> list[tuple[int, Id]]:
        """What took more evaluation steps than the limit: a document's place and a subscription's id."""

    def to_arrow(self, *, ordered: bool = True) -> Any:
        """The ids of all documents as an Arrow list array; null for a bad document.

        Ids that are integers come sooner, and in no order, if they need not be `ordered`.
        """

    def to_groups(self) -> Groups:
        """The groups of subscriptions that each document matched, and the ids of each group."""
