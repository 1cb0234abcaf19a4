import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex, final, overload

from pathcast.errors import DocumentError, XPathError
from pathcast.limits import Limits
from pathcast.types import ArrowArray, ArrowStream, Document, Id, Subscription

__all__ = [
    "Batch",
    "Graph",
    "Index",
    "Matches",
    "__version__",
    "bare_elements",
    "canonical",
    "compile",
    "encode_ids",
    "engines",
    "explain",
    "shred",
    "strict_elements",
]

__version__: str

def engines(variants: bool = False) -> list[str]: ...
def canonical(xpath: str) -> str: ...
def bare_elements(documents: list[bytes]) -> int: ...
def strict_elements(documents: list[bytes]) -> int: ...
def explain(
    xpath: str,
    document: Document,
    limits: Limits,
    namespaces: Mapping[str, str] | None,
    ignore_namespaces: bool,
    ordered: bool,
) -> tuple[bool, list[tuple[str, bool, list[tuple[str, int, list[str]]]]]]: ...

def compile(
    subscriptions: Iterable[Subscription] | ArrowStream,
    limits: Limits,
    ordered: bool,
    namespaces: Mapping[str, str] | None,
    ignore_namespaces: bool,
    key: tuple[int, int],
    levels: int,
    alternatives: int,
) -> tuple[dict[str, Any], list[tuple[int, Id, XPathError]]]: ...
def shred(
    documents: Iterable[Document] | ArrowArray | ArrowStream,
    limits: Limits,
    ignore_namespaces: bool,
    text_bytes: int,
    most_rows: int,
) -> tuple[dict[str, Any], list[tuple[int, DocumentError]]]: ...
def encode_ids(ids: list[Id]) -> list[str]: ...

@final
class Graph:
    def __new__(
        cls,
        elements: list[
            tuple[str, str, str, list[int], list[tuple[str, str, bool, str | None, list[str] | None]]]
        ],
        root: int,
    ) -> Graph: ...
    def __len__(self) -> int: ...

@final
class Index:
    def __new__(
        cls,
        engine: str,
        limits: Limits,
        ordered: bool,
        namespaces: Mapping[str, str] | None,
        ignore_namespaces: bool,
        cache_bytes: int,
        schema: Graph | None,
        prune: tuple[int, int, int, bool, bool] | None,
        validate: bool,
        refuse_impossible: bool,
    ) -> Index: ...
    def add(
        self,
        id: Id,
        xpath: str,
        ordered: bool | None = None,
        namespaces: Mapping[str, str] | None = None,
    ) -> str | None: ...
    def add_many(self, subscriptions: Iterable[Subscription] | ArrowStream) -> list[tuple[Id, str]]: ...
    def check(
        self, xpath: str, ordered: bool | None = None, namespaces: Mapping[str, str] | None = None
    ) -> str | None: ...
    def pruned(
        self, xpath: str, ordered: bool | None = None, namespaces: Mapping[str, str] | None = None
    ) -> list[str]: ...
    def remove(self, id: Id) -> None: ...
    def match(self, document: Document) -> list[Id]: ...
    def match_many(self, documents: Iterable[Document] | ArrowArray | ArrowStream, threads: int) -> Batch: ...
    def __len__(self) -> int: ...
    def __contains__(self, id: object, /) -> bool: ...
    def ids(self) -> list[Id]: ...
    def stats(self) -> dict[str, Any]: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Index: ...

@final
class Matches(Sequence[Id]):
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Id: ...
    @overload
    def __getitem__(self, at: slice, /) -> list[Id]: ...
    def __iter__(self) -> Iterator[Id]: ...
    def __contains__(self, id: object, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def index(self, id: Any, *range: int) -> int: ...
    def count(self, id: Any) -> int: ...
    def to_arrow(self) -> Any: ...

@final
class Batch(Sequence[Matches | DocumentError]):
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Matches | DocumentError: ...
    @overload
    def __getitem__(self, at: slice, /) -> list[Matches | DocumentError]: ...
    def __iter__(self) -> Iterator[Matches | DocumentError]: ...
    def index(self, result: Any, *range: int) -> int: ...
    def count(self, result: Any) -> int: ...
    def to_arrow(self) -> Any: ...
