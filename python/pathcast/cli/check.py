"""``pathcast check``: are these subscriptions sound?"""

from __future__ import annotations

import json
import sys

import typer

import pathcast
from pathcast.cli.arguments import OptionalDtd, Root, Subscriptions, Version, Xsd, fail, optional_schema
from pathcast.cli.stream import blocks, progress
from pathcast.errors import SubscriptionErrors, XPathError, located
from pathcast.schema import Schema
from pathcast.subscriptions import Subscription, SubscriptionFile

BLOCK = 10_000  # subscriptions that are in memory at a time


def check(
    subscriptions: Subscriptions,
    dtd: OptionalDtd = None,
    xsd: Xsd = None,
    root: Root = None,
    version: Version = False,
) -> None:
    """Parse all subscriptions and print one JSON object for each.

    With a DTD or an XSD, a subscription that no valid document can match counts as bad.

    Bad subscriptions are also listed on standard error as FILE:LINE: message, and the exit status is 2.

    \b
    Example:
      pathcast check -s alerts.txt
    """
    schema = optional_schema(dtd, root, xsd)
    file = SubscriptionFile(subscriptions)
    refused = 0
    for block in blocks(progress(file, "Checking", shown=not sys.stdout.isatty()), BLOCK):
        failures = _failures(block, schema)
        for subscription in block:
            row: dict[str, object] = {"id": subscription.id, "ok": True}
            error = failures.get(subscription.id)
            if error:
                refused += 1
                row |= {"ok": False, "message": error.message, "column": error.column}
                typer.echo(located(file.name, subscription.line, str(error)), err=True)
            sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()
    if refused or file.problems:
        fail(*(located(file.name, line, message) for line, message in file.problems))


def _failures(block: list[Subscription], schema: Schema | None) -> dict[str, XPathError]:
    """The errors by id; a fresh index each time, so that checking millions needs no memory for them."""
    try:
        bound = schema.namespaces if schema else None
        index = pathcast.Index(schema=schema, impossible="error", namespaces=bound)
        index.add_many((row.id, row.xpath, row.ordered, row.namespaces, row.variables) for row in block)
    except SubscriptionErrors as error:
        return {str(identifier): failure for identifier, failure in error.failures}
    return {}
