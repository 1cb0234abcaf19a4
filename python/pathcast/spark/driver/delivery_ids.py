"""Delivery ids: what makes a match, wherever it is written and however often, recognisable as the same one.

A delivery id is a hash of the version of the subscriptions, of the document (its id and its bytes) and of who
gets it: the subscription, or in outboxes the subscriber. The same document that arrives again has the same
ids; other bytes under a known document id have others.
"""

from __future__ import annotations

import hashlib

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

__all__ = ["delivery_column", "delivery_id", "document_hash", "hash_column"]

_LENGTH = 32  # hexadecimal digits: 128 bits


def document_hash(document: bytes | str | None) -> str:
    """What the column `document_hash` holds for a document.

    >>> document_hash("<a/>") == document_hash(b"<a/>"), document_hash(None)
    (True, '')
    """
    if document is None:
        return ""
    return hashlib.sha256(document.encode() if isinstance(document, str) else document).hexdigest()


def delivery_id(
    doc_id: object, document: bytes | str | None, recipient: object | None, index_version: str
) -> str:
    """The id of a delivery, as streams write it; `recipient` is a subscription, a subscriber, or None.

    Ids are taken as Spark turns them into text.

    >>> delivery_id("d1", b"<a/>", "s1", "v1") == delivery_id("d1", b"<a/>", "s1", "v2")
    False
    """
    name = "" if doc_id is None else str(doc_id)
    to = "-" if recipient is None else f"+{recipient}"
    text = f"{index_version}/{document_hash(document)}/{len(name)}/{name}{to}"
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def hash_column(document: Column) -> Column:
    """`document_hash` in Spark."""
    return F.coalesce(F.sha2(document.cast("binary"), 256), F.lit(""))


def delivery_column(doc_id: Column, hash: Column, recipient: Column | None, index_version: Column) -> Column:
    """`delivery_id` in Spark."""
    name = F.coalesce(doc_id.cast("string"), F.lit(""))
    to = F.lit("-")
    if recipient is not None:
        to = F.coalesce(F.concat(F.lit("+"), recipient.cast("string")), to)
    length = F.char_length(name).cast("string")
    text = F.concat(index_version, F.lit("/"), hash, F.lit("/"), length, F.lit("/"), name, to)
    return F.substring(F.sha2(text.cast("binary"), 256), 1, _LENGTH)
