"""``pathcast prune``: what subscriptions become under a schema."""

from __future__ import annotations

import json
import sys

import typer

import pathcast
from pathcast.cli.arguments import Dtd, Root, Subscriptions, Version, Xsd, fail, read_schema
from pathcast.cli.stream import progress
from pathcast.errors import XPathError, located
from pathcast.subscriptions import SubscriptionFile


def prune(
    subscriptions: Subscriptions,
    dtd: Dtd = None,
    xsd: Xsd = None,
    root: Root = None,
    version: Version = False,
) -> None:
    """Print one JSON object for each subscription: the expressions without wildcards that it becomes.

    A valid document satisfies one of them exactly when it satisfies the subscription. The list is empty when
    no valid document can satisfy it. Bad subscriptions are listed on standard error as FILE:LINE: message,
    and the exit status is 2.

    \b
    Example:
      pathcast prune --dtd news.dtd -s alerts.txt
    """
    file = SubscriptionFile(subscriptions)
    schema = read_schema(dtd, root, xsd)
    index = pathcast.Index(schema=schema, prune=True, impossible="ignore", namespaces=schema.namespaces)
    refused = 0
    for row in progress(file, "Pruning", shown=not sys.stdout.isatty()):
        try:
            pruned = index.pruned(row.xpath, ordered=row.ordered, namespaces=row.namespaces)
        except XPathError as error:
            refused += 1
            typer.echo(located(file.name, row.line, str(error)), err=True)
            continue
        sys.stdout.write(json.dumps({"id": row.id, "pruned": pruned}) + "\n")
    sys.stdout.flush()
    if refused or file.problems:
        fail(*(located(file.name, line, message) for line, message in file.problems))
