"""``pathcast broker``: one broker of a network, as a process on Apache Kafka."""

from __future__ import annotations

import importlib.util
import os
import signal
import threading
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pathcast.cli.arguments import Version, fail
from pathcast.errors import printable

if TYPE_CHECKING:
    from pathcast.network.transports.kafka import KafkaBroker, KafkaShare


app = typer.Typer(rich_markup_mode=None)

Config: TypeAlias = Annotated[
    Path | None, typer.Option("--config", "-c", metavar="FILE.toml", help="The settings of the broker.")
]


@app.callback(invoke_without_command=True)
def broker(
    context: typer.Context,
    config: Config = None,
    create_topics: Annotated[
        bool, typer.Option("--create-topics", help="First make the topics that Kafka does not have.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Look whether settings, Kafka and topics are right, and end.")
    ] = False,
    version: Version = False,
) -> None:
    """Run one broker of a network on Apache Kafka, until SIGTERM or SIGINT. SIGHUP reads the settings again.

    It reads its inbox, routes, and writes to its neighbours' inboxes and its clients' outboxes, in
    transactions: a crash loses nothing and repeats nothing for readers of committed messages. What it
    refuses goes to its quarantine, with the reason. It reports on standard error.

    \b
    Example:
      pathcast broker --config examples/network/broker.toml --create-topics

    \b
    Exit status:
      0  it was asked to stop
      1  it could not go on: another process runs under its name, or Kafka was away for too long
      2  the settings are wrong, Kafka cannot be reached, or topics are missing
    """
    if context.invoked_subcommand is not None:
        return
    kafka_needed()
    from pathcast.network.transports.kafka import FencedError, KafkaBroker, KafkaShare, TransportError
    from pathcast.network.transports.settings import read_broker

    file = _given(config)
    settings = read_broker(file)
    kind = KafkaBroker if settings.parts == 1 else KafkaShare
    running = kind(settings, lambda line: typer.echo(line, err=True), reread=lambda: read_broker(file))
    if check:
        running.check()
        typer.echo(f"{running.settings.name}: settings, Kafka and topics are right")
        return
    _obey_signals(running)
    threading.Thread(target=_watch, args=(running,), daemon=True).start()
    try:
        running.run(create_topics=create_topics)
    except (FencedError, TransportError) as error:
        typer.echo(f"pathcast: {printable(str(error))}", err=True)
        raise typer.Exit(1 if running.started else 2) from None


@app.command()
def acl(config: Config = None, version: Version = False) -> None:
    """Print what Kafka's access control must allow for a broker, as calls of Kafka's own program.

    A client may write one topic and read one topic, both its own. Nobody else may write in its name.

    \b
    Example:
      pathcast broker acl --config examples/network/broker.toml
    """
    from pathcast.network.transports.access import grants
    from pathcast.network.transports.settings import read_broker

    settings = read_broker(_given(config))
    for each in grants(settings):
        typer.echo(each.command(settings.kafka.servers))


def _given(config: Path | None) -> Path:
    if config is None:
        fail("pathcast: the settings are missing: give --config FILE.toml.")
    return config


def kafka_needed() -> None:
    """End with a sentence if the client library is not there."""
    for module, name in (("confluent_kafka", "confluent-kafka"), ("cryptography", "cryptography")):
        if importlib.util.find_spec(module) is None:
            fail(f"this needs {name}: pip install 'pathcast[kafka]'")


def _watch(running: KafkaBroker | KafkaShare) -> None:
    """End the process if a call to Kafka never comes back; nothing is lost, a supervisor starts another."""
    from pathcast.network.transports.kafka.process import HUNG

    while True:
        time.sleep(5)
        since = running.waiting_since
        if since is not None and time.monotonic() - since > HUNG:
            typer.echo(f"pathcast: Kafka's client has not come back for {HUNG:.0f} seconds", err=True)
            os._exit(1)


def _obey_signals(running: KafkaBroker | KafkaShare) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        running.stop()

    def reload(number: int, frame: FrameType | None) -> None:
        running.reload()

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, stop)
    signal.signal(signal.SIGHUP, reload)
