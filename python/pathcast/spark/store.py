"""Compiled subscriptions that are not in this machine's file system: what each host keeps of them.

The files of a version are named after their contents and never change, so what a machine has fetched once it
need not fetch again: processes of a host share a folder of such files, its mirror of the URL. A worker
fetches the files of its shard only. The manifest is written last and read anew every time. What the store has
no longer, a host forgets when it fetches something else.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from time import time

from pathcast.spark.artifact import MANIFEST, replace_file
from pathcast.spark.folders import Folder, folder_at

__all__ = ["fetched", "mirror", "mirrored", "publish"]

_OLD = 24 * 3600.0
"""Seconds that a file is left in any case: a compilation writes here before the store has it."""
_LOOKS = 3600.0  # seconds until a process looks again at what a store has
_looked: dict[str, float] = {}


def mirror(url: str) -> Path:
    """The folder of this host for what was fetched from a URL; others may not write there."""
    top = Path(tempfile.gettempdir()) / f"pathcast-mirror-{os.getuid()}"
    folder = top / hashlib.sha256(url.rstrip("/").encode()).hexdigest()[:20]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    top.chmod(0o700)  # of another user, it fails
    return folder


def fetched(url: str | Folder, name: str) -> Path:
    """A file of a version, from the mirror if it is there. Who opens it checks its contents."""
    place = mirror(url if isinstance(url, str) else url.place) / name
    if not place.exists():
        source = folder_at(url)
        source.fetch(name, place)
        _forget(source, place.parent)
    return place


def _forget(source: Folder, folder: Path) -> None:
    """Deletes what the store has no longer: there leases decide how long a version is needed."""
    now = time()
    if now - _looked.get(source.place, 0.0) < _LOOKS:
        return
    _looked[source.place] = now
    there = set(source.names())
    for each in folder.iterdir():
        with suppress(FileNotFoundError):
            if each.name not in there and each.stat().st_mtime < now - _OLD:
                each.unlink()


def mirrored(url: str | Folder, name: str = MANIFEST) -> Path:
    """The mirror with the present manifest in it, or with that of a version."""
    source = folder_at(url)
    folder = mirror(source.place)
    try:
        replace_file(folder / name, source.read(name))
    except FileNotFoundError:
        (folder / name).unlink(missing_ok=True)
    return folder


def publish(folder: Path, names: Iterable[str], url: str | Folder) -> None:
    """Copies the files that the store does not have, and then the manifest."""
    target = folder_at(url)
    there = set(target.names())
    for name in names:
        if name not in there:
            target.put(name, folder / name)
    target.write(MANIFEST, (folder / MANIFEST).read_bytes())
