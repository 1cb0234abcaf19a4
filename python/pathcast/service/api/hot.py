"""The calls that come thousands of times a second, answered before the framework looks for their route.

Finding a route and filling its parameters costs FastAPI more than the whole rest of such a call: 250 of 370
microseconds of processor time for a match of a small document. The calls are those of `documents`, `topics`
and `deliveries`. Publishing or matching with a query, pulling with one that is not plain, and everything else
is the framework's.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pathcast.service.api import deliveries, documents, topics
from pathcast.service.api.models import NAME

_POST = re.compile(f"/v1/topics/({NAME})/(documents|match)")
_PULL = re.compile(f"/v1/topics/({NAME})/subscriptions/({NAME})/deliveries")
_QUERY = re.compile(rb"(?:(?:after|wait|limit)=[0-9]{1,18}(?:&(?=.)|$))*")


class Plain(Request):
    """A request whose headers are a plain dictionary: each look into Starlette's goes through all of them.

    Of a name that comes twice the first counts, as in Starlette's.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        super().__init__(scope, receive)
        self._plain = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])
        }

    @property
    def headers(self) -> Any:
        """By name in lower case."""
        return self._plain


class Hot:
    """A layer that answers the hot calls and leaves the others; `failed` turns an error into an answer."""

    def __init__(self, app: FastAPI, others: ASGIApp, failed: Callable[[Exception], Response | None]) -> None:
        self._app = app
        self._others = others
        self._failed = failed
        self._posts: dict[str, Callable[[Request, str], Awaitable[Response]]] = {
            "documents": documents.publish,
            "match": topics.match,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = self._call(scope, receive) if scope["type"] == "http" else None
        if call is None:
            await self._others(scope, receive, send)
            return
        try:
            response = await call
        except Exception as error:
            failed = self._failed(error)
            if failed is None:
                raise
            response = failed
        await response(scope, receive, send)

    def _call(self, scope: Scope, receive: Receive) -> Awaitable[Response] | None:
        """The hot call that a request is."""
        method, query = scope["method"], scope["query_string"]
        if method == "POST" and not query:
            if found := _POST.fullmatch(scope["path"]):
                return self._posts[found[2]](self._request(scope, receive), found[1])
        elif method == "GET" and _QUERY.fullmatch(query) and (found := _PULL.fullmatch(scope["path"])):
            given = dict(each.split("=") for each in query.decode("ascii").split("&") if each)
            request = self._request(scope, receive)
            wait, limit = float(given.get("wait", 0)), int(given.get("limit", 100))
            return deliveries.pull(request, found[1], found[2], given.get("after"), wait, limit)
        return None

    def _request(self, scope: Scope, receive: Receive) -> Request:
        scope["app"] = self._app
        return Plain(scope, receive)
