"""What holds for a whole database, kept in its table `Setting` as JSON texts."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pathcast.errors import DatabaseError
from pathcast.types import Namespaces

VERSION = 2
NODE_BITS = 25
"""Bits of a node's number that are its place in the document; the others are the document's number."""


@dataclass(frozen=True)
class Settings:
    """The key that numbers are made with, how names are read, and how long a text is kept."""

    key: tuple[int, int]
    namespaces: dict[str, str]
    ignore_namespaces: bool
    text_bytes: int

    @classmethod
    def new(cls, namespaces: Namespaces | None, ignore_namespaces: bool, text_bytes: int) -> Settings:
        """Those of a new database."""
        key = (secrets.randbits(64), secrets.randbits(64))
        return cls(key, dict(namespaces or {}), ignore_namespaces, text_bytes)

    def rows(self) -> list[tuple[str, str]]:
        """As they are kept."""
        values = {
            "version": VERSION,
            "key": self.key,
            "namespaces": self.namespaces,
            "ignore_namespaces": self.ignore_namespaces,
            "text_bytes": self.text_bytes,
        }
        return [(name, json.dumps(value)) for name, value in values.items()]

    def of(self, rows: Iterable[tuple[str, str]]) -> Settings:
        """Those of a database that is there; they must be what was asked for.

        >>> wanted = Settings((1, 2), {}, False, 100)
        >>> wanted.of(Settings((3, 4), {}, False, 200).rows())
        Settings(key=(3, 4), namespaces={}, ignore_namespaces=False, text_bytes=200)
        >>> wanted.of(Settings((3, 4), {"": "urn:x"}, False, 200).rows())
        Traceback (most recent call last):
        pathcast.errors.DatabaseError: the database was made with namespaces={'': 'urn:x'}, not {}
        """
        kept: Mapping[str, object] = {name: json.loads(content) for name, content in rows}
        if kept.get("version") != VERSION:
            raise DatabaseError(f"the tables are of version {kept.get('version')}, this is {VERSION}")
        for name in ("namespaces", "ignore_namespaces"):
            if kept[name] != getattr(self, name):
                raise DatabaseError(
                    f"the database was made with {name}={kept[name]!r}, not {getattr(self, name)!r}"
                )
        first, second = kept["key"]  # type: ignore[misc]
        return replace(
            self,
            key=(first, second),  # type: ignore[has-type]
            text_bytes=max(self.text_bytes, int(str(kept["text_bytes"]))),
        )
