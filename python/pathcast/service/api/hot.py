"""The two calls that come thousands of times a second, answered before the framework looks for their route.

Finding a route and filling its parameters costs FastAPI more than the whole rest of such a call: 250 of 370
microseconds of processor time for a match of a small document. The calls are those of `documents` and
`topics`; with a query, and for everything else, the framework is asked.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pathcast.service.api import documents, topics
from pathcast.service.api.models import NAME

_PATH = re.compile(f"/v1/topics/({NAME})/(documents|match)")


class Hot:
    """A layer that answers the hot calls; `failed` turns an error into an answer, or into nothing."""

    def __init__(self, app: ASGIApp, failed: Callable[[Exception], Response | None]) -> None:
        self._app = app
        self._failed = failed
        self._calls: dict[str, Callable[[Request, str], Awaitable[Response]]] = {
            "documents": documents.publish,
            "match": topics.match,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = None
        if scope["type"] == "http" and scope["method"] == "POST" and not scope["query_string"]:
            found = _PATH.fullmatch(scope["path"])
        if found is None:
            await self._app(scope, receive, send)
            return
        try:
            response = await self._calls[found[2]](Request(scope, receive), found[1])
        except Exception as error:
            failed = self._failed(error)
            if failed is None:
                raise
            response = failed
        await response(scope, receive, send)
