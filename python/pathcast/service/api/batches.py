"""Batches of documents: the parts of `multipart/mixed`, or JSON lines with base64. Bytes stay as they are."""

from __future__ import annotations

import base64
import binascii
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from pathcast.errors import DocumentError
from pathcast.service.api.mistakes import sentence
from pathcast.service.api.requests import too_large, unpacked
from pathcast.service.problems import Problem

TOGETHER = 4  # times the limit of a document that a batch may have, packed and unpacked
_MOST = 10_000  # documents
_HEADER = re.compile("[ -~]{1,255}")  # what everybody can send as a header


@dataclass(frozen=True, slots=True)
class Part:
    """One document of a batch, or why it cannot be read."""

    body: bytes = b""
    content_type: str | None = None
    key: str | None = None
    refused: DocumentError | None = None
    """Why it could not be unpacked; `body` is then as it came, to be kept as a dead letter."""
    problem: Problem | None = None


class Line(BaseModel):
    """One document of JSON lines."""

    model_config = ConfigDict(extra="forbid")

    document: str = Field(
        validation_alias=AliasChoices("document", "body", "data", "base64"),
        description="The bytes in base64.",
    )
    content_type: str | None = None
    idempotency_key: str | None = Field(default=None, max_length=255)


def part(body: bytes, headers: Mapping[str, str | None], limit: int) -> Part:
    """One document with the headers that came with it; a `Problem` when it is too large."""
    kind, key = headers.get("content-type"), headers.get("idempotency-key")
    try:
        document = unpacked(body, headers.get("content-encoding"), kind, limit)
    except DocumentError as error:
        return Part(body, kind if kind and _HEADER.fullmatch(kind) else None, key, refused=error)
    if len(document) > limit:
        raise Problem(413, "too-large", "The document is too large", f"at most {limit:,} bytes")
    return Part(document, _xml_type(kind), key)


def _xml_type(kind: str | None) -> str:
    """What receivers are told: the type that came, unless it is of the wrapping, a client's default, or none.

    >>> _xml_type("application/atom+xml; charset=utf-8"), _xml_type("application/gzip")
    ('application/atom+xml; charset=utf-8', 'application/xml')
    >>> _xml_type("text/x\\r\\nSet-Cookie: a=b/xml"), _xml_type("text/\u20ac+xml")
    ('application/xml', 'application/xml')
    """
    media = (kind or "").partition(";")[0].strip().lower()
    sound = kind and _HEADER.fullmatch(kind) and media.endswith(("/xml", "+xml", "text/html"))
    return kind if kind and sound else "application/xml"


def _checked(body: bytes, headers: Mapping[str, str | None], limit: int) -> Part:
    try:
        return part(body, headers, limit)
    except Problem as problem:
        return Part(problem=problem)


def read(body: bytes, encoding: str | None, content_type: str, limit: int) -> list[Part]:
    """The documents of a batch; a `Problem` when they are too many, or too long together."""
    whole = TOGETHER * limit
    found: list[Part] = []
    size = 0
    for each in _parts(unpacked(body, encoding, None, whole), content_type, limit):
        found.append(each)
        size += len(each.body)
        if size > whole:  # parts may be packed too
            raise too_large(whole)
        if len(found) > _MOST:
            raise _too_many()
    return found


def _too_many() -> Problem:
    return Problem(413, "too-large", "The batch is too large", f"at most {_MOST:,} documents")


def _parts(body: bytes, content_type: str, limit: int) -> Iterator[Part]:
    media, _, parameters = content_type.partition(";")
    media = media.strip().lower()
    if media == "multipart/mixed":
        yield from _multipart(body, _boundary(parameters), limit)
    elif media in ("application/x-ndjson", "application/jsonl", "application/json-lines", "application/json"):
        for found in re.finditer(rb"[^\n]+", body):
            if found[0].strip():
                yield _line(found[0], limit)
    else:
        detail = f"{media!r}: send multipart/mixed or application/x-ndjson"
        raise Problem(415, "media-type", "A batch of this type is not known", detail)


def _line(line: bytes, limit: int) -> Part:
    try:
        given = Line.model_validate_json(line)
        document = base64.b64decode(given.document, validate=True)
    except ValidationError as error:
        told = sentence(error.errors(include_url=False)[0])
        return Part(problem=Problem(422, "request", "The line is not a document", told))
    except (binascii.Error, ValueError) as error:
        return Part(problem=Problem(422, "request", "The document is not base64", str(error)))
    headers = {"content-type": given.content_type, "idempotency-key": given.idempotency_key}
    return _checked(document, headers, limit)


def _boundary(parameters: str) -> bytes:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        value = value.strip().strip('"')
        if name.strip().lower() == "boundary" and 0 < len(value) <= 70:
            return value.encode("latin-1", "replace")
    raise Problem(400, "multipart", "The batch cannot be read", "Content-Type names no boundary")


def _multipart(body: bytes, boundary: bytes, limit: int) -> Iterator[Part]:
    """Split at the delimiter lines alone, so that no byte of a document changes; bare line feeds will do."""
    delimiter = re.compile(rb"(?:\A|\r?\n)--" + re.escape(boundary) + rb"(?:--|(?=[ \t]*\r?\n))")
    found = list(itertools.islice(delimiter.finditer(body), _MOST + 2))
    if len(found) > _MOST + 1:
        raise _too_many()
    if not found or not found[-1][0].endswith(b"--"):
        raise Problem(400, "multipart", "The batch cannot be read", "the last boundary is missing")
    for begin, end in itertools.pairwise(found):
        piece = body[begin.end() : end.start()]
        blank = re.search(rb"\r?\n\r?\n", piece)
        if blank is None:
            yield Part(
                problem=Problem(400, "multipart", "The part cannot be read", "its headers have no end")
            )
            continue
        head, document = piece[: blank.start()], piece[blank.end() :]
        headers: dict[str, str] = {}
        for line in head.decode("latin-1").splitlines():
            name, colon, value = line.partition(":")
            if colon:
                headers[name.strip().lower()] = value.strip()
        yield _checked(document, headers, limit)
