"""What goes wrong, as RFC 9457 says: one error class, one shape of answer."""

from __future__ import annotations

from typing import Any

from fastapi.responses import JSONResponse

from pathcast.errors import DocumentError, XPathError, printable

MEDIA_TYPE = "application/problem+json"
_LONGEST = 86_400.0  # seconds that anybody is told to wait


class Problem(Exception):  # noqa: N818 - RFC 9457 calls it so
    """An answer that reports a failure.

    >>> Problem(404, "unknown-topic", "There is no such topic", "news").answer()["type"]
    'urn:pathcast:unknown-topic'
    """

    def __init__(
        self,
        status: int,
        kind: str,
        title: str,
        detail: str = "",
        *,
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail or title)
        self.status = status
        self.kind = kind
        self.title = title
        self.detail = printable(detail or title)
        self.headers = headers or {}
        self.more = more

    def answer(self) -> dict[str, Any]:
        """The body of the answer."""
        known = {
            "type": f"urn:pathcast:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        return known | {name: value for name, value in self.more.items() if value is not None}

    def response(self) -> JSONResponse:
        """The whole answer."""
        return JSONResponse(self.answer(), self.status, self.headers, MEDIA_TYPE)


def bad_document(error: DocumentError, **more: Any) -> Problem:
    """A document that was refused, with the place."""
    line, column = (error.line, error.column) if error.line else (None, None)
    titles = {"limit": "The document crosses a limit", "invalid": "The document breaks its schema"}
    title = titles.get(error.kind, "The document is not well-formed XML")
    return Problem(400, f"document-{error.kind}", title, error.reason, line=line, column=column, **more)


def bad_expression(error: XPathError, **more: Any) -> Problem:
    """An expression that was refused, with the column."""
    title = "The expression was refused"
    return Problem(422, "expression", title, error.message, line=1, column=error.column, **more)


def unknown(what: str, name: str) -> Problem:
    """Something that is not there, or not this tenant's."""
    return Problem(404, f"unknown-{what.replace(' ', '-')}", f"There is no such {what}", f"{what} {name!r}")


def unauthorized(detail: str) -> Problem:
    """A request without a key that counts."""
    return Problem(401, "unauthorized", "A key is needed", detail, headers={"WWW-Authenticate": "Bearer"})


def forbidden(detail: str) -> Problem:
    """A key that may not do this."""
    return Problem(403, "forbidden", "The key may not do this", detail)


def too_much(what: str, limit: float, retry: float) -> Problem:
    """A quota that is used up."""
    seconds = str(max(1, round(min(retry, _LONGEST) + 0.5)))
    detail = f"the quota of {limit:g} {what} is used up; try again in {seconds} s"
    return Problem(429, "quota", "A quota is used up", detail, headers={"Retry-After": seconds}, quota=what)


def unavailable(detail: str) -> Problem:
    """The server cannot do it now; nothing was changed."""
    return Problem(503, "unavailable", "The service is not available", detail, headers={"Retry-After": "1"})
