"""The engines under test, and an index of each that takes any subscription."""

from __future__ import annotations

from typing import Any

import pathcast
from pathcast.index import needs_schema

ENGINES = pathcast.engines(variants=True)


def index_with(engine: str, **settings: Any) -> pathcast.Index:
    """An empty index; an engine that is made for pruned subscriptions gets them as they are."""
    if needs_schema(engine) and "schema" not in settings:
        settings["prune"] = False
    return pathcast.Index(engine, **settings)
