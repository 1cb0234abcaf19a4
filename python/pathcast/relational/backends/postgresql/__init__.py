"""PostgreSQL: subscriptions in its tables, documents copied into temporary ones, one function a match."""

from pathcast.relational.backends.postgresql.database import PostgreSQL, PostgresSession

__all__ = ["PostgreSQL", "PostgresSession"]
