"""Compiled subscriptions in an object store, as any URL that `fsspec` opens.

The files of a version are named after their contents and never change, so what a machine has fetched once it
need not fetch again: processes of a host share a folder of such files, its mirror of the URL. A worker
fetches the files of its shard only. The manifest is written last and read anew every time.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pathcast.errors import PathcastError
from pathcast.spark.artifact import MANIFEST, replace_file

__all__ = ["fetched", "mirror", "mirrored", "publish"]


def mirror(url: str) -> Path:
    """The folder of this host for what was fetched from a URL; others may not write there."""
    top = Path(tempfile.gettempdir()) / f"pathcast-mirror-{os.getuid()}"
    folder = top / hashlib.sha256(url.rstrip("/").encode()).hexdigest()[:20]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    top.chmod(0o700)  # of another user, it fails
    return folder


def fetched(url: str, name: str) -> Path:
    """A file of a version, from the mirror if it is there. Who opens it checks its contents."""
    place = mirror(url) / name
    if not place.exists():
        replace_file(place, _read(url, name))
    return place


def mirrored(url: str) -> Path:
    """The mirror with the present manifest in it."""
    folder = mirror(url)
    try:
        replace_file(folder / MANIFEST, _read(url, MANIFEST))
    except FileNotFoundError:
        (folder / MANIFEST).unlink(missing_ok=True)
    return folder


def publish(folder: Path, names: Iterable[str], url: str) -> None:
    """Copies the files that the store does not have, and then the manifest."""
    system, inside = _system(url)
    system.makedirs(inside, exist_ok=True)
    there = {each.rpartition("/")[2] for each in system.ls(inside, detail=False)}
    for name in names:
        if name not in there:
            _write(system, f"{inside}/{name}", (folder / name).read_bytes())
    _write(system, f"{inside}/{MANIFEST}", (folder / MANIFEST).read_bytes())


def _write(system: Any, path: str, contents: bytes) -> None:
    # A name that is there stands for whole contents, also where writing a file shows before it ends.
    part = f"{path}.part"
    system.pipe_file(part, contents)
    system.mv(part, path)


def _read(url: str, name: str) -> bytes:
    system, inside = _system(url)
    contents: bytes = system.cat_file(f"{inside}/{name}")
    return contents


def _system(url: str) -> tuple[Any, str]:
    kind, _, rest = url.partition(":")
    try:
        import fsspec

        # One slash, as Hadoop takes it, would be a path of this machine to fsspec.
        system, inside = fsspec.core.url_to_fs(url if rest.startswith("//") else f"{kind}://{rest}")
    except (ImportError, OSError, TypeError, ValueError) as error:
        raise PathcastError(f"{url} needs fsspec and what it opens such URLs with: {error}") from error
    system.invalidate_cache()
    return system, inside.rstrip("/")
