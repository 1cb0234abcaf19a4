"""Compiled subscriptions in a folder, as the driver sees them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pathcast.errors import IndexFormatError, PathcastError, printable
from pathcast.spark import leases
from pathcast.spark.artifact import Manifest, version_file
from pathcast.spark.driver.hadoop import index_folder
from pathcast.spark.folders import Folder, LocalFolder, StoredFolder
from pathcast.spark.store import fetched, mirror
from pathcast.spark.worker.shards import find_file, read_rows

__all__ = ["Compiled", "RejectedSubscriptions", "remove_unused"]


class RejectedSubscriptions(PathcastError, ValueError):  # noqa: N818 - it holds several
    """A table of subscriptions with rows that make none; `compiled` has the others, and all that are bad."""

    def __init__(self, message: str, compiled: Compiled) -> None:
        super().__init__(message)
        self.compiled = compiled


@dataclass(frozen=True)
class Compiled:
    """Compiled subscriptions in a folder.

    `Compiled.open(path)` reads what `compile_subscriptions` wrote there.
    """

    path: Path
    manifest: Manifest
    spark: SparkSession | None = field(default=None, repr=False, compare=False)
    store: str | None = None
    """The URL of which `path` is a mirror, if they are not in this machine's file system."""
    fetches: bool = True
    """Whether workers fetch from the URL; if not, the driver has fetched what they need."""

    def __repr__(self) -> str:
        """Short: a manifest of many shards is pages."""
        return f"Compiled({self.store or str(self.path)!r}: {self.told})"

    @property
    def told(self) -> str:
        """What there is, in a line."""
        counts = ((self.subscriptions, "subscription"), (self.shards, "shard"))
        told = ", ".join(f"{count:,} {name}{'s' * (count != 1)}" for count, name in counts)
        return f"{told}, version {self.hash[:12]}"

    @classmethod
    def open(cls, path: str | os.PathLike[str], spark: SparkSession | None = None) -> Compiled:
        """The newest version in a folder; `IndexFormatError` when it is damaged or from a newer Pathcast."""
        folder = index_folder(path, spark or SparkSession.getActiveSession())
        return cls.of(folder, leases.manifest_in(folder), spark)

    @classmethod
    def of(cls, folder: Folder, manifest: Manifest, spark: SparkSession | None = None) -> Compiled:
        """A version of a folder, with the files that workers do not fetch themselves."""
        if isinstance(folder, LocalFolder):
            # Without an image the index file does.
            for name in (name for shard in manifest.shards for name in shard.without_image.files):
                if not (folder.path / name).exists():
                    raise IndexFormatError(
                        f"{folder.path / name} is missing: compile the subscriptions again with "
                        "compile_subscriptions()"
                    )
            return cls(folder.path, manifest, spark)
        fetches = isinstance(folder, StoredFolder)
        if not fetches:
            for name in manifest.files:
                fetched(folder, name)
        return cls(mirror(folder.place), manifest, spark, folder.place, fetches)

    @classmethod
    def version(cls, folder: Folder, hash: str) -> Compiled | None:
        """A version that may be older; None if its files are gone."""
        try:
            manifest = leases.manifest_in(folder, version_file(hash))
        except IndexFormatError:
            return None
        complete = set(manifest.files) <= set(folder.names())
        return cls.of(folder, manifest) if complete and manifest.hash == hash else None

    @property
    def place(self) -> str:
        """Where workers find the files."""
        return self.store if self.store and self.fetches else str(self.path)

    @property
    def hash(self) -> str:
        """The version: equal tables compiled with equal settings have equal ones."""
        return self.manifest.hash

    @property
    def subscriptions(self) -> int:
        """How many there are."""
        return self.manifest.subscriptions

    @property
    def shards(self) -> int:
        """Over how many indexes they are spread."""
        return len(self.manifest.shards)

    @property
    def refused(self) -> int:
        """How many rows of the last compilation made no subscription."""
        return self.manifest.refused

    @property
    def rejected(self) -> DataFrame:
        """Those rows: `id`, `xpath`, `column` within the expression if it has one, and `reason`."""
        spark = self.spark or SparkSession.active()
        names = [shard.rejected for shard in self.manifest.shards if shard.rejected]
        schema = f"id {self.manifest.id_type}, xpath string, column int, reason string"
        if not names:
            return spark.createDataFrame([], schema)
        table = pa.concat_tables([read_rows(find_file(self.place, name)) for name in names])
        return spark.createDataFrame(table, schema)

    def first_rejected(self, count: int) -> list[str]:
        """A line about each of the first rejected rows."""
        lines: list[str] = []
        for shard in self.manifest.shards:
            if shard.rejected and len(lines) < count:
                rows = read_rows(find_file(self.place, shard.rejected)).slice(0, count - len(lines))
                lines += [_line(row) for row in rows.to_pylist()]
        return lines


def _line(row: dict[str, Any]) -> str:
    at = f"column {row['column']}: " if row["column"] else ""
    xpath = row["xpath"] if row["xpath"] is None or len(row["xpath"]) <= 80 else row["xpath"][:79] + "…"
    return f"{row['id']!r}: {xpath!r}: {at}{printable(row['reason'])}"


def remove_unused(folder: str | os.PathLike[str], *, grace: float = 0.0) -> list[str]:
    """Deletes the files of older versions that nobody holds a lease for, and returns their names.

    Streams hold leases for what they may need again. A table that `match` planned with an older version does
    not: with `grace`, files are left for that many seconds after a newer version replaced theirs; in a store,
    after the newest version came.
    """
    return leases.remove_unused(index_folder(folder, SparkSession.getActiveSession()), grace=grace)
