"""Documents of a call in batches that fit into memory, each document one that can be read twice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from pathcast.types import Document, Id

DOCUMENTS = 128
BYTES = 32 << 20


def batches(
    documents: Iterable[tuple[Id, Document]], most: int, together: int | None = None
) -> Iterator[tuple[list[Id], list[Document]]]:
    """Ids and documents, so many `together`; what is longer than `most` bytes is left to the reader.

    >>> import io
    >>> list(batches([("a", b"<a/>"), ("b", io.BytesIO(b"<b/>"))], 100))
    [(['a', 'b'], [b'<a/>', b'<b/>'])]
    """
    ids: list[Id] = []
    held: list[Document] = []
    size = 0
    for id, document in documents:
        whole = _whole(document, most)
        ids.append(id)
        held.append(whole)
        size += len(whole) if isinstance(whole, (bytes, str)) else 0
        if len(ids) >= (together or DOCUMENTS) or size >= BYTES:
            yield ids, held
            ids, held, size = [], [], 0
    if ids:
        yield ids, held


def _whole(document: Any, most: int) -> Any:
    """The content of a file; one that cannot be read stays a path, and the reader says why."""
    if hasattr(document, "__fspath__"):
        try:
            if os.stat(document).st_size > most:
                return document
            with open(document, "rb") as file:
                return file.read()
        except OSError:
            return document
    if not hasattr(document, "read"):
        return document
    pieces: list[bytes] = []
    size = 0
    while size <= most and (piece := document.read(1 << 20)):
        if not isinstance(piece, bytes):
            raise TypeError("the file's read() does not return bytes: open it in binary mode")
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)
