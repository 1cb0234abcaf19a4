"""The pages at `/`: static files that talk to the calls everybody else uses."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

FOLDER = Path(__file__).parent / "static"


def mount(app: FastAPI) -> None:
    """Serve the pages."""
    app.mount("/", StaticFiles(directory=FOLDER, html=True), name="pages")
