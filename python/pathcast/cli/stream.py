"""Work that passes by: cut into blocks, and counted on a progress bar when a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

Item = TypeVar("Item")


def blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in lists of ``size``, the last perhaps shorter.

    >>> list(blocks("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    iterator = iter(items)
    while block := list(islice(iterator, size)):
        yield block


def progress(
    items: Iterable[Item], what: str, *, total: int | None = None, shown: bool = True
) -> Iterator[Item]:
    """The items as they come, counted on a bar on standard error if that is a terminal."""
    if not shown or not sys.stderr.isatty():
        yield from items
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(items, total=total, description=what)
