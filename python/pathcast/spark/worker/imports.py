"""What a worker has imported, kept out of the garbage collector's sight."""

from __future__ import annotations

import gc
import sys

__all__ = ["freeze_imports"]

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
