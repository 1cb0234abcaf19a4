"""Folders of small files, wherever they are: in this machine's file system, or at a URL that `fsspec` opens.

A file is written whole or not at all: who reads a name finds all of its contents. Names may have parts, as in
`batches/00000012.json`. `driver.hadoop` has the same for what only Spark can open.

>>> import tempfile
>>> folder = folder_at(tempfile.mkdtemp())
>>> folder.write("notes/1.json", b"{}")
>>> folder.names("notes"), folder.read("notes/1.json")
(['1.json'], b'{}')
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from pathcast.errors import PathcastError
from pathcast.spark.artifact import replace_file
from pathcast.spark.places import local_path

__all__ = ["Folder", "LocalFolder", "StoredFolder", "folder_at"]


class Folder(Protocol):
    """What is asked of a folder. A file that is not there is a `FileNotFoundError`."""

    @property
    def place(self) -> str:
        """Its path or URL."""

    def read(self, name: str) -> bytes:
        """The contents of a file."""

    def write(self, name: str, contents: bytes) -> None:
        """Makes or replaces a file."""

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""

    def names(self, below: str = "") -> list[str]:
        """The files in it, or in a folder of it, sorted; none if there is no such folder."""

    def changed(self, name: str) -> float:
        """When a file was written, in seconds since 1970."""

    def fetch(self, name: str, to: Path) -> None:
        """Copies a file to this machine."""

    def put(self, name: str, file: Path) -> None:
        """Copies a file of this machine into the folder."""


@dataclass(frozen=True)
class LocalFolder:
    """A folder of this machine."""

    path: Path

    @property
    def place(self) -> str:
        return str(self.path)

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def write(self, name: str, contents: bytes) -> None:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path / name, contents)

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def names(self, below: str = "") -> list[str]:
        folder = self.path / below
        return sorted(each.name for each in folder.iterdir() if each.is_file()) if folder.is_dir() else []

    def changed(self, name: str) -> float:
        return (self.path / name).stat().st_mtime

    def fetch(self, name: str, to: Path) -> None:
        replace_file(to, self.path / name)

    def put(self, name: str, file: Path) -> None:
        replace_file(self.path / name, file)


@dataclass(frozen=True)
class StoredFolder:
    """A folder at a URL that `fsspec` opens; `PathcastError` if it does not."""

    url: str

    @property
    def place(self) -> str:
        return self.url

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        kind, _, rest = self.url.partition(":")
        try:
            import fsspec

            # One slash, as Hadoop takes it, would be a path of this machine to fsspec.
            url = self.url if rest.startswith("//") else f"{kind}://{rest}"
            system, inside = fsspec.core.url_to_fs(url, use_listings_cache=False)
        except (ImportError, OSError, TypeError, ValueError) as error:
            # libhdfs names every place where it looked for Java, on a page.
            reason = str(error).replace("\\n", "\n").partition("\n")[0][:200]
            raise PathcastError(
                f"{self.url} needs fsspec and what it opens such URLs with: {reason}"
            ) from error
        return system, inside.rstrip("/")

    def check(self) -> StoredFolder:
        """Itself, if its URL can be opened."""
        _ = self._opened
        return self

    def read(self, name: str) -> bytes:
        system, inside = self._opened
        contents: bytes = system.cat_file(f"{inside}/{name}")
        return contents

    def write(self, name: str, contents: bytes) -> None:
        system, inside = self._opened
        self._whole(name, lambda part: system.pipe_file(f"{inside}/{part}", contents))

    def remove(self, name: str) -> None:
        system, inside = self._opened
        with suppress(FileNotFoundError):
            system.rm_file(f"{inside}/{name}")

    def names(self, below: str = "") -> list[str]:
        system, inside = self._opened
        system.invalidate_cache()
        try:
            entries = system.ls(f"{inside}/{below}".rstrip("/"), detail=True)
        except FileNotFoundError:
            return []
        return sorted(each["name"].rpartition("/")[2] for each in entries if each["type"] == "file")

    def changed(self, name: str) -> float:
        system, inside = self._opened
        system.invalidate_cache()
        return float(system.modified(f"{inside}/{name}").timestamp())

    def fetch(self, name: str, to: Path) -> None:
        system, inside = self._opened
        part = to.with_name(f".{to.name}.{os.getpid()}.part")
        try:
            system.get_file(f"{inside}/{name}", str(part))
            part.replace(to)
        finally:
            part.unlink(missing_ok=True)

    def put(self, name: str, file: Path) -> None:
        system, inside = self._opened
        self._whole(name, lambda part: system.put_file(str(file), f"{inside}/{part}"))

    def _whole(self, name: str, write: Any) -> None:
        """A name that is there stands for whole contents, also where a file shows before it is complete."""
        system, inside = self._opened
        above = f"{inside}/{name}".rpartition("/")[0]
        system.makedirs(above, exist_ok=True)
        part = f"{name}.{os.getpid()}.part"
        write(part)
        system.mv(f"{inside}/{part}", f"{inside}/{name}")


def folder_at(place: str | os.PathLike[str] | Folder) -> Folder:
    """The folder at a path or a URL, for any process."""
    if not isinstance(place, (str, os.PathLike)):
        return place
    path = local_path(place)
    return StoredFolder(os.fspath(place)).check() if path is None else LocalFolder(path)
