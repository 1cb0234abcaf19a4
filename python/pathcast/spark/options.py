"""How documents are matched, as one value: every field is a keyword of `match` and `match_tagged`.

>>> MatchOptions(id="number", mode="FAILFAST").batch_bytes
8388608
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeAlias, TypeVar

from pathcast.limits import Limits
from pathcast.spark.artifact import check_engine
from pathcast.types import Namespaces

if TYPE_CHECKING:
    import os

    from pyspark.sql import DataFrame

    from pathcast.spark.driver.compiled import Compiled

    Subscriptions: TypeAlias = DataFrame | Compiled | str | os.PathLike[str]
    """A table, compiled subscriptions, or the folder that holds them."""

__all__ = ["BATCH_BYTES", "MatchOptions", "Mode", "takes_options"]

Mode: TypeAlias = Literal["PERMISSIVE", "DROPMALFORMED", "FAILFAST"]
MODES: tuple[Mode, ...] = ("PERMISSIVE", "DROPMALFORMED", "FAILFAST")

BATCH_BYTES = 8 << 20
"""What a worker gets at once.

Documents of 2.5 KB against 100,000 subscriptions took 29 to 30 microseconds of both cores in batches of 8 MB,
31 to 34 in batches of 4 MB, 30 to 31 in larger ones: between batches Java has the processor's cache.
"""


@dataclass(frozen=True)
class MatchOptions:
    """What `match` and `match_tagged` take beside documents and subscriptions."""

    document: str = "xml"
    """The column of XML."""
    id: str = "doc_id"
    """The column of document ids."""
    engine: str = "auto"
    shards: int | None = None
    """Into how many indexes a table of subscriptions is compiled; 1 if not given."""
    mode: Mode = "PERMISSIVE"
    """What happens to bad documents, named as in Spark."""
    _: KW_ONLY
    keep: Sequence[str] = ()
    """Columns of the documents that go with every match and every dead letter."""
    result: Literal["matches", "grouped", "delivered"] = "matches"
    """A row for each match, for each document, or for each document and subscriber."""
    nodes: bool = False
    """Whether every match has the nodes that it selects, with their paths and texts."""
    on_bad_subscription: Literal["raise", "reject"] = "raise"
    namespaces: Namespaces | None = None
    ordered: bool = False
    ignore_namespaces: bool = False
    limits: Limits | None = None
    entities: Literal["html"] | Mapping[str, str] | None = None
    """Entities that documents may use without declaring them."""
    latest_by: str | None = None
    batch_bytes: int = BATCH_BYTES
    """Where batches are cut."""
    ship: bool | None = None
    """Whether the index is sent to the workers; by default, unless they share this machine's files."""
    share: bool | None = None
    """Whether the workers of an executor share one index; by default, if it is large."""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode must be PERMISSIVE, DROPMALFORMED or FAILFAST, not {self.mode!r}")
        check_engine(self.engine)
        if self.batch_bytes < 1:
            raise ValueError(f"batch_bytes must be at least 1, not {self.batch_bytes}")
        if self.result not in ("matches", "grouped", "delivered"):
            raise ValueError(f"result must be matches, grouped or delivered, not {self.result!r}")
        if self.nodes and self.result != "matches":
            raise ValueError(f"nodes=True needs a row for each match, and result={self.result!r} has none")
        if isinstance(self.keep, str):
            raise TypeError(f"keep is a list of columns: keep=[{self.keep!r}]")
        if self.on_bad_subscription not in ("raise", "reject"):
            raise ValueError(
                f"on_bad_subscription must be 'raise' or 'reject', not {self.on_bad_subscription!r}"
            )

    @property
    def compiles(self) -> bool:
        """Whether it holds settings that only compiling uses."""
        return bool(
            self.namespaces
            or self.ordered
            or self.ignore_namespaces
            or self.limits
            or self.entities
            or self.latest_by
        )


P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class _Call(Protocol[P, R]):
    def __call__(
        self, documents: DataFrame, subscriptions: Subscriptions, *args: P.args, **kwargs: P.kwargs
    ) -> R: ...


def takes_options(
    options: Callable[P, MatchOptions],
) -> Callable[[Callable[[DataFrame, Subscriptions, MatchOptions], R]], _Call[P, R]]:
    """A decorator: the fields of the options become arguments of the function, in their order."""

    def decorate(function: Callable[[DataFrame, Subscriptions, MatchOptions], R]) -> _Call[P, R]:
        signature = _signature(function, options)

        def call(documents: DataFrame, subscriptions: Subscriptions, *args: P.args, **kwargs: P.kwargs) -> R:
            try:
                signature.bind(documents, subscriptions, *args, **kwargs)
            except TypeError as error:  # which would name the class of the options
                raise TypeError(f"{function.__name__}(): {error}") from None
            return function(documents, subscriptions, options(*args, **kwargs))

        update_wrapper(call, function)
        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return decorate


def _signature(function: Callable[..., Any], options: Callable[..., Any]) -> inspect.Signature:
    """What `help` shows: the two tables, then the options one by one."""
    own = inspect.signature(function)
    first = list(own.parameters.values())[:2]
    return own.replace(parameters=[*first, *inspect.signature(options).parameters.values()])
