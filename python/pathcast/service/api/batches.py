"""Batches of documents: the parts of `multipart/mixed`, or JSON lines with base64. Bytes stay as they are."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from pathcast.service.api.requests import unpacked
from pathcast.service.problems import Problem


@dataclass(frozen=True, slots=True)
class Part:
    """One document of a batch, or why it cannot be read."""

    body: bytes = b""
    content_type: str | None = None
    key: str | None = None
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


def parts(body: bytes, content_type: str, limit: int) -> Iterator[Part]:
    """The documents of a batch."""
    media, _, parameters = content_type.partition(";")
    media = media.strip().lower()
    if media == "multipart/mixed":
        yield from _multipart(body, _boundary(parameters), limit)
    elif media in ("application/x-ndjson", "application/jsonl", "application/json-lines", "application/json"):
        for line in body.split(b"\n"):
            if line.strip():
                yield _line(line, limit)
    else:
        detail = f"{media!r}: send multipart/mixed or application/x-ndjson"
        raise Problem(415, "media-type", "A batch of this type is not known", detail)


def _line(line: bytes, limit: int) -> Part:
    try:
        given = Line.model_validate_json(line)
        document = base64.b64decode(given.document, validate=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        return Part(problem=Problem(422, "request", "The line is not a document", f"{where}: {first['msg']}"))
    except (binascii.Error, ValueError) as error:
        return Part(problem=Problem(422, "request", "The document is not base64", str(error)))
    try:
        document = unpacked(document, None, given.content_type, limit)
    except Problem as problem:
        return Part(problem=problem)
    if len(document) > limit:
        return Part(
            problem=Problem(413, "too-large", "The document is too large", f"at most {limit:,} bytes")
        )
    return Part(document, given.content_type, given.idempotency_key)


def _boundary(parameters: str) -> bytes:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        value = value.strip().strip('"')
        if name.strip().lower() == "boundary" and 0 < len(value) <= 70:
            return value.encode("latin-1", "replace")
    raise Problem(400, "multipart", "The batch cannot be read", "Content-Type names no boundary")


def _multipart(body: bytes, boundary: bytes, limit: int) -> Iterator[Part]:
    """Split at the delimiter lines alone, so that no byte of a document changes."""
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary)
    if len(pieces) < 2 or not pieces[-1].startswith(b"--"):
        raise Problem(400, "multipart", "The batch cannot be read", "the last boundary is missing")
    for piece in pieces[1:-1]:
        head, blank, document = piece.lstrip(b" \t").partition(b"\r\n\r\n")
        if not blank:
            yield Part(
                problem=Problem(400, "multipart", "The part cannot be read", "its headers have no end")
            )
            continue
        headers: dict[str, str] = {}
        for line in head.decode("latin-1").split("\r\n"):
            name, colon, value = line.partition(":")
            if colon:
                headers[name.strip().lower()] = value.strip()
        kind = headers.get("content-type")
        try:
            document = unpacked(document, headers.get("content-encoding"), kind, limit)
        except Problem as problem:
            yield Part(problem=problem)
            continue
        yield Part(document, kind, headers.get("idempotency-key"))
