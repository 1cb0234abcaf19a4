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
from pathlib import Path
from time import time
from uuid import uuid4

from pathcast.spark.artifact import Manifest, replace_file, version_file
from pathcast.spark.places import local_path

__all__ = ["Lease", "check_types", "lease_newest", "leases", "remove_unused", "writing"]

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

    def write(self, folder: Path) -> None:
        """Takes or renews it."""
        replace_file(folder / f"lease-{self.holder}.json", json.dumps(asdict(self)).encode())

    def end(self, folder: Path) -> None:
        """Gives it back."""
        (folder / f"lease-{self.holder}.json").unlink(missing_ok=True)


def leases(folder: Path) -> list[Lease]:
    """Those that hold; the others are deleted. A damaged one holds everything: nobody knows what it says."""
    found = []
    for path in sorted(folder.glob("lease-*.json")):
        try:
            values = json.loads(path.read_bytes())
            lease = Lease(**{**values, "files": tuple(values["files"])})
        except FileNotFoundError:
            continue
        except (ValueError, TypeError, KeyError):
            lease = Lease(path.stem, path.stat().st_mtime + LASTS, since=0.0)
        if lease.until < time():
            path.unlink(missing_ok=True)
        else:
            found.append(lease)
    return found


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Files that are written within the block are left alone until a manifest names them."""
    lease = Lease(f"compile-{uuid4().hex}", time() + _WRITES, since=time() - 60.0)
    lease.write(folder)
    try:
        yield
    finally:
        lease.end(folder)


def remove_unused(folder: str | os.PathLike[str], *, grace: float = 0.0) -> list[str]:
    """Deletes the files of older versions that nobody holds a lease for, and returns their names.

    Streams hold leases for what they may need again. A table that `match` planned with an older version does
    not: with `grace`, files are left for that many seconds after a newer version replaced theirs.
    """
    place = _local(folder)
    manifest = Manifest.read(place)
    used = {*manifest.files, manifest.name}
    held = leases(place)
    for lease in held:
        used |= set(lease.files)
    oldest = min([time() - grace, *(lease.since for lease in held if lease.since is not None)])
    removed = []
    for path in sorted([*place.glob("shard-*"), *place.glob(version_file("*"))]):
        with suppress(FileNotFoundError):
            if path.name not in used and path.stat().st_mtime <= oldest:
                path.unlink()
                removed.append(path.name)
    return removed


def _local(folder: str | os.PathLike[str]) -> Path:
    place = local_path(folder)
    if place is None:
        raise ValueError(f"{os.fspath(folder)} is not a folder that this process can open")
    return place


def lease_newest(folder: Path, holder: str, also: Iterable[Manifest] = ()) -> Manifest:
    """The newest version, with a lease for it and for the others that are given."""
    others = list(also)
    while True:
        manifest = Manifest.read(folder)
        names = {name for each in (manifest, *others) for name in (*each.files, each.name)}
        Lease(holder, time() + LASTS, tuple(sorted(names)), types=manifest.types).write(folder)
        if Manifest.read(folder).hash == manifest.hash:
            return manifest


def check_types(folder: Path, types: dict[str, str | None]) -> None:
    """Raises `TypeError` if a stream reads this folder and could not go on with columns of these types."""
    for lease in leases(folder):
        if lease.types and lease.types != types:
            raise TypeError(
                f"the stream {lease.holder} reads this folder with {_types(lease.types)}, and these "
                f"subscriptions have {_types(types)}: its rows would not fit those that it wrote. Cast the "
                "columns, or compile to another folder; if that stream is over, delete "
                f"{folder / f'lease-{lease.holder}.json'}"
            )


def _types(types: dict[str, str | None]) -> str:
    subscriber = types["subscriber_type"]
    return f"ids of type {types['id_type']} and " + (
        f"subscribers of type {subscriber}" if subscriber else "no subscribers"
    )
