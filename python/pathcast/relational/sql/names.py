"""How the names in braces of a statement become names of tables. No name comes from a user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pathcast.relational.sql.tables import KEYS


def run_table(name: str) -> str:
    """The name of a table of a run.

    >>> run_table("XMLMatch")
    'run_xmlmatch'
    """
    return f"run_{name.lower()}"


def kept_table(name: str) -> str:
    """The name of a table that stays.

    >>> kept_table("OtherSlot")
    'pathcast_otherslot'
    """
    return f"pathcast_{name.lower()}"


class _Names(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return kept_table(name) if name in KEYS else run_table(name)


def filled(statement: str, level: int = 0, tables: Mapping[str, str] | None = None) -> str:
    """A statement with the names of tables and the level; some tables may have other names.

    >>> filled("select 1 from {Kept} k join {Subscriber} s on s.pattern = k.id where {level} = 2", 2)
    'select 1 from run_kept k join pathcast_subscriber s on s.pattern = k.id where 2 = 2'
    >>> filled("from {Kept}", tables={"Kept": "(from a union all from b)"})
    'from (from a union all from b)'
    """
    return statement.format_map(_Names(tables or {}, level=int(level)))
