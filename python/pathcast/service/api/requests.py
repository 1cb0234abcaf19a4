"""What every call needs: the service, the key, and the body of a document."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from typing import Any

from fastapi import Request, Response
from starlette.requests import ClientDisconnect

from pathcast.errors import DocumentError
from pathcast.service.access import require
from pathcast.service.core import Service
from pathcast.service.problems import Problem
from pathcast.service.store.keys import Key

LINES = "application/x-ndjson"
_SLICE = 1 << 20  # bytes unpacked at a time
_PIECE = 16 << 10  # bytes that zlib gets at a time
_MEMBERS = 10_000  # of a gzip file
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def service_of(request: Request) -> Service:
    """The service behind a request."""
    service: Service = request.app.state.service
    return service


async def allowed(request: Request, *scopes: str, topic: str | None = None) -> tuple[Service, Key]:
    """The service and the key, once the key was found to have one of the scopes and to see the topic."""
    scope = request.scope  # `request.url` would be parsed anew for each request
    if "\0" in scope["path"] or b"%00" in scope["query_string"]:  # no name has it; PostgreSQL fails on it
        raise Problem(400, "request", "The request is wrong", "U+0000 in the path or the query")
    service = service_of(request)
    key = await service.access.identify(request)
    require(key, scopes, topic)
    return service, key


async def read_body(request: Request, limit: int) -> bytes:
    """The body as it came; a `Problem` as soon as it is longer than the limit."""
    declared = request.headers.get("content-length")
    if declared is not None and declared.isdigit() and int(declared) > limit:
        raise too_large(limit)
    parts: list[bytes] = []
    size = 0
    more = True
    while more:  # what `request.stream()` does, without a generator around it: this is hot
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise too_large(limit)
        parts.append(chunk)
        more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def read_document(request: Request, limit: int) -> bytes:
    """The document in a request, unpacked."""
    body = await read_body(request, limit)
    encoding, media = request.headers.get("content-encoding"), request.headers.get("content-type")
    if not is_packed(encoding, media):
        return unpacked(body, encoding, media, limit)
    return await asyncio.to_thread(unpacked, body, encoding, media, limit)


def is_packed(encoding: str | None, content_type: str | None) -> bool:
    """Whether a body is said to be a gzip file: unpacking takes long enough for a thread."""
    packed = (encoding or "").strip().lower()
    media = (content_type or "").partition(";")[0].strip().lower()
    return packed in ("gzip", "x-gzip") or (
        not packed and media in ("application/gzip", "application/x-gzip")
    )


def unpacked(body: bytes, encoding: str | None, content_type: str | None, limit: int) -> bytes:
    """A document that may have come compressed; never more than `limit` bytes of it.

    >>> unpacked(zlib.compress(b"<a/>", wbits=31), "gzip", None, 100)
    b'<a/>'
    """
    if is_packed(encoding, content_type):
        return _gunzip(body, limit)
    packed = (encoding or "").strip().lower()
    if packed not in ("", "identity"):
        detail = f"Content-Encoding {packed!r}: send gzip, or nothing"
        raise Problem(415, "encoding", "This encoding is not known", detail)
    return body


def _gunzip(body: bytes, limit: int) -> bytes:
    """All members of a gzip file. What zlib leaves over is copied, so it gets little at a time."""
    found: list[bytes] = []
    size = members = at = 0
    member: Any = None
    left = b""
    while left or at < len(body) or member is not None:
        if not left:
            left = body[at : at + _PIECE]
            at += len(left)
        if member is None:
            members += 1
            member = zlib.decompressobj(wbits=31)
        try:
            piece = member.decompress(left, _SLICE)
            size += len(piece)
            if size > limit:
                raise too_large(limit)
            found.append(piece)
            left = member.unused_data if member.eof else member.unconsumed_tail
            if members > _MEMBERS:
                raise zlib.error(f"it has more than {_MEMBERS:,} members")
            if not (left or piece or member.eof or at < len(body)):
                raise zlib.error("the end is missing")
        except zlib.error as error:
            detail = f"the gzip stream is damaged: {error}"
            raise DocumentError(detail, 1, 1, "encoding") from None
        if member.eof:
            member = None
    return b"".join(found)


def too_large(limit: int) -> Problem:
    """A body that nobody reads on."""
    return Problem(413, "too-large", "The body is too large", f"at most {limit:,} bytes")


def trace(request: Request) -> str | None:
    """The trace that a request belongs to; what is not one is left out, as W3C Trace Context says."""
    given = request.headers.get("traceparent", "")
    return given if re.fullmatch(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", given) else None


class Json(Response):
    """Bytes of JSON; made in a fifth of the time that its base takes."""

    def __init__(self, body: bytes, status: int) -> None:
        self.status_code = status
        self.body = body
        self.background = None
        length = str(len(body)).encode("ascii")
        self.raw_headers = [(b"content-length", length), (b"content-type", b"application/json")]


def answer(content: Any, status: int = 200) -> Response:
    """JSON, without a detour through models: the hot calls answer thousands of times a second."""
    return Json(_utf8(_encode(content)), status)


def lines(contents: list[Any]) -> Response:
    """JSON lines."""
    return Response(json_lines(contents), 200, None, LINES)


def json_lines(contents: list[Any]) -> bytes:
    """JSON, a line for each."""
    return _utf8("".join(_encode(each) + "\n" for each in contents))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")  # half a surrogate pair, as JSON writes it


def limited(limit: int, most: int = 1000) -> int:
    """The size of a page; no page is larger than `most`, whatever is asked."""
    if limit < 1:
        raise Problem(422, "limit", "The limit is out of bounds", "limit is 1 or more")
    return min(limit, most)


def xml_body(description: str) -> dict[str, Any]:
    """How OpenAPI says that a call takes XML."""
    schema = {"type": "string", "format": "binary"}
    example = "<news><item lang='en'><title>Rain</title></item></news>"
    content = {
        "application/xml": {"schema": schema, "example": example},
        "application/gzip": {"schema": schema, "example": "the same, compressed"},
    }
    return {"requestBody": {"required": True, "description": description, "content": content}}
