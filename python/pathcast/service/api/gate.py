"""Before the framework reads a body: who sends it, and how long it may be.

The framework reads the JSON of a request before it calls us, all of it and from anybody. So the key is looked
at here first, and what is longer than a body of JSON may be is not read on. Calls that take documents or
lines read them themselves, with bounds of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pathcast.service.access import Access, from_this_machine

CHECK = "/v1/check"
_JSON = 4 << 20  # bytes of a body of JSON
_OWN = re.compile("/v1/topics/[^/]+/(documents|documents:batch|match|subscriptions:bulk)")


class Gate:
    """A layer around the framework; `failed` turns an error into an answer."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access | None,
        document_bytes: int,
        failed: Callable[[Exception], Response | None],
    ) -> None:
        self._app = app
        self._access = access
        self._document_bytes = document_bytes
        self._failed = failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        checks = scope["path"] == CHECK
        if self._access is not None:
            request = Request(scope)
            try:
                if not (checks and from_this_machine(request)):
                    await self._access.identify(request)
            except Exception as error:
                response = self._failed(error)
                if response is None:
                    raise
                await response(scope, receive, send)
                return
        if not _OWN.fullmatch(scope["path"]):
            receive = _bounded(receive, self._document_bytes if checks else _JSON)
        await self._app(scope, receive, send)


def _bounded(receive: Receive, limit: int) -> Receive:
    size = 0

    async def receiving() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:  # the one error that the framework passes on while it reads
            raise HTTPException(413, f"the body is too large: at most {limit:,} bytes")
        return message

    return receiving
