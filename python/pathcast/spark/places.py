"""Paths as users write them: plain, `file:`, or with the scheme of a store that this process cannot open.

>>> local_path("file:///data/index"), local_path("/data/index") == local_path("file:/data/index")
(PosixPath('/data/index'), True)
>>> scheme("dbfs:/data"), scheme("s3://bucket/index"), scheme("/data/a:b")
('dbfs', 's3', None)
"""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["local_path", "scheme"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")  # two letters or more: one is a drive of Windows


def scheme(path: str | os.PathLike[str]) -> str | None:
    """The scheme of a URL, in lower case; None for a plain path."""
    found = _SCHEME.match(os.fspath(path))
    return found[1].lower() if found else None


def local_path(path: str | os.PathLike[str]) -> Path | None:
    """The absolute path in this machine's file system; None if a scheme says that it is elsewhere."""
    text, kind = os.fspath(path), scheme(path)
    if kind is None:
        return Path(text).absolute()
    return Path("/" + text[len("file:") :].lstrip("/")) if kind == "file" else None
