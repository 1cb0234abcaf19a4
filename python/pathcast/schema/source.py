"""The files of a DTD: found next to it, never on a network; decoded, with line ends as XML has them.

A system identifier is a path relative to the file that names it. A scheme (``http:``, ``file:``) or a host is
refused, and a path that leads out of the permitted folder is not followed: a DTD from a stranger must not
make this process read what lies elsewhere.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from pathcast.errors import SchemaError, located

MAX_FILE = 64 << 20  # bytes; the largest public DTDs have about one million

_DECLARATION = re.compile(r"<\?xml\s[^>]*?\?>")
_ENCODING = re.compile(rb"^<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._\-]+)[\"']")
_ENCODINGS = {"utf-8", "utf-16", "utf-16-le", "utf-16-be", "iso8859-1", "iso8859-15", "ascii", "cp1252"}
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


@dataclass(frozen=True, slots=True)
class Source:
    """A text to read declarations from; ``folder`` is where its relative names start, None for none."""

    name: str
    text: str
    folder: Path | None


def read(path: Path, name: str | None = None) -> Source:
    """The file, decoded; ``SchemaError`` when it cannot be read or is not text."""
    name = name or str(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise SchemaError(located(name, None, f"cannot be read: {error.strerror}")) from None
    if len(data) > MAX_FILE:
        raise SchemaError(located(name, None, f"is larger than {MAX_FILE >> 20} MiB"))
    return Source(name, decode(data, name), path.parent)


def decode(data: bytes, name: str) -> str:
    """The text without byte order mark and text declaration, each line ended by a line feed.

    >>> decode(b"<?xml encoding='iso-8859-1'?>a\\rb\\r\\nc\\xe9", "old.dtd")
    'a\\nb\\ncé'
    """
    encoding = next((codec for mark, codec in _MARKS if data.startswith(mark)), None)
    if encoding is None:
        found = _ENCODING.match(data)
        encoding = found[1].decode("ascii") if found else "utf-8"
        try:
            encoding = codecs.lookup(encoding).name
        except LookupError:
            encoding = encoding.lower()
        if encoding not in _ENCODINGS:
            raise SchemaError(located(name, 1, f"the encoding {encoding!r} is not supported"))
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SchemaError(
            located(name, line, f"is not {encoding}: byte {error.start} cannot be read")
        ) from None
    text = normalised(text)
    start = _DECLARATION.match(text)
    # The declaration's line ends stay, so that lines count right.
    return "\n" * start[0].count("\n") + text[start.end() :] if start else text


def normalised(text: str) -> str:
    """Line ends as XML has them; old Mac files (the NITF DTD is one) end lines with a carriage return."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def resolve(system: str, base: Source, within: Path | None) -> Path | None:
    """The file that a system identifier names, None when it lies outside the permitted folder.

    ``SchemaError`` when it is an address that would have to be fetched.
    """
    if _SCHEME.match(system) or system.startswith(("//", "\\\\")):
        raise SchemaError(
            f"{system!r} is not fetched; save it next to the DTD and name it there by its file name"
        )
    if base.folder is None or within is None:
        raise SchemaError(f"{system!r} is not read: a DTD given as text has no folder")
    target = (base.folder / unquote(system)).resolve()
    return target if target.is_relative_to(within.resolve()) else None
