"""The ASGI application: calls, pages, errors in one shape, headers that every answer carries."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

import pathcast
from pathcast.errors import DocumentError
from pathcast.service import pages
from pathcast.service.api import (
    dead_letters,
    deliveries,
    documents,
    explaining,
    keys,
    operations,
    subscriptions,
    topics,
)
from pathcast.service.api.description import describe
from pathcast.service.api.gate import Gate
from pathcast.service.api.hot import Hot
from pathcast.service.api.mistakes import place, sentence
from pathcast.service.core import Service
from pathcast.service.headers import Headers
from pathcast.service.problems import Problem, bad_document, unavailable
from pathcast.service.settings import Settings

log = logging.getLogger("pathcast.service")

DESCRIPTION = """Publish/subscribe for XML. Put a topic, put subscriptions in XPath, publish documents, and
receive those that match by pulling, as Server-Sent Events or by webhook.

Every call but those about health needs `Authorization: Bearer KEY`. Errors are `application/problem+json`."""


def create_app(service: Service) -> FastAPI:
    """The calls and pages of one service; it starts and stops the service."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    app = FastAPI(
        title="Pathcast",
        version=pathcast.__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page loads scripts from another host; ours does not
        redoc_url=None,
        strict_content_type=False,
    )
    app.state.service = service
    families = (
        (operations,)
        if service.settings.worker
        else (
            operations,
            explaining,
            topics,
            documents,
            subscriptions,
            deliveries,
            dead_letters,
            keys,
        )
    )
    for family in families:
        app.include_router(family.router)
    if not service.settings.worker:
        pages.mount(app)
    describe(app)
    handle_errors(app)
    return app


def create_server(service: Service) -> ASGIApp:
    """All that a process answers: around the framework, because its own layers cost more than a hot call."""
    app = create_app(service)
    inner: ASGIApp = app
    if not service.settings.worker:
        gate = Gate(app, service.access, service.settings.document_bytes, failed)
        inner = Hot(app, gate, failed)
    return Headers(inner, service.metrics, service.settings.log_requests)


def create_playground(settings: Settings) -> FastAPI:
    """The playground without a service: expressions are checked, nothing is kept."""
    app = FastAPI(
        title="Pathcast",
        version=pathcast.__version__,
        docs_url=None,
        redoc_url=None,
        strict_content_type=False,
    )
    app.state.settings = settings
    app.include_router(explaining.router)
    pages.mount(app, only="playground")
    handle_errors(app)
    app.add_middleware(Gate, access=None, document_bytes=settings.document_bytes, failed=failed)
    app.add_middleware(Headers)
    return app


def failed(error: Exception) -> Response | None:
    """What goes wrong as a problem; nothing for what nobody foresaw."""
    if isinstance(error, Problem):
        return error.response()
    if isinstance(error, DocumentError):
        return bad_document(error).response()
    if isinstance(error, RequestValidationError):
        found = [{"where": place(each["loc"]), "message": sentence(each)} for each in error.errors()]
        detail = "; ".join(each["message"] for each in found[:5])
        return Problem(422, "request", "The request is wrong", detail, errors=found).response()
    if isinstance(error, HTTPException):
        headers = dict(error.headers or {})
        return Problem(error.status_code, "http", str(error.detail), headers=headers).response()
    if isinstance(error, SQLAlchemyError):
        log.error("the store failed: %s", type(error).__name__)
        return unavailable("the store cannot be reached").response()
    return None


async def unforeseen(request: Request, error: Exception) -> Response:
    """The framework would answer in plain text; it raises the error again after this, and it is logged."""
    return Problem(500, "failure", "Something is wrong on the server").response()


def handle_errors(app: FastAPI) -> None:
    """Everything that goes wrong is answered as a problem."""

    async def handle(request: Request, error: Exception) -> Response:
        if isinstance(error, RequestValidationError) and isinstance(error.body, bytes):  # it was not parsed
            kind = request.headers.get("content-type", "").partition(";")[0]
            error = Problem(415, "media-type", "The body is not JSON", f"{kind!r}: send application/json")
        response = failed(error)
        assert response is not None
        return response

    for kind in (Problem, DocumentError, RequestValidationError, HTTPException, SQLAlchemyError):
        app.add_exception_handler(kind, handle)
    app.add_exception_handler(Exception, unforeseen)
