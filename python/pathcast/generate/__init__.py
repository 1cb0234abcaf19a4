"""Workloads from a schema: valid documents, and subscriptions that some valid document satisfies."""

from pathcast.generate.documents import documents
from pathcast.generate.subscriptions import DistinctError, subscriptions
from pathcast.generate.values import Values

__all__ = ["DistinctError", "Values", "documents", "subscriptions"]
