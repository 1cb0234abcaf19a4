"""What operators and their tools call: alive, ready, metrics, and the figures of the overview."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

import pathcast
from pathcast.service.access import from_this_machine
from pathcast.service.api import requests
from pathcast.service.problems import unavailable

router = APIRouter(tags=["operations"])


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", summary="Alive")
async def healthz() -> Response:
    """The process answers."""
    return requests.answer({"status": "ok", "version": pathcast.__version__})


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", summary="Ready")
async def readyz(request: Request) -> Response:
    """The indexes are loaded and the store can be reached."""
    service = requests.service_of(request)
    if not service.ready:
        raise unavailable("the indexes are being loaded")
    try:
        await service.read(lambda connection: connection.execute(text("SELECT 1")).scalar())
    except SQLAlchemyError as error:
        raise unavailable(f"the store cannot be reached: {type(error).__name__}") from None
    return requests.answer({"status": "ready"})


@router.get("/metrics", summary="Metrics for Prometheus")
async def metrics(request: Request) -> Response:
    """Open to this machine; from elsewhere with a key that may read."""
    service = requests.service_of(request)
    if not from_this_machine(request):
        await requests.allowed(request, "read")
    return Response(service.metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/v1/overview", summary="The last minutes, second by second")
async def overview(request: Request, since: float = 0.0) -> Response:
    """Of this process: documents and deliveries a second, times of matching and publishing, queue, index."""
    service, _ = await requests.allowed(request, "read")
    return requests.answer({"version": pathcast.__version__, "samples": service.metrics.recent(since)})
