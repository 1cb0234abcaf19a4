"""What a worker has imported, and what Spark and the interpreter should not do with it."""

from __future__ import annotations

import gc
import os
import sys
from zipimport import zipimporter

__all__ = ["forget_archives", "freeze_imports"]

_imported = 0  # modules, when they were last frozen


def freeze_imports() -> None:
    """Takes modules out of the garbage collector's sight, whenever there are more of them.

    Spark's workers collect garbage after every task, and look at all of it: 25 ms, as long as matching a
    thousand documents. Modules stay for as long as the worker does. Spark imports some only after a task's
    function has begun, so the second task freezes too.
    """
    global _imported
    if len(sys.modules) > _imported:
        _imported = len(sys.modules)
        gc.collect()
        gc.freeze()


def forget_archives() -> None:
    """Takes Spark's own archives out of a cache of the interpreter.

    At a worker's first task Spark has all of that cache read again, for there may be new modules. Each
    package of Spark is there with the whole list of contents of its archive, and so is the archive of Java's
    classes that is on Python's path: 90 ms and 20 MB. They do not change; an import from them puts them back.
    """
    archives = {_archive(name) for name in ("pyspark", "py4j")}
    for place, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter) and (
            finder.archive in archives or os.path.basename(finder.archive).startswith("spark-core_")
        ):
            del sys.path_importer_cache[place]


def _archive(name: str) -> str | None:
    loader = getattr(sys.modules.get(name), "__loader__", None)
    return loader.archive if isinstance(loader, zipimporter) else None
