"""The tables, as both databases hold them.

A topic has a version that every change of its subscriptions raises. Each subscription carries the version of
its last change and each removal leaves a row, so a process that knows version 7 of a topic reads what is
newer than 7 and is up to date: that is the change log.

A document has one row in `matches` with the ids of all subscriptions that get it, written in the document's
transaction. A delivery is one of these ids. Its own id is made from topic, subscription and document, so it
is the same however often it is delivered. Webhooks have a row in `pushes` beside it, with attempts and a
lease. `postings` are matches turned round, and `tallies` say how many wait: docs/design/deliveries.md.

Numbers are never given twice (`sqlite_autoincrement`): cursors and old processes still know them.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    cast,
    func,
)

VERSION = 3
"""The version of this schema."""

metadata = MetaData()
# SQLite numbers rows only by a column that is exactly INTEGER.
_Number = BigInteger().with_variant(Integer(), "sqlite")

meta = Table("meta", metadata, Column("name", String(64), primary_key=True), Column("value", Text))

topics = Table(
    "topics",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("tenant", String(128), nullable=False),
    Column("name", String(128), nullable=False),
    Column("settings", JSON, nullable=False),
    Column("version", BigInteger, nullable=False, default=0),
    Column("rebuilt", BigInteger, nullable=False, default=0),  # the version at which the settings changed
    Column("floor", BigInteger, nullable=False, default=0),  # removals up to this version are forgotten
    Column("created", Float, nullable=False),
    Column("filed", BigInteger, nullable=False, server_default="0"),  # the last document in postings
    UniqueConstraint("tenant", "name"),
    sqlite_autoincrement=True,
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("topic", BigInteger, nullable=False),
    Column("id", String(128), nullable=False),
    Column("xpath", Text, nullable=False),
    Column("namespaces", JSON),
    Column("variables", JSON),
    Column("ordered", Boolean),
    Column("delivery", JSON),
    Column("enabled", Boolean, nullable=False),
    Column("labels", JSON),
    Column("created", Float, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("acked", BigInteger, nullable=False, default=0),
    Column("born", BigInteger, nullable=False, server_default="0"),  # the last document before it
    UniqueConstraint("topic", "id"),
    Index("subscriptions_by_version", "topic", "version"),
    sqlite_autoincrement=True,
)

removals = Table(
    "removals",
    metadata,
    Column("topic", BigInteger, primary_key=True, autoincrement=False),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("id", String(128), primary_key=True),
    Column("removed", Float, nullable=False),
)

documents = Table(
    "documents",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("tenant", String(128), nullable=False),
    Column("topic", BigInteger, nullable=False),
    Column("received", Float, nullable=False),
    Column("content_type", Text),
    Column("trace", String(64)),
    Column("size", BigInteger, nullable=False),
    Column("matched", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Index("documents_by_topic", "topic", "number"),
    sqlite_autoincrement=True,
)

matches = Table(
    "matches",
    metadata,
    Column("topic", BigInteger, primary_key=True, autoincrement=False),
    Column("document", BigInteger, primary_key=True, autoincrement=False),
    Column("receivers", Text, nullable=False),
    sqlite_with_rowid=False,
)

postings = Table(
    "postings",
    metadata,
    Column("topic", BigInteger, primary_key=True, autoincrement=False),
    Column("bucket", Integer, primary_key=True, autoincrement=False),
    Column("last", BigInteger, primary_key=True, autoincrement=False),
    Column("first", BigInteger, nullable=False),
    Column("data", Text, nullable=False),
)

tallies = Table(
    "tallies",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("topic", BigInteger, nullable=False),
    Column("change", BigInteger, nullable=False),
)

pushes = Table(
    "pushes",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("tenant", String(128), nullable=False),
    Column("topic", BigInteger, nullable=False),
    Column("subscription", String(128), nullable=False),
    Column("document", BigInteger, nullable=False),
    Column("state", String(16), nullable=False),  # waiting, delivered, dead, dropped
    Column("attempts", Integer, nullable=False),
    Column("due", Float, nullable=False),
    Column("lease", String(64)),
    Column("status", Integer),
    Column("reason", Text),
    Column("seconds", Float),
    Column("changed", Float, nullable=False),
    Index("pushes_by_due", "state", "due"),
    Index("pushes_by_document", "document"),
    Index("pushes_by_subscription", "topic", "state", "subscription", "due"),
    sqlite_autoincrement=True,
)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("tenant", String(128), nullable=False),
    Column("topic", String(128), nullable=False),
    Column("kind", String(16), nullable=False),  # document, delivery
    Column("reason", Text, nullable=False),
    Column("line", Integer),
    Column("column", Integer),
    Column("document", String(64)),
    Column("subscription", String(128)),
    Column("push", BigInteger),
    Column("content_type", Text),
    Column("size", BigInteger, nullable=False),
    Column("body", LargeBinary),
    Column("created", Float, nullable=False),
    Index("dead_letters_by_tenant", "tenant", "number"),
    sqlite_autoincrement=True,
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("topic", BigInteger, primary_key=True, autoincrement=False),
    Column("key", String(255), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("status", Integer, nullable=False),
    Column("answer", JSON, nullable=False),
    Column("created", Float, nullable=False),
)

keys = Table(
    "keys",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("tenant", String(128), nullable=False),
    Column("operator", Boolean, nullable=False),  # may act on the keys of every tenant
    Column("scopes", JSON, nullable=False),
    Column("topics", JSON, nullable=False),
    Column("quota", JSON, nullable=False),
    Column("labels", JSON),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    sqlite_autoincrement=True,
)


def pulled() -> ColumnElement[bool]:
    """Whether a subscription is pulled: it says nothing about delivery."""
    return func.coalesce(cast(subscriptions.c.delivery, Text), "null") == "null"
