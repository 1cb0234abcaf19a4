"""The pages at `/`: static files that talk to the calls everybody else uses.

They load nothing from another host and run no script that is not a file of ours, as the
Content-Security-Policy in `headers` demands. `vendor` holds the editor and the charts, built by `make pages`
from `tools/pages`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]

FOLDER = Path(__file__).parent / "static"
PAGES = ("index", "playground", "subscriptions", "documents", "deliveries", "keys", "docs")


def mount(app: FastAPI, only: str | None = None) -> None:
    """Serve the pages, or only one of them, which `/` then leads to."""
    if only is None:
        for name in PAGES:
            app.add_route("/" if name == "index" else f"/{name}", _page(name), include_in_schema=False)
    else:
        app.add_route(f"/{only}", _alone(only), include_in_schema=False)
        app.add_route("/", _elsewhere(only), include_in_schema=False)
    app.mount("/static", StaticFiles(directory=FOLDER), name="static")


def _page(name: str) -> Handler:
    async def page(request: Request) -> Response:
        return FileResponse(FOLDER / f"{name}.html", headers={"Cache-Control": "no-cache"})

    return page


def _alone(name: str) -> Handler:
    """The page, whose head then names no other: their addresses lead nowhere."""
    text = (FOLDER / f"{name}.html").read_text(encoding="utf-8")
    text = text.replace('<header class="top">', '<header class="top" data-alone>')

    async def page(request: Request) -> Response:
        return HTMLResponse(text, headers={"Cache-Control": "no-cache"})

    return page


def _elsewhere(name: str) -> Handler:
    async def elsewhere(request: Request) -> Response:
        return RedirectResponse(f"/{name}")

    return elsewhere
