"""Leases: who still needs files of an older version, so that `remove_unused` leaves them.

    lease-<holder>.json    the files, the types of the columns, and until when

A reader writes its lease and then looks at the manifest once more. A remover reads the manifest first and
the leases after it. So when the reader still finds the version that it leased, whoever removes that version
later sees the lease; no lock is needed.

A compilation holds a lease without files: what was written since it began is left too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from time import time
from typing import TypeAlias
from uuid import uuid4

from pathcast.spark.artifact import MANIFEST, Manifest, version_file
from pathcast.spark.folders import Folder, LocalFolder, folder_at

__all__ = [
    "Lease",
    "alone",
    "check_types",
    "lease_newest",
    "leases",
    "manifest_in",
    "remove_unused",
    "unchanged",
    "writing",
]

Place: TypeAlias = str | os.PathLike[str] | Folder

LASTS = 30 * 24 * 3600.0
"""Seconds that the lease of a stream outlives its last batch."""
_WRITES = 24 * 3600.0


@dataclass(frozen=True)
class Lease:
    """What a holder needs."""

    holder: str
    until: float
    """Seconds since 1970."""
    files: tuple[str, ...] = ()
    since: float | None = None
    """Files written since then are needed too."""
    types: dict[str, str | None] = field(default_factory=dict)
    """The types that the columns of every later version must have: `id_type`, `subscriber_type`."""

    def write(self, folder: Place) -> None:
        """Takes or renews it."""
        folder_at(folder).write(f"lease-{self.holder}.json", json.dumps(asdict(self)).encode())

    def end(self, folder: Place) -> None:
        """Gives it back."""
        folder_at(folder).remove(f"lease-{self.holder}.json")


def leases(place: Place) -> list[Lease]:
    """Those that hold; the others are deleted. A damaged one holds everything: nobody knows what it says."""
    folder, found = folder_at(place), []
    for name in _fitting(folder.names(), "lease-*.json"):
        try:
            values = json.loads(folder.read(name))
            lease = Lease(**{**values, "files": tuple(values["files"])})
        except FileNotFoundError:
            continue
        except (ValueError, TypeError, KeyError):
            lease = Lease(name.removesuffix(".json"), folder.changed(name) + LASTS, since=0.0)
        if lease.until < time():
            folder.remove(name)
        else:
            found.append(lease)
    return found


def _fitting(names: Iterable[str], *patterns: str) -> list[str]:
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


@contextmanager
def writing(folder: Place) -> Iterator[None]:
    """Files that are written within the block are left alone until a manifest names them."""
    lease = Lease(f"compile-{uuid4().hex}", time() + _WRITES, since=time() - 60.0)
    lease.write(folder)
    try:
        yield
    finally:
        lease.end(folder)


@contextmanager
def unchanged(place: Folder, manifest: Manifest) -> Iterator[None]:
    """Within the block the newest version is that one, else it is an error; others on this machine wait."""
    with alone(place):
        present = manifest_in(place)
        if present.hash != manifest.hash:
            raise ValueError(
                f"the subscriptions in {place.place} are version {present.hash[:12]} by now, and these "
                f"changes are to {manifest.hash[:12]}: nothing was written; call again with the folder"
            )
        yield


@contextmanager
def alone(place: Folder) -> Iterator[None]:
    """Nobody else on this machine writes the manifest of a folder of this machine within the block."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    if not isinstance(place, LocalFolder):
        yield
        return
    folder = os.open(place.path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems of networks have no locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def remove_unused(folder: Place, *, grace: float = 0.0) -> list[str]:
    """Deletes the files of older versions that nobody holds a lease for, and returns their names."""
    place = folder_at(folder)
    manifest = manifest_in(place)
    used = {*manifest.files, manifest.name}
    held = leases(place)
    for lease in held:
        used |= set(lease.files)
    oldest = min([time() - grace, *(lease.since for lease in held if lease.since is not None)])
    # Files of this machine have the time at which they were replaced; others only that of their making.
    replaced = 0.0 if isinstance(place, LocalFolder) else place.changed(MANIFEST)
    if grace and replaced > time() - grace:
        return []
    removed = []
    for name in _fitting(place.names(), "shard-*", "routing-*", version_file("*")):
        with suppress(FileNotFoundError):
            if name not in used and place.changed(name) <= oldest:
                place.remove(name)
                removed.append(name)
    return removed


def manifest_in(place: Place, name: str = MANIFEST) -> Manifest:
    """The manifest of a folder, or that of a version in it."""
    folder = folder_at(place)
    return Manifest.parsed(lambda: folder.read(name), folder.place, name)


def lease_newest(place: Place, holder: str, also: Iterable[Manifest] = ()) -> Manifest:
    """The newest version, with a lease for it and for the others that are given."""
    folder, others = folder_at(place), list(also)
    while True:
        manifest = manifest_in(folder)
        names = {name for each in (manifest, *others) for name in (*each.files, each.name)}
        Lease(holder, time() + LASTS, tuple(sorted(names)), types=manifest.types).write(folder)
        if manifest_in(folder).hash == manifest.hash:
            return manifest


def check_types(place: Place, types: dict[str, str | None]) -> None:
    """Raises `TypeError` if a stream reads this folder and could not go on with columns of these types."""
    for lease in leases(place):
        if lease.types and lease.types != types:
            raise TypeError(
                f"the stream {lease.holder} reads this folder with {_types(lease.types)}, and these "
                f"subscriptions have {_types(types)}: its rows would not fit those that it wrote. Cast the "
                "columns, or compile to another folder; if that stream is over, delete "
                f"{folder_at(place).place}/lease-{lease.holder}.json"
            )


def _types(types: dict[str, str | None]) -> str:
    subscriber = types["subscriber_type"]
    return f"ids of type {types['id_type']} and " + (
        f"subscribers of type {subscriber}" if subscriber else "no subscribers"
    )
