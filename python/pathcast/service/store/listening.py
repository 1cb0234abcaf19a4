"""Hearing from other processes on PostgreSQL that something was published."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import psycopg
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url

from pathcast.service.store.database import Database

CHANNEL = "pathcast"
log = logging.getLogger("pathcast.service")


def tell(connection: Connection, topic: int) -> None:
    """Say at the commit that a topic has new deliveries."""
    connection.execute(text("SELECT pg_notify(:channel, :topic)"), {"channel": CHANNEL, "topic": str(topic)})


def listen(database: Database, stopping: threading.Event, heard: Callable[[int], None]) -> None:
    """Call `heard` for each topic that somebody published to, until `stopping`; reconnects when cut off."""
    address = make_url(database.url).set(drivername="postgresql").render_as_string(hide_password=False)
    while not stopping.is_set():
        try:
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute(f"LISTEN {CHANNEL}")
                while not stopping.is_set():
                    for notice in connection.notifies(timeout=1.0):
                        heard(int(notice.payload))
        except (psycopg.Error, OSError) as error:
            log.warning("no news from other processes: %s", type(error).__name__)
            stopping.wait(1.0)
        except RuntimeError:  # the event loop is closed
            return
