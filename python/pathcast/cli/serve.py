"""``pathcast serve`` and ``pathcast playground``: the publish/subscribe server, and its playground alone."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pathcast.cli.arguments import Version, fail

if TYPE_CHECKING:
    from pathcast.service.kafka.cluster import Cluster
    from pathcast.service.settings import Network

_PORT = 8080
Port: TypeAlias = Annotated[
    int, typer.Option("--port", min=0, max=65_535, metavar="P", help="0 picks a free one.")
]


def serve(
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="The folder of the SQLite store.")
    ] = Path("pathcast-data"),
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            metavar="URL",
            help="A PostgreSQL database instead: postgresql://user@host/name.",
            envvar="PATHCAST_DATABASE",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="H", help="Where to listen.")] = "127.0.0.1",
    port: Port = _PORT,
    allow_webhooks_to: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-webhooks-to",
            metavar="NETWORK",
            help="A private network that webhooks may reach, as in 10.1.0.0/16; may be repeated.",
            show_default=False,
        ),
    ] = None,
    kafka: Annotated[
        str | None,
        typer.Option(
            "--kafka",
            metavar="HOST:PORT|FILE",
            help="A Kafka that topics take documents from and deliver to; its address, or a .toml file.",
            envvar="PATHCAST_KAFKA",
            show_default=False,
        ),
    ] = None,
    max_document_bytes: Annotated[
        int, typer.Option("--max-document-bytes", metavar="N", help="The most bytes of a document.")
    ] = 32 << 20,
    worker: Annotated[
        bool,
        typer.Option(
            "--worker", help="Only deliver to webhooks and Kafka, for a database that others serve."
        ),
    ] = False,
    log_requests: Annotated[
        bool, typer.Option("--log-requests", help="Log every request: path, status, seconds, trace.")
    ] = False,
    version: Version = False,
) -> None:
    """Run the publish/subscribe server, until SIGTERM or SIGINT.

    Without PATHCAST_ADMIN_KEY in the environment the first start makes an administrator key and prints it
    once. PATHCAST_WEBHOOK_NETWORKS lists private networks for webhooks too, separated by commas.

    \b
    Example:
      pathcast serve --data /var/lib/pathcast
    """
    service_needed()
    from pathcast.service.process import serve as run
    from pathcast.service.settings import Settings

    listed = [*(allow_webhooks_to or ()), *os.environ.get("PATHCAST_WEBHOOK_NETWORKS", "").split(",")]
    if worker and database is None:
        fail("pathcast: a worker shares a database: give --database too")
    run(
        Settings(
            data=data,
            database=database,
            host=host,
            port=port,
            admin_key=os.environ.get("PATHCAST_ADMIN_KEY") or None,
            webhook_networks=tuple(_network(each.strip()) for each in listed if each.strip()),
            kafka=_cluster(kafka) if kafka else None,
            document_bytes=max_document_bytes,
            worker=worker,
            log_requests=log_requests,
        )
    )


def playground(
    host: Annotated[str, typer.Option("--host", metavar="H", help="Where to listen.")] = "127.0.0.1",
    port: Port = _PORT,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Show it in a browser.")] = True,
    version: Version = False,
) -> None:
    """Try expressions on documents in a browser; needs no key and stores nothing.

    \b
    Example:
      pathcast playground
    """
    service_needed()
    from pathcast.service.process import play

    play(host, port, open_browser)


def service_needed() -> None:
    """End with a sentence if the server's libraries are not there."""
    if sys.version_info < (3, 11):
        fail("pathcast: the service needs Python 3.11 or newer")
    missing = [
        name for name in ("fastapi", "uvicorn", "sqlalchemy") if importlib.util.find_spec(name) is None
    ]
    if missing:
        fail(f"this needs {', '.join(missing)}: pip install 'pathcast[service]'")


def _cluster(given: str) -> Cluster:
    from pathcast.network.transports.settings import SettingsError
    from pathcast.service.kafka.cluster import Cluster

    if importlib.util.find_spec("confluent_kafka") is None:
        fail("this needs confluent_kafka: pip install 'pathcast[kafka]'")
    try:
        return Cluster.read(given)
    except SettingsError as error:
        fail(f"pathcast: {error}")


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        fail(f"pathcast: {error}")
