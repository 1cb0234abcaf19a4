"""``pathcast client``: publish and subscribe at a broker on Apache Kafka."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pathcast.cli.arguments import Dtd, Root, Subscriptions, Version, Xsd, fail, read_schema
from pathcast.cli.broker import kafka_needed
from pathcast.errors import LimitError, XPathError, located

if TYPE_CHECKING:
    from pathcast.network.message import Delivery
    from pathcast.network.transports.kafka import KafkaClient

app = typer.Typer(
    help="Publish and subscribe at a broker on Apache Kafka.", no_args_is_help=True, rich_markup_mode=None
)

Config: TypeAlias = Annotated[
    Path, typer.Option("--config", "-c", metavar="FILE.toml", help="The settings of the client.")
]
Output: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="DIR", help="Also write the documents there.")
]


@app.callback()
def client(version: Version = False) -> None:
    """Publish and subscribe at a broker on Apache Kafka.

    What a broker refuses is in its quarantine, with the reason.
    """


@app.command()
def subscribe(config: Config, subscriptions: Subscriptions, version: Version = False) -> None:
    """Subscribe to every expression of a file; a known id gets the new expression.

    If an expression is not sound, nothing is sent.
    """
    from pathcast.index import Index
    from pathcast.subscriptions import SubscriptionFile

    file = SubscriptionFile(subscriptions)
    rows = list(file)
    problems = list(file.problems)
    index = Index()
    for row in rows:
        try:
            index.check(row.xpath, ordered=row.ordered, namespaces=row.namespaces, variables=row.variables)
        except LimitError:
            continue  # the broker may have others
        except XPathError as error:
            problems.append((file.line_of(str(row.id)), str(error)))
    if problems:
        problems.sort(key=lambda problem: problem[0] or 0)
        fail(*(located(subscriptions, line, message) for line, message in problems))
    with _client(config) as made:
        for row in rows:
            made.subscribe(
                str(row.id),
                row.xpath,
                ordered=bool(row.ordered),
                namespaces=row.namespaces,
                variables=row.variables,
            )
    typer.echo(f"{len(rows):,} subscriptions sent", err=True)


@app.command()
def unsubscribe(
    config: Config,
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of subscriptions.")],
    version: Version = False,
) -> None:
    """Give up subscriptions."""
    with _client(config) as made:
        for id in ids:
            made.unsubscribe(id)


@app.command()
def leave(config: Config, version: Version = False) -> None:
    """Give up all subscriptions and advertisements."""
    with _client(config) as made:
        made.leave()


@app.command()
def advertise(
    config: Config,
    dtd: Dtd = None,
    xsd: Xsd = None,
    root: Root = None,
    id: Annotated[
        str, typer.Option(metavar="ID", help="The advertisement's id; a known one is replaced.")
    ] = "documents",
    version: Version = False,
) -> None:
    """Say that documents of a DTD or an XSD will be published. A publisher does it before it publishes."""
    schema = read_schema(dtd, root, xsd)
    with _client(config) as made:
        made.advertise(id, schema)


@app.command()
def publish(
    config: Config,
    documents: Annotated[list[Path], typer.Argument(metavar="DOCUMENT", help="Files, sent as they are.")],
    version: Version = False,
) -> None:
    """Publish documents. The id of each is a digest of its content, so the same one is published once."""
    with _client(config) as made:
        for path in documents:
            try:
                body = path.read_bytes()
            except OSError as error:
                fail(located(str(path), None, f"cannot be read: {error.strerror}"))
            made.publish(hashlib.blake2b(body, digest_size=16).hexdigest(), body)
    typer.echo(f"{len(documents):,} documents sent", err=True)


@app.command()
def listen(
    config: Config,
    wait: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="End when nothing comes for so long.")
    ] = None,
    output: Output = None,
    version: Version = False,
) -> None:
    """Print what is delivered, one JSON object a delivery: document, and ids of the subscriptions."""
    with _client(config) as made:
        try:
            _print(made.deliveries(wait), output)
        except KeyboardInterrupt:
            return


@app.command()
def move(
    config: Config,
    to: Annotated[
        Path, typer.Option("--to", metavar="FILE.toml", help="The settings of the client at the new broker.")
    ],
    output: Output = None,
    version: Version = False,
) -> None:
    """Move to another broker with everything; no document is lost or repeated.

    Prints what still comes from the old broker, as `listen` does. When it ends, the rest comes from the new
    one. Call it again if it was cut.
    """
    from pathcast.network.moving import MoveError

    with _client(config) as here, _client(to) as there:
        if here.name != there.name:
            fail(f"{here.name} cannot move to be {there.name}: both files must have one name")
        try:
            _print(here.move(there), output)
        except MoveError as error:
            fail(str(error))
    typer.echo(f"{here.name} has moved", err=True)


def _print(deliveries: Iterable[Delivery], output: Path | None) -> None:
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
    for delivery in deliveries:
        line: dict[str, object] = {"document": delivery.document, "ids": delivery.ids}
        if output is not None:
            # The id is a stranger's text and may be no name of a file.
            name = hashlib.blake2b(delivery.document.encode(), digest_size=16).hexdigest() + ".xml"
            (output / name).write_bytes(delivery.body)
            line["file"] = str(output / name)
        typer.echo(json.dumps(line, ensure_ascii=False))


def _client(config: Path) -> KafkaClient:
    kafka_needed()
    from pathcast.network.transports.kafka import KafkaClient
    from pathcast.network.transports.settings import read_client

    return KafkaClient(read_client(config))
